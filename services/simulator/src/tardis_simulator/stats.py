"""Request counts: by route and status, and by slice, so that a test can see what a client fetched twice."""

from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tardis_simulator.slices import Slice
from tardis_telemetry.catalogue import SIMULATOR_REQUESTS

MAX_SLICES = 100_000


class Stats:
    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.slices: Counter[str] = Counter()

    def request(self, route: str, status: int) -> None:
        self.requests[f"{route} {status}"] += 1
        SIMULATOR_REQUESTS.labels(route=route, status=str(status)).inc()

    def slice(self, wanted: Slice) -> None:
        key = f"{wanted.exchange} {wanted.start.isoformat()} {wanted.size}"
        if key in self.slices or len(self.slices) < MAX_SLICES:
            self.slices[key] += 1

    def clear(self) -> None:
        self.requests.clear()
        self.slices.clear()

    def describe(self) -> dict[str, object]:
        return {"requests": dict(self.requests), "slices": dict(self.slices)}


class Counting:
    """Middleware that counts every answer under the name of its endpoint."""

    def __init__(self, app: ASGIApp, stats: Stats) -> None:
        self._app = app
        self._stats = stats

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                endpoint = scope.get("endpoint")
                self._stats.request(getattr(endpoint, "__name__", "unknown"), message["status"])
            await send(message)

        await self._app(scope, receive, counted)
