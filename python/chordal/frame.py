"""Frames: what an observer of a member gets for one batch."""

from __future__ import annotations

from typing import Any

from ._native import listed
from .errors import ChordalError

Path = tuple["int | str", ...]
Op = tuple[Any, ...]
"""One change as a tuple: letter, path inside the member, arguments. ``("a", ("entries", 0, "text"), " milk")``."""

_KEPT_BYTES = 1 << 20  # ops that wait in one frame, besides a whole value; more become "the whole is now this value"


class Frame:
    """A member after one batch. `value` is immutable and shares with the value before what did not change, unless the
    object is held otherwise (``values``, of :meth:`Host.get`)."""

    __slots__ = ("_limit", "_ops", "commit", "error", "folded", "snapshot", "value")

    def __init__(
        self,
        value: Any,
        commit: int,
        ops: bytes | None,
        folded: bool,
        error: ChordalError | None,
        snapshot: bool,
    ) -> None:
        self.value = value
        """The member's value; None when it has none yet, or is held without values."""
        self.commit = commit
        """The provider's number of the commit."""
        self.snapshot = snapshot
        """Whether this is the whole value, not a change of the one before."""
        self.folded = folded
        """Whether more than one batch is in this frame."""
        self.error = error
        """Why the derive could not be computed; its value is then the last good one."""
        self._ops = ops  # None: the whole is now `value`
        self._limit = _KEPT_BYTES + len(ops) if snapshot and ops is not None else _KEPT_BYTES

    @property
    def ops(self) -> list[Op]:
        """The change as ops: tuples of letter, path inside the member, arguments (docs/protocol.md, "Ops"), such as
        ``("a", ("entries", 0, "text"), " milk")``. A snapshot is one ``("r", (), value)``; without values, what was
        folded into it follows."""
        return [("r", (), self.value)] if self._ops is None else listed(self._ops)

    def fold(self, later: Frame, values: bool) -> Frame | None:
        """One frame for this one and the next. None: it would be too long, and without `values` nothing else tells."""
        if later.snapshot:
            return Frame(later.value, later.commit, later._ops, True, later.error, True)
        if self._ops is None:
            return Frame(later.value, later.commit, None, True, later.error, True)
        if later._ops is not None and len(self._ops) + len(later._ops) <= self._limit:
            both = Frame(later.value, later.commit, self._ops + later._ops, True, later.error, self.snapshot)
            both._limit = self._limit
            return both
        return Frame(later.value, later.commit, None, True, later.error, True) if values else None

    def __repr__(self) -> str:
        return f"<Frame at commit {self.commit}: {'snapshot' if self.snapshot else self.ops}>"
