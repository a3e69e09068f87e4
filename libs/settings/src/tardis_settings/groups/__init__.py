"""All groups of settings that exist, in the order in which the reference lists them."""

from tardis_settings.groups.handoff import HandoffOptions
from tardis_settings.groups.machine import MachineOptions
from tardis_settings.groups.nats import NatsOptions
from tardis_settings.groups.publisher import PublisherOptions
from tardis_settings.groups.server import ProcessOptions, ServerOptions
from tardis_settings.groups.simulator import SimulatorOptions
from tardis_settings.options import Options

GROUPS: tuple[type[Options], ...] = (
    ProcessOptions,
    ServerOptions,
    MachineOptions,
    HandoffOptions,
    PublisherOptions,
    NatsOptions,
    SimulatorOptions,
)

__all__ = [
    "GROUPS",
    "HandoffOptions",
    "MachineOptions",
    "NatsOptions",
    "ProcessOptions",
    "PublisherOptions",
    "ServerOptions",
    "SimulatorOptions",
]
