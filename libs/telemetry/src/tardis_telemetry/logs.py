"""Structured logs on top of the standard library, so that third-party lines take the same road."""

import logging
import sys
from typing import Literal

from tardis_telemetry.formats import JsonFormat, TextFormat


class Logger:
    """`log.info("slice fetched", exchange="bitmex", bytes=123)`: the message is constant, what varies is a field."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, message: str, /, **fields: object) -> None:
        self._log(logging.DEBUG, message, fields)

    def info(self, message: str, /, **fields: object) -> None:
        self._log(logging.INFO, message, fields)

    def warning(self, message: str, /, **fields: object) -> None:
        self._log(logging.WARNING, message, fields)

    def error(self, message: str, /, **fields: object) -> None:
        self._log(logging.ERROR, message, fields)

    def exception(self, message: str, /, **fields: object) -> None:
        """An error with the traceback of the exception that is being handled."""
        self._log(logging.ERROR, message, fields, exc_info=True)

    def _log(self, level: int, message: str, fields: dict[str, object], exc_info: bool = False) -> None:
        if self._logger.isEnabledFor(level):
            # As an argument, so that a "%" in the message stays what it is.
            self._logger.log(level, "%s", message, extra={"fields": fields}, exc_info=exc_info)


def get_logger(name: str) -> Logger:
    return Logger(name)


class _Handler(logging.StreamHandler):  # type: ignore[type-arg]
    """Ours, so that configuring twice replaces it and leaves other handlers alone."""


def configure_logs(format: Literal["text", "json"] = "text", level: str = "info", service: str = "tardis") -> None:
    """Send all logs of the process to stderr, one line per event."""
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, _Handler)]:
        root.removeHandler(old)
    handler = _Handler(sys.stderr)
    handler.setFormatter(JsonFormat(service) if format == "json" else TextFormat(service))
    root.addHandler(handler)
    root.setLevel(level.upper())
