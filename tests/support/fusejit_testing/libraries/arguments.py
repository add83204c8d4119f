"""Copies of the arguments of a call, so that it can be run once more."""

from __future__ import annotations

import collections
import copy
import dis
import enum
import io
import re
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fusejit.ir.write_access import is_writeable
from fusejit_testing.compare import clone, clone_memory, owner
from fusejit_testing.libraries.differences import arrays_within, has_own
from fusejit_testing.libraries.figures import is_part_of_a_figure


class NotCopied(Exception):
    """A call cannot be repeated: it uses up an iterator, writes to a file, counts in a closure."""


_ATOMS = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented),
    type, slice, range, types.BuiltinFunctionType, types.ModuleType, types.MethodDescriptorType,
    np.dtype, np.ufunc, enum.Enum, re.Pattern, property,
)  # fmt: skip
_MUTABLE = (list, dict, set, bytearray, collections.deque, np.ndarray)
_MAX_OBJECTS = 5000
_MAX_BYTES = 2**27
_USED_UP = (io.IOBase, Iterator, types.GeneratorType, types.FrameType, types.TracebackType)


def copied(value: Any, memo: dict[int, Any]) -> Any:
    """A copy in which what was one object is one object, and arrays overlap as they did.

    Raises
    ------
    NotCopied
        If the value holds what cannot be copied, or what a second run would change.
    """
    if isinstance(value, _ATOMS):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, types.FunctionType):
        return _function(value, memo)
    if issubclass(type(value), _USED_UP) and not isinstance(value, np.ndarray):
        raise NotCopied(f"a {type(value).__name__} is used up by a call")
    if isinstance(value, np.ndarray) and value.nbytes > _MAX_BYTES:
        raise NotCopied("an array of very many bytes takes long to copy and compare")
    if is_part_of_a_figure(value):
        raise NotCopied(f"a {type(value).__name__} is part of a figure")
    if type(value) is np.ndarray:
        return _objects(value, memo) if value.dtype.hasobject else clone(value, memo)
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        return value
    kind = type(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return _subclass(value, memo)
    if kind in (list, set, frozenset, collections.deque):
        made: Any = kind(copied(item, memo) for item in value)
    elif kind is dict:
        made = {key: copied(item, memo) for key, item in value.items()}
    elif isinstance(value, tuple) and (kind is tuple or hasattr(kind, "_make")):
        items = [copied(item, memo) for item in value]
        if all(m is v for m, v in zip(items, value, strict=True)):
            return value
        made = kind(items) if kind is tuple else kind._make(items)
    elif isinstance(value, types.MethodType):
        made = types.MethodType(copied(value.__func__, memo), copied(value.__self__, memo))
    else:
        made = _deep(value, memo)
    memo[id(value)] = made
    return made


def _objects(array: np.ndarray, memo: dict[int, Any]) -> np.ndarray:
    """A copy of an array of objects with its strides, and of its base if that is dense."""
    if array.size > _MAX_OBJECTS:
        raise NotCopied("an array of very many objects takes long to copy and compare")
    base = owner(array)
    if not base.size or not (base.flags.c_contiguous or base.flags.f_contiguous):
        base = array
    if type(base) is not np.ndarray or base.dtype != array.dtype:
        base = array
    if base.dtype != object and base.base is not None:
        raise NotCopied("a view of objects in fields")
    if base.dtype == object and not (base.flags.c_contiguous or base.flags.f_contiguous):
        raise NotCopied("a view of objects with gaps between them")
    if id(base) not in memo:
        memo[id(base)] = base.copy(order="K")
        if base.dtype == object:
            items = np.empty(base.size, dtype=object)  # a list would become an array of numbers
            for place, item in enumerate(base.flat):
                items[place] = copied(item, memo)
            memo[id(base)].flat = items
        memo[id(base)].flags.writeable = base.flags.writeable
    made: np.ndarray = memo[id(base)]
    if array is not base and made.strides == base.strides:
        first = (array.ctypes.data - base.ctypes.data) // array.itemsize
        flat = made.reshape(-1, order="A")
        tail = flat[first:] if array.size else flat[:0]
        writeable = is_writeable(array)
        try:
            made = as_strided(tail, array.shape, array.strides, writeable=writeable)
        except TypeError as error:  # texts of NumPy's: they are described in no other way
            raise NotCopied(f"a view of objects that are none of Python's: {error}") from None
        memo[id(array)] = made
    return made


def _subclass(array: np.ndarray, memo: dict[int, Any]) -> np.ndarray:
    """A copy of an array of a subclass, with its strides and attributes."""
    if "__copy__" in vars(type(array)) and copy.copy(array) is array:
        return array  # there is but one: ``np.ma.masked``
    made = clone_memory(array, memo).view(type(array))
    if type(made) is not type(array):
        raise NotCopied(f"a view of a {type(array).__name__} is a {type(made).__name__}")
    if made.dtype != array.dtype or made.shape != array.shape:
        return _deep(array, memo)  # type: ignore[no-any-return]
    memo[id(array)] = made
    if hasattr(array, "__dict__"):
        vars(made).clear()
        vars(made).update({name: copied(item, memo) for name, item in vars(array).items()})
    return made


def _function(function: types.FunctionType, memo: dict[int, Any]) -> types.FunctionType:
    """A function itself, or one with the same code that closes over copies of what may change."""
    if hasattr(function, "__fusejit_state__"):
        return function
    stores = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"}
    if stores & opcodes_outside(function):
        raise NotCopied(f"{function.__name__} binds names outside of it")
    cells = [types.CellType() for _ in function.__closure__ or ()]
    made = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    vars(made).update(vars(function))
    memo[id(function)] = made  # it may close over itself
    is_copy = False
    for old, new in zip(function.__closure__ or (), cells, strict=True):
        try:
            content = old.cell_contents
        except ValueError:
            continue
        try:
            new.cell_contents = copied(content, memo)
        except NotCopied as cause:
            raise NotCopied(
                f"{function.__name__} closes over what is not copied: {cause}"
            ) from None
        is_copy |= not any(new.cell_contents is each for each in (content, made))
    memo[id(function)] = made if is_copy else function
    return made if is_copy else function


def opcodes_outside(function: types.FunctionType) -> set[str]:
    """Instructions with which a function binds names that are not its own."""
    free = set(function.__code__.co_freevars)
    return {
        i.opname
        for i in dis.get_instructions(function.__code__)
        if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
        or (i.opname == "STORE_DEREF" and i.argval in free)
    }


def _is_all_in_its_dict(value: Any) -> bool:
    """Whether the attributes of an object are all that it consists of.

    Its own ``__reduce__`` may leave most of them out, and rebuild a tree from its leaves. One that
    gives a name says that there is but one such object.
    """
    kind = type(value)
    if not hasattr(value, "__dict__") or any(
        has_own(kind, name) for name in ("__new__", "__deepcopy__")
    ):
        return False
    if any(vars(base).get("__slots__") for base in kind.__mro__):
        return False
    if any(has_own(kind, name) for name in ("__reduce__", "__reduce_ex__")):
        try:
            return not isinstance(value.__reduce_ex__(4), str)
        except Exception:  # one that is half made
            return True
    return True


def _deep(value: Any, memo: dict[int, Any]) -> Any:
    if _is_all_in_its_dict(value):  # its own ``__getstate__`` may add to it
        made: Any = object.__new__(type(value))
        memo[id(value)] = made
        vars(made).update({key: copied(item, memo) for key, item in vars(value).items()})
        return made
    for array in arrays_within(value):
        if array is not value and type(array) is np.ndarray:
            memo.setdefault(id(array), copied(array, memo))  # with its strides
    try:
        made = copy.deepcopy(value, memo)
    except RecursionError:
        raise
    except Exception as error:
        raise NotCopied(f"a {type(value).__name__} is not copied: {error}") from None
    if type(made) is not type(value):
        raise NotCopied(f"a copy of a {type(value).__name__} is a {type(made).__name__}")
    if _has_lost_state(value, made):
        return value
    if isinstance(value, np.ndarray) and hasattr(made, "__dict__"):  # NumPy copies no attributes
        for name in vars(value).keys() - vars(made).keys():
            vars(made)[name] = copied(vars(value)[name], memo)
    return made


def _has_lost_state(value: Any, made: Any) -> bool:
    """Whether an object of a class in C was copied from part of its state: both runs share it."""
    for cls in type(value).__mro__:
        for name, attribute in vars(cls).items():
            if isinstance(attribute, types.GetSetDescriptorType) and not name.startswith("__"):
                try:
                    pair = [getattr(each, name, None) for each in (value, made)]
                except Exception:  # an attribute that this object does not have
                    continue
                plain = all(isinstance(one, bool | int | float | str) for one in pair)
                if plain and pair[0] != pair[1]:
                    return True
    return False
