"""What can go wrong, as exceptions.

Every refusal is a :class:`ChordalError` with the stable name and number of the core's error table. A refused operation
has changed nothing.
"""

from __future__ import annotations

from . import _native, _records


class ChordalError(Exception):
    """A refusal. `name` is the stable lower-case name ("not_found"), `code` its number, `detail` words for a person;
    `position` is the byte offset into the data that was refused, else 0."""

    def __init__(self, name: str, detail: str = "", position: int = 0) -> None:
        super().__init__(name, detail, position)
        self.name = name
        self.detail = detail
        self.position = position

    @property
    def code(self) -> int:
        return _records.ERROR_CODES.get(self.name, 0)

    def __str__(self) -> str:
        place = f" (at {self.position})" if self.position else ""
        return f"{self.name}: {self.detail or self.text}{place}"

    @property
    def text(self) -> str:
        """One sentence on the code."""
        return _records.ERRORS.get(self.code, ("", ""))[1]


class MethodError(ChordalError):
    """A method's own failure: raise it in a method, with a short stable word for programs and a message for people (cut
    at 16,384 characters each); the caller's call raises an equal one. It says nothing of the provider but these two."""

    def __init__(self, name: str, message: str = "") -> None:
        super().__init__(name, message)
        self.args = (name, message)

    @property
    def code(self) -> int:
        return _records.E_METHOD


class DeriveError(ChordalError):
    """A derive could not be computed: `name` is its own word or "internal", `detail` its words."""

    @property
    def code(self) -> int:
        return _records.E_COMPUTE


class Cancelled(ChordalError):
    """The call was cancelled, by its caller, or by the provider that gave it up; it may have run in part."""


class DeadlineError(ChordalError, TimeoutError):
    """The call's timeout passed before an outcome came."""


class OutcomeUnknown(ChordalError):
    """The call was sent, and the link was lost before its outcome came: it ran once or not at all."""


_CLASSES: dict[str, type[ChordalError]] = {
    "cancelled": Cancelled,
    "deadline": DeadlineError,
    "outcome_unknown": OutcomeUnknown,
}


def error_of(code: int, detail: str = "", position: int = 0) -> ChordalError:
    """The exception for a code of the core."""
    name = _records.ERRORS.get(code, ("unknown", ""))[0]
    return _CLASSES.get(name, ChordalError)(name, detail, position)


def call_error(code: int, name: str, detail: str) -> ChordalError:
    """The exception for a call's outcome: the method's own word goes with its own class."""
    if code == _records.E_METHOD:
        return MethodError(name, detail)
    return error_of(code, detail)


def closed(what: str) -> ChordalError:
    """The exception for a thing that was closed."""
    return ChordalError("closed", f"the {what} is closed")


_native.adopt(error=ChordalError, error_of=error_of, events=_records.EVENTS)
