"""Facts that share words with a question: PostgreSQL's full text search."""

from typing import Any
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from tenants.models import Tenant

from facts.models import Fact, FactStatus, Owner
from facts.models.fact import WORDS_LANGUAGE
from memory.text import clean_text

MOST_BY_WORDS = 1000  # facts whose ranks are fused with those of the vectors, in chats and searches
LONGEST = 2000  # characters of a question that are searched for
# Any word is enough, and what is rare is not known: the ranks are fused with those of the vectors. In SQL, for chats
# wait for it. Normalised by the logarithm of a fact's length.
BY_WORDS = f"""
SELECT id FROM {Fact._meta.db_table},
    (SELECT replace(plainto_tsquery('{WORDS_LANGUAGE}', %s)::text, ' & ', ' | ')::tsquery AS asked) AS question
WHERE tenant_id = %s AND {{among}} AND status = '{FactStatus.ACTIVE.value}' AND words @@ asked
ORDER BY ts_rank(words, asked, 1) DESC, seq DESC, id LIMIT %s
"""
OF_OWNER = BY_WORDS.format(among="owner_id = %s")


def facts_by_words(*, owner: Owner, question: str, limit: int) -> list[UUID]:
    """The owner's active facts, expired ones too, with any of the question's words but the commonest, best first."""
    return _found(OF_OWNER, question, owner.tenant_id, owner.pk, limit)


def facts_among_by_words(*, tenant: Tenant, facts: QuerySet[Fact], question: str, limit: int) -> list[UUID]:
    """The same of the tenant's facts that a query finds, whosever they are."""
    try:
        query, values = facts.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:  # Django knows already that it finds none
        return []
    return _found(BY_WORDS.format(among=f"id IN ({query})"), question, tenant.pk, *values, limit)


def _found(sql: str, question: str, *among: Any) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(sql, (clean_text(question[:LONGEST]), *among))
        return [row[0] for row in cursor.fetchall()]
