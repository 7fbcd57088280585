"""Facts that share words with a question: PostgreSQL's full text search."""

from uuid import UUID

from django.db import connection

from facts.models import Fact, FactStatus, Owner
from facts.models.fact import WORDS_LANGUAGE
from memory.text import clean_text

LONGEST = 2000  # characters of a question that are searched for
# Any word is enough, and what is rare is not known: the ranks are fused with those of the vectors. In SQL, for chats
# wait for it. Normalised by the logarithm of a fact's length.
BY_WORDS = f"""
SELECT id FROM {Fact._meta.db_table},
    (SELECT replace(plainto_tsquery('{WORDS_LANGUAGE}', %s)::text, ' & ', ' | ')::tsquery AS asked) AS question
WHERE tenant_id = %s AND owner_id = %s AND status = '{FactStatus.ACTIVE.value}' AND words @@ asked
ORDER BY ts_rank(words, asked, 1) DESC, seq DESC, id LIMIT %s
"""


def facts_by_words(*, owner: Owner, question: str, limit: int) -> list[UUID]:
    """The owner's active facts, expired ones too, with any of the question's words but the commonest, best first."""
    with connection.cursor() as cursor:
        cursor.execute(BY_WORDS, (clean_text(question[:LONGEST]), owner.tenant_id, owner.pk, limit))
        return [row[0] for row in cursor.fetchall()]
