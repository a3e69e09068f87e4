"""Everything on one machine."""

from tardis_settings.kinds import Switch
from tardis_settings.options import Options, setting


class MachineOptions(Options):
    """One machine."""

    demo: Switch = setting(False, "Take made-up data from the built-in simulator while no API key is set.")
