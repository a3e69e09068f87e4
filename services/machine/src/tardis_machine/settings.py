"""The settings of one machine, and what each of its programs gets to see of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tardis_settings import (
    HandoffOptions,
    MachineOptions,
    NatsOptions,
    ProcessOptions,
    PublisherOptions,
    ServerOptions,
    SimulatorOptions,
    environment,
)


@dataclass(frozen=True, kw_only=True)
class MachineSettings:
    machine: MachineOptions
    server: ServerOptions
    handoff: HandoffOptions
    publisher: PublisherOptions
    nats: NatsOptions
    simulator: SimulatorOptions

    @property
    def simulated(self) -> bool:
        return self.machine.demo and self.server.api_key is None

    @property
    def backends(self) -> tuple[str, ...]:
        return ("nats",) if self.nats.enabled else ()

    @property
    def queue_url(self) -> str:
        return self.handoff.url or f"nats://127.0.0.1:{self.handoff.embedded_port}"

    @property
    def api_url(self) -> str:
        return f"http://{self.simulator.host}:{self.simulator.port}/v1" if self.simulated else self.server.api_url

    @property
    def cache_dir(self) -> Path:
        """Made-up slices must never be taken for real ones."""
        return self.server.cache_dir / "demo" if self.simulated else self.server.cache_dir

    def problem(self) -> str | None:
        """What contradicts itself, beginning with the name of the setting."""
        if self.handoff.backends and set(self.handoff.backends) != set(self.backends):
            given, allowed = ",".join(self.handoff.backends), ",".join(self.backends) or "none, as no backend is configured"
            return f"handoff-backends: {given} does not fit what is configured on this machine, allowed: {allowed}"
        return None

    def of_gateway(self) -> dict[str, str]:
        server = self.server.model_copy(update={"api_url": self.api_url, "cache_dir": self.cache_dir, "config": None})
        return environment(server, self._handoff) if self.backends else environment(server)

    def of_publisher(self) -> dict[str, str]:
        return environment(self._process, self._handoff, self.publisher, self.nats)

    def of_simulator(self) -> dict[str, str]:
        return environment(self._process, self.simulator)

    @property
    def _handoff(self) -> HandoffOptions:
        return self.handoff.model_copy(update={"url": self.queue_url, "backends": self.backends})

    @property
    def _process(self) -> ProcessOptions:
        server = self.server
        level = "debug" if server.debug else server.log_level
        return ProcessOptions(log_format=server.log_format, log_level=level, otlp_endpoint=server.otlp_endpoint)
