"""Where settings come from, and which source wins."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tardis_settings import (
    Answered,
    HandoffOptions,
    InvalidPort,
    InvalidSetting,
    Loaded,
    NatsOptions,
    Options,
    ServerOptions,
    SettingsError,
    SimulatorOptions,
    UnknownOption,
    load,
    load_or_exit,
    setting,
)


def read(*argv: str, env: Mapping[str, str] | None = None) -> Loaded:
    return load(ServerOptions, HandoffOptions, NatsOptions, argv=argv, env=env or {}, program="tardis-machine", version="1.2.3")


def refusal(*argv: str, env: Mapping[str, str] | None = None) -> str:
    with pytest.raises(InvalidSetting) as caught:
        read(*argv, env=env)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


class Renamed(Options, prefix="event-hubs"):
    """A group with an alias and a new-style switch."""

    hub: str | None = setting(None, "Target.", aliases=("event-hubs-name",))
    strict: bool = setting(False, "Switch.")


def test_defaults_without_any_source() -> None:
    loaded = read()
    assert loaded[ServerOptions].port == 8000
    assert loaded[HandoffOptions].lanes == 8
    assert loaded[HandoffOptions].stream_max_bytes == 1024**3
    assert not loaded[NatsOptions].enabled
    assert set(loaded.sources.values()) == {"default"}


def test_flag_beats_environment_beats_file(tmp_path: Path) -> None:
    file = tmp_path / "tardis.yaml"
    file.write_text("handoff: {lanes: 1, user: file}\nlog_format: json\n")
    env = {"TM_CONFIG": str(file), "TM_HANDOFF_LANES": "2", "TM_LOG_FORMAT": ""}
    loaded = load(
        HandoffOptions, ServerOptions, argv=["--handoff-lanes=3", "--handoff-url", "nats://q", "--handoff-pass=p"], env=env
    )
    assert loaded[HandoffOptions].lanes == 3
    assert loaded[HandoffOptions].user == "file"
    assert loaded[ServerOptions].log_format == "json"  # an empty variable counts as not given
    assert loaded.sources["handoff-lanes"] == "--handoff-lanes"
    assert loaded.sources["handoff-user"] == "handoff.user in TM_CONFIG"
    assert load(ServerOptions, HandoffOptions, argv=[], env=env | {"TM_CONFIG": ""})[HandoffOptions].lanes == 2


@pytest.mark.parametrize(
    ("argv", "env", "port"),
    [
        ([], {}, 8000),
        ([], {"TM_PORT": "81"}, 81),
        (["--port", "82"], {"TM_PORT": "81"}, 82),
        (["--port", "82"], {"TM_PORT": "81", "PORT": "83"}, 83),
        (["--port=65534"], {"PORT": ""}, 65534),
    ],
)
def test_port_precedence_of_the_contract(argv: list[str], env: dict[str, str], port: int) -> None:
    assert read(*argv, env=env)[ServerOptions].port == port


@pytest.mark.parametrize("port", ["0", "65535", "-1", "http", "80.5"])
def test_an_invalid_port_has_its_own_answer(port: str) -> None:
    with pytest.raises(InvalidPort, match=r"^Invalid HTTP port$") as caught:
        read("--port", port)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(("text", "on"), [("true", True), ("TRUE", False), ("1", False), ("yes", False), ("false", False)])
def test_contract_switches_are_on_only_for_exactly_true(text: str, on: bool) -> None:
    assert read(env={"TM_DEBUG": text})[ServerOptions].debug is on


def test_switches_as_flags() -> None:
    assert read("--debug", "--clear-cache=false")[ServerOptions].debug
    assert not read("--debug", "false", "--cluster-mode")[ServerOptions].debug
    assert refusal("--debug=yes") == "--debug: text 'yes' does not fit, allowed: true, false"
    assert "allowed: true, false" in refusal("--debug=1")


def test_secrets_come_from_files_without_their_line_end(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("k3y\r\n")
    for argv, env in (([f"--api-key-file={file}"], {}), ([], {"TM_API_KEY_FILE": str(file)})):
        key = read(*argv, env=env)[ServerOptions].api_key
        assert key is not None
        assert key.get_secret_value() == "k3y"


def test_a_secret_file_in_the_config_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k3y")
    config = tmp_path / "tardis.toml"
    config.write_text(f'api-key-file = "{tmp_path / "key"}"\n[nats]\nservers = ["a:1", "tls://b"]\nsubject = "s"\n')
    loaded = read("--config", str(config))
    key = loaded[ServerOptions].api_key
    assert key is not None
    assert key.get_secret_value() == "k3y"
    assert loaded[NatsOptions].servers == ("nats://a:1", "tls://b")


def test_unreadable_oversized_and_doubled_secrets_are_refused(tmp_path: Path) -> None:
    large, binary = tmp_path / "large", tmp_path / "binary"
    large.write_bytes(b"x" * 70_000)
    binary.write_bytes(b"\xff\xfe")
    assert refusal(f"--api-key-file={tmp_path}/none").startswith("--api-key-file: cannot read the file (no such file or directory)")
    assert refusal(env={"TM_API_KEY_FILE": str(large)}).startswith("TM_API_KEY_FILE: the file is too large")
    assert "not well-formed" in refusal(env={"TM_API_KEY_FILE": str(binary)})
    both = {"TM_API_KEY": "s3cret", "TM_API_KEY_FILE": str(large)}
    assert refusal(env=both) == "TM_API_KEY_FILE: TM_API_KEY is given too, allowed: one of the two"


def test_an_unknown_option_names_the_nearest_and_never_a_value() -> None:
    with pytest.raises(UnknownOption) as caught:
        read("--api-kei=s3cret")
    assert str(caught.value) == "Unknown option: --api-kei (nearest known: --api-key)"
    assert caught.value.exit_code == 1
    with pytest.raises(UnknownOption, match=r"^Unknown argument: options begin with --$"):
        read("s3cret")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["--handoff-lanes", "999"], "--handoff-lanes: text '999' does not fit, allowed: whole number from 1 to 256"),
        (["--log-format=xml"], "--log-format: text 'xml' does not fit, allowed: text, json"),
        (["--nats-user"], "--nats-user: a value is missing, allowed: text"),
        (["--nats-user", "--debug"], "--nats-user: a value is missing, allowed: text"),
        (["--cache-dir", ""], "--cache-dir: empty text does not fit, allowed: path"),
        (["--drain-timeout-s=inf"], "--drain-timeout-s: text 'inf' does not fit, allowed: number from 0"),
        (
            ["--nats-servers=http://u:s3cret@h"],
            "--nats-servers: text 'http://***@h' does not fit, allowed: comma-separated list of",
        ),
        (["--nats-subject=a.*"], "--nats-subject: text 'a.*' does not fit"),
        (
            ["--handoff-backends=nats,,redis"],
            "--handoff-backends: text 'nats,,redis' does not fit, allowed: comma-separated list out of",
        ),
        (
            ["--handoff-stream-max-bytes=lots"],
            "--handoff-stream-max-bytes: text 'lots' does not fit, allowed: bytes, also as 64MiB",
        ),
    ],
)
def test_a_wrong_value_is_one_line(argv: list[str], line: str) -> None:
    assert refusal(*argv).startswith(line)


def test_variables_and_file_keys_are_named_as_given(tmp_path: Path) -> None:
    assert refusal(env={"TM_HANDOFF_LANES": "x\ny"}).startswith("TM_HANDOFF_LANES: text 'x\\ny' does not fit")
    file = tmp_path / "c.yml"
    file.write_text("handoff: {lanes: [1]}")
    assert refusal(f"--config={file}") == "handoff.lanes in --config: a list does not fit, allowed: whole number from 1 to 256"
    file.write_text("handoff: {lanes: {a: 1}, spool_dir: null}")
    assert "a mapping does not fit" in refusal(f"--config={file}")
    file.write_text("handoff: {lanes: 2020-02-01}")
    assert "a value of type date does not fit" in refusal(f"--config={file}")
    file.write_text("handoff: {lanes: 0.5}")
    assert "a number '0.5' does not fit" in refusal(f"--config={file}")
    file.write_text("log-format: true")
    assert "a switch 'true' does not fit" in refusal(f"--config={file}")
    file.write_text("nats: {servr: x}")
    assert refusal(f"--config={file}") == "nats.servr in --config: no such setting (nearest known: nats.servers)"
    file.write_text("api_key: s3cret\napi-key-file: x")
    assert refusal(f"--config={file}").endswith("api-key in --config is given too, allowed: one of the two")


@pytest.mark.parametrize("content", [b"a: [s3cret", b"- 1\n", b"\xff", b"[" * 5_000, b"x" * 1_100_000])
def test_a_broken_config_file_is_refused_without_quoting_it(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(content)
    line = refusal(f"--config={file}")
    assert line.startswith("--config: ")
    assert "s3cret" not in line


def test_a_fleet_may_share_one_config_file(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("nats: {servers: a, subject: s}\nsimulator: {rate: 5}\nhandoff:\n")
    assert load(ServerOptions, argv=["--config", str(file)], env={})[ServerOptions].port == 8000
    assert not read(f"--config={tmp_path / 'c.yaml'}")[HandoffOptions].enabled
    file.write_text("")
    assert read(f"--config={file}")[ServerOptions].port == 8000


def test_aliases_and_switches_of_a_new_group() -> None:
    assert load(Renamed, argv=["--event-hubs-name=a"], env={})[Renamed].hub == "a"
    assert load(Renamed, argv=[], env={"TM_EVENT_HUBS_NAME": "b"})[Renamed].hub == "b"
    assert load(Renamed, argv=["--event-hubs-strict", "0"], env={})[Renamed].strict is False


def test_help_and_version() -> None:
    with pytest.raises(Answered) as caught:
        read("--help", "--unknown")
    assert "--handoff-lanes VALUE" in caught.value.text
    assert "Default: 8." in caught.value.text
    assert caught.value.text.startswith("Usage: tardis-machine")
    with pytest.raises(Answered, match=r"^1\.2\.3$"):
        read("-v")


def test_a_program_prints_and_exits(capsys: pytest.CaptureFixture[str]) -> None:
    for argv, code in ((["--nope"], 1), (["--port=0"], 1), (["--workers=0"], 2), (["-v"], 0)):
        with pytest.raises(SystemExit) as caught:
            load_or_exit(ServerOptions, argv=argv, env={}, version="9.9")
        assert caught.value.code == code
        printed = capsys.readouterr()
        assert (printed.out if code == 0 else printed.err).count("\n") == 1
    assert load_or_exit(SimulatorOptions, argv=[], env={})[SimulatorOptions].port == 9000


def test_process_arguments_are_the_default_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["tardis", "--simulator-rate=7"])
    monkeypatch.setenv("TM_SIMULATOR_SEED", "x")
    options = load(SimulatorOptions)[SimulatorOptions]
    assert (options.rate, options.seed) == (7, "x")


@settings(deadline=None)
@given(
    st.text(max_size=200),
    st.sampled_from(["--handoff-lanes", "--api-url", "--nats-servers", "--log-level", "--debug", "--handoff-backends"]),
)
def test_any_text_is_taken_or_refused_in_one_line(text: str, flag: str) -> None:
    line = ""
    try:
        read(f"{flag}={text}")
    except SettingsError as error:
        line = str(error)
    assert len(line.splitlines()) <= 1
    assert line == "" or line.startswith((f"{flag}: ", "nats-subject: "))
