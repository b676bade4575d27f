"""One opened host of the C core: its functions with native arguments, refusals as exceptions.

The core does no input or output and starts no thread. Every function is for the thread that opened the host; only
:meth:`Core.release` may be called from any, also by the garbage collector.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from . import _packed, _records
from ._c import ffi, lib
from .errors import ChordalError, closed, error_of

_BUFFER = 64 * 1024  # bytes that are polled at once

# Events whose last fields are bytes, and the part to take instead when they are too big to lie in the event.
_WITH_PART = {
    _records.ReferenceEvent,
    _records.FrameEvent,
    _records.ObjectEvent,
    _records.CallEvent,
    _records.ResultEvent,
}


# What a program may set of the options that a host is opened with.
_OPTIONS = {name for name, _ in ffi.typeof("chordal_host_options").fields} - {
    "size",
    "flags",
    "memory",
    "entropy",
    "entropy_context",
}


def now() -> int:
    """The core's clock: monotonic, in milliseconds."""
    return int(time.monotonic() * 1000)


def versions() -> dict[str, Any]:
    """The versions of this library and of what is linked into it."""
    import json

    return dict(json.loads(ffi.string(lib.chordal_versions())))


class Core:
    def __init__(self, options: dict[str, int]) -> None:
        self._error = ffi.new("chordal_error *")
        self._number = ffi.new("chordal_id *")
        self._size = ffi.new("size_t *")
        self._frame = ffi.new("uint32_t *")
        self._buffer = ffi.new("uint64_t[]", _BUFFER // 8)
        self._output = ffi.new("uint8_t[]", _BUFFER)
        self._owned: set[int] = set()  # ids that are to be given back, each once
        self._thread = threading.get_ident()
        fields = ffi.new("chordal_host_options *")
        for name, value in options.items():
            if name not in _OPTIONS:
                raise TypeError(f"a host has no option {name}")
            setattr(fields, name, value)
        fields.size = ffi.sizeof("chordal_host_options")
        out = ffi.new("chordal_host **")
        self._check(lib.chordal_host_open(fields, out, self._error))
        self._host = out[0]

    # ---- the way in and out ----

    def _check(self, code: int) -> None:
        if code < 0:
            raise error_of(code, _text(ffi.string(self._error.detail)), self._error.position)

    def _enter(self) -> Any:
        """The host, for its own thread."""
        if threading.get_ident() != self._thread:
            raise ChordalError("busy", "a host belongs to the thread that it was opened in")
        if self._host is None:
            raise closed("host")
        return self._host

    def adopt(self) -> None:
        """From now on the host belongs to the calling thread."""
        self._thread = threading.get_ident()

    def _own(self, code: int) -> int:
        self._check(code)
        number = int(self._number[0])
        self._owned.add(number)
        return number

    def release(self, number: int) -> None:
        """Give back a reference, a link or a call: one made is cancelled, one served answers CANCELLED. Any thread."""
        try:
            self._owned.remove(number)
        except KeyError:
            return
        lib.chordal_release(self._host, number)

    def gone(self, number: int) -> None:
        """An event gave the id back."""
        self._owned.discard(number)

    def close(self) -> None:
        """Close the host, and give back all that is still owned. Closing twice is allowed."""
        if self._host is None:
            return
        host = self._enter()
        for number in list(self._owned):
            self.release(number)
        self._host = None
        lib.chordal_host_close(host)

    @property
    def closed(self) -> bool:
        return self._host is None

    # ---- the turn ----

    def poll(self) -> list[_records.Event]:
        """The next events; none: nothing is left."""
        host = self._enter()
        while True:
            size = ffi.sizeof(self._buffer)
            code = lib.chordal_host_poll(
                host, now(), ffi.cast("uint8_t *", self._buffer), size, self._size, self._error
            )
            if code != _records.E_ROOM:
                break
            self._buffer = ffi.new("uint64_t[]", self._size[0] // 8 + 1)
        self._check(code)
        length = self._size[0]
        if not length:
            return []
        events = _records.read_events(ffi.buffer(self._buffer, length), length)
        for index, event in enumerate(events):
            if type(event) in _WITH_PART:
                if type(event) is _records.CallEvent:
                    self._owned.add(event.call)
                if event[-1]:
                    events[index] = type(event)(*event[:-2], self._part(event[-1]), 0)  # type: ignore
        return events

    def deadline(self) -> int:
        """When to poll next: 0 for now."""
        return int(lib.chordal_host_deadline(self._enter()))

    def _part(self, part: int) -> bytes:
        """The bytes of a part, which is given back."""
        out = ffi.new("const uint8_t **")
        self._check(lib.chordal_part_view(self._host, part, out, self._size))
        data = bytes(ffi.buffer(out[0], self._size[0]))
        lib.chordal_release(self._host, part)
        return data

    def counters(self) -> dict[str, int]:
        out = ffi.new("chordal_counters *")
        self._check(lib.chordal_host_counters(self._enter(), out, ffi.sizeof("chordal_counters")))
        return {name: int(getattr(out, name)) for name in _records.COUNTERS}

    def run(self) -> bytes:
        out = ffi.new("uint8_t[16]")
        self._check(lib.chordal_host_run(self._enter(), out))
        return bytes(ffi.buffer(out))

    def digest(self, value: bytes) -> int:
        """The digest of a packed value."""
        out = ffi.new("chordal_value **")
        packed = _records.FORMAT_PACKED
        self._check(lib.chordal_value_decode(self._enter(), packed, value, len(value), out, self._error))
        digest = int(lib.chordal_value_digest(out[0]))
        lib.chordal_value_unref(out[0])
        return digest

    # ---- providing ----

    def type_provide(self, declaration: bytes) -> int:
        code = lib.chordal_type_provide(self._enter(), declaration, len(declaration), self._number, self._error)
        self._check(code)
        return int(self._number[0])

    def object_get(self, type: bytes, params: bytes) -> int:
        host = self._enter()
        packed = _records.FORMAT_PACKED
        self._check(
            lib.chordal_object_get(host, type, len(type), packed, params, len(params), self._number, self._error)
        )
        return int(self._number[0])

    def object_drop(self, object: int) -> None:
        self._check(lib.chordal_object_drop(self._enter(), object, self._error))

    def object_start(self, object: int, name: str = "", message: str = "") -> None:
        code, words = _packed.text_bytes(name), _packed.text_bytes(message)
        self._check(lib.chordal_object_start(self._enter(), object, code, len(code), words, len(words), self._error))

    def object_retire(self, object: int) -> None:
        self._check(lib.chordal_object_retire(self._enter(), object, self._error))

    def object_read(self, object: int, member: int) -> bytes:
        """The head of a document or derive, packed."""
        host = self._enter()
        packed = _records.FORMAT_PACKED
        while True:
            room = len(self._output)
            code = lib.chordal_object_read(host, object, member, packed, self._output, room, self._size, self._error)
            if code != _records.E_ROOM:
                self._check(code)
                return bytes(ffi.buffer(self._output, self._size[0]))
            self._output = ffi.new("uint8_t[]", self._size[0])

    def compute_answer(self, compute: int, value: bytes) -> None:
        packed = _records.FORMAT_PACKED
        self._check(lib.chordal_compute_answer(self._enter(), compute, packed, value, len(value), self._error))

    def compute_fail(self, compute: int, name: str, message: str) -> None:
        code, words = _packed.text_bytes(name), _packed.text_bytes(message)
        self._check(lib.chordal_compute_fail(self._enter(), compute, code, len(code), words, len(words), self._error))

    def call_answer(self, call: int, format: int, value: bytes) -> None:
        self._check(lib.chordal_call_answer(self._enter(), call, format, value, len(value), self._error))
        self.gone(call)

    def call_fail(self, call: int, name: str, message: str) -> None:
        code, words = _packed.text_bytes(name), _packed.text_bytes(message)
        self._check(lib.chordal_call_fail(self._enter(), call, code, len(code), words, len(words), self._error))
        self.gone(call)

    def commit(self, call: int, changes: bytes) -> int:
        self._check(lib.chordal_commit(self._enter(), call, changes, len(changes), self._number, self._error))
        return int(self._number[0])

    # ---- holding ----

    def reference_get(self, link: int, type: bytes, version: int, flags: int, params: bytes) -> int:
        packed = _records.FORMAT_PACKED
        return self._own(
            lib.chordal_reference_get(
                self._enter(),
                link,
                type,
                len(type),
                version,
                flags,
                packed,
                params,
                len(params),
                self._number,
                self._error,
            )
        )

    def reference_state(self, reference: int) -> int:
        return int(lib.chordal_reference_state(self._enter(), reference))

    def reference_retry(self, reference: int) -> None:
        self._check(lib.chordal_reference_retry(self._enter(), reference, self._error))

    def watch_take(self, watch: int) -> None:
        self._check(lib.chordal_watch_take(self._enter(), watch, self._error))

    def watch_reset(self, watch: int) -> None:
        self._check(lib.chordal_watch_reset(self._enter(), watch, self._error))

    def call_start(self, reference: int, method: bytes, arguments: bytes, timeout: int) -> int:
        return self._own(
            lib.chordal_call_start(
                self._enter(),
                reference,
                method,
                len(method),
                _records.FORMAT_PACKED,
                arguments,
                len(arguments),
                timeout,
                self._number,
                self._error,
            )
        )

    def call_cancel(self, call: int) -> None:
        self._check(lib.chordal_call_cancel(self._enter(), call, self._error))

    # ---- links ----

    def link_open(self, flags: int) -> int:
        return self._own(lib.chordal_link_open(self._enter(), flags, self._number, self._error))

    def link_up(self, link: int, codec: int) -> None:
        self._check(lib.chordal_link_up(self._enter(), link, codec, now(), self._error))

    def link_feed(self, link: int, data: bytes | str) -> None:
        """One whole transport frame arrived."""
        frame = _records.FRAME_BINARY
        if isinstance(data, str):
            frame, data = _records.FRAME_TEXT, data.encode()
        self._check(lib.chordal_link_feed(self._enter(), link, frame, data, len(data), now(), self._error))

    def link_take(self, link: int) -> bytes | str | None:
        """The next frame to send, as text or bytes; None: nothing now."""
        host = self._enter()
        while True:
            room = len(self._output)
            code = lib.chordal_link_take(host, link, self._output, room, self._size, self._frame, self._error)
            if code != _records.E_ROOM:
                break
            self._output = ffi.new("uint8_t[]", self._size[0])
        self._check(code)
        kind = self._frame[0]
        if not kind:
            return None
        data = bytes(ffi.buffer(self._output, self._size[0]))
        return data.decode() if kind == _records.FRAME_TEXT else data

    def link_down(self, link: int) -> None:
        self._check(lib.chordal_link_down(self._enter(), link, now(), self._error))

    def link_retry(self, link: int) -> None:
        self._check(lib.chordal_link_retry(self._enter(), link, now(), self._error))

    def link_close(self, link: int) -> None:
        self._check(lib.chordal_link_close(self._enter(), link, self._error))

    def link_limit(self) -> int:
        """The bytes of the largest frame that is taken; a larger one is to be fed cut off, and is refused."""
        return int(lib.chordal_link_limit(self._enter()))

    def link_carry(self, link: int, other: Core, other_link: int) -> None:
        """Carry all waiting frames both ways between two links of one thread."""
        a, b = self._enter(), other._enter()
        self._check(lib.chordal_link_carry(a, link, b, other_link, now(), ffi.NULL, self._error))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
