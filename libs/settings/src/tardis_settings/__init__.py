"""One definition per setting: the field of a group gives flag, variable, file key, constructor argument and docs row."""

from tardis_settings.environment import environment
from tardis_settings.errors import Answered, InvalidPort, InvalidSetting, SettingsError, UnknownOption
from tardis_settings.groups import (
    GROUPS,
    HandoffOptions,
    MachineOptions,
    NatsOptions,
    ProcessOptions,
    PublisherOptions,
    ServerOptions,
    SimulatorOptions,
)
from tardis_settings.loading import Loaded, load, load_or_exit
from tardis_settings.options import Options, Setting, describe, setting

__all__ = [
    "GROUPS",
    "Answered",
    "HandoffOptions",
    "InvalidPort",
    "InvalidSetting",
    "Loaded",
    "MachineOptions",
    "NatsOptions",
    "Options",
    "ProcessOptions",
    "PublisherOptions",
    "ServerOptions",
    "Setting",
    "SettingsError",
    "SimulatorOptions",
    "UnknownOption",
    "describe",
    "environment",
    "load",
    "load_or_exit",
    "setting",
]
