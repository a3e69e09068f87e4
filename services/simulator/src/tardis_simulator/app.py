"""The routes."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import BinaryIO

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tardis_settings import SimulatorOptions
from tardis_simulator import listings
from tardis_simulator.delivery import Delivery
from tardis_simulator.faults import Fault, Faults
from tardis_simulator.feeds import FEEDS
from tardis_simulator.queries import Access, ApiError, read_slice
from tardis_simulator.recipe import Recipe
from tardis_simulator.slices import Pantry, Slice
from tardis_simulator.stats import Counting, Stats
from tardis_simulator.store import MinuteStore
from tardis_simulator.workshop import Workshop
from tardis_telemetry import render

MAX_QUERY_BYTES = 32 * 1024
MAX_BODY_BYTES = 64 * 1024
SUGGESTED_SLICE_SIZE = 1


def answer_json(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON with the blanks that the vendor writes: clients are shown error bodies to the letter."""
    return Response(json.dumps(body), status, headers, media_type="application/json")


class Simulator:
    """The endpoints and what they share."""

    def __init__(self, options: SimulatorOptions) -> None:
        self.recipe = Recipe.of(options)
        self.pantry = Pantry(MinuteStore(options.data_dir, self.recipe), options.max_minutes, options.overlay)
        self.workshop = Workshop(self.pantry, options.data_max_bytes)
        self.access = Access(options.api_key.get_secret_value() if options.api_key else None)
        self.faults = Faults()
        self.stats = Stats()

    async def data_feeds(self, request: Request) -> Response | Delivery:
        if len(request.scope["query_string"]) > MAX_QUERY_BYTES:
            raise ApiError(414, 414, f"query is longer than {MAX_QUERY_BYTES} bytes.")
        authorization = request.headers.get("authorization")
        wanted = read_slice(request.path_params["exchange"], request.query_params, authorization, self.pantry, self.access)
        self.stats.slice(wanted)
        fault = self.faults.take(wanted)
        if fault and fault.status:
            headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
            return answer_json({"code": fault.status, "message": "injected failure"}, fault.status, headers)
        headers = {
            "content-type": "application/x-ndjson",
            "content-encoding": wanted.compression,
            "x-slice-size": str(wanted.size),
            "x-suggested-slice-size": str(SUGGESTED_SLICE_SIZE),
        }
        return Delivery(await self._body(wanted, fault), headers, fault)

    async def _body(self, wanted: Slice, fault: Fault | None) -> BinaryIO:
        if fault and (fault.garbage or fault.garbage_line):
            return io.BytesIO(await self.workshop.damaged(wanted, garbage_line=fault.garbage_line, garbage=fault.garbage))
        if self.pantry.is_recorded(wanted):
            return io.BytesIO(await self.workshop.fresh(wanted))
        return await self.workshop.answer(wanted)

    async def exchanges(self, request: Request) -> Response:
        return answer_json(listings.exchanges())

    async def exchange(self, request: Request) -> Response:
        return answer_json(listings.exchange_details(self._known(request), self.recipe))

    async def instruments(self, request: Request) -> Response:
        return answer_json(listings.instruments(self._known(request), self.recipe))

    def _known(self, request: Request) -> str:
        name = str(request.path_params["exchange"])
        if name not in FEEDS:
            raise ApiError(404, 404, f"There is no exchange with id: '{name}'")
        return name

    async def api_key_info(self, request: Request) -> Response:
        self.access.check(request.headers.get("authorization"))
        return answer_json(listings.key_info())

    async def show_faults(self, request: Request) -> Response:
        return answer_json(self.faults.describe())

    async def add_fault(self, request: Request) -> Response:
        try:
            fault = Fault.model_validate_json(await read_body(request))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "fault"
            raise ApiError(400, 400, f"{where}: {first['msg']}") from None
        if not self.faults.add(fault):
            raise ApiError(409, 409, "too many faults, DELETE /faults clears them.")
        return answer_json(self.faults.describe(), 201)

    async def clear_faults(self, request: Request) -> Response:
        self.faults.clear()
        return answer_json([])

    async def show_stats(self, request: Request) -> Response:
        return answer_json(self.stats.describe())

    async def clear_stats(self, request: Request) -> Response:
        self.stats.clear()
        return answer_json(self.stats.describe())

    async def ready(self, request: Request) -> Response:
        return answer_json({"ready": True})

    async def metrics(self, request: Request) -> Response:
        body, content_type = render()
        return Response(body, headers={"content-type": content_type})

    def routes(self) -> list[Route]:
        return [
            Route("/v1/data-feeds/{exchange}", self.data_feeds),
            Route("/v1/exchanges", self.exchanges),
            Route("/v1/exchanges/{exchange}", self.exchange),
            Route("/v1/instruments/{exchange}", self.instruments),
            Route("/v1/api-key-info", self.api_key_info),
            Route("/faults", self.show_faults),
            Route("/faults", self.add_fault, methods=["POST"]),
            Route("/faults", self.clear_faults, methods=["DELETE"]),
            Route("/stats", self.show_stats),
            Route("/stats", self.clear_stats, methods=["DELETE"]),
            Route("/ready", self.ready),
            Route("/metrics", self.metrics),
        ]


async def read_body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise ApiError(413, 413, f"body is longer than {MAX_BODY_BYTES} bytes.")
    return body


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return answer_json(error.body, error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = "not found" if error.status_code == 404 else error.detail
    return answer_json({"code": error.status_code, "message": message}, error.status_code)


def create_app(options: SimulatorOptions) -> Starlette:
    simulator = Simulator(options)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        simulator.workshop.close()

    return Starlette(
        routes=simulator.routes(),
        middleware=[Middleware(Counting, stats=simulator.stats)],
        exception_handlers={ApiError: _api_error, HTTPException: _http_error},
        lifespan=lifespan,
    )
