"""What every publisher takes, whatever its backend."""

from tardis_settings.options import Options, setting


class PublisherOptions(Options, prefix="publisher"):
    """Publisher."""

    port: int = setting(0, "Port of `/metrics`, `/live` and `/ready`; 0 listens on none.", ge=0, le=65535)
    drain_timeout_s: float = setting(10, "Seconds that packs in flight get after SIGTERM before they are given back.", ge=0)
