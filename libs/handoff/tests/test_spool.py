"""Spool logs: what was appended is read back, what is damaged is reported with its place and never read as something else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tardis_handoff import LanePack, LogReader, Position, Spool, SpoolBusy, SpoolDamage, SpoolLog, TornTail, UnknownVersion
from tardis_handoff.log import segment_path, writer_lives
from tardis_handoff.reader import PlacedGroup
from tardis_handoff.segment import SEGMENT_HEAD_SIZE, encode_group
from tardis_handoff.spool import furthest_common

PACKS = [LanePack(0, 3, b"first lane"), LanePack(5, 1, b"sixth"), LanePack(7, 9, b"")]


def read_all(folder: Path, start: Position | None = None) -> tuple[list[PlacedGroup], list[SpoolDamage]]:
    damages: list[SpoolDamage] = []
    reader = LogReader(folder, start, damages.append)
    groups = []
    while group := reader.next():
        groups.append(group)
    reader.close()
    return groups, damages


def test_groups_come_back_in_order_with_their_places(tmp_path: Path) -> None:
    log = Spool(tmp_path).new_log("w0")
    appended = [[LanePack(lane, n, bytes([n]) * n) for lane in range(3)] for n in range(1, 20)]
    for packs in appended:
        log.append(packs)
    groups, damages = read_all(log.folder)
    assert [group.packs for group in groups] == appended
    assert damages == []
    assert groups[0].start == Position(1, SEGMENT_HEAD_SIZE)
    assert all(a.end == b.start for a, b in pairwise(groups))
    later, _ = read_all(log.folder, groups[9].end)
    assert [group.packs for group in later] == appended[10:]
    log.close()


def test_a_reader_follows_a_living_writer_over_segments(tmp_path: Path) -> None:
    log = SpoolLog(tmp_path, "log", segment_bytes=200)
    reader = LogReader(log.folder, None, lambda damage: pytest.fail(str(damage)))
    for number in range(50):
        assert reader.next() is None
        assert not reader.ended
        assert reader.at_end()
        log.append([LanePack(0, number, os.urandom(60))])
        assert not reader.at_end()
        group = reader.next()
        assert group is not None
        assert group.packs[0].events == number
    assert len(list(log.folder.glob("*.seg"))) > 10
    log.close()
    assert reader.next() is None
    assert reader.ended


def test_one_group_larger_than_a_segment_is_kept_whole(tmp_path: Path) -> None:
    log = SpoolLog(tmp_path, "log", segment_bytes=100)
    log.append([LanePack(0, 1, b"x" * 1000)])
    log.append([LanePack(0, 2, b"y" * 1000)])
    log.close()
    groups, _ = read_all(log.folder)
    assert [group.packs[0].data[:1] for group in groups] == [b"x", b"y"]


def test_the_writers_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from tardis_handoff import *\n"
        f"log = Spool(Path({str(tmp_path)!r})).new_log('w0'); log.append([LanePack(0, 1, b'data')])\n"
        "print('up', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    folder = tmp_path / "logs" / Spool(tmp_path).log_ids()[0]
    assert writer_lives(folder)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not writer_lives(folder)
    groups, damages = read_all(folder)
    assert len(groups) == 1
    assert damages == []


@pytest.mark.parametrize("cut", [1, 5, 15, 17, 30])
def test_a_torn_tail_is_reported_with_its_place(tmp_path: Path, cut: int) -> None:
    log = Spool(tmp_path).new_log("w0")
    log.append(PACKS)
    end = Position(1, SEGMENT_HEAD_SIZE + len(encode_group(PACKS)))
    log.append(PACKS)
    log.close()
    path = segment_path(log.folder, 1)
    os.truncate(path, path.stat().st_size - cut)
    groups, damages = read_all(log.folder)
    assert [group.packs for group in groups] == [PACKS]
    assert [(damage.path, damage.offset) for damage in damages] == [(path, end.offset)]
    assert isinstance(damages[0], TornTail)


def test_a_torn_tail_of_a_living_writer_is_not_damage_yet(tmp_path: Path) -> None:
    log = Spool(tmp_path).new_log("w0")
    data = encode_group(PACKS)
    reader = LogReader(log.folder, None, lambda damage: pytest.fail(str(damage)))
    with segment_path(log.folder, 1).open("ab") as file:
        for start in range(0, len(data), 7):
            assert reader.next() is None
            file.write(data[start : start + 7])
            file.flush()
    group = reader.next()
    assert group is not None
    assert group.packs == PACKS
    log.close()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(min_value=0, max_value=10**6), flip=st.integers(min_value=1, max_value=255))
def test_no_flipped_byte_ever_gives_a_different_group(tmp_path_factory: pytest.TempPathFactory, place: int, flip: int) -> None:
    folder = tmp_path_factory.mktemp("log")
    appended = [[LanePack(lane, number, bytes([number, lane]) * 9) for lane in range(2)] for number in range(4)]
    log = SpoolLog(folder, "log")
    for packs in appended:
        log.append(packs)
    log.close()
    path = segment_path(log.folder, 1)
    data = bytearray(path.read_bytes())
    place %= len(data)
    data[place] ^= flip
    path.write_bytes(data)
    if place in (4, 5):  # looks like a newer version: nothing is read, nothing is given up
        with pytest.raises(UnknownVersion):
            read_all(log.folder)
        return
    groups, damages = read_all(log.folder)
    assert all(group.packs in appended for group in groups)
    if place >= SEGMENT_HEAD_SIZE:
        assert len(groups) == 3  # exactly the damaged one is gone: the rest is found again
        assert damages
    elif place < 4:  # the two reserved bytes of the head mean nothing
        assert groups == []
        assert damages[0].offset == 0


def test_a_segment_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    log = Spool(tmp_path).new_log("w0")
    log.append(PACKS)
    log.close()
    path = segment_path(log.folder, 1)
    data = bytearray(path.read_bytes())
    data[4] = 2
    path.write_bytes(data)
    reader = LogReader(log.folder, None, lambda damage: pytest.fail(str(damage)))
    for _ in range(2):
        with pytest.raises(UnknownVersion, match="version 2"):
            reader.next()
    assert not reader.ended
    assert not reader.at_end()
    reader.close()


def test_a_writer_that_moves_on_while_its_segment_is_read_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a segment is believed only if a newer one was there before the last look at it."""
    log = SpoolLog(tmp_path, "log", segment_bytes=300)
    log.append([LanePack(0, 1, b"a" * 100)])
    reader = LogReader(log.folder, None, lambda damage: pytest.fail(str(damage)))
    assert reader.next() is not None
    read = LogReader._read
    raced: list[bool] = []

    def read_and_race(self: LogReader) -> PlacedGroup | None:
        group = read(self)
        if group is None and not raced:
            raced.append(True)
            for number in range(2, 5):
                log.append([LanePack(0, number, b"b" * 100)])
        return group

    monkeypatch.setattr(LogReader, "_read", read_and_race)
    found = []
    for _ in range(10):
        if group := reader.next():
            found.append(group.packs[0].events)
    assert found == [2, 3, 4]
    log.close()
    reader.close()


