"""Names that a condition demands are told from the rest of it."""

import pytest
from django.db.models import Q
from facts.conditions import names_and_rest
from facts.scopes import Scopes

TEA = Q(text__contains="tea")


@pytest.mark.parametrize(
    ("condition", "names", "rest"),
    [
        (Q(), Scopes(), Q()),
        (Q(user_id="ann"), Scopes(user_id="ann"), Q()),
        (Q(user_id="ann") & Q(run_id="one"), Scopes(user_id="ann", run_id="one"), Q()),
        (Q(user_id="ann") & TEA, Scopes(user_id="ann"), TEA),
        (Q(Q(user_id="ann") & TEA, agent_id="cook"), Scopes(user_id="ann", agent_id="cook"), TEA),
        (Q(user_id="ann") | Q(user_id="bob"), Scopes(), Q(user_id="ann") | Q(user_id="bob")),
        (Q(user_id="ann") | TEA, Scopes(), Q(user_id="ann") | TEA),
        (~Q(user_id="ann"), Scopes(), ~Q(user_id="ann")),
        (~Q(Q(user_id="ann"), TEA), Scopes(), ~Q(Q(user_id="ann"), TEA)),
        (Q(user_id="ann") & Q(user_id="bob"), Scopes(user_id="ann"), Q(user_id="bob")),
        (Q(user_id__in=["ann"]), Scopes(), Q(user_id__in=["ann"])),
        (Q(user_id=""), Scopes(), Q(user_id="")),
        (Q(user_id="\n"), Scopes(), Q(user_id="\n")),
    ],
)
def test_names_are_told_from_the_rest(condition: Q, names: Scopes, rest: Q) -> None:
    assert names_and_rest(condition) == (names, rest)
