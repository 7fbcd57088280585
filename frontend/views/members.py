"""A tenant's members and invitations."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from tenants.access import Power
from tenants.invitations import (
    InvitationOverError,
    invitation_accept,
    invitation_create,
    invitation_get,
    invitation_withdraw,
    invitations_open,
)
from tenants.members import LastOwnerError, NoSuchMemberError, member_dismiss, member_role_set
from tenants.models import Membership, Role
from tenants.selectors import members_list

from frontend.forms import AccountForm, InvitationForm, RoleForm
from frontend.views.base import OpenView, TenantView

OWNER = {"POST": Power.OWNER}


class MembersView(TenantView):
    section = "members"
    powers = {"GET": Power.VIEWER}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page()

    def page(self, *, status: int = 200, **context: Any) -> HttpResponse:
        return self.show(
            "members",
            status=status,
            **{
                "members": members_list(tenant=self.tenant),
                "invitations": invitations_open(tenant=self.tenant),
                "roles": Role.choices,
                "form": InvitationForm(),
                **context,
            },
        )


class InviteView(MembersView):
    powers = OWNER

    def post(self, request: HttpRequest) -> HttpResponse:
        """Answers with the link, this once."""
        form = InvitationForm(request.POST)
        if not form.is_valid():
            return self.page(form=form, status=400)
        _, token = invitation_create(tenant=self.tenant, actor=self.actor, **form.cleaned_data)
        link = request.build_absolute_uri(reverse("dashboard:invitation", args=[token]))
        return self.page(link=link, status=201)


class InvitationWithdrawView(TenantView):
    powers = OWNER

    def post(self, request: HttpRequest, invitation_id: UUID) -> HttpResponse:
        invitation = invitations_open(tenant=self.tenant).filter(pk=invitation_id).first()
        if invitation is None:
            raise Http404
        invitation_withdraw(invitation=invitation, actor=self.actor)
        messages.success(request, "The invitation's link works no more.")
        return redirect("dashboard:members", slug=self.tenant.slug)


class MemberView(TenantView):
    """Changing one member's role, or removing the member."""

    powers = OWNER

    def post(self, request: HttpRequest, member_id: int) -> HttpResponse:
        membership = Membership.objects.select_related("user").filter(pk=member_id).first()
        if membership is None:
            raise Http404
        name = membership.user.get_username()
        try:
            if "remove" in request.POST:
                member_dismiss(tenant=self.tenant, user=membership.user, actor=self.actor)
                messages.success(request, f"{name} is no member any more.")
            elif (form := RoleForm(request.POST)).is_valid():
                role = form.cleaned_data["role"]
                member_role_set(tenant=self.tenant, user=membership.user, role=role, actor=self.actor)
                messages.success(request, f"{name} is {role} now.")
            else:
                messages.error(request, f"A role is one of {', '.join(Role.values)}.")
        except (LastOwnerError, NoSuchMemberError) as error:
            messages.error(request, str(error))
        if membership.user == self.user and not self.user.is_staff:
            return redirect("dashboard:home")
        return redirect("dashboard:members", slug=self.tenant.slug)


class InvitationView(OpenView):
    """Where an invitation's link leads: to a new account, or straight in for who is signed in."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        return self._page(token)

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        invitation = invitation_get(token=token)
        if invitation is None:
            return self._page(token)
        try:
            if isinstance(request.user, User):
                invitation_accept(token=token, user=request.user)
            else:
                form = AccountForm(request.POST)
                if not form.is_valid():
                    return self._page(token, form=form, status=400)
                login(request, self._join(token, **form.cleaned_data), settings.PASSWORD_BACKEND)
        except IntegrityError:
            form.add_error("username", "This name is taken. If it is yours, sign in and open the link again.")
            return self._page(token, form=form, status=400)
        except InvitationOverError:
            return self._page(token)
        return redirect("dashboard:overview", slug=invitation.tenant.slug)

    @transaction.atomic
    def _join(self, token: str, *, username: str, password: str) -> User:
        """Without the invitation's address: nobody has shown that it is theirs, and addresses let accounts join."""
        user = User.objects.create_user(username, password=password)
        invitation_accept(token=token, user=user)
        return user

    def _page(self, token: str, *, form: AccountForm | None = None, status: int = 200) -> HttpResponse:
        invitation = invitation_get(token=token)
        context = {"invitation": invitation, "form": form or AccountForm()}
        return self.show("invitation", status=status if invitation else 410, **context)
