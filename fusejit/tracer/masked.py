"""Elements chosen by a mask: ``x[m]`` as the whole of ``x`` beside ``m``.

How many elements a mask selects is known only when the kernel runs. Elementwise operations need not
know: ``x[m] = np.sqrt(y[m]) + 1`` is computed for every element and stored where ``m`` is true.
Anything else (a sum, a length, returning it) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import GenericOp, Load, Op, Value, ViewOp
from fusejit.tracer.array import OPERATORS, TracedArray
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.dispatch import HANDLERS
from fusejit.tracer.locations import unsupported

if TYPE_CHECKING:
    from fusejit.tracer.trace import Trace

_CHOOSE = "choose element by element with np.where(mask, x, y) instead"


class MaskedElements:
    """The elements of ``array`` where ``mask`` is true, of which the number is not known.

    Attributes
    ----------
    array : TracedArray
        All elements, as they were when the mask was applied or changed in place since.
    mask : Value
        The mask, of the same extents.
    """

    __slots__ = ("_refusal", "array", "mask")

    def __init__(self, array: TracedArray, mask: Value, refusal: UnsupportedError) -> None:
        self.array = array
        self.mask = mask
        self._refusal = refusal

    @staticmethod
    def select(array: TracedArray, mask: Value) -> MaskedElements:
        """``array[mask]`` at this place of the program."""
        what = "a boolean mask selects a number of elements that depends on the data"
        refusal = unsupported(f"fusejit does not trace this index: {what}", _CHOOSE)
        now = TracedArray.of_value(array.trace, array.value())
        return MaskedElements(now, mask, refusal)

    def refusal(self) -> UnsupportedError:
        """The error for what needs the number of elements; it names the line of the index."""
        return self._refusal

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """A mask selects a row of elements."""
        return 1

    def astype(self, dtype: Any, **options: Any) -> MaskedElements:
        """In another dtype."""
        return self._like(HANDLERS["astype"](self.array, dtype, **options))

    def copy(self, order: Any = "C") -> MaskedElements:
        """The same elements, which `a += 1` changes apart from these."""
        return self._like(self.array)

    def _like(self, array: TracedArray) -> MaskedElements:
        return MaskedElements(array, self.mask, self._refusal)

    def apply(self, function: Callable[..., Any], *operands: Any) -> MaskedElements:
        """An elementwise ``function`` of operands selected by one mask, and of scalars."""
        trace = self.array.trace
        whole: list[Any] = []
        for operand in operands:
            if isinstance(operand, MaskedElements):
                if not is_same_value(trace, operand.mask, self.mask):
                    raise self._refusal
                operand = operand.array
            elif getattr(operand, "ndim", 0) or isinstance(operand, list | tuple):
                raise self._refusal  # as many elements as the mask selects, or one
            whole.append(operand)
        return self._like(function(*whole))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1 or ufunc.signature is not None:
            raise self._refusal
        handler = HANDLERS.get(ufunc)
        if handler is None:
            raise unsupported(f"fusejit does not trace np.{ufunc.__name__}", _CHOOSE)
        return self.apply(handler, *args)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise self._refusal

    def user_attribute(self, name: str) -> Any:
        """``x[m].name`` in the user's program."""
        if name in ("dtype", "ndim", "astype", "copy"):
            return getattr(self, name)
        return self.__getattr__(name)

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name):
            raise self._refusal
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    # what Python would do with an array and needs its elements or their number
    def _refuse(self, *args: Any) -> Any:
        raise self._refusal

    __array__ = __len__ = __bool__ = __int__ = __float__ = __index__ = __contains__ = _refuse
    __getitem__ = __setitem__ = __matmul__ = __rmatmul__ = __divmod__ = __rdivmod__ = _refuse

    def __iter__(self) -> Iterator[Any]:
        raise self._refusal

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<elements of {self.array!r} under a mask>"


def is_same_value(trace: Trace, a: Value, b: Value) -> bool:
    """Whether two values are the same elements: one value, or computed alike from such."""
    if a is b:
        return True
    one, other = _definition(trace, a), _definition(trace, b)
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


def _definition(trace: Trace, value: Value) -> Op | None:
    return trace.defined.get(value)


def _install() -> None:
    def operator(ufunc: np.ufunc, reflected: bool) -> Callable[..., Any]:
        def method(self: MaskedElements, *other: Any) -> Any:
            operands = (*other, self) if reflected else (self, *other)

            def compute(*whole: Any) -> Any:
                return HANDLERS["operator"](ufunc, whole)

            return self.apply(compute, *operands)

        return method

    def in_place(ufunc: np.ufunc) -> Callable[..., Any]:
        plain = operator(ufunc, False)

        def method(self: MaskedElements, other: Any) -> Any:
            result = plain(self, other)
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise numpy_raises(f"UFuncTypeError: cannot cast {result.dtype} to {self.dtype}")
            same = result if result.dtype == self.dtype else result.astype(self.dtype)
            self.array = same.array  # every name of these elements sees it
            return self

        return method

    for name, ufunc in OPERATORS.items():
        if ufunc is np.matmul:
            continue
        setattr(MaskedElements, f"__{name}__", operator(ufunc, False))
        if ufunc.nin == 2 and name not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(MaskedElements, f"__r{name}__", operator(ufunc, True))
            setattr(MaskedElements, f"__i{name}__", in_place(ufunc))


_install()
