"""Calls on those whom memories name."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from facts.models import OwnerKind
from facts.selectors import entities_list, entity_get, entity_is_known
from jobs.services import imports_erase
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.erasure import owner_erase
from api.outputs import DeletedManyOutput, EntityOutput, EntityPageOutput
from api.pagination import Pages
from api.views.base import READ, WRITE, TenantView
from api.views.memories import PAGE

ENTITY = [
    OpenApiParameter("entity_type", str, OpenApiParameter.PATH, enum=OwnerKind.values),
    OpenApiParameter("name", str, OpenApiParameter.PATH),
]


class EntitiesView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="entities_list",
        summary="Users, agents, apps and runs that memories name",
        description="All of them, unless `page` or `page_size` is given.",
        parameters=PAGE,
        responses=EntityPageOutput,
        tags=["entities"],
    )
    def get(self, request: Request) -> Response:
        entities = entities_list(tenant=self.tenant)
        if not {"page", "page_size"} & request.query_params.keys():
            whole = {"count": len(entities), "next": None, "previous": None, "results": entities}
            return Response(EntityPageOutput(whole).data)
        pages = Pages()
        page = pages.paginate_queryset(entities, request, view=self)
        return pages.get_paginated_response(EntityOutput(page, many=True).data)


@extend_schema(parameters=ENTITY, tags=["entities"])
class EntityView(TenantView):
    key_scopes = {"GET": READ, "DELETE": WRITE}

    @extend_schema(operation_id="entity_get", summary="A user, agent, app or run", responses=EntityOutput)
    def get(self, request: Request, entity_type: str, name: str) -> Response:
        entity = entity_get(tenant=self.tenant, kind=_kind(entity_type), name=_name(name))
        if entity is None:
            raise NotFound(f"No memory names the {entity_type} {name}.")
        return Response(EntityOutput(entity).data)

    @extend_schema(
        operation_id="entity_erase",
        summary="Erase a user, agent, app or run",
        description=(
            "All its memories go, with their history, the turns they came from, and every text of theirs. Exports "
            "that the project made before are dropped, for they repeat these texts."
        ),
        responses=DeletedManyOutput,
    )
    def delete(self, request: Request, entity_type: str, name: str) -> Response:
        return erase_entity(self, _kind(entity_type), _name(name))


def erase_entity(view: TenantView, kind: str, name: str) -> Response:
    """Of one that is only about to be imported, that is called off."""
    known = entity_is_known(tenant=view.tenant, kind=kind, name=name)
    if not known and not imports_erase(tenant=view.tenant, named={f"{kind}_id": name}):
        raise NotFound(f"No memory names the {kind} {name}.")
    erased = owner_erase(tenant=view.tenant, kind=kind, name=name, actor=view.caller.actor)
    answer = {"message": f"The {kind} is erased: {erased.count} memories.", "event_id": erased.event.pk}
    return Response(DeletedManyOutput(answer).data)


def _kind(entity_type: str) -> str:
    if entity_type not in OwnerKind.values:
        raise ValidationError({"entity_type": [f"Must be one of {', '.join(OwnerKind.values)}."]})
    return entity_type


def _name(name: str) -> str:
    """PostgreSQL takes no NUL, and no name holds one."""
    if "\x00" in name:
        raise NotFound("No memory names such an entity.")
    return name
