"""The recall tester: what a chat with a question would use now, and why."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from facts.models import OwnerKind
from facts.selectors import encodings_of, owners_browse
from tenants.access import Power

from frontend.engine import engine_key
from frontend.forms import RecallForm
from frontend.recall import EngineAway, PlanRefused, ids_of, plan_of, rows_of, shares_of
from frontend.views.base import TenantView

SUGGESTED = 50


class RecallView(TenantView):
    section = "recall"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        if "q" not in request.GET:
            return self._page(RecallForm(initial=request.GET.dict()))
        form = RecallForm(request.GET)
        if not form.is_valid():
            return self._page(form, status=400)
        try:
            plan = plan_of(messages=form.messages(), memory=form.memory(), key=engine_key(self.tenant))
        except EngineAway as error:
            return self._page(form, away=str(error))
        except PlanRefused as error:
            return self._page(form, status=400, refused=str(error))
        return self._page(form, **self._told(plan), who=", ".join(form.names.values()))

    def _told(self, plan: dict[str, Any]) -> dict[str, Any]:
        encodings = encodings_of(tenant=self.tenant, fact_ids=ids_of(plan))
        prompt, used = plan["prompt"], rows_of(plan["facts"], encodings, plan["top_k"])
        return {
            "plan": plan,
            "used": used,
            "left_out": rows_of(plan["left_out"], encodings, plan["top_k"]),
            "injected": sum(row.fact["use"] == "injected" for row in used),
            "shares": shares_of(prompt["parts"]),
            "text_tokens": (prompt["tokens"] or 0) - prompt["tokens_injected"],
        }

    def _page(self, form: RecallForm, *, status: int = 200, **context: Any) -> HttpResponse:
        users = owners_browse(tenant=self.tenant, kind=OwnerKind.USER)[:SUGGESTED]
        return self.show("recall", status=status, form=form, users=list(users), **context)
