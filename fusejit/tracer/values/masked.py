"""Elements chosen by a mask: ``x[m]`` as the whole of ``x`` beside ``m``.

How many elements a mask selects is known only when the kernel runs. Elementwise operations need not
know: ``x[m] = np.sqrt(y[m]) + 1`` is computed for every element and stored where ``m`` is true.
Reductions (`fusejit.tracer.np.reductions.masked_reductions`) take neutral elements for the others.
For anything else (returning it, other arrays beside it) NumPy makes an array of them between
kernels, of which the launcher reads the size (`fusejit.tracer.host.host_call_tracing`).

A mask with fewer axes than the array selects from the first axes: ``image[m]`` with ``image`` of
shape (h, w, 3) and ``m`` of shape (h, w) has one axis for what is selected, and the axis of 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import GenericOp, Load, Op, ViewOp
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.program.active_trace import makes_text
from fusejit.tracer.program.fallback import Retrace, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, current_location, unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operator_names import install_operators

if TYPE_CHECKING:
    from fusejit.tracer.builder.trace import Trace


METHODS_OF_ELEMENTS = ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all")
"""Reductions of elements, by their methods' names."""

ELEMENT_METHODS: dict[str, Callable[..., Any]] = {}
"""These, ``size`` and ``shape``; `fusejit.tracer.np.reductions.masked_reductions` adds them."""

REDUCTIONS_OF_ELEMENTS: set[Any] = set()
"""NumPy's functions of those names, and a few more."""


