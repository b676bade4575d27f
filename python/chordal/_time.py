"""Spans of time that a program gives, in seconds, as the core counts them."""

from __future__ import annotations

from typing import Any

from .errors import ChordalError

_LONGEST = 1 << 62  # milliseconds; the core adds them to its clock


def milliseconds(seconds: Any) -> int:
    """At least 0. Raises ChordalError TYPE (no number), RANGE (NaN, or longer than can be counted)."""
    try:
        span = round(seconds * 1000)
    except (ValueError, OverflowError):  # NaN, an infinity
        raise ChordalError("range", f"{seconds!r} seconds are no span of time") from None
    except TypeError:
        span = None
    if not isinstance(span, int):
        raise ChordalError("type", "a span of time is a number of seconds")
    if span > _LONGEST:
        raise ChordalError("range", f"{seconds!r} seconds are too long")
    return max(span, 0)
