"""Find arrays and loops in the code that a function can reach, without running it.

The search follows names: globals, cells of enclosing functions, and members of the classes of
arguments. It does not follow objects that come from elsewhere.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Set
from itertools import chain, islice
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from fusejit.dataclass import dataclass
from fusejit.ir.raw_reads import bases_of, defined_by, held_by, is_a, members_of, module_of
from fusejit.support.frame_readers import codes_in, names_read
from fusejit.support.identity import served_by

_LOOPS = {code for name, code in dis.opmap.items() if "JUMP_BACKWARD" in name or name == "FOR_ITER"}
_ARRAY_LIBRARIES = ("numpy", "scipy", "pandas", "sklearn", "xarray", "fusejit")
_PROTOCOLS = ("__array__", "__array_interface__", "__array_ufunc__")
_MAX_FUNCTIONS = 64  # searched; more are assumed to have loops and no arrays
_NEAR = 2  # nested calls within which a name of an array library counts
_MAX_ITEMS = 8  # of a container that are searched
DEPTH = 3  # nested containers and objects
_NO_DATA = (FunctionType, MethodType, BuiltinFunctionType, ModuleType)
_STANDARD = sys.stdlib_module_names - {"__main__"}
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), range)


@dataclass(frozen=True, slots=True)
class ReachableCode:
    """The result of the search.

    Attributes
    ----------
    has_arrays : bool
        Whether it may use arrays that no argument holds.
    has_loops : bool
        Whether a call may take longer than its statements, one after the other.
    names : frozenset of str
        Globals and attributes, in it and in what it calls.
    """

    has_arrays: bool
    has_loops: bool
    names: frozenset[str] = frozenset()


def reachable_code(function: FunctionType, args: Iterable[Any]) -> ReachableCode:
    """Search the code that a function can reach, for arguments of these classes."""
    classes = [type(arg) for arg in args if type(arg) not in _SIMPLE]
    seen: set[CodeType] = set()
    waiting: deque[tuple[FunctionType, int, bool]] = deque([(function, 0, True)])
    names: set[str] = set()
    has_loops = False
    while waiting:
        one, level, decides_loops = waiting.popleft()
        if one.__code__ in seen:
            continue
        seen.add(one.__code__)
        if len(seen) > _MAX_FUNCTIONS:
            return ReachableCode(False, True, frozenset(names))
        has_loops = has_loops or (decides_loops and _has_loop(one.__code__))
        own = {*names_read(one.__code__)}
        if level <= _NEAR:
            names |= own
        for value in _named(one, own, classes):
            if level <= _NEAR and (_concerns_arrays(value) or holds_array(value, own, 1)):
                return ReachableCode(True, True)
            for called in _functions_of(value):
                served = served_by(called)
                of_user = called if served is None else served.function
                waiting.append((of_user, level + 1, decides_loops and served is None))
    return ReachableCode(False, has_loops, frozenset(names))


def reachable_functions(
    function: FunctionType, classes: Iterable[type] = (), *, goes_far: bool = False
) -> Iterator[FunctionType]:
    """Yield a function and what it can reach.

    ``classes`` are those that its arguments may have. Only if it ``goes_far``, the search goes into
    modules and decorated functions.
    """
    seen: set[CodeType] = set()
    waiting = deque([function])
    while waiting and len(seen) < _MAX_FUNCTIONS:
        one = waiting.popleft()
        if one.__code__ in seen:
            continue
        seen.add(one.__code__)
        yield one
        names = {*names_read(one.__code__)}
        for value in _named(one, names, classes):
            held = _of_module(value, names) if goes_far and is_a(value, ModuleType) else [value]
            for called in chain.from_iterable(map(_functions_of, held)):
                served = served_by(called)
                if goes_far or served is None:
                    waiting.append(called if served is None else served.function)


def holds_array(value: Any, names: Iterable[str], depth: int = DEPTH) -> bool:
    """Whether an object is an array, or holds one: as an item, or under one of some names."""
    kind = type(value)
    if kind in _SIMPLE:
        return False
    if _is_array_class(kind):
        return True
    if not depth or kind in _NO_DATA or is_a(value, type):
        return False
    items: Iterable[Any] = ()
    if kind in (list, tuple):
        items = value[:_MAX_ITEMS]
    elif kind is dict:
        items = [*islice(value.values(), _MAX_ITEMS)]
    elif not _is_standard(module_of(kind)):
        items = (held_by(value, name) for name in names)
    return any(holds_array(item, names, depth - 1) for item in items)


def _has_loop(code: CodeType) -> bool:
    """Whether it, or what is defined in it, jumps backwards."""
    return not all(_LOOPS.isdisjoint(one.co_code[::2]) for one in codes_in(code))


def _named(function: FunctionType, names: Set[str], classes: Iterable[type]) -> Iterator[Any]:
    """Yield the values of the names of a function, as globals, cells and attributes.

    The objects whose attributes count are arguments (given by class) and values of names.
    """
    kinds = {*classes}
    for value in (*_of_globals(function, names), *_of_cells(function)):
        yield value
        if type(value) not in _NO_DATA and not _is_standard(module_of(type(value))):
            kinds.add(type(value))
    for kind in kinds:
        for base in bases_of(kind):
            for name, value in members_of(base).items():
                if name in names or name == "__call__":
                    yield value
    for name in names & {*_ARRAY_LIBRARIES}:  # imported in the function
        if name in sys.modules:
            yield sys.modules[name]


def _of_globals(function: FunctionType, names: Set[str]) -> Iterator[Any]:
    known = function.__globals__
    yield from (known[name] for name in names if name in known)


def _of_module(module: ModuleType, names: Set[str]) -> Iterator[Any]:
    """Yield what names lead to in a module of the user."""
    held = ModuleType.__getattribute__(module, "__dict__")
    if not _is_library(held.get("__name__")) and not _is_standard(held.get("__name__")):
        yield from (held[name] for name in names if name in held)


def _of_cells(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it is empty
            continue


def _concerns_arrays(value: Any) -> bool:
    """Whether the value of a name is an array or makes arrays."""
    if is_a(value, type):
        return _is_array_class(value)
    if is_a(value, ModuleType):
        return _is_library(ModuleType.__getattribute__(value, "__dict__").get("__name__"))
    if type(value) in (FunctionType, BuiltinFunctionType):
        return _is_library(value.__module__)
    return _is_array_class(type(value))


def _is_array_class(kind: type) -> bool:
    """Whether the objects of a class are arrays, make arrays or convert to some."""
    if type(kind) is not type:  # others have a hash of their own
        return _reads_as_array(kind)
    known = _ARRAY_CLASSES.get(kind)
    if known is None:
        known = _ARRAY_CLASSES[kind] = _reads_as_array(kind)
    return known


def _reads_as_array(kind: type) -> bool:
    return _is_library(module_of(kind)) or any(defined_by(kind, name) for name in _PROTOCOLS)


_ARRAY_CLASSES: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _is_library(module: Any) -> bool:
    """Whether a module is one of a library of arrays."""
    return type(module) is str and module.partition(".")[0] in _ARRAY_LIBRARIES


def _functions_of(value: Any) -> Iterator[FunctionType]:
    """Yield the functions that may run when the value of a name is used."""
    if is_a(value, type) and not _is_standard(module_of(value)):
        for member in members_of(value).values():
            if not is_a(member, type):
                yield from _functions_of(member)
    elif type(value) in (staticmethod, classmethod, MethodType):
        yield from _functions_of(value.__func__)
    elif type(value) is property:
        yield from (f for f in (value.fget, value.fset) if type(f) is FunctionType)
    elif type(value) is FunctionType:
        yield from () if _is_standard(value.__module__) else (value,)
    else:  # of `functools`: the function within
        inner = (held_by(value, name) for name in ("__wrapped__", "func"))
        yield from (one for one in inner if type(one) is FunctionType)


def _is_standard(module: Any) -> bool:
    """Whether a module belongs to the standard library."""
    return type(module) is str and module.partition(".")[0] in _STANDARD
