"""The chart, rendered by helm: what it makes of its values, and that the programs accept what it gives them."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tardis_settings import (
    GROUPS,
    HandoffOptions,
    NatsOptions,
    Options,
    ProcessOptions,
    PublisherOptions,
    ServerOptions,
    SimulatorOptions,
    load,
)

CHART = Path(__file__).parents[2] / "deploy/helm/tardis"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or "helm"

Values = dict[str, Any]
NATS: Values = {
    "queue": {"url": "nats://queue:4222"},
    "backends": {"nats": {"enabled": True, "settings": {"servers": ["a:4222", "b:4222"], "subject": "market.bronze"}}},
}
DEMO: Values = {"demo": {"enabled": True}}
LOGINS: Values = {
    "apiKey": {"existingSecret": "vendor", "key": "k"},
    "queue": {"url": "nats://queue:4222", "login": {"existingSecret": "queue", "method": "password"}},
    "backends": {"nats": {**NATS["backends"]["nats"], "login": {"existingSecret": "target", "method": "token"}}},
}
ALL_FLAVOURS = pytest.mark.parametrize(
    "values", [{}, NATS, DEMO, {**NATS, **DEMO}, LOGINS], ids=["default", "nats", "demo", "both", "logins"]
)


def helm(values: Values, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HELM, *words, "--values", "-"], input=json.dumps(values), capture_output=True, text=True, check=False)


@cache
def _rendered(values: str, release: str) -> str:
    done = helm(json.loads(values), "template", release, str(CHART), "--namespace", "market")
    assert done.returncode == 0, done.stderr
    return done.stdout


class Objects:
    """What the chart makes of some values, by kind and name."""

    def __init__(self, values: Values, release: str = "demo") -> None:
        documents = yaml.safe_load_all(_rendered(json.dumps(values), release))
        self.all = {(d["kind"], d["metadata"]["name"]): d for d in documents if d}

    def __getitem__(self, key: tuple[str, str]) -> Any:
        return self.all[key]

    def of(self, kind: str) -> dict[str, Any]:
        return {name: found for (k, name), found in self.all.items() if k == kind}

    def pod(self, name: str) -> Any:
        return self["Deployment", name]["spec"]["template"]["spec"]

    def containers(self) -> list[tuple[Any, Any]]:
        """Every container with its pod, init containers included."""
        pods = [d["spec"]["template"]["spec"] for d in self.of("Deployment").values()]
        return [(pod, container) for pod in pods for container in (*pod.get("initContainers", ()), *pod["containers"])]

    def environment(self, container: Any) -> dict[str, str]:
        """As the container sees it; a value out of a Secret reads `secret/key`."""
        found: dict[str, str] = {}
        for source in container["envFrom"]:
            found |= self["ConfigMap", source["configMapRef"]["name"]]["data"]
        for variable in container.get("env", ()):
            reference = variable.get("valueFrom", {}).get("secretKeyRef")
            found[variable["name"]] = f"{reference['name']}/{reference['key']}" if reference else variable["value"]
        return found


def checksum(objects: Objects, deployment: str) -> str:
    return str(objects["Deployment", deployment]["spec"]["template"]["metadata"]["annotations"]["checksum/settings"])


@ALL_FLAVOURS
def test_lint_is_content(values: Values) -> None:
    done = helm(values, "lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout + done.stderr


def test_by_default_there_is_a_gateway_and_nothing_else() -> None:
    assert set(Objects({}).all) == {
        ("ConfigMap", "demo-tardis-gateway"),
        ("Deployment", "demo-tardis-gateway"),
        ("PodDisruptionBudget", "demo-tardis-gateway"),
        ("Service", "demo-tardis-gateway"),
        ("ServiceAccount", "demo-tardis"),
    }
    assert "initContainers" not in Objects({}).pod("demo-tardis-gateway")
    assert not any(name.startswith("TM_HANDOFF") for name in Objects({})["ConfigMap", "demo-tardis-gateway"]["data"])


def test_an_enabled_backend_has_a_publisher_that_provisions_the_queue() -> None:
    objects = Objects(NATS)
    publisher = objects.pod("demo-tardis-publisher-nats")
    assert publisher["containers"][0]["command"] == ["tardis-publisher", "nats"]
    (init,) = publisher["initContainers"]
    assert init["command"] == ["tardis", "provision"]
    assert objects.environment(init)["TM_HANDOFF_BACKENDS"] == "nats"
    (container,) = publisher["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": int(objects.environment(container)["TM_PUBLISHER_PORT"])}]
    assert (container["livenessProbe"]["httpGet"]["path"], container["readinessProbe"]["httpGet"]["path"]) == ("/live", "/ready")
    # The gateway must start, serve and spool while the queue is away.
    assert "initContainers" not in objects.pod("demo-tardis-gateway")


def test_a_demo_takes_its_data_from_the_simulator() -> None:
    objects = Objects(DEMO)
    (port,) = objects["Service", "demo-tardis-simulator"]["spec"]["ports"]
    address = objects["ConfigMap", "demo-tardis-gateway"]["data"]["TM_API_URL"]
    assert address == f"http://demo-tardis-simulator:{port['port']}/v1"


@ALL_FLAVOURS
def test_every_variable_is_a_setting(values: Values) -> None:
    settings = [s for group in GROUPS for s in group.settings()]
    known = {s.env for s in settings} | {f"{s.env}_FILE" for s in settings if s.secret}
    objects = Objects(values)
    for _, container in objects.containers():
        assert objects.environment(container).keys() <= known


PROGRAMS: dict[str, tuple[type[Options], ...]] = {
    "tardis-gateway": (ServerOptions, HandoffOptions),
    "tardis-publisher": (ProcessOptions, HandoffOptions, NatsOptions, PublisherOptions),
    "tardis-simulator": (ProcessOptions, SimulatorOptions),
    "tardis": (ProcessOptions, HandoffOptions),
}


@ALL_FLAVOURS
def test_the_programs_accept_their_environment(values: Values, tmp_path: Path) -> None:
    objects = Objects(values)
    for _, container in objects.containers():
        environment = objects.environment(container)
        for name in [name for name in environment if name.endswith("_FILE")]:
            environment[name] = str(tmp_path / "secret")
        (tmp_path / "secret").write_text("s3cret\n")
        load(*PROGRAMS[container["command"][0]], argv=[], env=environment)


def test_settings_arrive_as_given() -> None:
    nats = {"servers": ["a:4222", "tls://b:4222"], "subject": "x.y", "maxBatchSize": 100_000, "retryMaxElapsedS": 2.5}
    simulator = {"rate": 1_000_000, "disconnectEvery": 0, "dataMaxBytes": 5_000_000}
    objects = Objects(
        {
            "queue": NATS["queue"],
            "backends": {"nats": {"enabled": True, "settings": nats}},
            "demo": {"enabled": True, "settings": simulator},
        }
    )
    target = load(NatsOptions, argv=[], env=objects["ConfigMap", "demo-tardis-publisher-nats"]["data"])[NatsOptions]
    assert (target.servers, target.subject) == (("nats://a:4222", "tls://b:4222"), "x.y")
    assert (target.max_batch_size, target.retry_max_elapsed_s, target.stream) == (100_000, 2.5, None)
    made_up = load(SimulatorOptions, argv=[], env=objects["ConfigMap", "demo-tardis-simulator"]["data"])[SimulatorOptions]
    assert (made_up.rate, made_up.disconnect_every, int(made_up.data_max_bytes)) == (1_000_000, 0, 5_000_000)


def test_secrets_are_mounted_where_the_variables_point() -> None:
    objects = Objects(LOGINS)
    gateway, publisher = objects.pod("demo-tardis-gateway"), objects.pod("demo-tardis-publisher-nats")
    for pod in (gateway, publisher):
        volumes = {v["name"]: v for v in pod["volumes"]}
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            mounts = {m["mountPath"]: volumes[m["name"]] for m in container["volumeMounts"]}
            files = {n: Path(v) for n, v in objects.environment(container).items() if n.endswith("_FILE")}
            assert files
            for path in files.values():
                assert path.name in [item["path"] for item in mounts[str(path.parent)]["secret"]["items"]]
    assert objects.environment(gateway["containers"][0])["TM_HANDOFF_USER"] == "queue/user"
    assert {"TM_NATS_TOKEN_FILE", "TM_HANDOFF_PASS_FILE"} <= objects.environment(publisher["containers"][0]).keys()
    assert "TM_NATS_TOKEN_FILE" not in objects.environment(publisher["initContainers"][0])


def test_a_credentials_file_is_named_as_a_path() -> None:
    login = {"login": {"existingSecret": "queue", "method": "creds"}}
    objects = Objects({**NATS, "queue": {**NATS["queue"], **login}})
    (gateway,) = objects.pod("demo-tardis-gateway")["containers"]
    assert objects.environment(gateway)["TM_HANDOFF_CREDS"] == "/run/secrets/tardis/queue-login/creds"


@ALL_FLAVOURS
def test_every_container_is_restricted(values: Values) -> None:
    for pod, container in Objects(values).containers():
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= container["resources"].keys()


@ALL_FLAVOURS
def test_folders_that_programs_write_to_are_volumes(values: Values) -> None:
    """The root is read-only; Python itself wants a folder for temporary files."""
    objects = Objects(values)
    for pod, container in objects.containers():
        writable = {v["name"] for v in pod["volumes"] if "emptyDir" in v}
        mounted = {m["mountPath"] for m in container["volumeMounts"] if m["name"] in writable}
        assert "/tmp" in mounted
        if container["name"] != "provision":
            assert {v for n, v in objects.environment(container).items() if n.endswith("_DIR")} <= mounted


def test_probes_and_service_reach_the_port_that_the_gateway_listens_on() -> None:
    objects = Objects({"gateway": {"service": {"port": 80}}})
    (gateway,) = objects.pod("demo-tardis-gateway")["containers"]
    (port,) = gateway["ports"]
    assert str(port["containerPort"]) == objects.environment(gateway)["TM_PORT"]
    assert {gateway[p]["httpGet"]["port"] for p in ("startupProbe", "livenessProbe", "readinessProbe")} == {port["name"]}
    assert (gateway["livenessProbe"]["httpGet"]["path"], gateway["readinessProbe"]["httpGet"]["path"]) == ("/live", "/ready")
    (service,) = objects["Service", "demo-tardis-gateway"]["spec"]["ports"]
    assert (service["port"], service["targetPort"]) == (80, port["name"])


@pytest.mark.parametrize(("drain", "sleep"), [(10, 5), (7.5, 0), (600, 20)])
def test_the_grace_period_covers_sleep_and_both_drains(drain: float, sleep: int) -> None:
    objects = Objects({"gateway": {"settings": {"drainTimeoutS": drain}, "preStopSleepS": sleep}})
    pod = objects.pod("demo-tardis-gateway")
    assert pod["terminationGracePeriodSeconds"] == sleep + 2 * math.ceil(drain) + 15
    assert pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", str(sleep)]
    assert objects["ConfigMap", "demo-tardis-gateway"]["data"]["TM_DRAIN_TIMEOUT_S"] == str(drain)


@ALL_FLAVOURS
def test_selectors_match_the_pods_and_carry_no_version(values: Values) -> None:
    objects = Objects(values)
    pods = [d["spec"]["template"]["metadata"]["labels"] for d in objects.of("Deployment").values()]
    selectors = [
        d["spec"]["selector"]["matchLabels"] for kind in ("Deployment", "PodDisruptionBudget") for d in objects.of(kind).values()
    ]
    selectors += [d["spec"]["selector"] for d in objects.of("Service").values()]
    for selector in selectors:
        assert "app.kubernetes.io/version" not in selector
        assert sum(selector.items() <= labels.items() for labels in pods) == 1


@pytest.mark.parametrize(
    ("changed", "rolled"),
    [
        ({"gateway": {"settings": {"clientStallTimeoutS": 61}}}, {"demo-tardis-gateway"}),
        ({"backends": {"nats": {**NATS["backends"]["nats"], "replicas": 2}}}, set()),
        ({"backends": {"nats": {"enabled": True, "settings": {"servers": ["c"], "subject": "x"}}}}, {"demo-tardis-publisher-nats"}),
        ({"queue": {"url": "nats://other:4222"}}, {"demo-tardis-gateway", "demo-tardis-publisher-nats"}),
    ],
)
def test_changed_settings_roll_the_pods_that_read_them(changed: Values, rolled: set[str]) -> None:
    before, after = Objects(NATS), Objects({**NATS, **changed})
    assert {name for name in before.of("Deployment") if checksum(before, name) != checksum(after, name)} == rolled


def test_images_come_from_registry_and_tag_unless_named_whole() -> None:
    values = {**NATS, "image": {"registry": "registry.example/market", "tag": "7"}, "publisher": {"image": "mine@sha256:0"}}
    images = {container["image"] for _, container in Objects(values).containers()}
    assert images == {"registry.example/market/tardis-gateway:7", "registry.example/market/tardis-cli:7", "mine@sha256:0"}


def test_names_fit_however_long_the_release_is() -> None:
    assert all(len(name) <= 63 for _, name in Objects(NATS, release="r" * 53).all)
    assert ("Service", "tardis-gateway") in Objects({}, release="tardis").all
