"""What callers think of memories."""

from tenants.scope import tenant_scope

from facts.models import Fact, Feedback


def feedback_set(*, fact: Fact, verdict: str | None, reason: str, actor: str) -> Feedback | None:
    """The caller's latest word replaces the one before; None takes it back."""
    with tenant_scope(fact.tenant):
        if verdict is None:
            Feedback.objects.filter(fact=fact, actor=actor).delete()
            return None
        said = {"tenant_id": fact.tenant_id, "verdict": verdict, "reason": reason}
        return Feedback.objects.update_or_create(fact=fact, actor=actor, defaults=said)[0]
