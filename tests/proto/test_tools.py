"""The schema's own tools: the committed code is fresh, and a breaking change does not pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
TOOLS = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(shutil.which("buf", path=f"{TOOLS}:{os.environ['PATH']}") is None, reason="buf is not installed")


def run(*command: str, cwd: Path = ROOT, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": f"{TOOLS}:{os.environ['PATH']}", "BUF_CACHE_DIR": str(cache)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def breaking(schemas: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    return run("buf", "breaking", str(schemas), "--against", str(SCHEMAS / "baseline.binpb"), cache=cache)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(SCHEMAS / "proto", tmp_path / "schemas" / "proto")
    shutil.copy(SCHEMAS / "buf.yaml", tmp_path / "schemas")
    return tmp_path / "schemas"


def edit(schemas: Path, file: str, before: str, after: str) -> None:
    path = schemas / "proto" / "lakehouse" / "bronze" / "v1" / file
    text = path.read_text()
    assert text.count(before) >= 1
    path.write_text(text.replace(before, after, 1))


def test_generated_code_is_what_the_schema_generates(tmp_path: Path) -> None:
    made = run("buf", "generate", "schemas", "--template", "schemas/buf.gen.yaml", "-o", str(tmp_path), cache=tmp_path / "cache")
    assert made.returncode == 0, made.stderr
    fresh, committed = (top / "libs/bronze/src/lakehouse/bronze/v1" for top in (tmp_path, ROOT))
    names = sorted(path.name for path in fresh.iterdir())
    assert names == sorted(path.name for path in committed.glob("*_pb2.py*"))
    for name in names:
        assert (fresh / name).read_text() == (committed / name).read_text(), f"{name} is stale: run `make proto`"


def test_the_check_passes(tmp_path: Path) -> None:
    done = run("schemas/proto.sh", "check", cache=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_unchanged_copy_does_not_break(copied: Path, tmp_path: Path) -> None:
    assert breaking(copied, tmp_path).returncode == 0


PLANTED = {
    "a field is renumbered": ("market.proto", "optional string price_str = 2;", "optional string price_str = 12;"),
    "a field is dropped": ("market.proto", "  int64 sequence = 5;\n", ""),
    "a type is changed": ("normalized_event.proto", "uint64 stream_seq = 13;", "string stream_seq = 13;"),
    "a payload case is renumbered": ("normalized_event.proto", "Trade trade = 100;", "Trade trade = 120;"),
    "an enum value is renumbered": ("enums.proto", "SIDE_SELL = 2;", "SIDE_SELL = 3;"),
    "a field is renamed": ("control.proto", "string reason = 1;", "string cause = 1;"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_breaking_change_is_caught(what: str, copied: Path, tmp_path: Path) -> None:
    edit(copied, *PLANTED[what])
    done = breaking(copied, tmp_path)
    assert done.returncode != 0
    assert PLANTED[what][0] in done.stdout


def test_a_new_field_does_not_break(copied: Path, tmp_path: Path) -> None:
    edit(copied, "market.proto", "int64 sequence = 5;", "int64 sequence = 5;\n  optional string venue = 6;")
    done = breaking(copied, tmp_path)
    assert done.returncode == 0, done.stdout
