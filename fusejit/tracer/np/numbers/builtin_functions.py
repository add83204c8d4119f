"""Python's own functions on traced values: ``len``, ``min``, ``math.sqrt``, ``isinstance`` ..."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from fusejit.ir.types import DTYPES, Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.basic import require_int_fits
from fusejit.tracer.np.numbers.decimals import round_decimals
from fusejit.tracer.ops.traced_text import converted, is_kernel_string
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.captured_reads import LONG_TEXT
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import as_array
from fusejit.tracer.values.operand_types import contains_traced, operand_of, represented_type
from fusejit.tracer.values.symbolic_number import SymbolicNumber, apply_host, is_host_number
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive(isinstance, complex=True)
def is_instance(obj: Any, class_or_tuple: Any) -> Any:
    """``isinstance`` of what the object stands for."""
    if isinstance(obj, TracedArray) and obj.numpy_class is None:
        of_memmap, of_ndarray = (issubclass(c, class_or_tuple) for c in (np.memmap, np.ndarray))
        if of_memmap == of_ndarray:
            return of_memmap
    if isinstance(obj, SymbolicNumber | TracedArray | TracedContainer):
        return issubclass(represented_type(obj), class_or_tuple)
    return NotImplemented


@primitive(type, complex=True)
def type_of(*args: Any, **kwargs: Any) -> Any:
    """``type(x)`` of what the object stands for."""
    if len(args) == 1 and isinstance(args[0], SymbolicNumber | TracedArray | TracedContainer):
        return represented_type(args[0])
    return NotImplemented


@primitive(len, complex=True)
def length(obj: Any) -> Any:
    """``len(x)`` of an array: its first extent as a number."""
    if isinstance(obj, TracedContainer):
        return obj.size()
    if type(obj) is str and len(obj) > LONG_TEXT:
        current_trace().captured_reads.ask_for_characters(obj)
    obj = as_array(obj)
    if not isinstance(obj, TracedArray):
        return NotImplemented
    if not obj.ndim:
        raise numpy_raises("TypeError: len() of unsized object")
    return obj.shape[0]


def _attribute_of(function: Callable[..., Any], of_number: Any) -> Callable[[Any], Any]:
    """``np.shape`` and ``np.ndim``: attributes of arrays, which Python's numbers do not have."""

    @primitive(function, complex=True)
    def read(a: Any) -> Any:
        if isinstance(a, TracedArray):
            return getattr(a, function.__name__)
        return of_number if isinstance(a, SymbolicNumber) else NotImplemented

    read.__name__ = function.__name__
    return read


shape_of, num_axes_of = _attribute_of(np.shape, ()), _attribute_of(np.ndim, 0)


@primitive(np.iterable)
def is_iterable(y: Any) -> Any:
    """Whether ``iter`` takes it."""
    if isinstance(y, TracedArray):
        return y.ndim > 0
    if isinstance(y, SymbolicNumber):
        return False
    return True if isinstance(y, list | tuple) else NotImplemented


@primitive(np.size, complex=True)
def size_of(a: Any, axis: Any = None) -> Any:
    """``np.size``."""
    if isinstance(a, TracedArray):
        axes = axis if isinstance(axis, tuple | list) else (axis,)
        return a.size if axis is None else math.prod(a.shape[k] for k in axes)
    return 1 if isinstance(a, SymbolicNumber) else NotImplemented


def _question(function: Callable[..., Any]) -> None:
    """A question about the dtype or the kind of an object, not about its elements."""

    @primitive(function, complex=True)
    def ask(x: Any) -> Any:
        x = as_array(x)
        if isinstance(x, SymbolicNumber):
            return function(x.value)
        if isinstance(x, TracedArray):
            one = np.ones((1,) * x.ndim, x.dtype)
            return function(one if x.kind is Kind.ARRAY else one[()])
        return NotImplemented

    ask.__name__ = function.__name__


for _ask in (np.isscalar, np.iscomplexobj, np.isrealobj):
    _question(_ask)


@primitive_of("args", np.result_type, complex=True)
def result_type(*args: Any) -> Any:
    """``np.result_type``."""
    return np.result_type(
        *(
            operand_of(a).promotion if isinstance(a, TracedArray | SymbolicNumber) else a
            for a in args
        )
    )


