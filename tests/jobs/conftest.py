from tests.api.conftest import admin, member, owner, stranger, tenant

__all__ = ["admin", "member", "owner", "stranger", "tenant"]
