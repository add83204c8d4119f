"""Elementwise functions made of several ufuncs: clip, divmod, round, nan_to_num, sinc."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import array_from, natural_dtype
from fusejit.tracer.indexing.view_functions import same_view, target_operand
from fusejit.tracer.np.arrays.conversions import copy_method
from fusejit.tracer.np.elementwise.ufuncs import CLIP, call_ufunc, operator_call
from fusejit.tracer.ops.copy_order import require_copied_at_once
from fusejit.tracer.ops.elementwise_op import (
    copy_of,
    emit_elementwise,
    has_extents,
    require_extents,
)
from fusejit.tracer.ops.stores import assign_masked, assign_operand
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast
from fusejit.tracer.values.operand_types import (
    BOOL,
    can_cast,
    contains_traced,
    literal_as,
    operand_of,
    require_number_fits,
)
from fusejit.tracer.values.traced_primitives import primitive_of

_NO_VALUE = np._NoValue


@primitive_of("a a_min a_max min max", np.clip)
def clip(
    a: Any,
    a_min: Any = _NO_VALUE,
    a_max: Any = _NO_VALUE,
    out: Any = None,
    *,
    min: Any = _NO_VALUE,
    max: Any = _NO_VALUE,
    **kwargs: Any,
) -> Any:
    """``minimum(maximum(a, low), high)``; a bound may be None."""
    given = [b is not _NO_VALUE for b in (a_min, a_max, min, max)]
    if any(given[:2]) and (any(given[2:]) or not all(given[:2])):
        raise numpy_raises("clip() takes both bounds by position, or min= and max=")
    low, high = (a_min, a_max) if any(given[:2]) else (min, max)
    low, high = (None if b is _NO_VALUE else b for b in (low, high))
    array = array_from(a)
    if array.dtype.kind in "iu":  # Python ints that no element is beyond
        info = np.iinfo(array.dtype)
        low = None if type(low) is int and low <= info.min else low
        high = None if type(high) is int and high >= info.max else high
    bounds = [b for b in (low, high) if b is not None]
    ufunc = CLIP if len(bounds) == 2 else np.minimum if high is not None else np.maximum
    return call_ufunc(ufunc if bounds else np.positive, array, *bounds, out=out, **kwargs)


@primitive(np.ndarray.clip)
def clip_method(a: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """``a.clip(low, high)``."""
    return clip(a, min, max, out, **kwargs)


@primitive(np.divmod)
def divmod_of(x1: Any, x2: Any, **kwargs: Any) -> Any:
    """``(x1 // x2, x1 % x2)``."""
    if kwargs:
        what = f"np.divmod with {', '.join(sorted(kwargs))} is not traced"
        raise unsupported(what, "write x // y and x % y")
    return call_ufunc(np.floor_divide, x1, x2), call_ufunc(np.remainder, x1, x2)


@primitive(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """Toward zero, as ``np.trunc``."""
    return call_ufunc(np.trunc, x, out=out)


@primitive_of("x", np.sinc)
def sinc(x: Any) -> Any:
    """``sin(pi * x) / (pi * x)``, with the smallest step of the dtype in place of 0."""
    angle = call_ufunc(np.multiply, array_from(x), np.pi)
    dtype = np.result_type(angle.dtype)
    angle = PRIMITIVES[np.where](angle, angle, dtype.type(np.finfo(dtype).eps))
    return call_ufunc(np.divide, call_ufunc(np.sin, angle), angle)


def _is_infinity(function: Any, infinity: float) -> None:
    @primitive_of("x", function)
    def ask(x: Any, out: Any = None) -> Any:
        if out is not None:
            raise unsupported("out= of np.isposinf and np.isneginf is not traced", MOVE_OUTSIDE)
        return call_ufunc(np.equal, array_from(x), infinity)

    ask.__name__ = ask.__qualname__ = function.__name__


_is_infinity(np.isposinf, np.inf)
_is_infinity(np.isneginf, -np.inf)


@primitive_of("a decimals", np.round, np.around)
def round_of(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """``rint(a * 10**decimals) / 10**decimals``: half to even, then the errors of both."""
    if type(decimals) is not int:
        raise unsupported("decimals= that is not a constant is not traced", MOVE_OUTSIDE)
    array = array_from(a)
    if array.dtype.kind == "f":
        if not decimals:
            return call_ufunc(np.rint, array, out=out)
        if array.sorted_order() is not None:  # NumPy's result is in F order only if all of it is
            what = "np.round to decimals of an array that is not in C order is not traced"
            raise unsupported(what, "round a copy in C order: x.copy().round(decimals)")
        up: np.ufunc = np.multiply if decimals > 0 else np.true_divide
        down: np.ufunc = np.true_divide if decimals > 0 else np.multiply
        factor = 10.0 ** abs(decimals)
        rounded = call_ufunc(np.rint, call_ufunc(up, array, factor))
        return call_ufunc(down, rounded, factor, out=out)
    if array.dtype == BOOL or decimals < 0:
        what = f"np.round of {array.dtype} to {decimals} decimals is not traced"
        raise unsupported(what, "convert to float first")
    if out is None and array.ndim:  # a copy, not what a ufunc makes of a broadcast array
        return copy_method(array, "K")
    return call_ufunc(np.positive, array, out=out)


@primitive(np.ndarray.round)
def round_method(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """``a.round(decimals)``."""
    return round_of(a, decimals, out)


@primitive_of("x nan posinf neginf", np.nan_to_num)
def nan_to_num(
    x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaN by ``nan``, infinities by the largest numbers of the dtype, or as given."""
    if copy is not True:
        raise unsupported("np.nan_to_num with copy=False is not traced", "assign its result")
    array = array_from(x)
    kind = Kind.ARRAY if array.ndim else Kind.SCALAR
    order = array.sorted_order()
    if array.dtype.kind != "f":
        return copy_of(array, array.dtype, order, "copy", kind)
    info = np.finfo(array.dtype)
    replacements = (
        nan,
        info.max if posinf is None else posinf,
        info.min if neginf is None else neginf,
    )
    numbers = [operand_of(r) for r in replacements]
    if any(o.array is not None for o in numbers):
        raise unsupported("np.nan_to_num with arrays of replacements is not traced", MOVE_OUTSIDE)
    dtype = array.dtype

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        element, of_nan, of_inf, of_minus_inf = refs
        result = element
        for infinity, ref in ((-np.inf, of_minus_inf), (np.inf, of_inf)):
            found = builder.op("equal", [element, builder.const(infinity, dtype)], BOOL)
            result = builder.op("select", [found, ref, result], dtype)
        missing = builder.op("isnan", [element], BOOL)
        return builder.op("select", [missing, of_nan, result], dtype)

    return emit_elementwise(
        "nan_to_num", [array, *numbers], None, dtype, compute, kind=kind, order=order
    )


# ---------------------------------------------------------------------------------- masked copies
@primitive(np.copyto, complex=True)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """``dst[...] = src``, where ``where`` is true."""
    if not isinstance(dst, TracedArray):
        raise Fallback(
            "np.copyto into an array that is neither an argument nor made by the function"
        )
    dst = target_operand(dst)
    if dst.stores is not WriteAccess.WRITEABLE:  # NumPy takes what is in that very memory already
        raise unsupported("np.copyto into a read-only array is not traced", MOVE_OUTSIDE)
    operand = operand_of(src)
    if len(operand.extents) > dst.ndim:  # NumPy leaves out axes in front that are 1 long
        what = "np.copyto of a value with more axes than the array is not traced"
        raise unsupported(what, "leave them out: a[0]")
    require_number_fits(operand, dst.dtype)
    if operand.literal is not None and operand.is_weak_int and dst.dtype.kind in "iu":
        literal_as(operand.literal, dst.dtype)
    elif not can_cast(natural_dtype(operand), dst.dtype, casting) and (
        not operand.is_weak_int or dst.dtype.kind in "b"
    ):
        raise numpy_raises(f"TypeError: cannot cast to {dst.dtype} with casting={casting}")
    require_extents(broadcast(dst.trace.decisions, [dst.extents, operand.extents]), dst.extents)
    if operand.array is not None:
        require_copied_at_once(dst, operand.array)
    if where is True:
        assign_operand(dst, operand)
        return
    if type(where) in (list, tuple) and not contains_traced(where):
        where = current_trace().captured_reads.constant(np.asarray(where, bool))
    mask = array_from(where)
    if mask.dtype != BOOL:
        raise numpy_raises("TypeError: where= of np.copyto has to be bool")
    if operand.array is not None and same_view(operand.array, dst):
        return  # whatever the mask's shape is
    if [*mask.extents] != [*dst.extents]:
        mask = PRIMITIVES[np.broadcast_to](mask, dst.shape)
    assign_masked(dst, mask, operand)


@primitive(np.putmask, complex=True)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """``a[mask] = values[mask]``; arrays of values have the shape of ``a``."""
    if not isinstance(a, TracedArray):
        raise Fallback(
            "np.putmask into an array that is neither an argument nor made by the function"
        )
    a = target_operand(a)
    operand, chosen = operand_of(values), array_from(mask)
    if operand.array is not None:
        if not np.can_cast(operand.array.dtype, a.dtype, "safe"):
            raise numpy_raises(f"TypeError: cannot cast {operand.array.dtype} to {a.dtype}")
        if operand.extents and not has_extents(operand.extents, a.extents):
            raise unsupported("np.putmask repeats its values", "use np.copyto(a, v, where=mask)")
    elif operand.literal is not None:
        literal_as(operand.literal, a.dtype)
    if not has_extents(chosen.extents, a.extents):
        what = "np.putmask with a mask of another shape than the array is not traced"
        raise unsupported(what, "reshape the mask")
    if chosen.dtype != BOOL:
        chosen = copy_of(chosen, BOOL, chosen.sorted_order(), "astype")
    assign_masked(a, chosen, operand)


def _divmod_operators() -> None:
    def is_number(obj: Any) -> bool:
        return not isinstance(obj, str | bytes | dict | set) and obj is not None

    def both(x1: Any, x2: Any) -> Any:
        operator = operator_call  # of Python's numbers it makes Python's
        whole = operator(np.floor_divide, (x1, x2))
        if whole is NotImplemented:  # the other operand knows
            return whole
        return whole, operator(np.remainder, (x1, x2))

    def forward(self: TracedArray, other: Any) -> Any:
        return both(self, other) if is_number(other) else NotImplemented

    def reflected(self: TracedArray, other: Any) -> Any:
        return both(other, self) if is_number(other) else NotImplemented

    for name, method in (("__divmod__", forward), ("__rdivmod__", reflected)):
        setattr(TracedArray, name, method)


_divmod_operators()
