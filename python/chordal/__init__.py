"""Chordal: live objects, shared between hosts.

A *host* provides *objects*, whose state is JSON documents and values derived from them, and holds *references* to
objects of other hosts, whose state it sees as local, immutable values that follow every commit, and whose methods it
calls. See docs/guide/python.md.
"""

import json
from typing import Any

from . import _native
from .call import Call
from .draft import DraftDict, DraftList
from .errors import Cancelled, ChordalError, DeadlineError, DeriveError, MethodError, OutcomeUnknown
from .frame import Frame
from .host import Host, connect, parent
from .link import Link, Server
from .memory import pair
from .object import Ask, Object, derive, document, method, table
from .reference import Frames, Member, Reference, Watch
from .rows import Page, Table, TableDraft
from .store import Fault, Store, StoredDocument, Write, Written
from .transaction import Ticket, Transaction
from .values import FrozenDict, FrozenList, Value, freeze
from .worker import Worker


def versions() -> dict[str, Any]:
    """The versions of this library and of what is linked into it."""
    return dict(json.loads(_native.versions()))


__version__ = versions()["chordal"]

__all__ = [
    "Ask",
    "Call",
    "Cancelled",
    "ChordalError",
    "DeadlineError",
    "DeriveError",
    "DraftDict",
    "DraftList",
    "Fault",
    "Frame",
    "Frames",
    "FrozenDict",
    "FrozenList",
    "Host",
    "Link",
    "Member",
    "MethodError",
    "Object",
    "OutcomeUnknown",
    "Page",
    "Reference",
    "Server",
    "Store",
    "StoredDocument",
    "Table",
    "TableDraft",
    "Ticket",
    "Transaction",
    "Value",
    "Watch",
    "Worker",
    "Write",
    "Written",
    "connect",
    "derive",
    "document",
    "freeze",
    "method",
    "pair",
    "parent",
    "table",
    "versions",
]
