"""Frames: what an observer of a member gets for one batch."""

from __future__ import annotations

from typing import Any

from . import _ops
from .errors import ChordalError

_KEPT_BYTES = 1 << 20  # ops that wait in one frame; more of them become "the whole is now this value"


class Frame:
    """A member after one batch. `value` is immutable and shares with the value before what did not change."""

    __slots__ = ("_ops", "commit", "error", "folded", "snapshot", "value")

    def __init__(
        self,
        value: Any,
        commit: int,
        ops: bytes | None,
        folded: bool = False,
        error: ChordalError | None = None,
    ) -> None:
        self.value = value
        """The member's value; None when it has none yet."""
        self.commit = commit
        """The provider's number of the commit."""
        self.snapshot = ops is None
        """Whether this is the whole value, not a change of the one before."""
        self.folded = folded
        """Whether more than one batch is in this frame."""
        self.error = error
        """Why the derive could not be computed; its value is then the last good one."""
        self._ops = ops

    @property
    def ops(self) -> list[_ops.Op]:
        """The change as ops: tuples of letter, path inside the member, arguments (docs/protocol.md, "Ops"), such as
        ``("a", ("entries", 0, "text"), " milk")``. A snapshot is one ``("r", (), value)``."""
        return [("r", (), self.value)] if self._ops is None else _ops.listed(self._ops)

    def fold(self, later: Frame) -> Frame:
        """One frame for this one and the next."""
        ops = None
        if later._ops is not None and self._ops is not None and len(self._ops) + len(later._ops) <= _KEPT_BYTES:
            ops = self._ops + later._ops
        return Frame(later.value, later.commit, ops, True, later.error)

    def __repr__(self) -> str:
        return f"<Frame at commit {self.commit}: {'snapshot' if self.snapshot else self.ops}>"
