"""PostgreSQL and a Redis-protocol server run from the data folder when no URL names others."""

from config.services.base import ServiceError, Status
from config.services.manager import Services

__all__ = ["ServiceError", "Services", "Status"]
