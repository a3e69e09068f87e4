"""`tardis-simulator`: settings in, server up, SIGTERM out."""

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from tardis_settings import ProcessOptions, SimulatorOptions, load_or_exit
from tardis_simulator import __version__
from tardis_simulator.app import create_app
from tardis_telemetry import configure_logs, get_logger

log = get_logger(__name__)

STOP_TIMEOUT_S = 5


class Server(uvicorn.Server):
    """uvicorn raises a signal again after it has stopped, which ends the process with an error; a stop asked for is none."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        log.info("stopping")
        self.should_exit = True


def main() -> None:
    loaded = load_or_exit(ProcessOptions, SimulatorOptions, program="tardis-simulator", version=__version__)
    process, options = loaded[ProcessOptions], loaded[SimulatorOptions]
    configure_logs(process.log_format, process.log_level, "simulator")
    _check_folders(options)
    log.info("simulator starts", **{name.replace("-", "_"): value for name, value in loaded.describe().items()})
    config = uvicorn.Config(
        create_app(options),
        host=options.host,
        port=options.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
    )
    Server(config).run()


def _check_folders(options: SimulatorOptions) -> None:
    try:
        options.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        _refuse(f"simulator-data-dir: cannot be made ({error.strerror}), allowed: path of a folder that can be written")
    if options.overlay and not options.overlay.is_dir():
        _refuse("simulator-overlay: no such folder, allowed: path of a folder with recorded minutes")


def _refuse(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
