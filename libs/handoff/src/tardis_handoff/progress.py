"""How far one log has got on its way to one backend: groups may finish out of order, the cursor moves only past finished ones."""

from __future__ import annotations

from collections import deque

from .reader import LogReader, PlacedGroup, Position


class GroupUnderway:
    __slots__ = ("end", "left")

    def __init__(self, group: PlacedGroup) -> None:
        self.end, self.left = group.end, len(group.packs)


class LogProgress:
    def __init__(self, log_id: str, reader: LogReader) -> None:
        self.log_id, self.reader = log_id, reader
        self.reached = reader.position
        self.blocked = False
        self._underway: deque[GroupUnderway] = deque()

    def begin(self, group: PlacedGroup) -> GroupUnderway:
        entry = GroupUnderway(group)
        self._underway.append(entry)
        self._advance()
        return entry

    def pack_done(self, entry: GroupUnderway) -> None:
        entry.left -= 1
        self._advance()

    def _advance(self) -> None:
        while self._underway and self._underway[0].left == 0:
            self.reached = self._underway.popleft().end

    @property
    def idle(self) -> bool:
        return not self._underway

    @property
    def finished(self) -> bool:
        """Everything that was ever written to the log has been forwarded."""
        return self.reader.ended and self.idle

    def cursor(self) -> Position:
        # Damage and the step to a new segment move the reader without a group; with nothing under way it is the true place.
        return self.reader.position if self.idle else self.reached
