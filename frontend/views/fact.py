"""One fact: what it says, where it came from, what became of it, how it is encoded."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from facts.errors import FactGoneError, InvalidInputError
from facts.models import Fact, FactStatus
from facts.selectors import encoding_context, encodings_of, fact_history, fact_look, turns_around
from facts.services import encodings_remake, fact_delete, fact_update
from tenants.access import Power
from usage.selectors import facts_injected_at

from frontend.diff import words_changed
from frontend.forms import FactForm
from frontend.views.base import TenantView


class FactView(TenantView):
    section = "facts"
    powers = {"GET": Power.VIEWER, "POST": Power.ADMIN}

    def get(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        return self._page(self.fact(fact_id))

    def post(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        fact = self.fact(fact_id)
        form = FactForm(request.POST)
        if form.is_valid():
            try:
                with self.audited("fact.update", fact.pk, fields=sorted(form.changes_to(fact))):
                    fact_update(fact=fact, actor=self.actor, **form.cleaned_data)
            except InvalidInputError as error:
                form.add_error(error.field if error.field in form.fields else None, error.message)
            except FactGoneError:
                messages.error(request, "The fact was deleted in the meantime.")
                return redirect("dashboard:facts", slug=self.tenant.slug)
        if form.errors:
            return self._page(fact, form=form, status=400)
        messages.success(request, "Saved.")
        return redirect("dashboard:fact", slug=self.tenant.slug, fact_id=fact.pk)

    def fact(self, fact_id: UUID) -> Fact:
        fact = fact_look(tenant=self.tenant, fact_id=fact_id)
        if fact is None:
            raise Http404
        return fact

    def _page(self, fact: Fact, *, form: FactForm | None = None, status: int = 200) -> HttpResponse:
        encoding = encodings_of(tenant=self.tenant, fact_ids=[fact.pk]).get(fact.pk)
        context_facts, context_turns = encoding_context(encoding=encoding) if encoding else ([], [])
        history = [
            {"entry": entry, "pieces": list(words_changed(entry.old_text, entry.new_text))}
            for entry in fact_history(tenant=self.tenant, fact_id=fact.pk).reverse()
        ]
        context: dict[str, Any] = {
            "fact": fact,
            "is_open": fact.status == FactStatus.ACTIVE and not fact.immutable and self.access.may_change,
            "form": form or FactForm.of(fact),
            "encoding": encoding,
            "injected_at": facts_injected_at(tenant=self.tenant, fact_ids=[fact.pk]).get(fact.pk),
            "context_facts": context_facts,
            "context_turns": context_turns,
            "turns": turns_around(fact=fact),
            "history": history,
        }
        return self.show("fact", status=status, **context)


class FactDeleteView(FactView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        fact = self.fact(fact_id)
        try:
            with self.audited("fact.delete", fact.pk):
                fact_delete(fact=fact, actor=self.actor)
        except FactGoneError:
            messages.error(request, "The fact does not hold any more: there is nothing to delete.")
            return redirect("dashboard:fact", slug=self.tenant.slug, fact_id=fact.pk)
        messages.success(request, "Deleted. Its KV is dropped from every tier.")
        return redirect("dashboard:facts", slug=self.tenant.slug)


class FactEncodeView(FactView):
    powers = {"POST": Power.ADMIN}

    def post(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        fact = self.fact(fact_id)
        encoding = encodings_of(tenant=self.tenant, fact_ids=[fact.pk]).get(fact.pk)
        if encoding is None:
            messages.error(request, "It waits for its first encoding already.")
        else:
            with self.audited("fact.encode", fact.pk):
                encodings_remake(tenant=self.tenant, ids=[encoding.pk])
            messages.success(request, "It is encoded again; until then it is sent as text.")
        return redirect("dashboard:fact", slug=self.tenant.slug, fact_id=fact.pk)
