"""The way in: the first page, signing in and out."""

from math import ceil

from django.contrib.auth import logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from tenants.access import tenants_of
from tenants.logins import locked_until
from tenants.models import Tenant

from frontend.views.base import OpenView, SignedInView, secured


class HomeView(OpenView):
    """Leads on to where somebody who comes for the first time, or again, has to go."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect("dashboard:login" if User.objects.exists() else "dashboard:welcome")
        first = tenants_of(request.user).order_by("-is_active", "name", "pk").first()
        if first is not None:
            return redirect("dashboard:overview", slug=first.slug)
        is_first_run = request.user.is_staff and not Tenant.objects.exists()
        return redirect("dashboard:welcome" if is_first_run else "dashboard:tenants")


class SignInView(OpenView, LoginView):
    template_name = "frontend/login.html"
    redirect_authenticated_user = True
    next_page = "dashboard:home"


def locked_out(request: HttpRequest, *_: object) -> HttpResponse:
    """What whoever failed too often gets in place of the log-in's own answer, the admin's too."""
    until = locked_until(request)
    context = {"form": AuthenticationForm(request), "locked_until": until, "next": request.POST.get("next", "")}
    response = render(request, "frontend/login.html", context, status=429)
    response.headers["Retry-After"] = str(max(1, ceil((until - timezone.now()).total_seconds())))
    return secured(response)


class SignOutView(SignedInView):
    def post(self, request: HttpRequest) -> HttpResponse:
        logout(request)
        return redirect("dashboard:login")
