"""skaffold.yaml, the Dockerfile and .dockerignore name things that exist. No image is built here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy/image/Dockerfile").read_text()
SKAFFOLD: Any = yaml.safe_load((ROOT / "skaffold.yaml").read_text())


def copied() -> list[str]:
    """Sources that come out of the build context."""
    lines = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ") and "--from" not in line]
    return [source for sources in lines for source in sources]


def test_copied_sources_exist_and_are_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert set(copied()) == {"libs", "services", "requirements.lock"}
    for source in copied():
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored


@pytest.mark.parametrize("artifact", SKAFFOLD["build"]["artifacts"], ids=lambda artifact: str(artifact["image"]))
def test_an_artifact_is_a_service_that_the_dockerfile_can_build(artifact: Any) -> None:
    docker = artifact["docker"]
    service = docker["buildArgs"]["SERVICE"]
    assert (ROOT / docker["dockerfile"]).is_file()
    assert artifact["image"] == f"tardis-{service}"
    assert (ROOT / "services" / service / "pyproject.toml").is_file()
    assert f"services/{service}" not in (ROOT / ".dockerignore").read_text().split()


def test_skaffold_gives_each_image_to_a_value_of_the_chart() -> None:
    (release,) = SKAFFOLD["deploy"]["helm"]["releases"]
    values = yaml.safe_load((ROOT / release["chartPath"] / "values.yaml").read_text())
    given = release["setValueTemplates"]
    for path in (*given, *release["setValues"]):
        value = values
        for key in path.split("."):
            value = value[key]
    built = {f"{{{{.IMAGE_FULLY_QUALIFIED_{a['image'].replace('-', '_')}}}}}" for a in SKAFFOLD["build"]["artifacts"]}
    assert set(given.values()) == built


def test_the_tools_of_the_build_are_locked_with_hashes() -> None:
    program = re.search(r"awk '([^']+)' requirements.lock", DOCKERFILE)
    assert program
    tools = subprocess.run(["awk", program[1], str(ROOT / "requirements.lock")], capture_output=True, text=True, check=True).stdout
    blocks = re.split(r"\n(?=[a-z])", tools.strip())
    assert [block.partition("==")[0] for block in blocks] == ["cython", "setuptools", "uv"]
    assert all("--hash=sha256:" in block for block in blocks)


def test_wheels_become_lines_of_a_lock() -> None:
    program = re.search(r"sed -E '([^']+)' > own.lock", DOCKERFILE)
    assert program
    listed = "0a1b  wheels/tardis_gateway-0.1.0-py3-none-any.whl\n2c  wheels/tardis_market-0.1.0-cp311-cp311-linux_x86_64.whl\n"
    lock = subprocess.run(["sed", "-E", program[1]], input=listed, capture_output=True, text=True, check=True).stdout
    assert lock.splitlines() == ["tardis_gateway==0.1.0 --hash=sha256:0a1b", "tardis_market==0.1.0 --hash=sha256:2c"]


def test_the_image_runs_as_the_user_of_the_chart() -> None:
    pods = (ROOT / "deploy/helm/tardis/templates/_pods.tpl").read_text()
    wanted = set(re.findall(r"runAs(?:User|Group): (\d+)", pods))
    assert set(re.findall(r"--uid (\d+)", DOCKERFILE)) == wanted
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == [f"{user}:{user}" for user in wanted]
