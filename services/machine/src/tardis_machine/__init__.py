"""Everything on one machine."""

from .machine import Machine
from .settings import MachineSettings

__all__ = ["Machine", "MachineSettings"]
