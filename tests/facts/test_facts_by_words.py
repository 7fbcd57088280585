"""PostgreSQL's full text search over an owner's facts."""

import pytest
from facts.models import Fact
from facts.scopes import Scopes
from facts.selectors import facts_by_words
from facts.services import fact_delete, fact_update
from tenants.models import Tenant

from tests.factories import People, add_facts

TEXTS = (
    "Alice keeps bees in her garden.",
    "Alice was born in Lisbon.",
    "Bob bought a beehive, and Alice a book about keeping bees in Lisbon's gardens.",
    "Nobody sails.",
)


def found(fact: Fact, question: str, limit: int = 10) -> list[str]:
    texts = dict(Fact.objects.values_list("pk", "text"))
    return [texts[pk] for pk in facts_by_words(owner=fact.owner, question=question, limit=limit)]


def test_any_word_is_enough_whatever_its_form_and_more_words_are_better(tenant: Tenant) -> None:
    fact = add_facts(tenant, *TEXTS)[0]
    assert found(fact, "Which bee kept the gardens?") == [TEXTS[0], TEXTS[2]]
    assert found(fact, "sailing") == [TEXTS[3]]
    assert found(fact, "Where was the one who sails born?", limit=1) == [TEXTS[3]]


@pytest.mark.parametrize("question", ["", "the of who", "!?& | : * ( ) ' \\ <->", "\x00\ud800", "zebra"])
def test_questions_without_a_known_word_find_nothing(tenant: Tenant, question: str) -> None:
    assert found(add_facts(tenant, *TEXTS)[0], question) == []


def test_a_question_of_any_length_and_kind_is_no_error(tenant: Tenant) -> None:
    fact = add_facts(tenant, *TEXTS)[0]
    assert found(fact, "sails " * 50_000) == [TEXTS[3]]
    assert found(fact, "see http://a.example/b?c=1&d=2 & 'sails' | no!") == [TEXTS[3]]


def test_deleted_facts_are_not_found_and_changed_ones_by_their_new_words(tenant: Tenant) -> None:
    bees, born, *_ = add_facts(tenant, *TEXTS)
    fact_delete(fact=bees)
    fact_update(fact=born, text="Alice was born in Porto.")
    assert found(born, "bees") == [TEXTS[2]]
    assert found(born, "Porto") == ["Alice was born in Porto."]
    assert found(born, "Lisbon") == [TEXTS[2]]


def test_other_owners_and_tenants_facts_are_not_found(people: People, tenant: Tenant) -> None:
    mine = add_facts(tenant, TEXTS[0])[0]
    add_facts(tenant, "Carol keeps bees.", scopes=Scopes(user_id="carol"))
    add_facts(people.other_tenant, "Alice sells bees.")
    assert found(mine, "bees") == [TEXTS[0]]
    mine.owner.tenant_id = people.other_tenant.pk
    assert found(mine, "bees") == []