def _convert(kind: type, op: str) -> Callable[..., Any]:
    @primitive(kind)
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], SymbolicNumber):
            number = args[0]
            return number if type(number.value) is kind else apply_host(op, number)
        if len(args) == 1 and is_kernel_string(args[0]) and not kwargs:
            return converted(args[0], kind)
        if len(args) == 1 and isinstance(args[0], TracedArray):
            if args[0].kind is Kind.ARRAY and not args[0].ndim:
                return PRIMITIVES[kind](args[0][()])
            return kind(args[0])  # raises ConcretizationError
        return NotImplemented

    convert.__name__ = kind.__name__
    return convert


@primitive(bool, complex=True)
def truth(x: Any = False) -> Any:
    """``bool(x)``: a decision."""
    if isinstance(x, TracedContainer):
        return x.truth()
    if isinstance(x, TracedArray) and x.kind is Kind.ARRAY and not x.ndim:
        return PRIMITIVES[bool](x[()])
    return bool(x)


def item_of(array: TracedArray, place: tuple[Any, ...]) -> Any:
    """``x.item()``: an element as a Python number."""
    if len(place) == 1 and not isinstance(place[0], tuple) and array.ndim > 1:
        array = PRIMITIVES[np.ravel](array)
    elif len(place) == 1 and isinstance(place[0], tuple):
        place = place[0]
    if not place:
        if any(
            not array.trace.decisions.equal(e, 1, "item() of one", or_raises=True)
            for e in array.extents
        ):
            raise numpy_raises("ValueError: can only convert an array of size 1")
        place = (0,) * array.ndim
    kind = {"b": bool, "f": float, "c": complex}.get(array.dtype.kind, int)
    return PRIMITIVES[kind](array[place])


@primitive(pow)
def power(base: Any, exponent: Any, *modulus: Any) -> Any:
    """``pow(x, y)``; with a modulus each call must have the same ints."""
    if not modulus:
        return base**exponent
    numbers = (base, exponent, *modulus)
    if not {*map(represented_type, numbers)} <= {int, bool}:  # NumPy's take no modulus
        return NotImplemented
    return pow(*map(operator.index, numbers))


to_int, to_float = _convert(int, "int"), _convert(float, "float")


def _extremum(function: Callable[..., Any], op: str) -> Callable[..., Any]:
    @primitive(function)
    def extremum(*args: Any, **kwargs: Any) -> Any:
        items = args[0] if len(args) == 1 else args
        if (
            kwargs
            or not isinstance(items, list | tuple)
            or not contains_traced(list(items))
            or not all(map(is_host_number, items))
        ):
            return NotImplemented  # Python's own comparisons then decide
        best = items[0]
        for item in items[1:]:
            if not contains_traced([best, item]):
                best = function(best, item)
            elif {represented_type(best), represented_type(item)} == {int}:
                best = apply_host(op, best, item)
            else:  # the type of the result depends on which one is chosen
                chosen = item < best if op == "min" else item > best
                best = item if chosen else best
        return best

    extremum.__name__ = function.__name__
    return extremum


smallest, largest = _extremum(builtins.min, "min"), _extremum(builtins.max, "max")


@primitive(builtins.round)
def round_of(number: Any, *digits: Any) -> Any:
    """``round(x)``, ``round(x, digits)``."""
    if digits == (None,):
        return PRIMITIVES[builtins.round](number)
    if isinstance(number, TracedArray) and digits:
        if number.kind is Kind.PYTHON:
            return round_decimals(number, *digits)
        if number.kind is Kind.SCALAR:
            return PRIMITIVES[np.round](number, *digits)
    return NotImplemented if not isinstance(number, SymbolicNumber) else number.rounded(*digits)


@primitive(math.isqrt, math.gcd, math.lcm, math.factorial, math.comb, math.perm)
@primitive(normalize_axis_index, normalize_axis_tuple)
def exact_integers(*args: Any, **kwargs: Any) -> Any:
    """Integer functions run on exact ints: natively, through ``__index__``."""
    return NotImplemented


def _scalar_type(kind: type[np.generic]) -> None:
    @primitive(kind, complex=issubclass(kind, np.complexfloating | np.bool_))
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], TracedArray | SymbolicNumber):
            if isinstance(args[0], TracedArray) and args[0].ndim:  # itself, if it is of the type
                return ARRAY_OPS.astype(args[0], np.dtype(kind), copy=False)
            require_int_fits(operand_of(args[0]), np.dtype(kind))
            result = ARRAY_OPS.astype(args[0], np.dtype(kind))
            return result[()] if not result.ndim else result
        return NotImplemented

    convert.__name__ = kind.__name__


for _dtype in DTYPES.values():
    _scalar_type(_dtype.type)
