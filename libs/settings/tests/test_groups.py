"""Groups as plain constructors, what they refuse, and what they show."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from tardis_settings import GROUPS, HandoffOptions, NatsOptions, ServerOptions, describe, environment, load
from tardis_settings.kinds import read_switch, split_list
from tardis_settings.reference import reference

REPOSITORY = Path(__file__).parents[3]


def test_groups_work_without_a_command_line() -> None:
    options = NatsOptions(servers=("nats://a:4222",), subject="bronze.events", user="u", password=SecretStr("p"))
    assert options.enabled
    assert options.max_batch_size == 1000
    with pytest.raises(ValidationError):
        options.subject = "other"


@pytest.mark.parametrize(
    ("given_settings", "named"),
    [
        ({"servers": "a:1"}, "nats-subject"),
        ({"subject": "s"}, "nats-servers"),
        ({"token": "t"}, "nats-servers"),
        ({"servers": "a", "subject": "s", "user": "u"}, "nats-pass"),
        ({"servers": "a", "subject": "s", "password": "u"}, "nats-user"),
        ({"servers": "a", "subject": "s", "token": "t", "creds": "f"}, "nats-creds"),
    ],
)
def test_half_a_nats_configuration_names_what_is_missing(given_settings: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=f"{named}: "):
        NatsOptions.model_validate(given_settings)


def test_hand_off_is_embedded_without_an_address() -> None:
    assert HandoffOptions().embedded
    assert HandoffOptions(backends=("nats", "redis")).enabled
    assert not HandoffOptions(url="nats://q:4222/").embedded
    assert HandoffOptions(url="nats://q:4222/").url == "nats://q:4222"
    with pytest.raises(ValidationError, match="handoff-url"):
        HandoffOptions.model_validate({"token": "t"})
    with pytest.raises(ValidationError, match="named twice"):
        HandoffOptions.model_validate({"backends": "nats,nats"})


def test_a_refused_secret_is_not_in_the_error() -> None:
    with pytest.raises(ValidationError) as caught:
        ServerOptions.model_validate({"api_key": 918273645, "port": "s3cret"})
    assert "918273645" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_streams_subjects_and_urls_are_checked() -> None:
    for wrong in ({"stream": "a b"}, {"stream": "a.b"}, {"subject": "a..b"}, {"subject": "a.>"}, {"servers": "nats://h:port"}):
        with pytest.raises(ValidationError):
            NatsOptions.model_validate({"servers": "h", "subject": "s"} | wrong)


@settings(deadline=None)
@given(st.text(min_size=1).filter(lambda t: "," not in t and not any(c.isspace() for c in t)))
def test_described_settings_never_show_a_secret(secret: str) -> None:
    marked = f"<{secret}>"
    shown = describe(ServerOptions.model_validate({"api_key": marked, "otlp_endpoint": None}))
    assert shown["api-key"] == "***"
    assert marked not in str(shown)


def test_described_settings_hide_credentials_in_addresses() -> None:
    shown = describe(NatsOptions.model_validate({"servers": "nats://user:pa@ss@h:1,b:2", "subject": "s"}))
    assert shown["nats-servers"] == ["nats://***@h:1", "nats://b:2"]
    assert shown["nats-max-batch-size"] == 1000
    assert shown["nats-token"] is None


def test_new_switches_refuse_what_is_not_a_switch() -> None:
    assert [read_switch(v) for v in ("true", "1", 1, True, "false", "0", 0, False)] == [True] * 4 + [False] * 4
    for wrong in ("yes", "", "TRUE", 2, None):
        with pytest.raises(ValueError, match="true, false, 1 or 0"):
            read_switch(wrong)


@settings(deadline=None)
@given(st.lists(st.text("abc-:/", min_size=1), max_size=5))
def test_lists_are_split_at_commas(parts: list[str]) -> None:
    assert split_list(" , ".join(parts)) == tuple(parts)


def test_a_child_process_gets_the_same_settings_through_its_environment() -> None:
    options = HandoffOptions.model_validate(
        {"backends": "nats,redis", "url": "nats://q", "token": "t", "stream_max_bytes": "1.5GiB"}
    )
    assert load(HandoffOptions, argv=[], env=environment(options))[HandoffOptions] == options
    assert "TM_HANDOFF_USER" not in environment(options)


def test_no_two_settings_share_a_name() -> None:
    names = [name for group in GROUPS[1:] for s in group.settings() for name in s.names]
    assert sorted(names) == sorted(set(names))


def test_every_setting_says_what_it_means() -> None:
    for group in GROUPS:
        for s in group.settings():
            assert s.meaning.endswith(".")
            assert s.allowed


def test_the_committed_reference_is_current() -> None:
    assert (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8") == reference()
