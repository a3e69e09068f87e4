"""Log lines as an operator sees them."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tardis_telemetry import configure_logs, get_logger, log_context

log = get_logger("tardis_telemetry.tests")


@pytest.fixture(autouse=True)
def _restore_root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


class Lines:
    """What was written to stderr since the last look."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def configure(self, form: Literal["text", "json"], level: str = "info") -> None:
        configure_logs(form, level, "gateway")

    def read(self) -> list[str]:
        return self._capture.readouterr().err.splitlines()

    def one(self) -> dict[str, Any]:
        (line,) = self.read()
        parsed = json.loads(line)
        assert isinstance(parsed, dict)
        return parsed


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    return Lines(capsys)


def test_a_text_line(lines: Lines) -> None:
    lines.configure("text")
    log.info("slice fetched", exchange="bitmex", bytes=123, note="two words", gap=None, ok=True)
    (line,) = lines.read()
    assert line.endswith(
        'INFO gateway tardis_telemetry.tests: slice fetched exchange=bitmex bytes=123 note="two words" gap=null ok=true'
    )


def test_a_json_line_keeps_numbers_and_its_own_head(lines: Lines) -> None:
    lines.configure("json")
    log.warning("slow", seconds=1.5, level="mine", bad=float("nan"), parts=["a", 1])
    line = lines.one()
    assert line["level"] == "warning"
    assert line["level_"] == "mine"
    assert line["seconds"] == 1.5
    assert line["bad"] == "nan"
    assert line["parts"] == '["a", 1]'
    assert line["service"] == "gateway"


def test_levels_and_reconfiguring(lines: Lines) -> None:
    lines.configure("json", "debug")
    lines.configure("json", "warning")
    log.debug("no")
    log.info("no")
    log.error("yes")
    assert lines.one()["message"] == "yes"
    lines.configure("json", "debug")
    log.debug("now")
    assert lines.one()["level"] == "debug"


async def test_context_follows_tasks_and_ends_with_its_block(lines: Lines) -> None:
    lines.configure("json")

    async def work() -> None:
        with log_context(stream_id="s"):
            await asyncio.sleep(0)
            log.info("inside", own=1)

    with log_context(request_id="r"):
        await asyncio.create_task(work())
        line = lines.one()
        assert (line["request_id"], line["stream_id"], line["own"]) == ("r", "s", 1)
        log.info("outside")
        assert "stream_id" not in lines.one()
    log.info("after")
    assert "request_id" not in lines.one()


def test_secrets_in_messages_fields_and_exceptions(lines: Lines) -> None:
    for form in ("text", "json"):
        lines.configure(form)
        try:
            raise ValueError("GET https://u:s3cret@host/?apiKey=s3cret failed")
        except ValueError:
            log.exception("failed with token=s3cret", password="s3cret", detail={"secret": "s3cret"}, url="http://a:s3cret@b")
        (line,) = lines.read()
        assert "s3cret" not in line
        assert "ValueError" in line
        assert "Traceback" in line


def test_lines_of_other_libraries_are_scrubbed_too(lines: Lines) -> None:
    lines.configure("json")
    logging.getLogger("uvicorn.error").warning("%s from %s", "token=s3cret", "peer")
    assert lines.one()["message"] == "token=*** from peer"


def test_values_are_cut_and_broken_ones_survive(lines: Lines) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    lines.configure("json")
    log.info("x" * 5_000, big="y" * 100_000, broken=Broken(), **{f"f{i}": i for i in range(100)})
    line = lines.one()
    assert line["big"].endswith("… (100000 characters)")
    assert line["broken"] == "<unprintable Broken>"
    assert len(line["message"]) < 3_000
    assert "f90" not in line


def test_a_percent_sign_is_only_a_percent_sign(lines: Lines) -> None:
    lines.configure("text")
    log.info("100 %s done %d")
    assert "100 %s done %d" in lines.read()[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(min_size=1, max_size=10))
def test_no_text_breaks_or_forges_a_line(lines: Lines, message: str, value: str, name: str) -> None:
    for form in ("text", "json"):
        lines.configure(form)
        log.info(message, **{name: value})
        assert len(lines.read()) == 1
