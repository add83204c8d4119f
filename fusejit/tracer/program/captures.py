"""Objects found outside the arguments, and the paths on which each call finds them again.

An object is *leaf* (an array, a number: the trace works on a traced value), *copied* (a list, tuple
or dict: an eager copy whose elements were read) or *open* (an instance, class, function or module:
the object itself, whose attributes are read by path when the function asks for them).
"""

from __future__ import annotations

import array
import collections
import functools
from collections.abc import Callable, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, cast

import numpy as np

from fusejit.ir.host import Path
from fusejit.ir.raw_reads import defined_by, is_a, module_of
from fusejit.ir.traced import CheckKind, LibraryRead, PathCheck
from fusejit.support.identity import place_of_served, served_by
from fusejit.tracer.program.callables import (
    CONSTANT_TYPES,
    is_library_module,
    is_method_in_c,
    is_named_tuple,
)
from fusejit.tracer.program.guards import (
    MethodAuthor,
    compared_by,
    is_identified,
    is_value,
    method_author_of,
    native_operators,
    written_by,
)
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.program.trace_interface import TraceInterface

_MUTABLE_TYPES = (
    set,
    bytearray,
    memoryview,
    array.array,
    collections.deque,
    list,  # subclasses
    dict,
)

# What the trace itself guards, and what is only asked for attributes or called.
_KNOWN_TYPES = (
    *CONSTANT_TYPES,
    range,
    slice,
    np.generic,
    np.ndarray,
    np.dtype,
    np.ufunc,
    type,
    ModuleType,
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    SimpleNamespace,
    functools.partial,
    type(functools.lru_cache(lambda: None)),
    type(np.sum),
    type(Ellipsis),
)
_PROTOCOLS = (
    "__len__",
    "__iter__",
    "__getitem__",
    "__next__",
    "__float__",
    "__index__",
    "__bool__",
)


