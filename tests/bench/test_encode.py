"""Encoding beside users who chat: what they wait is told for before, during and after."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inference.bench.cli.encode import FACTS_A_USER, new_users
from inference.bench.encode import Importer, encode_alone, encode_under_load
from inference.bench.load import LoadPlan
from tests.bench.chat_server import chat_server

TEXTS = {"ann": ["a", "b"], "bob": ["c"]}


def importer(stored: list[str]) -> Importer:
    def store(texts: Mapping[str, Sequence[str]]) -> None:
        stored.extend(text for of_user in texts.values() for text in of_user)

    return Importer(store, lambda users: None, lambda users: 30 * len(stored), lambda: 100.0 * len(stored))


def test_a_row_tells_facts_and_tokens_a_second() -> None:
    stored: list[str] = []
    row = encode_alone(importer(stored), TEXTS, {"shape": "tiny"})
    assert stored == ["a", "b", "c"]
    assert (row["facts"], row["fact_tokens"], row["computed_tokens"], row["users"]) == (3, 90, 300, 0)
    assert row["facts_per_s"] > 0


def test_prefilled_tokens_that_nobody_counted_are_not_told() -> None:
    stored: list[str] = []
    uncounted = replace(importer(stored), computed=lambda: None)
    row = encode_alone(uncounted, TEXTS, {"shape": "tiny"})
    assert row["fact_tokens"] == 90
    assert not {"computed_tokens", "computed_tokens_per_s"} & row.keys()


def test_users_are_watched_before_during_and_after() -> None:
    stored: list[str] = []
    with chat_server() as server:
        plan = LoadPlan(server.url, "key", "m", ("ann", "bob"), "inject", top_k=5, max_tokens=2, seed="s")
        row = encode_under_load(
            importer(stored), TEXTS, plan, {"shape": "tiny"}, processes=1, quiet_seconds=0.5, warm_up_seconds=0
        )
    assert set(row["ttft_ms"]) == {"before", "during", "after"}
    assert row["ttft_samples_ms"]["before"]
    assert row["ttft_samples_ms"]["after"]
    assert (row["users"], row["failed"], row["facts"]) == (2, 0, 3)
    assert "computed_tokens" not in row


def test_imported_facts_are_new_users_and_as_many_as_asked_for() -> None:
    texts = new_users("import", FACTS_A_USER + 10)
    assert [len(of_user) for of_user in texts.values()] == [FACTS_A_USER, 10]
    assert len({text for of_user in texts.values() for text in of_user}) == FACTS_A_USER + 10
