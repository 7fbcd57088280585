"""Facts encoded behind what was said before them, or behind facts stored later, and what a deletion does to that."""

import pytest
import redis
from facts.models import Encoding, Fact
from facts.scopes import Scopes
from facts.services import Message, fact_delete, fact_update, facts_add
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import ALICE, add_facts
from tests.workers.helpers import (
    encode,
    encoding_into,
    encoding_of,
    finished,
    header_of,
    point,
    run_task,
    tasks_in,
    write_asked,
)
from tests.workers.troubled_engine import Body, Reply, TroubledEngine, accept_all
from workers.encode import encode_fact
from workers.model import encoding_model
from workers.tiering import drop_stale

pytestmark = pytest.mark.django_db(transaction=True)

SAID = (
    ("user", "Ann is back.", ("Ann is back.",)),
    ("assistant", "How was Rome?", ()),
    ("user", "She lost her bag there.", ("Ann lost her bag in Rome.",)),
    ("user", "Bob found it.", ("Bob found Ann's bag.",)),
)


@pytest.fixture
def engine(engine: TroubledEngine, store: BlobStore) -> TroubledEngine:
    engine.encode = encoding_into(store)
    return engine


def use(tenant: Tenant, strategy: str) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy=strategy)


def talk(tenant: Tenant) -> list[Fact]:
    messages = [Message(role, content, facts) for role, content, facts in SAID]
    return [added.fact for added in facts_add(tenant=tenant, scopes=ALICE, messages=messages).facts]


def asked(engine: TroubledEngine) -> str:
    """The last prompt that a fact was encoded from."""
    return str(encoding_model().template.tokenizer.decode(engine.encodes[-1]["prompt"]))


def test_turns_stand_before_the_fact_without_a_header(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "turns(2)")
    bag = talk(tenant)[2]
    encoding = encode(bag)
    assert encoding.state == "ready"
    assert asked(engine) == "assistant: How was Rome?\nuser: She lost her bag there.\n- Bob found Ann's bag.\n"
    assert len(encoding.context_turn_ids) == 2
    assert encoding.context_fact_ids == []
    assert header_of(bag).state == "ready", "by a request of its own"
    assert [len(body["kv_transfer_params"]["spans"]) for body in engine.encodes] == [1, 1]


def test_turns_stand_behind_the_header_before_the_facts(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "neighbours(1)+turns(1)")
    back, lost, found = talk(tenant)
    for fact, degrees in ((back, 90), (lost, 10), (found, 0)):
        point(fact, degrees)
    encoding = encode(found)
    header = encoding_model().template.header
    lines = "user: She lost her bag there.\n- Ann lost her bag in Rome.\n- Bob found Ann's bag.\n"
    assert asked(engine) == header + lines
    assert encoding.context_turn_ids == [lost.source_turn_id]
    assert encoding.context_fact_ids == [lost.pk]


def test_the_first_turns_fact_has_no_turns(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "turns(2)")
    assert encode(talk(tenant)[0]).context_turn_ids == []
    assert asked(engine) == "- Ann is back.\n"


def test_other_owners_turns_are_not_read(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "turns(9)")
    add_facts(tenant, "Carol sails.", scopes=Scopes(user_id="carol"))
    (fact,) = add_facts(tenant, "Alice rows.")
    encode(fact)
    assert asked(engine) == "- Alice rows.\n"


@pytest.mark.parametrize("change", ["delete", "update"])
def test_a_deleted_or_changed_facts_turn_is_read_by_nobody(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis, change: str
) -> None:
    use(tenant, "turns(2)")
    _, lost, found = talk(tenant)
    former = encode(found)
    broker.flushdb()
    if change == "delete":
        fact_delete(fact=lost)
    else:
        fact_update(fact=lost, text="Ann lost her hat.")
    sent = {args[1] for name, args in tasks_in(broker, "encode") if name == encode_fact.name}
    assert str(found.pk) in sent
    assert Encoding.objects.get(pk=former.pk).state == "stale"
    finished(drop_stale, tenant.pk, found.owner_id)
    assert not store.exists(former.key)
    again = encode(found)
    assert "bag there" not in asked(engine)
    assert lost.source_turn_id not in again.context_turn_ids
    assert asked(engine) == "user: Ann is back.\nassistant: How was Rome?\n- Bob found Ann's bag.\n"


def test_a_change_of_other_details_leaves_the_turn_readable(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "turns(1)")
    _, lost, found = talk(tenant)
    fact_update(fact=lost, metadata={"place": "Rome"})
    assert encode(found).context_turn_ids == [lost.source_turn_id]


def test_a_turns_fact_deleted_while_it_is_read_loses_the_encoding(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant
) -> None:
    use(tenant, "turns(2)")
    _, lost, found = talk(tenant)

    def encode_late(body: Body) -> Reply:
        if Fact.objects.filter(pk=lost.pk, status="active").exists():
            fact_delete(fact=lost)
        write_asked(store, body)
        return accept_all(body)

    run_task(found)  # the header is there
    Encoding.objects.filter(fact=found).delete()
    for key in list(store.keys()):
        if key != header_of(found).key:
            store.delete(key)
    engine.encode = encode_late
    run_task(found)
    for encoding in Encoding.objects.filter(fact=found, state="ready"):
        assert lost.source_turn_id not in encoding.context_turn_ids


def test_nearest_facts_may_be_stored_later(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "nearest(2)")
    facts = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.", "Bob likes ships.", "Bob moved to Porto.")
    for fact, degrees in zip(facts, (0, 90, 30, 10), strict=True):
        point(fact, degrees)
    lisbon, _, ships, porto = facts
    encoding = encode(lisbon)
    assert encoding.context_fact_ids == [ships.pk, porto.pk]
    text = "- Bob likes ships.\n- Bob moved to Porto.\n- Bob lives in Lisbon.\n"
    assert asked(engine) == encoding_model().template.header + text


def test_a_new_near_fact_changes_no_encoding_and_its_deletion_does(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant
) -> None:
    use(tenant, "nearest(2)")
    lisbon, parrot = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.")
    former = encode(lisbon)
    (porto,) = add_facts(tenant, "Bob moved to Porto.")
    assert encoding_of(lisbon).key == former.key
    assert set(encode(porto).context_fact_ids) == {lisbon.pk, parrot.pk}
    fact_delete(fact=parrot)
    finished(drop_stale, tenant.pk, lisbon.owner_id)
    assert not store.exists(former.key)
    assert encode(lisbon).context_fact_ids == [porto.pk]
    assert encode(porto).context_fact_ids == [lisbon.pk]
