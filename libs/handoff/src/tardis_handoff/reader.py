"""Reading a spool log while it is being written, from a position on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .errors import SpoolDamage, TornTail
from .log import segment_numbers, segment_path, writer_lives
from .segment import SEGMENT_HEAD_SIZE, LanePack, check_segment_head, next_group_offset, read_group


class Position(NamedTuple):
    """A place between two groups of a log."""

    segment: int
    offset: int

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}"


class PlacedGroup(NamedTuple):
    start: Position
    end: Position
    packs: list[LanePack]


class LogReader:
    """`next()` gives group after group. What is damaged is reported through `on_damage` with its place and passed over.

    A segment of an unknown version raises UnknownVersion, again and again: a newer program will read it.
    """

    def __init__(self, folder: Path, start: Position | None, on_damage: Callable[[SpoolDamage], None]) -> None:
        self.folder, self._on_damage = folder, on_damage
        self._fd, self._open_number, self._head_checked = -1, 0, False
        numbers = segment_numbers(folder)
        self.position = start or Position(numbers[0] if numbers else 1, SEGMENT_HEAD_SIZE)
        self.ended = False  # the writer is gone and everything has been read

    def next(self) -> PlacedGroup | None:
        """None: nothing more for now (or for ever, see `ended`)."""
        while not self.ended:
            # Both are asked before reading: a writer that is gone or has moved on by then adds nothing to this segment.
            lives = writer_lives(self.folder)
            newer = [n for n in segment_numbers(self.folder) if n > self.position.segment]
            group = self._read()
            if group is not None:
                return group
            if newer or not lives:
                self._report_torn_tail()
            if newer:
                self.position = Position(newer[0], SEGMENT_HEAD_SIZE)
            elif not lives:
                self.ended = True
            else:
                return None
        return None

    def at_end(self) -> bool:
        """Everything that has been written so far is read; of a log whose writer is gone, everything there will ever be."""
        if self.ended or not writer_lives(self.folder):
            return self.ended
        last = segment_path(self.folder, segment_numbers(self.folder)[-1])
        return self.position.segment == int(last.stem) and last.stat().st_size <= self.position.offset

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> PlacedGroup | None:
        path = segment_path(self.folder, self.position.segment)
        if not self._open(path):
            return None
        while True:
            start = self.position
            try:
                if not self._head_checked:
                    self._head_checked = check_segment_head(self._fd, path)
                group = read_group(self._fd, path, start.offset) if self._head_checked else None
            except SpoolDamage as damage:
                self._on_damage(damage)
                self._pass_over()
                continue
            if group is None:
                return None
            self.position = Position(start.segment, group.end)
            return PlacedGroup(start, self.position, group.packs)

    def _pass_over(self) -> None:
        """To the next mark of a group in this segment, or to its end. Of a segment with a bad head nothing is believed."""
        segment, offset = self.position
        following = next_group_offset(self._fd, offset + 1) if self._head_checked else None
        self._head_checked = True
        self.position = Position(segment, os.fstat(self._fd).st_size if following is None else following)

    def _open(self, path: Path) -> bool:
        if self._open_number != self.position.segment:
            self.close()
            try:
                self._fd = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                return False
            self._open_number, self._head_checked = self.position.segment, False
        return True

    def _report_torn_tail(self) -> None:
        if self._fd < 0:
            return
        left = os.fstat(self._fd).st_size - self.position.offset
        if left > 0:
            path = segment_path(self.folder, self.position.segment)
            self._on_damage(TornTail(path, self.position.offset, f"torn tail of {left} bytes"))
