"""The chart's values: what is refused, and that schema, defaults and settings know the same names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tardis_settings import NatsOptions

CHART = Path(__file__).parents[2] / "deploy/helm/tardis"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or "helm"
SCHEMA: Any = json.loads((CHART / "values.schema.json").read_text())

QUEUE = {"url": "nats://queue:4222"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"backends": {"nats": {"enabled": True}}}, "queue.url"),
        ({"queue": QUEUE, "backends": {"nats": {"enabled": True}}}, "backends.nats.settings.servers"),
        (
            {"queue": QUEUE, "backends": {"nats": {"enabled": True, "settings": {"servers": ["a"]}}}},
            "backends.nats.settings.subject",
        ),
        ({"demo": {"enabled": True}, "apiKey": {"existingSecret": "vendor"}}, "apiKey.existingSecret"),
        ({"demo": {"enabled": True}, "gateway": {"settings": {"apiUrl": "http://elsewhere"}}}, "gateway.settings.apiUrl"),
        ({"gatway": {}}, "gatway"),
        ({"gateway": {"settings": {"drainTimeout": 5}}}, "drainTimeout"),
        ({"gateway": {"settings": {"drainTimeoutS": None}}}, "drainTimeoutS"),
        ({"backends": {"pulsar": {"enabled": True}}}, "pulsar"),
        ({"queue": {"url": "nats://me:secret@queue:4222"}}, "queue.url"),
        ({"queue": {"login": {"method": "nkey"}}}, "queue.login.method"),
    ],
)
def test_a_wrong_value_is_refused_by_name(values: dict[str, Any], named: str) -> None:
    words = [HELM, "template", "demo", str(CHART), "--values", "-"]
    done = subprocess.run(words, input=json.dumps(values), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert named in done.stderr


def test_the_schema_is_closed_wherever_it_lists_properties() -> None:
    def open_objects(schema: Any, path: str) -> list[str]:
        if not isinstance(schema, dict):
            return []
        inner = [found for key, part in schema.items() for found in open_objects(part, f"{path}/{key}")]
        listed = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
        return [path, *inner] if listed and schema.get("additionalProperties") is not False else inner

    assert open_objects(SCHEMA, "") == []


def test_every_value_is_in_the_schema_and_the_other_way_round() -> None:
    def names(part: Any, path: str = "") -> set[str]:
        part = SCHEMA["definitions"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
        if part is SCHEMA["definitions"]["resources"] or "properties" not in part:
            return {path}
        return {found for key, inner in part["properties"].items() for found in names(inner, f"{path}.{key}")}

    def given(values: Any, path: str = "") -> set[str]:
        if not isinstance(values, dict) or not values or path.endswith(".resources"):
            return {path}
        return {found for key, inner in values.items() for found in given(inner, f"{path}.{key}")}

    assert given(yaml.safe_load((CHART / "values.yaml").read_text())) == names(SCHEMA) - {".global"}


def test_the_schema_offers_every_setting_of_a_backend() -> None:
    """A login comes from a Secret; all else that the group knows has a value in the chart, and nothing else has."""
    offered = SCHEMA["properties"]["backends"]["properties"]["nats"]["properties"]["settings"]["properties"]
    own = {s.name.removeprefix("nats-") for s in NatsOptions.settings()} - {"user", "pass", "token", "creds"}
    assert {_kebab(name) for name in offered} == own


def _kebab(camel: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in camel)