def test_a_segment_that_cannot_be_made_leaves_the_old_one_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SpoolLog(tmp_path, "log", segment_bytes=200)
    log.append([LanePack(0, 1, b"a" * 150)])
    with monkeypatch.context() as full:
        full.setattr(os, "open", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space"):
            log.append([LanePack(0, 2, b"b" * 150)])
    log.append([LanePack(0, 3, b"c" * 150)])
    log.close()
    groups, damages = read_all(log.folder)
    assert ([group.packs[0].events for group in groups], damages) == ([1, 3], [])


def test_cursors_survive_and_a_broken_one_means_from_the_start(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    assert spool.load_cursor("nats") == {}
    spool.save_cursor("nats", {"log": Position(3, 400)})
    assert Spool(tmp_path).load_cursor("nats") == {"log": Position(3, 400)}
    for broken in ("", "[1]", '{"log": 3}'):
        (spool.cursors / "nats.json").write_text(broken)
        assert spool.load_cursor("nats") == {}


def test_what_was_never_born_is_swept_and_counts_for_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    young = spool.logs / ".young"
    young.mkdir()
    (young / "00000001.seg").write_bytes(b"x" * 100)
    assert (spool.size(), spool.log_ids()) == (0, [])
    spool.sweep()
    assert not young.exists()
    assert spool.logs.stat().st_mode & 0o777 == 0o700


def test_passed_segments_and_logs_are_removed(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    log = SpoolLog(spool.logs, "log", segment_bytes=100)
    for _ in range(5):
        log.append([LanePack(0, 1, b"z" * 90)])
    size = spool.size()
    spool.remove_passed("log", Position(3, 8))
    assert [path.name for path in sorted(log.folder.glob("*.seg"))] == ["00000003.seg", "00000004.seg", "00000005.seg"]
    assert spool.size() < size
    log.close()
    spool.remove_log("log")
    assert spool.log_ids() == []


def test_one_forwarder_at_a_time(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    held = spool.claim_forwarding()
    with pytest.raises(SpoolBusy, match="another forwarder"):
        spool.claim_forwarding()
    os.close(held)
    os.close(spool.claim_forwarding())


def test_what_every_backend_has_passed() -> None:
    assert furthest_common([Position(2, 8), Position(1, 900)]) == Position(1, 900)
    assert furthest_common([Position(2, 8), None]) is None
    assert furthest_common([]) is None


@pytest.mark.parametrize("fsync", ["never", "interval", "always"])
def test_fsync_policies_write_the_same(tmp_path: Path, fsync: str, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    log = Spool(tmp_path).new_log("w0", fsync=fsync)  # type: ignore[arg-type]
    for _ in range(3):
        log.append(PACKS)
    assert len(synced) == (3 if fsync == "always" else 0)
    log.close()
    assert len(synced) == {"never": 0, "interval": 1, "always": 4}[fsync]
    assert len(read_all(log.folder)[0]) == 3
