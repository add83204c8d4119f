"""Which objects are inputs of each call, and which a call must find as the traced one had them.

A variant bakes in what the traced program has done with an object, unless the object is an input.
So each object that the program reads, whether an argument, an item, an attribute, a global name or
the contents of a closure cell, is one of these:

============ ================================================================= ====================
taken        objects                                                           checked in each call
============ ================================================================= ====================
as input     arrays; instances of exactly int, float, complex; NumPy scalars   type, dtype, rank
             of dtypes that kernels know
as container lists, tuples, dicts, named tuples                                type, length or keys,
                                                                               each item by itself
by identity  None, Ellipsis, classes, modules, builtin functions, ufuncs,      the very object
             members of enums; any other object whose identity shows: it is
             compared, hashed or made text as `object` does it
by value     bool, str, bytes, dtypes, ranges, slices; instances of the        type and value
             user's subclasses of int, float, complex, str and bytes;
             instances of hashable classes of the standard library
by code      functions                                                         ``__code__``
by type      other objects                                                     type; what is read of
                                                                               them, by itself
============ ================================================================= ====================

Everything else Python runs: arrays and scalars of other kinds, subclasses of tuple, list and dict,
sets, iterators, and objects whose state C code or a library would read unnoticed. An object that is
taken by value or by identity has attributes as well; these are read, and guarded, by their paths.

Nothing here runs code of the object's class.
"""

from __future__ import annotations

import datetime
import enum
import types
import weakref
from typing import Any

import numpy as np

from fusejit.ir.host import Path
from fusejit.ir.raw_reads import bases_of, defined_by, is_a, members_of, module_of, value_reader
from fusejit.ir.traced import CheckKind, FunctionDefinition, PathCheck
from fusejit.tracer.program.callables import is_library_module, is_user_function
from fusejit.tracer.source.entry_stubs import is_entry_stub

_IDENTIFIED = (
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    np.ufunc,
    type(np.sum),
    enum.Enum,
)
_VALUES = (bool, str, bytes, complex, np.dtype)
_PARTS = ("start", "stop", "step")
_HASH_OTHERS = (types.MethodType, types.MethodWrapperType, weakref.ref)  # they may be the user's
_KEYS = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))
_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8  # of ``__flags__``
_COMPARING = ("__eq__", "__hash__")
_OPERATORS = ("__lt__", "__add__", "__sub__", "__mul__", "__or__", "__and__")
_CONVERTING = (
    *("__array__", "__array_interface__", "__array_struct__", "__buffer__", "__len__"),
    *("__getitem__", "__float__", "__int__", "__index__", "__complex__"),
)
_WRITING = ("__repr__", "__str__", "__format__")


class MethodAuthor(enum.Enum):
    """Who has written the special methods of a class."""

    OBJECT = "object"
    USER = "the user"
    LIBRARY = "a library"


def is_identified(obj: object) -> bool:
    """Whether an object is taken by identity wherever it is found."""
    return is_a(obj, _IDENTIFIED) or is_entry_stub(obj)


def is_value(obj: object) -> bool:
    """Whether an object is taken by value."""
    kind = type(obj)
    if is_identified(obj) or is_a(obj, np.generic):
        return False
    if kind in (slice, range) or is_a(obj, _VALUES) or value_reader(kind) is not None:
        return True
    if not is_library_value(kind):
        return False
    if kind is frozenset:
        return all(map(runs_no_user_code, obj))  # type: ignore[call-overload]
    zone = obj.tzinfo if isinstance(obj, datetime.datetime | datetime.time) else None
    return zone is None or is_library_module(module_of(type(zone)))


def is_library_value(kind: type) -> bool:
    """Whether a class of the standard library has values that are compared: dates, fractions."""
    if not is_library_module(module_of(kind)) or kind in _HASH_OTHERS:
        return False
    return members_of(defined_by(kind, "__hash__") or object)["__hash__"] not in (
        None,
        object.__hash__,
    )


def guards_of(path: Path, obj: Any) -> list[PathCheck]:
    """The checks of an object that is no input and no container."""
    kind = type(obj)
    if is_identified(obj):
        return [PathCheck(path, CheckKind.IS, obj)]
    if kind in (slice, range):  # equal ones may differ in what shows: range(0, 3, 2), slice(1.0)
        parts = [(path.attribute(name), getattr(obj, name)) for name in _PARTS]
        checks = [PathCheck(path, CheckKind.TYPE, kind)]
        return checks + [check for at, part in parts for check in _exactly(at, part)]
    if is_value(obj):
        return [PathCheck(path, CheckKind.EQUAL, obj)]
    if kind is types.FunctionType:
        definition = FunctionDefinition(obj.__code__, obj.__globals__)
        return [PathCheck(path, CheckKind.CODE, definition)]
    of_class = PathCheck(path, CheckKind.TYPE, kind)
    if path.root == "arg":
        return [of_class]
    same = PathCheck(path, CheckKind.IS, obj)
    return [same, of_class] if _may_change(kind) else [same]


def _may_change(kind: type) -> bool:
    """Whether objects of a class may be given another one."""
    return kind.__flags__ & (_HEAP_TYPE | _IMMUTABLE) == _HEAP_TYPE


def _exactly(path: Path, obj: Any) -> list[PathCheck]:
    """The checks of a part of a slice: numbers are no inputs there."""
    if type(obj) in (int, float):
        return [PathCheck(path, CheckKind.EQUAL, obj)]
    return guards_of(path, obj)


def method_author_of(kind: type, names: tuple[str, ...]) -> MethodAuthor:
    """Who has written some special methods: a library if it has written one of them."""
    makers = set()
    for name in names:
        found = members_of(defined_by(kind, name) or object).get(name)
        if found is None or found is getattr(
            object, name, None
        ):  # None: a user's __eq__ takes __hash__
            makers.add(MethodAuthor.OBJECT)
        else:
            makers.add(MethodAuthor.USER if is_user_function(found) else MethodAuthor.LIBRARY)
    order = (MethodAuthor.LIBRARY, MethodAuthor.USER, MethodAuthor.OBJECT)
    return next(maker for maker in order if maker in makers)


def native_operators(kind: type) -> list[str]:
    """Operators of a class that are written in C, as those of dates: they read it unnoticed."""
    bases = [members_of(base) for base in bases_of(kind) if base is not object]
    native = types.WrapperDescriptorType
    return [name for name in _OPERATORS if any(type(m.get(name)) is native for m in bases)]


def compared_by(kind: type) -> MethodAuthor:
    """Who has written how objects of a class are compared and hashed."""
    return method_author_of(kind, _COMPARING)


def written_by(kind: type) -> MethodAuthor:
    """Who has written how objects of a class are made text."""
    return method_author_of(kind, _WRITING)


def is_converted_by_user_code(kind: type) -> bool:
    """Whether NumPy runs methods of the user's to make an array of objects of a class."""
    return any(method_author_of(kind, (name,)) is MethodAuthor.USER for name in _CONVERTING)


def runs_no_user_code(key: object) -> bool:
    """Whether no code of the user's runs where a key of a dict is hashed, compared or printed."""
    kind = type(key)
    if kind is tuple:
        return all(map(runs_no_user_code, key))  # type: ignore[call-overload]
    if kind in _KEYS or issubclass(kind, np.generic | type):
        return True
    names = (*_COMPARING, *_WRITING)
    found = (members_of(base).get(name) for base in bases_of(kind) for name in names)
    return not any(map(is_user_function, found))
