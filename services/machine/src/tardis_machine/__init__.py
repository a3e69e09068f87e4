"""Everything on one machine."""

from .machine import Machine, MachineSettings

__all__ = ["Machine", "MachineSettings"]
