"""Tuples, and `TracedContainer`: a container whose items only the kernel knows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from fusejit.ir.ops import Block
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operator_names import install_operators


class TracedContainer:
    """The interface that the floors below containers need of them.

    Attributes
    ----------
    num_changes : int
        Of the number of its items, so far.
    home : Block
        Where it was made: it is visible there and in blocks inside.
    python_type : type
        The class that the program sees.
    """

    num_changes: int
    keeps_size = False  # whether a loop over it ends where its size changes: with an error
    home: Block
    python_type: type

    def changes(self) -> tuple[int, ...]:
        """How often its number of items has changed so far, apart what may cancel each other."""
        return (self.num_changes,)

    def truth(self) -> TracedArray | bool:
        """Whether there are items."""
        raise NotImplementedError

    def written_out(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method that is written in Python; Python runs calls with other arguments."""
        try:
            inspect.signature(function).bind(self, *args, **kwargs)
        except TypeError:
            what = f"{self.python_type.__name__}.{function.__name__}"
            self.refuse(f"calls {what} with arguments that are not compiled")
        return current_trace().inlined(function, (self, *args), kwargs)

    def size(self) -> Any:
        """How many items there are."""
        raise NotImplementedError

    def items(self) -> Any:
        """The items of a loop over it: `fusejit.tracer.indexing.iteration.Items`."""
        raise NotImplementedError

    def in_any_order(self) -> Any:
        """What a loop runs over whose result does not show the order of the items."""
        return self

    def addends(self) -> Any:
        """What a sum of integers runs over."""
        return self

    def contains(self, item: Any) -> Any:
        """``item in xs``."""
        raise NotImplementedError

    def has_any(self) -> Any:
        """``any(xs)``."""
        raise NotImplementedError

    def has_all(self) -> Any:
        """``all(xs)``."""
        raise NotImplementedError

    def as_array(self, dtype: np.dtype | None = None) -> TracedArray:
        """``np.array(xs)``, or with ``dtype=`` the one that it has."""
        raise NotImplementedError

    def user_attribute(self, name: str) -> Any:
        """``xs.name`` in the user's program."""
        if name in self.methods():
            return getattr(self, name)
        what = f"calls {self.python_type.__name__}.{name} in compiled code"
        getattr(self.python_type, name)  # which may raise AttributeError
        self.refuse(what)

    def methods(self) -> frozenset[str]:
        """The names of the methods that are compiled."""
        raise NotImplementedError

    def refuse(self, what: str, remedy: str = MOVE_OUTSIDE) -> NoReturn:
        """Leave to Python what is done with it."""
        raise needs_python(what, remedy)

    def require_not(self, other: Any) -> None:
        """Leave it to Python whether it is another object, if that is not known."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        what = f"uses a {self.python_type.__name__} that a compiled loop changes"
        self.refuse(f"{what} in a way that is not compiled")

    __bool__ = __len__ = __iter__ = __contains__ = __format__ = __str__ = _refuse
    __hash__ = __index__ = __int__ = __float__ = __round__ = _refuse
    __array__ = __array_function__ = __array_ufunc__ = _refuse


install_operators(TracedContainer, TracedContainer._refuse)


def add_methods(kind: type[TracedContainer], functions: Mapping[str, Callable[..., Any]]) -> None:
    """Give a class the methods that are written in Python."""
    for name, function in functions.items():
        setattr(kind, name, _method_of(name, function))


def _method_of(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: TracedContainer, *args: Any, **kwargs: Any) -> Any:
        return self.written_out(function, args, kwargs)

    method.__name__ = name
    return method


def is_tuple(obj: Any) -> bool:
    """Whether an object is a tuple, whose items are what the program has put there."""
    return type(obj) is tuple or is_named_tuple(obj)


def tuple_of(kind: type, items: Sequence[Any]) -> Any:
    """A tuple of the class ``kind``."""
    return getattr(kind, "_make", kind)(items)
