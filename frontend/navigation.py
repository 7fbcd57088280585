"""The pages of a tenant, in the order of the side bar."""

from dataclasses import dataclass

from tenants.access import Power


@dataclass(frozen=True, slots=True)
class Item:
    """`name` is the page's URL name and the section that it belongs to; `icon` a Material symbol."""

    name: str
    label: str
    icon: str
    power: Power = Power.VIEWER


@dataclass(frozen=True, slots=True)
class Group:
    label: str
    items: tuple[Item, ...]


GROUPS = (
    Group(
        "Observe",
        (
            Item("overview", "Overview", "monitoring"),
            Item("requests", "Requests", "receipt_long"),
            Item("kv", "KV store", "layers"),
            Item("jobs", "Jobs", "pending_actions"),
        ),
    ),
    Group(
        "Memory",
        (
            Item("facts", "Facts", "lightbulb"),
            Item("users", "Users", "person"),
            Item("recall", "Recall tester", "manage_search"),
            Item("playground", "Playground", "forum"),
        ),
    ),
    Group(
        "Manage",
        (
            Item("keys", "API keys", "key"),
            Item("members", "Members", "group"),
            Item("settings", "Settings", "tune"),
            Item("audit", "Audit log", "history", Power.ADMIN),
        ),
    ),
)
