"""The facts of a tenant: found, filtered, changed many at a time."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from facts.errors import FactUnknownError
from facts.models import Fact
from facts.search import facts_search
from facts.selectors import FactFilter, categories_known, encodings_of, facts_browse, facts_condition
from facts.services import encodings_remake, facts_delete_many
from tenants.access import Power
from usage.selectors import facts_injected_at

from frontend.forms import FactFilterForm
from frontend.paging import PAGE_SIZE, CappedPaginator
from frontend.views.base import TenantView

BEST = 50


class FactsView(TenantView):
    section = "facts"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        form = FactFilterForm(request.GET)
        chosen = form.chosen()
        context: dict[str, Any] = {"form": form, "categories": categories_known(tenant=self.tenant)}
        if form.is_valid() and form.by_meaning and chosen.words:
            return self._by_meaning(chosen, context)
        page = CappedPaginator(facts_browse(tenant=self.tenant, chosen=chosen), PAGE_SIZE).get_page(
            request.GET.get("page")
        )
        context |= {"page": page, "rows": self._rows(list(page)), "count": page.paginator.count}
        return self.show("facts", status=200 if form.is_valid() else 400, **context)

    def _by_meaning(self, chosen: FactFilter, context: dict[str, Any]) -> HttpResponse:
        condition = facts_condition(FactFilter("", chosen.names, chosen.category, chosen.encoding, chosen.status))
        found = facts_search(
            tenant=self.tenant, query=chosen.words, condition=condition, top_k=BEST, threshold=0.0, show_expired=True
        )
        scores = {one.fact.pk: one.score for one in found}
        rows = self._rows([one.fact for one in found], scores)
        return self.show("facts", rows=rows, count=len(rows), best=BEST, **context)

    def _rows(self, facts: Sequence[Fact], scores: dict[UUID, float | None] | None = None) -> list[dict[str, Any]]:
        ids = [fact.pk for fact in facts]
        encodings = encodings_of(tenant=self.tenant, fact_ids=ids)
        injected = facts_injected_at(tenant=self.tenant, fact_ids=ids)
        return [
            {
                "fact": fact,
                "encoding": encodings.get(fact.pk),
                "injected_at": injected.get(fact.pk),
                "score": (scores or {}).get(fact.pk),
            }
            for fact in facts
        ]


class FactsBulkView(TenantView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest) -> HttpResponse:
        ids = _ids(request.POST.getlist("fact"))
        action = request.POST.get("action")
        if not ids:
            messages.error(request, "No fact was chosen.")
        elif action == "delete":
            self._delete(ids)
        elif action == "encode":
            self._encode(ids)
        else:
            messages.error(request, "Choose what to do: delete or encode again.")
        return redirect(self._back())

    def _delete(self, ids: list[UUID]) -> None:
        try:
            with self.audited("facts.delete", count=len(ids)):
                deleted = facts_delete_many(tenant=self.tenant, fact_ids=ids, actor=self.actor)
        except FactUnknownError as error:
            messages.error(self.request, str(error))
            return
        messages.success(self.request, f"Deleted: {deleted.count}. Their KV is dropped from every tier.")

    def _encode(self, ids: list[UUID]) -> None:
        encodings = encodings_of(tenant=self.tenant, fact_ids=ids)
        with self.audited("facts.encode", count=len(encodings)):
            again = encodings_remake(tenant=self.tenant, ids=[encoding.pk for encoding in encodings.values()])
        messages.success(self.request, f"Encoded again: {again}. Until then they are sent as text.")

    def _back(self) -> str:
        """To the filtered list that the action was chosen in."""
        given = self.request.POST.get("back", "")
        is_ours = url_has_allowed_host_and_scheme(given, allowed_hosts={self.request.get_host()})
        return given if given and is_ours else reverse("dashboard:facts", args=[self.tenant.slug])


def _ids(texts: Sequence[str]) -> list[UUID]:
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found