class CaptureRegistry:
    """The registry: which objects come from outside, and from where.

    Parameters
    ----------
    trace : TraceInterface
        Makes the traced values and records the checks.
    meet : callable
        Is called with each object.
    """

    def __init__(
        self, trace: TraceInterface, meet: Callable[[object], None] = lambda obj: None
    ) -> None:
        self._trace = trace
        self._meet = meet
        self._objects: dict[int, tuple[Path, object]] = {}  # keeps them alive: ids stay valid
        self._read: dict[Path, object] = {}
        self._identified: set[Path] = set()
        self._sized: set[Path] = set()
        self._overwritten: set[Path] = set()
        self.require_identity: Callable[[object], None] = lambda obj: None
        self.library_reads: dict[tuple[int, str], LibraryRead] = {}
        self.entry_stubs: list[FunctionType] = []

    def path_of(self, obj: object) -> Path | None:
        """Where an open or copied object was found; None for everything made in the trace."""
        entry = self._objects.get(id(obj))
        return None if entry is None else entry[0]

    def outside(self, obj: object) -> Path:
        """Where calls find an object that is the same one in all of them."""
        path = self.path_of(obj)
        if path is None:
            path = self._trace.captured_reads.outside(obj)
            self.note(path, obj)
        return path

    def object_at(self, path: Path) -> object | None:
        """The open or copied object that was found at a path; None if there is none."""
        return next((obj for at, obj in self._objects.values() if at == path), None)

    def described(self, path: Path) -> str:
        """An object that must not change, and where it comes from, for messages."""
        given = self._trace.given
        is_held = path.root == "arg" and not path.text and given is not None
        is_held = is_held and path.name not in (given or ())
        return f"{path.user_text()}, an object {'that Python holds' if is_held else 'from outside'}"

    def read(self, path: Path, obj: object) -> object:
        """The traced value of the object at ``path``; the same one at each read."""
        if is_hashable(path):
            if path not in self._read:
                self._read[path] = self._read_first(path, obj)
            return self._read[path]
        return self._read_first(path, obj)

    def seen(self, path: Path) -> object:
        """The traced value that was read at ``path``, None if nothing was."""
        return self._read.get(path) if is_hashable(path) else None

    def overwrite(self, path: Path, seen: object) -> None:
        """What the program sees at ``path`` from now on: an effect has written there."""
        self._overwritten.add(path)
        self._read[path] = seen

    def is_overwritten(self, path: Path) -> bool:
        """Whether an effect has written at ``path``."""
        return path in self._overwritten

    def _read_first(self, path: Path, obj: object) -> object:
        self._meet(obj)
        self._refuse(path, obj)
        if type(obj) is FunctionType:
            self.note(path, obj)
        traced = self._trace.captured_reads.read(path, obj)
        self.register(path, traced)
        return traced

    def register(self, path: Path, traced: object) -> None:
        """Note where a traced value comes from; the elements of copied containers too."""
        self._meet(traced)
        if type(traced) in (list, tuple) or is_named_tuple(traced):
            self.note(path, traced)
            for position, item in enumerate(cast(Iterable[Any], traced)):
                self.register(path.item(position), item)
        elif type(traced) is dict:
            self.note(path, traced)
            for key, item in traced.items():
                self.register(path.item(key), item)
        elif not self._trace.is_traced(traced) and is_open(traced):
            self._refuse(path, traced)
            self.note(path, traced)

    def note(self, path: Path, obj: object) -> None:
        """Remember where an object was found; the first path wins, and is checked to hold it."""
        if type(obj) is tuple and not obj:  # a singleton
            return
        first, _ = self._objects.setdefault(id(obj), (path, obj))
        if first != path and not is_identified(obj) and not _is_told_by_code(obj):
            self._trace.captured_reads.check(PathCheck(path, CheckKind.SAME, first))

    def fix(self, path: Path, value: object) -> None:
        """Record that the variant is right only for this very value (an int, a string, None)."""
        self._trace.captured_reads.check(PathCheck(path, CheckKind.EQUAL, value))

    def identify(self, obj: object) -> None:
        """The program compares the identity of an object: record that it is this very one."""
        self.require_identity(obj)
        path = self.path_of(obj)
        if path is None:
            return
        if self.is_container_copy(obj):
            what = f"compares the identity of {path.user_text()}"
            raise unsupported(what, "compare contents instead")
        self.require(path, obj)

    def require_fixed(self, function: Any, name: str) -> None:
        """Leave a method of a container to Python that came without it: ``score=counts.get``."""
        is_of_container = is_method_in_c(function) and type(function.__self__).__hash__ is None
        if is_of_container and self.path_of(function) is not None:
            what = f"calls {name} of a container that it is not given"
            raise needs_python(what, "pass the container itself")

    def compare(self, obj: object, depth: int = 3) -> None:
        """The program compares or hashes an object, or what a container of its own holds."""
        if type(obj) in (list, tuple, set, frozenset, dict) and depth:
            for item in cast(Iterable[Any], obj):
                self.compare(item, depth - 1)
        else:
            self._use(obj, compared_by, "compares")

    def write(self, obj: object) -> None:
        """The program makes text of an object."""
        self._use(obj, written_by, "makes text of")

    def _use(self, obj: object, author_of: Callable[[type], MethodAuthor], use: str) -> None:
        """Special methods are given an object whose type alone is known, if no value is."""
        path = self.path_of(obj)
        if path is None and author_of is compared_by and type(obj).__eq__ is object.__eq__:
            self.require_identity(obj)
        if path is None or self.is_container_copy(obj) or is_identified(obj):
            return
        maker = author_of(type(obj))
        if type(obj) is FunctionType or (maker is MethodAuthor.OBJECT and not is_value(obj)):
            self.identify(obj)
        elif maker is MethodAuthor.LIBRARY and not is_value(obj):
            what = f"{use} {path.user_text()}, a {type(obj).__name__}"
            raise needs_python(what, "pass what is read of it as an argument")

    def read_library(self, namespace: dict[str, Any], name: str, value: object) -> None:
        """Record what a module of a library, or `builtins`, holds under a name."""
        if name in namespace:
            self.library_reads[id(namespace), name] = LibraryRead(namespace, name, value)

    def decorated(
        self, entry_stub: FunctionType, path: Path | None
    ) -> tuple[FunctionType, Path | None]:
        """What an entry stub computes, as it was assigned last, and where that is found."""
        served = served_by(entry_stub)
        if served is None:  # it was only marked as one
            at = None if path is None else path.attribute("__wrapped__")
            return cast(Any, entry_stub).__wrapped__, at
        served.adopt()
        made = served.entry_stub
        if made is not entry_stub and (
            made.__defaults__ is not entry_stub.__defaults__
            or made.__kwdefaults__ is not entry_stub.__kwdefaults__
        ):
            what = f"calls {entry_stub.__qualname__}, a copy with other default values"
            raise needs_python(what, "decorate it itself")
        if entry_stub not in self.entry_stubs:
            self.entry_stubs.append(entry_stub)
        inner = served.function
        if path is None:
            return inner, None
        if entry_stub.__dict__.get("__wrapped__") is inner:
            return inner, path.attribute("__wrapped__")
        place = place_of_served(entry_stub)  # somebody has assigned attributes
        cell = path.attribute("__closure__").item(place)
        return inner, cell.attribute("cell_contents").attribute("function")

    def require(self, path: Path, obj: object) -> None:
        """Record that the variant is right only if this very object is found."""
        if path not in self._identified:
            self._identified.add(path)
            self._trace.captured_reads.check(PathCheck(path, CheckKind.IS, obj))

    def has_members(self, path: Path, count: int) -> None:
        """Record that the variant is right only for a class with so many members."""
        if path not in self._sized:
            self._sized.add(path)
            self._trace.captured_reads.check(PathCheck(path, CheckKind.MEMBERS, count))

    def absent(self, path: Path) -> None:
        """Record that a name or attribute does not exist."""
        if path not in self._read:
            self._read[path] = None
            self._trace.captured_reads.check(PathCheck(path, CheckKind.ABSENT, None))

    def is_container_copy(self, obj: object) -> bool:
        """Whether it is the eager copy of an outside list, tuple or dict."""
        kind = type(obj)
        is_one = kind in (list, tuple, dict) or is_named_tuple(obj)
        return is_one and id(obj) in self._objects

    def _refuse(self, path: Path, obj: object) -> None:
        """Refuse what would be read behind the trace's back: C containers and iterators."""
        kind = type(obj)
        if kind in (list, tuple, dict) or is_named_tuple(obj) or self._trace.is_traced(obj):
            return
        if is_a(obj, _MUTABLE_TYPES) or defined_by(kind, "__next__") is not None:
            what = f"{path.user_text()} is a {kind.__name__} from outside"
            raise needs_python(what, "pass its items as a list, tuple or dict")
        if is_a(obj, _KNOWN_TYPES) or is_identified(obj) or is_value(obj):
            return
        foreign = [n for n in _PROTOCOLS if method_author_of(kind, (n,)) is MethodAuthor.LIBRARY]
        foreign += native_operators(kind)
        if foreign and is_library_module(module_of(kind)):  # C code may read them unnoticed
            what = f"{path.user_text()} is a {kind.__name__} from outside"
            raise needs_python(what, "pass numbers, arrays, or lists and dicts of them")
        if foreign:  # `for x in obj` runs those of a library unnoticed
            what = f"{path.user_text()} is a {kind.__name__}, whose {foreign[0]} is a library's"
            raise needs_python(what, "pass its items as a list, tuple or dict")


