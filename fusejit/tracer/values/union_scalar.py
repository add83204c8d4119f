"""Numbers of one of several types: which one, only the kernel knows.

::

    best = 0                    # a Python int,
    for i in range(n):
        best = max(best, x[i])  # or an np.int32, whichever is larger

Python hands out one object or the other, and what is computed from it follows the type of that one.
In the kernel there is one number that holds either exactly, ``value``, and a *tag* that says which
of the types it has; None is such a type, too. What the types have in common (comparisons, stores,
sums whose loop is one for all of them) is computed on ``value`` and never asks the tag; anything
else is a conditional on it, with each type in a branch of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operations import UnionOperations
from fusejit.tracer.values.operator_names import install_operators

NumberType = tuple[Kind, np.dtype]

UNION_OPS = UnionOperations()


_MAKES_TEXT = "makes text of what has one of several types, depending on elements"


@dataclass(frozen=True, slots=True)
class UnionType:
    """The types that a number may have, in a fixed order, and the dtype that holds all of them.

    None among ``types`` stands for the object None.
    """

    types: tuple[NumberType | None, ...]
    dtype: np.dtype

    @property
    def tag(self) -> NumberType:
        """Kind and dtype of the tag: the truth of "the second one", or the place in ``types``."""
        return Kind.PYTHON, np.dtype(np.bool_ if len(self.types) == 2 else np.int64)


@dataclass(frozen=True, slots=True)
class TypeTest:
    """What a bool of the kernel says of a tag: whether the type is one of ``type_indices``."""

    tag: Value
    type_indices: frozenset[int]
    num_types: int

    def negated(self) -> TypeTest:
        """The test that is true where this one is false."""
        return TypeTest(
            self.tag, frozenset(range(self.num_types)) - self.type_indices, self.num_types
        )


class TypeTests(dict[Value, TypeTest]):
    """Bools of one trace that ask for the type of a number."""


class UnionScalar:
    """A number of the kernel that has one of several types.

    Attributes
    ----------
    type : UnionType
    value : TracedArray
        The number in the dtype that holds all types; 0 where it is None.
    tag : TracedArray
        Which of the types it has.
    """

    __slots__ = ("tag", "type", "value")
    __array_priority__ = 2000

    def __init__(self, type_: UnionType, value: TracedArray, tag: TracedArray) -> None:
        self.type = type_
        self.value = value
        self.tag = tag

    @property
    def trace(self) -> Trace:
        """The trace it belongs to."""
        return self.value.trace

    def refuse(self, what: str) -> Any:
        """Raise the error for a use that has no meaning for all of the types."""
        texts = " or ".join(map(UNION_OPS.type_text, self.type.types))
        remedy = "convert it first, with float(..) or np.float64(..), or give it one type"
        raise unsupported(f"{what} a number that is {texts}, depending on elements", remedy)

    def user_attribute(self, name: str) -> Any:
        """``p.name`` in the user's program."""
        return self.refuse(f"reads .{name} of")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(f"reads .{name} of")

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        if makes_text(self.trace):
            raise needs_python(_MAKES_TEXT, MOVE_OUTSIDE)
        return f"<traced number of one of the types {self.type.types}>"

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __round__(self, *digits: Any) -> Any:
        return UNION_OPS.for_each_type(round, self, *digits)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return self.refuse(f"calls np.{ufunc.__name__} on")
        return UNION_OPS.operator(ufunc, args)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return UNION_OPS.for_each_type(PRIMITIVES[func], *args, **kwargs)


_REFUSED = {
    "__getitem__": "reads an item of",
    "__setitem__": "stores into",
    "__iter__": "goes through",
    "__bool__": "asks natively for the truth of",
    "__index__": "needs the value of",
    "__int__": "needs the value of",
    "__float__": "needs the value of",
    "__hash__": "makes a key of",
    "__array__": "makes an array of",
}


def _refusing(what: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: self.refuse(what)


for _name, _what in _REFUSED.items():
    setattr(UnionScalar, _name, _refusing(_what))


class OptionalTuple:
    """A tuple, or None: ``tag`` is the bool that is true for the tuple.

    What a search leaves: ``at = None`` before a loop, ``at = (i, j)`` in it.
    """

    __slots__ = ("items", "tag")

    def __init__(self, tag: TracedArray, items: Any) -> None:
        self.tag = tag
        self.items = items

    @property
    def trace(self) -> Trace:
        """The trace it belongs to."""
        return self.tag.trace

    def _present(self, text: str) -> Any:
        return UNION_OPS.present(self, text)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._present("cannot unpack non-iterable NoneType object"))

    def __getitem__(self, index: Any) -> Any:
        return self._present("'NoneType' object is not subscriptable")[index]

    def __len__(self) -> int:
        return len(self._present("object of type 'NoneType' has no len()"))

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        what = "uses what is a tuple or None, depending on elements"
        raise unsupported(what, "ask whether it is None first, and take its items")

    def __repr__(self) -> str:
        if makes_text(self.trace):
            raise needs_python(_MAKES_TEXT, MOVE_OUTSIDE)
        return "<traced tuple or None>"

    user_attribute = __bool__ = __hash__ = __eq__ = __ne__ = __lt__ = __gt__ = _refuse
    __le__ = __ge__ = __add__ = __radd__ = __contains__ = _refuse


class Choice:
    """What leaves the program is one of ``objects``: the one whose place ``tag`` says."""

    __slots__ = ("objects", "tag")

    def __init__(self, tag: Any, objects: tuple[Any, ...]) -> None:
        self.tag = tag
        self.objects = objects


def is_union_scalar(obj: Any) -> TypeGuard[UnionScalar]:
    """Whether a number has one of several types."""
    return type(obj) is UnionScalar


def _computed(number: UnionScalar, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    return UNION_OPS.operator(ufunc, operands)


install_operators(UnionScalar, _computed)
