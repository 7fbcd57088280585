"""What the web process counts of itself, and the page that says it."""

from config.metrics import SECONDS, exposition
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from prometheus_client import Counter, Histogram

REQUESTS = Counter("inferscale_web_requests", "Requests that were answered.", ("method", "view", "status"))
DURATION = Histogram("inferscale_web_request_seconds", "From a request to its answer.", ("view",), buckets=SECONDS)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def count_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match
    view = (match.view_name or "unnamed") if match else "none"
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(method, view, str(response.status_code)).inc()
    DURATION.labels(view).observe(seconds)


def metrics_view(request: HttpRequest) -> HttpResponse:
    """Open, like the health paths: the proxy does not lead here."""
    page, content_type = exposition()
    return HttpResponse(page, content_type=content_type)
