from tests.api.conftest import admin, broker, member, owner, stranger, tenant

__all__ = ["admin", "broker", "member", "owner", "stranger", "tenant"]
