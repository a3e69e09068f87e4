"""The gateway's routes."""

from __future__ import annotations

import uuid

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from tardis_telemetry import ChildMetrics, render
from tardis_telemetry import catalogue as metrics

from .health import health
from .pool import WorkerPool
from .requests import RequestError, parse_normalized
from .streaming import ReplayResponse


def create_app(pool: WorkerPool, counts: ChildMetrics, *, stall_timeout_s: float) -> FastAPI:
    app = FastAPI(title="tardis", redirect_slashes=False)

    @app.get("/replay-normalized")
    @app.get("/replay-normalized/", include_in_schema=False)
    async def replay_normalized(request: Request) -> Response:
        """Normalized messages of a range, one JSON object per line."""
        try:
            wanted = parse_normalized(request.query_params.get("options"), uuid.uuid4().hex)
        except RequestError as error:
            return _refusal("/replay-normalized", error)
        return ReplayResponse(pool, wanted, route="/replay-normalized", stall_timeout_s=stall_timeout_s)

    @app.get("/health-check")
    @app.get("/health-check/", include_in_schema=False)
    async def health_check() -> Response:
        return Response(msgspec.json.encode(health()), media_type="application/json")

    @app.get("/live")
    async def live() -> Response:
        return Response(b"ok\n", media_type="text/plain")

    @app.get("/ready")
    async def ready() -> Response:
        status = 200 if pool.alive else 503
        body = msgspec.json.encode({"ready": bool(pool.alive), "workers": pool.alive})
        return Response(body, status, media_type="application/json")

    @app.get("/metrics")
    async def prometheus() -> Response:
        body, content_type = render(counts)
        return Response(body, media_type=content_type)

    @app.exception_handler(HTTPException)
    async def not_found(_: Request, error: HTTPException) -> Response:
        """The contract answers a wrong path or method with 404 and no body."""
        status = 404 if error.status_code in (404, 405) else error.status_code
        return Response(status_code=status)

    return app


def _refusal(route: str, error: RequestError) -> Response:
    metrics.GATEWAY_HTTP_REQUESTS.labels(route, "500").inc()
    media_type = "application/x-json-stream" if error.typed else None
    return Response(msgspec.json.encode({"message": str(error)}), 500, media_type=media_type)
