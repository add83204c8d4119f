"""Traced arrays: what the user's program computes with while it is traced."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

import numpy as np

from fusejit.errors import ConcretizationError
from fusejit.ir.affine import Dim
from fusejit.ir.host import Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, ViewOp
from fusejit.ir.types import Kind
from fusejit.ir.values import Value, View
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.layout import arrange
from fusejit.tracer.builder.primitives import PRIMITIVES, method_of_number
from fusejit.tracer.builder.shapes import Extents, normal_order
from fusejit.tracer.builder.trace import MAX_RANK, Trace, too_many_axes
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import (
    MOVE_OUTSIDE,
    concretization,
    name_in_program,
    needs_python,
)
from fusejit.tracer.values.operations import ArrayOperations
from fusejit.tracer.values.operator_names import CHANGING, METHODS, install_operators
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number

ARRAY_OPS: ArrayOperations[TracedArray] = ArrayOperations()

_HASH = "a key of a dict, an element of a set or hash()"
_TEXT = "text"
_REMEDY = "use np.where to choose element by element"
_REMEDIES = {
    "an index or a size": "pass the number as an argument of its own, as a Python int",
    "`in`": "write (x == value).any()",
    _TEXT: "return the array and make the text of the result",
    _HASH: "use an array as the table (counts[i] += 1)",
}

_PYTHON_TYPES = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


class TracedArray:
    """A view of a storage: an index map, extents and what NumPy would hand out.

    Attributes
    ----------
    storage : Storage
        Shared by all views of one array.
    map : IndexingMap
        From an index of this view to an index of the storage.
    extents : tuple of AffineExpr
    kind : Kind
        ARRAY, or SCALAR for what NumPy returns as a scalar.
    path : Path or None
        Where the caller's own array object was found, for an argument itself (not a view of it).
    access : WriteAccess
        Whether it may be stored into, apart from its memory: broadcasts, windows, diagonals are
        read-only.
    is_view : bool
        Whether NumPy's array is a view, which has a ``base``: also one of all elements.
    is_known : bool
        Whether it is known here which object this is: not if only the kernel knows.
    is_ndarray : bool
        Whether NumPy's array is known to be no `np.memmap`: `fusejit.tracer.values.memmaps`.
    """

    __slots__ = (
        "_viewed",
        "access",
        "extents",
        "is_known",
        "is_ndarray",
        "is_view",
        "kind",
        "map",
        "path",
        "storage",
    )
    __array_priority__ = 1000

    def __init__(
        self, storage: Storage, index_map: IndexingMap, extents: Extents, kind: Kind = Kind.ARRAY
    ) -> None:
        if len(extents) > MAX_RANK:
            raise Fallback(too_many_axes(f"an array of {len(extents)} axes"))
        self.storage = storage
        self.map = index_map
        self.extents = extents
        self.kind = kind
        self.path: Path | None = None
        self.access = WriteAccess.WRITEABLE
        self.is_view = False
        self.is_known = True
        self.is_ndarray = False
        self._viewed: tuple[Value, Block, Value] | None = None

    # -- construction -----------------------------------------------------------------------------
    @staticmethod
    def whole(storage: Storage, kind: Kind = Kind.ARRAY, path: Path | None = None) -> TracedArray:
        """All of a storage."""
        array = TracedArray(storage, IndexingMap.identity(storage.rank), storage.extents, kind)
        array.path = path
        return array

    @staticmethod
    def of_value(trace: Trace, value: Value) -> TracedArray:
        """A fresh result."""
        return TracedArray.whole(Storage.of_value(trace, value), value.kind)

    def view(self, index_map: IndexingMap, extents: Extents) -> TracedArray:
        """A view of this view: ``index_map`` takes its indices to indices of this one."""
        result = TracedArray(self.storage, self.map.compose(index_map), extents)
        result.access = self.access
        result.is_view = True
        result.is_ndarray = self.is_ndarray
        return result

    def as_owner(self) -> TracedArray:
        """All of a fresh array as an array that owns its memory, whatever views it is made of."""
        if not self.is_whole or self.storage.root is not self.storage:
            return ARRAY_OPS.copy(self, "K")
        return TracedArray(self.storage, self.map, self.extents, self.kind)

    def as_view(self) -> TracedArray:
        """Another object for the same elements: NumPy's function ends with a view."""
        return self.view(IndexingMap.identity(self.ndim), self.extents)

    def one_of_two(self, other: TracedArray) -> TracedArray:
        """This view, of which only the kernel knows whether it is the object ``other``."""
        result = self.view(IndexingMap.identity(self.ndim), self.extents)
        result.is_known = False
        result.is_view = self.is_view
        result.access = max(self.access, other.access)
        return result

    # -- elements ---------------------------------------------------------------------------------
    @property
    def trace(self) -> Trace:
        """The trace it belongs to."""
        return self.storage.trace

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its storage, axis by axis."""
        canonical = self.trace.decisions.canonical
        return self.map.is_identity and all(
            canonical(a) == canonical(b)
            for a, b in zip(self.extents, self.storage.extents, strict=True)
        )

    @property
    def stores(self) -> WriteAccess:
        """Whether NumPy would let the program store into it in this call."""
        memory = self.storage.root.array
        return self.access if memory is None else max(self.access, WriteAccess.of(memory))

    def value(self) -> Value:
        """Its elements at this place of the program."""
        part = self.storage.value_of_view(self)
        if part is not None:
            return part
        base = self.storage.read()
        if self.is_whole:
            return base
        trace = self.trace
        known = self._viewed
        if known is None or known[0] is not base or known[1] is not trace.block:
            result = trace.new_value(self.dtype, self.extents, self.kind)
            trace.emit(ViewOp(results=(result,), source=base, map=self.map))
            self._viewed = known = (base, trace.block, result)
        return known[2]

    def memory(self) -> View:
        """Its memory: from here on the storage is a buffer."""
        return View(self.storage.to_buffer(), self.map, self.extents)

    def compare_strides(self, axis: int, other: int) -> int | None:
        """The sign of ``|stride[axis]| - |stride[other]|``; None where either is 0.

        Of equal strides the one of the earlier axis counts as larger: NumPy's sorts are stable.
        """
        parts = []
        order = self.storage.order or tuple(range(self.storage.rank))
        for a in (axis, other):
            if self.trace.decisions.constant(self.extents[a]) == 1:
                return None
            at = [k for k, r in enumerate(self.map.results) if a in r.dims()]
            at = [k for k in at if not self.storage.stride_is_zero(k)]
            if not at:
                return None
            if len(at) > 1 and axis != other and not self.storage.is_dense:
                raise needs_python("orders a diagonal of an array with gaps", "copy the array")
            # of a diagonal the outermost: its stride is more than that of any axis within
            outer = min(at, key=order.index)
            parts.append((outer, self.map.results[outer].coefficient(Dim(a))))
        (first, step), (second, other_step) = parts
        is_earlier = axis <= other
        return self.storage.compare_strides(first, step, second, other_step, is_earlier)

    def axes_by_motion(self) -> tuple[list[int], list[int]]:
        """The axes along which memory is walked, and those of stride 0; none that are 1 long."""
        constant = self.trace.decisions.constant
        axes = [a for a in range(self.ndim) if constant(self.extents[a]) != 1]
        moving = [a for a in axes if any(a in r.dims() for r in self.map.results)]
        moving = [a for a in moving if self.compare_strides(a, a) is not None]
        return moving, [a for a in axes if a not in moving]

    def sorted_order(self) -> tuple[int, ...] | None:
        """The axis order of a copy with ``order="K"``: by strides, those that are 0 innermost."""
        moving, still = self.axes_by_motion()

        def sign(i: int, j: int) -> int:
            return -(self.compare_strides(i, j) or 0)

        moving.sort(key=functools.cmp_to_key(sign))
        return normal_order(arrange(moving + still, self.ndim))

    # -- attributes -------------------------------------------------------------------------------
    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return self.storage.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def shape(self) -> tuple[SymbolicNumber | int, ...]:
        """The extents as numbers."""
        return tuple(affine_number(self.trace, e) for e in self.extents)

    @shape.setter
    def shape(self, shape: Any) -> None:
        if self.path is not None or not self.is_known or self.trace.regions:
            raise needs_python("gives another shape to an array from elsewhere", "use reshape")
        seen = ARRAY_OPS.reshape(self, shape, copy=False)
        self.storage, self.map, self.extents = seen.storage, seen.map, seen.extents
        self._viewed = None

    @property
    def size(self) -> Any:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def T(self) -> TracedArray:
        """The axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return PRIMITIVES[np.matrix_transpose](self)

    @property
    def real(self) -> Any:
        """The real parts: a view of complex numbers, and real ones themselves."""
        return ARRAY_OPS.complex_part(self, "real")

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary parts, a view."""
        return ARRAY_OPS.complex_part(self, "imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    # -- methods ----------------------------------------------------------------------------------
    def transpose(self, *axes: Any) -> TracedArray:
        """A view with the axes permuted."""
        given: Any = axes or None
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list | range)):
            given = axes[0]
        result: TracedArray = PRIMITIVES[np.transpose](self, given)
        return result

    def item(self, *args: Any) -> Any:
        """An element as a Python number of the kernel."""
        return ARRAY_OPS.item(self, args)

    def tolist(self) -> Any:
        """The elements as numbers of Python, in lists within lists."""
        return ARRAY_OPS.tolist(self)

    def fill(self, value: Any) -> None:
        """Store one number everywhere."""
        self[...] = value

    def __getitem__(self, index: Any) -> TracedArray:
        result: TracedArray = ARRAY_OPS.getitem(self, index)
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        ARRAY_OPS.setitem(self, index, value)

    def __iter__(self) -> Iterator[TracedArray]:
        if not self.ndim:
            raise numpy_raises("TypeError: iteration over a 0-d array")
        length = self.trace.decisions.exactly(self.extents[0], "a loop over the rows of an array")
        return (self[i] for i in range(length))

    def __len__(self) -> int:
        if not self.ndim:
            raise numpy_raises("TypeError: len() of unsized object")
        return self.trace.decisions.exactly(self.extents[0], "len() as an exact int")

    def __bool__(self) -> bool:
        raise self._concrete("bool(), `if` or `while`")

    def __int__(self) -> int:
        raise self._concrete("int()")

    def __float__(self) -> float:
        raise self._concrete("float()")

    def __index__(self) -> int:
        raise self._concrete("an index or a size")

    def __contains__(self, item: Any) -> bool:
        raise self._concrete("`in`")

    def _concrete(self, what: str) -> ConcretizationError:
        return concretization(
            f"{what} needs the value of {self._called()}, known only when compiled code runs",
            f"{_REMEDIES.get(what, _REMEDY)}, or do it outside the decorated function",
        )

    def _called(self) -> str:
        """What the program calls the array."""
        if (name := name_in_program(self)) is not None:
            return repr(name)
        path = self.storage.path
        if path is None or path.steps:
            return "an array element"
        return f"{'an element of ' * (self.ndim < self.storage.rank)}{path.name!r}"

    def __hash__(self) -> int:
        if self.kind is Kind.ARRAY:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        raise self._concrete(_HASH)

    def __copy__(self) -> TracedArray:
        return ARRAY_OPS.copy(self, "K")

    def __deepcopy__(self, memo: Any) -> TracedArray:
        return self.__copy__()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        what = "a function that fusejit does not trace asked for the elements of an array"
        raise needs_python(what, MOVE_OUTSIDE)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        return ARRAY_OPS.ufunc(ufunc, method, args, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        handler = PRIMITIVES.get(func)
        if handler is None:
            name = f"{getattr(func, '__module__', '?')}.{getattr(func, '__name__', func)}"
            raise needs_python(f"fusejit does not trace {name}", MOVE_OUTSIDE)
        return ARRAY_OPS.with_host_fallback(func, handler)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name) or self.numpy_class is not np.ndarray:
            raise needs_python(f"fusejit does not trace ndarray.{name}", MOVE_OUTSIDE)
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    @property
    def numpy_class(self) -> type | None:
        """The class of NumPy's array; None where it is not known."""
        if self.is_ndarray or self.kind is not Kind.ARRAY or not self.trace.has_memmaps:
            return np.ndarray
        return None if self.path is None else np.memmap

    @property
    def scalar_type(self) -> type | None:
        """The type of a number: NumPy's, or Python's; None for an array."""
        if self.kind is Kind.ARRAY:
            return None
        return self.dtype.type if self.kind is Kind.SCALAR else _PYTHON_TYPES[self.dtype.kind]

    def user_attribute(self, name: str) -> Any:
        """``x.name`` in the user's program, to which what only the tracer uses is hidden."""
        if name == "__class__":
            return PRIMITIVES[type](self)
        number = self.scalar_type
        if number is not None and not hasattr(number, name):
            module = "" if self.kind is Kind.PYTHON else "numpy."
            raise AttributeError(f"'{module}{number.__name__}' object has no attribute '{name}'")
        if number is not None and (handler := method_of_number(number, name)) is not None:
            return MethodType(handler, self)
        if number is not None and (name in CHANGING or not hasattr(np.ndarray, name)):
            raise needs_python(f"fusejit does not trace {name} of numbers", MOVE_OUTSIDE)
        if name == "trace":  # the name of the sum of the diagonal, too
            return functools.partial(np.trace, self)
        return self.__getattr__(name) if name in _INTERNAL else getattr(self, name)

    def __repr__(self) -> str:
        if makes_text(self.trace):
            raise self._concrete(_TEXT)
        extents = " x ".join([*map(str, self.extents), str(self.dtype)])
        return f"<traced {self.kind.value} {extents}>"


# names of this class that ndarray does not have, or has for something else
_INTERNAL = {n for n in vars(TracedArray) if not hasattr(np.ndarray, n)} | {"trace", "view"}


def _install() -> None:
    def compute(array: TracedArray, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        result = ARRAY_OPS.operator(ufunc, operands)
        if isinstance(result, TracedArray):
            result.is_ndarray = True
        return result

    def in_place(ufunc: np.ufunc) -> Callable[..., Any]:
        def method(self: TracedArray, other: Any) -> Any:
            if self.kind is not Kind.ARRAY:  # scalars are immutable: the name is bound again
                return ARRAY_OPS.operator(ufunc, (self, other))
            return ARRAY_OPS.operator(ufunc, (self, other), out=self)

        return method

    def function(name: str, key: Any) -> Callable[..., Any]:
        def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
            if key not in PRIMITIVES:
                return self.__getattr__(name)
            of_numpy = getattr(np.ndarray, name)
            return ARRAY_OPS.with_host_fallback(of_numpy, PRIMITIVES[key])(self, *args, **kwargs)

        method.__name__ = name
        return method

    install_operators(TracedArray, compute, in_place)
    for name, key in METHODS.items():
        setattr(TracedArray, name, function(name, key))


_install()