def global_path(
    function: FunctionType, path: Path | None, entry: FunctionType, name: str
) -> Path | None:
    """Where each call finds a global of a function that it finds at ``path``."""
    if function.__globals__ is entry.__globals__:
        return Path("global", name)
    return None if path is None else path.attribute("__globals__").item(name)


def closure_path(
    function: FunctionType, path: Path | None, entry: FunctionType, name: str
) -> Path | None:
    """Where each call finds the contents of a closure cell of such a function."""
    if function is entry:
        return Path("closure", name)
    if path is None:
        return None
    index = function.__code__.co_freevars.index(name)
    return path.attribute("__closure__").item(index).attribute("cell_contents")


def defaults_of(function: FunctionType, path: Path | None) -> Iterator[tuple[Path | None, object]]:
    """Default values of a function that a call finds at ``path``, and where it finds them.

    They are counted from the last one, as parameters have them: a longer tuple shifts all.
    """
    at = None if path is None else path.attribute("__defaults__")
    values = function.__defaults__ or ()
    for place, value in enumerate(values, -len(values)):
        yield None if at is None else at.item(place), value


def keyword_defaults_of(
    function: FunctionType, path: Path | None
) -> Iterator[tuple[str, Path | None, object]]:
    """Names and default values of keyword-only parameters, and where a call finds them."""
    at = None if path is None else path.attribute("__kwdefaults__")
    values: dict[str, object] = function.__kwdefaults__ or {}
    for name, value in values.items():
        yield name, None if at is None else at.item(name), value


def is_open(obj: object) -> bool:
    """Whether attributes of the object are read by path."""
    if is_a(obj, ModuleType):
        return not is_library_module(cast(ModuleType, obj).__name__)
    if is_a(obj, type):
        return not is_library_module(obj.__module__)
    kind = type(obj)
    return kind not in _CLOSED and not issubclass(kind, np.ndarray | np.generic | np.dtype)


_CLOSED = (*CONSTANT_TYPES, CellType)


def _is_told_by_code(obj: object) -> bool:
    """Whether it is a function of which the code is all: that is checked wherever it is found."""
    return type(obj) is FunctionType and not (
        obj.__closure__ or obj.__defaults__ or obj.__kwdefaults__ or obj.__dict__
    )


def is_hashable(obj: object) -> bool:
    """Whether it can be a key."""
    try:
        hash(obj)
    except TypeError:
        return False
    return True
