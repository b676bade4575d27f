"""Types as classes: what a program provides.

class Notes(chordal.Object, version=1):            # type "notes"
    board: str                                     # a param: one object for each value
    list = chordal.document({"entries": []})

    @chordal.derive("list")
    def count(self):
        return len(self.list["entries"])

    @chordal.method
    def add(self, call, text):
        with call.transaction() as t:
            t.list["entries"].append({"id": call.new_id(), "text": text})
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar, Union, overload

from . import _records
from .errors import ChordalError
from .rows import Table, TableDraft
from .transaction import Transaction
from .values import FrozenDict, freeze

if TYPE_CHECKING:
    from .host import Host

Placement = Callable[["FrozenDict", "Host"], Any]
"""Says where an object lives: answers a worker or a link, or an awaitable of one."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MISSING = object()


class MemberDeclaration:
    """A named part of a type; `index` is its number."""

    kind: ClassVar[str]
    name = ""
    index = -1

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def declared(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind}


class Document(MemberDeclaration):
    """A JSON value of each object, changed only in transactions. On an object: its present value, immutable."""

    kind = "document"

    def __init__(self, initial: Any, persist: bool = True) -> None:
        self.initial = freeze(initial)
        self.persist = persist

    @overload
    def __get__(self, instance: None, owner: Any) -> Document: ...
    @overload
    def __get__(self, instance: Object, owner: Any) -> Any: ...
    def __get__(self, instance: Object | None, owner: Any) -> Any:
        return self if instance is None else instance._value(self)

    def __set__(self, instance: Object, value: Any) -> None:
        raise AttributeError(f"{self.name} is a document: change it in a transaction")

    def declared(self) -> dict[str, Any]:
        declared = {**super().declared(), "initial": self.initial}
        return declared if self.persist else {**declared, "persist": False}


class TableMember(MemberDeclaration):
    """Typed rows of each object, in the host's store. On an object: a :class:`Table`."""

    kind = "table"

    def __init__(
        self,
        columns: Mapping[str, Any],
        key: tuple[str, ...],
        indexes: Mapping[str, Any],
        version: int,
        migrate: Callable[[Any], Mapping[str, Any]] | None,
    ) -> None:
        self.columns = freeze(columns)
        self.key = key
        self.indexes = freeze(indexes)
        self.version = version
        self.migrate = migrate

    @overload
    def __get__(self, instance: None, owner: Any) -> TableMember: ...
    @overload
    def __get__(self, instance: Object, owner: Any) -> Table: ...
    def __get__(self, instance: Object | None, owner: Any) -> Any:
        return self if instance is None else Table(instance, self)

    def __set__(self, instance: Object, value: Any) -> None:
        raise AttributeError(f"{self.name} is a table: put rows into it in a transaction")

    def _draft(self, transaction: Transaction, number: int) -> TableDraft:
        """The table of an object in a transaction."""
        return TableDraft(transaction, number, self.index)

    def declared(self) -> dict[str, Any]:
        declared = {**super().declared(), "columns": self.columns, "key": self.key, "version": self.version}
        return {**declared, "indexes": self.indexes} if self.indexes else declared


class Derive(MemberDeclaration):
    """A value computed from other members. On an object: the last one computed, None before the first."""

    kind = "derive"

    def __init__(self, function: Callable[[Any], Any], sources: tuple[str, ...]) -> None:
        self.function = function
        self.sources = sources
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> Derive: ...
    @overload
    def __get__(self, instance: Object, owner: Any) -> Any: ...
    def __get__(self, instance: Object | None, owner: Any) -> Any:
        return self if instance is None else instance._values.get(self.index)

    def __set__(self, instance: Object, value: Any) -> None:
        raise AttributeError(f"{self.name} is a derive")

    def declared(self) -> dict[str, Any]:
        return {**super().declared(), "from": list(self.sources)}


