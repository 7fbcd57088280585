"""Import and export. Both are jobs of the workers."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from jobs.models import Job, JobKind, JobState
from jobs.selectors import export_latest, job_get, job_lines, job_refusals, part_body
from jobs.services import NewPart, job_create, job_delete
from rest_framework.exceptions import NotFound
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from tenants.models import Tenant

from api.errors import Conflict
from api.inputs.transfers import ExportGetInput, ExportInput, ImportInput, read_row
from api.outputs import MemoryOutput, MessageOutput
from api.outputs.jobs import ExportCreatedOutput, ExportOutput, ImportOutput, JobOutput
from api.parsers import JSONLinesParser, JSONObjectParser
from api.views.base import READ, WRITE, TenantView, parse_id

ROWS = 200
EXPORT = OpenApiParameter("export_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
IMPORT = OpenApiParameter("import_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class ExportsView(TenantView):
    key_scopes = {"POST": READ}

    @extend_schema(
        operation_id="export_create",
        summary="Export memories",
        description="Expired ones too. Kept for 7 days.",
        request=ExportInput,
        responses={201: ExportCreatedOutput},
        tags=["import and export"],
    )
    def post(self, request: Request) -> Response:
        given = ExportInput.checked(request.data)
        job = job_create(tenant=self.tenant, kind=JobKind.EXPORT, options=given, actor=self.caller.actor)
        answer = {"message": "The export will be ready soon.", "id": job.pk, "event_id": job.event_id}
        return Response(ExportCreatedOutput(answer).data, status=201)


class ExportGetView(TenantView):
    key_scopes = {"POST": READ}
    keeps_answers = False

    @extend_schema(
        operation_id="export_read",
        summary="What an export wrote",
        description="By its id, or the latest of the same filters. 202 while it is written.",
        request=ExportGetInput,
        responses={200: ExportOutput, 202: JobOutput},
        tags=["import and export"],
    )
    def post(self, request: Request) -> HttpResponseBase:
        given = ExportGetInput.checked(request.data)
        if (export_id := given.get("memory_export_id")) is not None:
            job = found_export(self.tenant, export_id)
        elif (latest := export_latest(tenant=self.tenant, filters=given["filters"])) is not None:
            job = latest
        else:
            raise NotFound("There is no export of these filters.")
        if job.state == JobState.FAILED:
            raise Conflict(f"The export failed: {job.error}")
        if job.state != JobState.SUCCEEDED:
            return Response(JobOutput(job).data, status=202)
        return StreamingHttpResponse(_export_answer(job), content_type="application/json")


@extend_schema(parameters=[EXPORT], tags=["import and export"])
class ExportView(TenantView):
    key_scopes = {"GET": READ, "DELETE": WRITE}

    @extend_schema(operation_id="export_get", summary="How far an export is", responses=JobOutput)
    def get(self, request: Request, export_id: str) -> Response:
        return Response(JobOutput(found_export(self.tenant, parse_id(export_id, "export_id"))).data)

    @extend_schema(operation_id="export_delete", summary="Delete an export", responses=MessageOutput)
    def delete(self, request: Request, export_id: str) -> Response:
        job_delete(job=found_export(self.tenant, parse_id(export_id, "export_id")))
        return Response(MessageOutput({"message": "Export deleted."}).data)


class DownloadView(TenantView):
    key_scopes = {"GET": READ}

    @extend_schema(
        operation_id="export_download",
        summary="An export as JSON lines, which import takes",
        parameters=[EXPORT],
        responses={(200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR)},
        tags=["import and export"],
    )
    def get(self, request: Request, export_id: str) -> HttpResponseBase:
        job = found_export(self.tenant, parse_id(export_id, "export_id"))
        if job.state != JobState.SUCCEEDED:
            raise Conflict(f"The export is {job.state.lower()}: {job.done} of {job.total} memories are written.")
        name = f"memories-{job.created_at:%Y-%m-%d}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(job_lines(job=job), content_type="application/x-ndjson", headers=headers)


class ImportsView(TenantView):
    key_scopes = {"POST": WRITE}
    parser_classes = (JSONObjectParser, JSONLinesParser)

    @extend_schema(
        operation_id="import_create",
        summary="Import memories",
        description=(
            "JSON lines (`application/x-ndjson`), or an object with `memories` or `results`, as exports and lists of "
            "this API and of Mem0's have it. What cannot be stored is refused row by row, with the reason; memories "
            "that are there already are not stored twice, so an import can be sent again."
        ),
        request={"application/json": ImportInput, "application/x-ndjson": OpenApiTypes.STR},
        responses={202: ImportOutput},
        tags=["import and export"],
    )
    def post(self, request: Request) -> Response:
        rows = ImportInput.checked(request.data)["rows"]
        accepted: list[dict[str, Any]] = []
        refusals: list[dict[str, Any]] = []
        for line, row in enumerate(rows, 1):
            try:
                accepted.append({"line": line, **read_row(row)})
            except ValueError as error:
                refusals.append({"line": line, "reason": str(error)[:500]})
        job = job_create(
            tenant=self.tenant,
            kind=JobKind.IMPORT,
            options={},
            actor=self.caller.actor,
            parts=list(_parts(accepted)),
            total=len(rows),
            refusals=refusals,
        )
        return Response(_import_answer(job), status=202)


class ImportView(TenantView):
    key_scopes = {"GET": WRITE}

    @extend_schema(
        operation_id="import_get",
        summary="How far an import is, and what was refused",
        parameters=[IMPORT],
        responses=ImportOutput,
        tags=["import and export"],
    )
    def get(self, request: Request, import_id: str) -> Response:
        job = job_get(tenant=self.tenant, kind=JobKind.IMPORT, job_id=parse_id(import_id, "import_id"))
        if job is None:
            raise NotFound(f"There is no import {import_id}.")
        return Response(_import_answer(job))


def found_export(tenant: Tenant, export_id: UUID) -> Job:
    job = job_get(tenant=tenant, kind=JobKind.EXPORT, job_id=export_id)
    if job is None:
        raise NotFound(f"There is no export {export_id}.")
    return job


def chosen_fields(schema: dict[str, Any]) -> list[str]:
    """The schema's properties that a memory has; all of a memory's when it has none of them."""
    properties = schema.get("properties")
    wanted = properties if isinstance(properties, dict) else {}
    fields = MemoryOutput.Meta.fields
    return [name for name in fields if name in wanted] or list(fields)


async def _export_answer(job: Job) -> AsyncIterator[bytes]:
    """An ExportOutput, a part of the export at a time."""
    names = chosen_fields(job.options["schema"])
    head = JSONRenderer().render({"id": job.pk, "status": job.state, "memories": []})
    yield head.removesuffix(b"]}")
    between = b""
    async for body in job_lines(job=job):
        rows = (json.loads(line) for line in body.split("\n") if line)
        memories = JSONRenderer().render([{name: row[name] for name in names} for row in rows])
        yield between + memories[1:-1]
        between = b","
    yield b"]}"


def _parts(rows: list[dict[str, Any]]) -> Iterator[NewPart]:
    for start in range(0, len(rows), ROWS):
        chunk = rows[start : start + ROWS]
        yield NewPart(part_body(chunk), len(chunk))


def _import_answer(job: Job) -> Any:
    return ImportOutput(job, context={"refusals": job_refusals(job=job)}).data