class MaskedElements:
    """The elements of ``array`` where ``mask`` is true, of which the number is not known.

    Attributes
    ----------
    array : TracedArray
        All elements, as they were when the mask was applied or changed in place since.
    mask : Value
        The mask, with the extents of the first axes of the array.
    """

    __slots__ = ("_has_views", "_home", "_origin", "_place", "_selected", "array", "mask")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: TracedArray, mask: Value) -> None:
        self.array = array
        self.mask = mask
        self._selected: TracedArray | None = None
        self._has_views = False
        self._origin: tuple[MaskedElements, Any] | None = None
        trace = array.trace
        self._home, self._place = trace.block, ("selected", str(current_location()))
        if self._place in trace.table:
            self.selected()

    @staticmethod
    def select(array: TracedArray, mask: Value) -> MaskedElements:
        """``array[mask]`` at this place of the program."""
        if mask.type.rank == array.ndim:
            return MaskedElements(TracedArray.of_value(array.trace, array.value()), mask)
        # A copy, which folds away, lies as the array lies: so do the axes the mask does not have.
        return MaskedElements(ARRAY_OPS.copy(array, "K"), mask)

    def selected(self) -> TracedArray:
        """The elements as an array of their own, which NumPy makes between kernels.

        If a loop or a conditional asks for it first, the trace starts again, and it is there before
        it: all iterations, and what comes behind, have one array.
        """
        trace = self.array.trace
        if self._selected is None and self._home is not trace.block and self._home in trace.blocks:
            trace.table[self._place] = True
            raise Retrace
        if self._selected is None and self._origin is not None:
            whole, index = self._origin
            self._selected = whole.selected()[index]
        if self._selected is None:
            mask = TracedArray.of_value(trace, self.mask)
            select = ARRAY_OPS.selected if self.ndim == 1 else ARRAY_OPS.selected_rows
            self._selected = select(self.array, mask)
            self._selected.is_ndarray = True
        return self._selected

    @property
    def is_selected(self) -> bool:
        """Whether they are an array of their own already, which then counts."""
        return self._selected is not None

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """One axis for what the mask selects, and those of the array that it does not have."""
        return 1 + self.array.ndim - self.mask.type.rank

    @property
    def stays_in_kernel(self) -> bool:
        """Whether NumPy cannot make an array of them: in loops, and for masks of fewer axes."""
        return self.ndim > 1 or bool(self.array.trace.regions)

    def astype(self, dtype: Any, **options: Any) -> Any:
        """In another dtype."""
        if self.is_selected or options:
            return ARRAY_OPS.astype(self.selected(), dtype, **options)
        return self.like(ARRAY_OPS.astype(self.array, dtype))

    def copy(self, order: Any = "C") -> Any:
        """The same elements, which further changes of these leave alone."""
        if self._selected is not None:
            return ARRAY_OPS.copy(self._selected, order)
        return self.like(self.array if self.ndim == 1 else ARRAY_OPS.copy(self.array, order))

    def like(self, array: TracedArray) -> MaskedElements:
        """Other elements under the same mask."""
        return MaskedElements(array, self.mask)

    def apply(self, function: Callable[..., Any], *operands: Any) -> Any:
        """An elementwise ``function``: of all elements if only scalars and one mask take part."""
        trace = self.array.trace
        whole: list[Any] = []
        for operand in operands:
            if isinstance(operand, MaskedElements):
                if operand.is_selected or operand.ndim != self.ndim:
                    break
                if not is_same_value(trace, operand.mask, self.mask):
                    break
                operand = operand.array
            elif getattr(operand, "ndim", 0) >= self.ndim or isinstance(operand, list | tuple):
                break  # as many elements as the mask selects, or one
            whole.append(operand)
        else:
            with suppress(UnsupportedError), trace.everywhere():
                return self.like(function(*whole))
        return function(*map(as_array, operands))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        handler = PRIMITIVES.get(ufunc)
        plain = method == "__call__" and not kwargs and ufunc.nout == 1 and not ufunc.signature
        if handler is not None and plain:
            return self.apply(ARRAY_OPS.with_host_fallback(ufunc, handler), *args)
        options = {key: as_array(value) for key, value in kwargs.items()}
        return ARRAY_OPS.ufunc(ufunc, method, tuple(map(as_array, args)), options)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        handler = PRIMITIVES.get(func)
        if func in REDUCTIONS_OF_ELEMENTS and handler is not None:
            return handler(*args, **kwargs)
        if handler is None:
            name = f"{getattr(func, '__module__', '?')}.{getattr(func, '__name__', func)}"
            raise unsupported(f"fusejit does not trace {name}", MOVE_OUTSIDE)
        options = {key: as_array(value) for key, value in kwargs.items()}
        return handler(*map(as_array, args), **options)

    def user_attribute(self, name: str) -> Any:
        """``x[m].name`` in the user's program."""
        if name in ("dtype", "ndim", "astype", "copy"):
            return getattr(self, name)
        if not self.is_selected and self.stays_in_kernel and name in ("size", "shape"):
            return ELEMENT_METHODS[name](self)
        if not self.is_selected and name in METHODS_OF_ELEMENTS:
            return getattr(self, name)
        return self.selected().user_attribute(name)

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name):
            return getattr(self.selected(), name)
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    def __getitem__(self, index: Any) -> Any:
        items = index if isinstance(index, tuple) else (index,)
        first = items[0] if items else None
        is_segment = isinstance(first, slice) and first == slice(None)
        if self.is_selected or not is_segment:
            return self.selected()[index]
        whole = (slice(None),) * self.mask.type.rank
        chosen = ARRAY_OPS.getitem(self.array, (*whole, *items[1:]))
        part = self.like(TracedArray.of_value(self.array.trace, chosen.value()))
        part._has_views = self._has_views = True  # in NumPy, whoever changes one changes both
        part._origin = (self, index)
        return part

    def __matmul__(self, other: Any) -> Any:
        return self.selected() @ as_array(other)

    def __rmatmul__(self, other: Any) -> Any:
        return as_array(other) @ self.selected()

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.selected(), as_array(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(as_array(other), self.selected())

    def __repr__(self) -> str:
        if makes_text(self.array.trace):
            return repr(self.selected())
        return f"<elements of {self.array!r} under a mask>"


# what Python does with an array and needs its elements or their number
_OF_SELECTED = (
    *("__array__", "__len__", "__bool__", "__int__", "__float__", "__index__"),
    *("__contains__", "__setitem__", "__iter__"),
)


def as_array(obj: Any) -> Any:
    """Selected elements as an array of their own, also in lists; anything else as it is."""
    if type(obj) in (list, tuple):
        return type(obj)(map(as_array, obj))
    return obj.selected() if isinstance(obj, MaskedElements) else obj


def with_trailing_axes(array: TracedArray, count: int) -> TracedArray:
    """``array[..., None, None]``: a mask beside the axes that it does not have."""
    if not count:
        return array
    expanded: TracedArray = ARRAY_OPS.getitem(array, (..., *(None,) * count))
    return expanded


def is_same_value(trace: Trace, a: Value, b: Value) -> bool:
    """Whether two values are the same elements: one value, or computed alike from such."""
    if a is b:
        return True
    one, other = map(trace.defined.get, (a, b))
    if one is None or other is None or _key(trace, one, a) != _key(trace, other, b):
        return False
    sources = zip(_operands(one), _operands(other), strict=True)
    return all(is_same_value(trace, x, y) for x, y in sources)


def _key(trace: Trace, op: Op, value: Value) -> object:
    """What two ops have in common that compute the same of equal operands."""

    def sizes(extents: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        return tuple(map(trace.decisions.canonical, extents))

    extents = sizes(value.type.extents)
    if isinstance(op, GenericOp) and op.is_elementwise and len(op.results) == 1:
        payload = op.payload
        maps = [sizes(m.results) for m in (*(o.map for o in op.inputs), op.inits[0].map)]
        instrs = [i.key() for i in payload.instrs]
        return sizes(op.domain), payload.arguments, instrs, payload.results, maps, op.inits[0].start
    if isinstance(op, ViewOp):
        return extents, sizes(op.map.results)
    if isinstance(op, Load):
        return extents, id(op.view.buffer), sizes(op.view.map.results), op.version
    return id(value)  # other ops: one value only


def _operands(op: Op) -> tuple[Value, ...]:
    if isinstance(op, GenericOp):
        return tuple(o.value for o in op.inputs)
    return (op.source,) if isinstance(op, ViewOp) else ()


def _install() -> None:
    def compute(elements: MaskedElements, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        return elements.apply(lambda *whole: ARRAY_OPS.operator(ufunc, whole), *operands)

    def in_place(ufunc: np.ufunc) -> Callable[..., Any]:
        def method(self: MaskedElements, other: Any) -> Any:
            if self._has_views:
                raise unsupported(
                    "changes in place elements that a mask selects, after a part of them was taken",
                    MOVE_OUTSIDE,
                )
            result = None if self.is_selected else compute(self, ufunc, (self, other))
            if not isinstance(result, MaskedElements):  # the array of its own changes
                ARRAY_OPS.operator(ufunc, (self.selected(), as_array(other)), out=self.selected())
                return self
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise numpy_raises(f"UFuncTypeError: cannot cast {result.dtype} to {self.dtype}")
            if result.dtype != self.dtype:
                result = result.astype(self.dtype)
            self.array = result.array  # for every name of these elements
            return self

        return method

    def of_selected(name: str) -> Callable[..., Any]:
        def method(self: MaskedElements, *args: Any, **kwargs: Any) -> Any:
            return getattr(self.selected(), name)(*args, **kwargs)

        return method

    def reduction(name: str) -> Callable[..., Any]:
        def method(self: MaskedElements, *args: Any, **kwargs: Any) -> Any:
            return ELEMENT_METHODS[name](self, *args, **kwargs)

        method.__name__ = name
        return method

    for name in METHODS_OF_ELEMENTS:
        setattr(MaskedElements, name, reduction(name))
    for name in _OF_SELECTED:
        setattr(MaskedElements, name, of_selected(name))
    install_operators(MaskedElements, compute, in_place, without=(np.matmul,))


_install()