class Method(MemberDeclaration):
    """A function that holders call. On an object: the bound function, to be called with a call and arguments."""

    kind = "method"

    def __init__(self, function: Callable[..., Any], idempotent: bool, durable: bool) -> None:
        self.function = function
        self.idempotent = idempotent
        self.durable = durable
        self.least, self.most = _arity(function)
        self.__doc__ = function.__doc__

    def __get__(self, instance: Object | None, owner: Any) -> Any:
        return self if instance is None else self.function.__get__(instance, owner)

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many arguments."""
        return self.least <= count <= self.most

    def declared(self) -> dict[str, Any]:
        durable = {"durable": True} if self.durable else {}
        return {**super().declared(), "idempotent": self.idempotent, **durable}


def _arity(function: Callable[..., Any]) -> tuple[int, float]:
    """How many arguments a method takes behind the object and the call, at least and at most."""
    least, most = -2, -2.0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = float("inf")
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            least += parameter.default is parameter.empty
            most += 1
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"a method's arguments have places, {parameter.name} has none")
    if most < 0:
        raise TypeError("a method takes the object and the call: def name(self, call, …)")
    return max(least, 0), most


def document(initial: Any = None, *, persist: bool = True) -> Any:
    """Declare a document; `initial` is its value in a new object. It is in the host's store, if it has one, unless
    `persist` is False. Raises ChordalError as :func:`chordal.freeze`."""
    return Document(initial, persist)


def table(
    columns: Mapping[str, Any],
    *,
    key: str | Sequence[str],
    indexes: Mapping[str, str | Sequence[str]] | None = None,
    version: int = 1,
    migrate: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Any:
    """Declare a table: typed rows of each object, written in transactions and found by queries. It is in the host's
    store, which it needs to have::

        tasks = chordal.table({"id": "integer", "title": "text", "due": "real"}, key="id", indexes={"by_due": "due"})

    `columns`: each is "integer" (from -2^63 to 2^63-1), "real", "text", "json" or "bytes", or ``{"type": "integer",
    "default": 0}``. For bytes a ``str`` is taken as base64, and refused when it is none. A cell may be None, but those
    of the key. `key`: the column, or the columns in order, by which a row is known. `indexes`: columns by which rows
    are found and ordered fast. The store's table is brought up to the declaration: it is made, columns that are new are
    added, those that are gone are forgotten. `migrate` brings a row that an older `version` of the table wrote up to
    date: what it answers is put in its place, with the same key. It is called for the rows of an object when that is
    made, in the background: 100 in a commit, others in between. What is left at the host's end is done the next time;
    if it raises, that ends it until then."""
    listed = {name: _listed(index) for name, index in (indexes or {}).items()}
    return TableMember(columns, _listed(key), listed, version, migrate)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def derive(*sources: str) -> Callable[[Callable[[Any], Any]], Any]:
    """Declare a derive: a plain function of the object that reads the members `sources` (documents, and derives named
    before it) and nothing else, changes nothing and answers a value. It is computed once in each batch that changed
    one of them. If it raises, its watchers keep the last value and see the error beside it."""
    if not sources or not all(isinstance(source, str) for source in sources):
        raise TypeError('name the members that the derive reads: @chordal.derive("list")')
    return lambda function: Derive(function, sources)


@overload
def method(function: _Function) -> _Function: ...
@overload
def method(*, idempotent: bool = False, durable: bool = False) -> Callable[[_Function], _Function]: ...
def method(function: Any = None, *, idempotent: bool = False, durable: bool = False) -> Any:
    """Declare a method: ``def name(self, call, …)``, plain or ``async``. What it answers is the call's result: a value,
    ``bytes`` or None. It tells its caller of a failure by raising :class:`chordal.MethodError`; what else it raises is
    logged here, and the caller sees a MethodError "internal" without words. `idempotent`: running it twice is harmless.
    `durable`: calls over links are noted in the host's store, which must have one, before they start, and what came of
    them with their commit: a caller that comes back after a restart gets the outcome of before, or it runs when nothing
    of it was committed. One that committed and did not return in the same step raises OutcomeUnknown there; so commit
    once, last, and return without awaiting."""
    if function is None:
        return lambda function: Method(function, idempotent, durable)
    return Method(function, idempotent, durable)


class Ask(NamedTuple):
    """What a guard is asked."""

    authority: Any
    """That of the session: what the program admitted its host with; None for one without."""
    params: FrozenDict
    """Which object of the type; it may not exist."""
    method: str | None
    """The method that is to be called, or None: the object is to be held."""
    origin: int
    """Which session, as in :class:`chordal.Call`."""


class Object:
    """The base of all types. A subclass declares one; the host makes an instance for each object.

    Class keywords: `name` (default: the class's, ``LunchPoll`` is "lunch_poll"), `version` (1), `keep` (objects stay
    when nobody holds them), `placement` (a function of an object's params and the host that says where it lives: see
    :meth:`chordal.Host.place`). Annotations without a value are the params. Members and params are named otherwise than
    what this class has. Redefine :meth:`start` and :meth:`retired` to act on an object's beginning and end,
    :meth:`migrate` for what an older version of the type has stored, and :meth:`guard` to say who may hold one. All of
    it runs on the host's thread.
    """

    type_name: ClassVar[str] = ""
    type_version: ClassVar[int] = 1
    type_keep: ClassVar[bool] = False
    type_history: ClassVar[int | str] = 0
    type_placement: ClassVar[Placement | None] = None
    type_params: ClassVar[tuple[str, ...]] = ()
    type_members: ClassVar[tuple[MemberDeclaration, ...]] = ()
    type_documents: ClassVar[dict[str, Document]] = {}
    type_tables: ClassVar[dict[str, TableMember]] = {}

    host: Host
    """The host that provides the object."""
    params: FrozenDict
    """Its address within the type."""

    def __init_subclass__(
        cls,
        *,
        name: str = "",
        version: int = 1,
        keep: bool = False,
        history: int | Literal["all"] = 0,
        placement: Placement | None = None,
        **rest: Any,
    ) -> None:
        _check_keywords(cls, rest)
        super().__init_subclass__(**rest)
        cls.type_members = _members(cls)
        cls.type_params = _params(cls)
        cls.type_placement = staticmethod(placement) if placement is not None else None
        cls.type_name = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        cls.type_version = version
        cls.type_keep = keep
        cls.type_history = history
        cls.type_documents = {member.name: member for member in cls.type_members if isinstance(member, Document)}
        cls.type_tables = {member.name: member for member in cls.type_members if isinstance(member, TableMember)}

    @classmethod
    def declaration(cls) -> bytes:
        """The type as the core is told of it, in JSON."""
        return json.dumps(
            {
                "name": cls.type_name,
                "version": cls.type_version,
                "params": cls.type_params,
                "keep": cls.type_keep,
                "history": cls.type_history,
                "start": cls._waits_for_start(),
                "migrates": cls.migrate is not Object.migrate,
                "guarded": cls.guard.__func__ is not Object.guard.__func__,
                "members": [member.declared() for member in cls.type_members],
            }
        ).encode()

    def __init__(self) -> None:
        raise TypeError("objects are made by their host: host.object(…)")

    _id: int
    _values: dict[int, Any]

    @classmethod
    def _make(cls, host: Host, number: int, params: FrozenDict) -> Object:
        self = cls.__new__(cls)
        self.host = host
        self.params = params
        self._id = number
        self._values = {}
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _value(self, member: MemberDeclaration) -> Any:
        """The newest value of a document, read from the core when it is asked for the first time."""
        value = self._values.get(member.index, _MISSING)
        if value is _MISSING:
            value = self._values[member.index] = self.host._core.object_read(self._id, member.index | _records.PREPARED)
        return value

    def start(self) -> Any:
        """Called when the object is made, before it goes live; may be ``async``. If it raises MethodError, those who
        hold the object see it failed for this reason."""

    def migrate(self, t: Transaction, version: int) -> Any:
        """Redefine it to bring up to date what an older version of the type has stored: called before :meth:`start`,
        with the oldest `version` that a document of the object was stored with; may be ``async``. What it changes in
        `t` is one commit, and all documents of the object are of the type's version with it. If it raises, they stay as
        they are, and the object fails as by :meth:`start`. Documents that are new to the type have their first values.
        One that changes nothing is called again the next time."""

    @classmethod
    def _has_work(cls) -> bool:
        """When an object is made."""
        rows = (member for member in cls.type_members if isinstance(member, TableMember))
        return cls._waits_for_start() or any(member.migrate for member in rows)

    @classmethod
    def _waits_for_start(cls) -> bool:
        return cls.start is not Object.start or cls.migrate is not Object.migrate

    @classmethod
    def guard(cls, ask: Ask) -> Any:
        """Redefine it, and other hosts hold objects of the type and call their methods only by its answer; may be
        ``async``. It is asked before an object is made or looked up, and then for each call, with `ask.method`:

            @classmethod
            async def guard(cls, ask):
                return ask.authority is not None and await may_read(ask.authority["user"], ask.params["board"])

        True allows what is asked; "all", for a hold, its calls as well, without being asked. Whatever else it answers
        or raises, or no answer in time (the host's `guard_timeout`), denies it: the other host learns "denied" and
        nothing else. The host's own references are not asked about."""
        return True

    def retired(self) -> None:
        """Called when the object is no more."""

    def transaction(self) -> Transaction:
        """A transaction in which this object's documents and tables are attributes."""
        host = self.host
        provider = host._provider
        return Transaction(host._core, self, None, provider, self._id if self._id in provider.starting else 0)

    def retire(self) -> None:
        """End the object: its holders see it retired."""
        self.host._act(self.host._core.object_retire, self._id)

    def revoke(self, authority: Any, reason: str = "") -> None:
        """Take the object from all sessions with this authority: their references are revoked, with the reason. Its
        guard is asked when one holds it again. Raises ChordalError as :meth:`Host.revoke`."""
        self.host._act(self.host._core.revoke, self._id, authority, reason)

    def release(self) -> None:
        """Give one ``host.object`` back."""
        self.host._act(self.host._core.object_drop, self._id)

    def __repr__(self) -> str:
        return f"<{self.type_name} {dict(self.params)}>"


def _check_keywords(cls: type, rest: Mapping[str, Any]) -> None:
    """Class keywords that no other base takes are slips."""
    others = cls.__mro__[cls.__mro__.index(Object) + 1 : -1]
    if rest and not any("__init_subclass__" in vars(base) for base in others):
        words = "name, version, keep, history and placement"
        raise TypeError(f"{cls.__name__} has the class keyword {next(iter(rest))}: there are {words}")


def _check_name(name: str) -> None:
    if hasattr(Object, name) or name in inspect.get_annotations(Object):
        raise TypeError(f"{name} hides what each object has by this name: name it otherwise")


def _members(cls: type) -> tuple[MemberDeclaration, ...]:
    members: dict[str, MemberDeclaration] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, MemberDeclaration):
                _check_name(name)
                members[name] = value
            elif name in members:
                raise TypeError(f"{name} hides a member of the same name")
    for index, member in enumerate(members.values()):
        if member.index not in (-1, index):
            raise TypeError(f"the member {member.name} has another place in the type that it comes from")
        member.index = index
    return tuple(members.values())


def _params(cls: type) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        if base is Object or not issubclass(base, Object):
            continue
        for name, annotation in inspect.get_annotations(base).items():
            if name.startswith("_") or "ClassVar" in str(annotation) or name in vars(base):
                continue
            _check_name(name)
            if not hasattr(base, name):
                names[name] = None
    return tuple(names)


TypeLike = Union[str, "type[Object]"]
"""A type by its name, or the class that declares it."""


def type_of(kind: TypeLike) -> str:
    """The name of a type."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, type) and issubclass(kind, Object) and kind.type_name:
        return kind.type_name
    raise ChordalError("type", "a type is a name or a subclass of chordal.Object")
