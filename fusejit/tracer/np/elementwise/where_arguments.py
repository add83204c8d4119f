"""``where=`` as an array, ``initial=``: ``np.sum(x, where=m)``, ``np.add(a, b, out=c, where=m)``.

A reduction reads a neutral element where the mask is false; a ufunc stores only where it is true.

Numerics: the elements keep their places among the neutral ones, in the order of
`ir.interpreter.summation`, and ``initial`` is combined last. The mean of no elements is NaN without
NumPy's warning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.tracer.builder.primitives import (
    HOST_PRIMITIVES,
    PRIMITIVES,
    primitive,
    rejects_complex,
)
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.basic import require_int_fits
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import target_operand
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.composed import copyto
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc, where
from fusejit.tracer.np.reductions.masked_reductions import REDUCTIONS
from fusejit.tracer.np.reductions.nan_functions import divided
from fusejit.tracer.np.reductions.over_axes import NO_VALUE, into, mean_dtype, reduce_array, sum_of
from fusejit.tracer.ops.elementwise_op import has_extents
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, contains_traced, dtype_argument, operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number

_NEUTRAL: dict[Callable[..., Any], Any] = {np.sum: 0, np.prod: 1, np.any: False, np.all: True}


class _Call(NamedTuple):
    """A call of a reduction with these options; ``before`` is the handler without them."""

    before: Callable[..., Any]
    args: tuple[Any, ...]
    rest: dict[str, Any]
    where: Any
    initial: Any


def mask_of(given: Any, array: TracedArray) -> TracedArray:
    """``where=`` as a mask of the shape of ``array``."""
    if type(given) in (bool, np.bool_, list, tuple) and not contains_traced(given):
        given = current_trace().captured_reads.constant(np.asarray(given, bool))
    mask = array_from(given)
    if mask.dtype != BOOL:
        raise numpy_raises("TypeError: where= has to be bool")
    if [*mask.extents] == [*array.extents]:
        return mask
    wide: TracedArray = PRIMITIVES[np.broadcast_to](mask, array.shape)
    return wide


def _is_default(given: Any) -> bool:
    return given is NO_VALUE or given is True


def _chosen(array: TracedArray, mask: Any, neutral: Any) -> TracedArray:
    if _is_default(mask):
        return array
    chosen: TracedArray = where(mask_of(mask, array), array, array.dtype.type(neutral))
    return chosen


def _wrap(function: Callable[..., Any], reduce: Callable[[_Call], Any]) -> None:
    before = REDUCTIONS[function]

    @functools.wraps(before)
    def call(*args: Any, **kwargs: Any) -> Any:
        options = {key: kwargs.get(key, NO_VALUE) for key in ("where", "initial")}
        has_defaults = _is_default(options["where"]) and options["initial"] is NO_VALUE
        if has_defaults or not args or not isinstance(args[0], TracedArray):
            return before(*args, **kwargs)
        has_initial = options["initial"] is not NO_VALUE
        starts_from = function is np.prod and args[0].dtype.kind == "f" and has_initial
        if args[0].dtype.kind == "c" or starts_from:
            rest = {k: v for k, v in kwargs.items() if k != "out"}
            return into(HOST_PRIMITIVES[function](*args, **rest), kwargs.get("out"))
        rest = {k: v for k, v in kwargs.items() if k not in options}
        return reduce(_Call(before, args, rest, **options))

    for name in (function, getattr(np, f"a{function.__name__}", None)):
        if name in PRIMITIVES:
            primitive(name)(call)


def _with_initial(ufunc: np.ufunc, result: Any, initial: Any, out: Any) -> Any:
    if initial is NO_VALUE:
        return into(result, out)
    number = initial.value if isinstance(initial, SymbolicNumber) else initial
    kinds = "biu" if result.dtype.kind in "iu" else "biuf" if result.dtype.kind == "f" else ""
    if isinstance(initial, TracedArray) or np.asarray(number).dtype.kind not in kinds:
        raise unsupported("initial= of another kind than the array", "convert it first")
    combined = apply_ufunc(ufunc, (result, initial))
    if combined.dtype != result.dtype:
        combined = astype(combined, result.dtype)
    return into(combined, out)


def _total(function: Callable[..., Any], neutral: Any, call: _Call) -> Any:
    args, rest = call.args, call.rest
    array = _chosen(args[0], call.where, neutral)
    if call.initial is NO_VALUE:
        return call.before(array, *args[1:], **rest)
    if len(args) > 3:
        raise unsupported(f"np.{function.__name__} with out= by position", "name it")
    out = rest.pop("out", None)
    ufunc = np.add if function is np.sum else np.multiply
    return _with_initial(ufunc, call.before(array, *args[1:], **rest), call.initial, out)


def _extremum(name: str, ufunc: np.ufunc, call: _Call) -> Any:
    args, rest = call.args, call.rest
    if call.initial is NO_VALUE:
        raise numpy_raises(f"ValueError: reduction operation {ufunc.__name__!r}")
    axis = args[1] if len(args) > 1 else rest.pop("axis", None)
    keepdims, out = rest.pop("keepdims", False), rest.pop("out", None)
    if len(args) > 2 or rest:
        raise unsupported(f"np.{name} with out= by position", "name it")
    array = args[0]
    array = _chosen(array, call.where, COMBINERS[name].identity(array.dtype))
    result = reduce_array(array, name, name, axis, keepdims is True, array.dtype, True)
    return _with_initial(ufunc, result, call.initial, out)


def _mean(call: _Call) -> Any:
    """``sum / count`` of the chosen elements."""
    if call.initial is not NO_VALUE:
        raise numpy_raises("TypeError: mean() has no initial=")
    names = ("axis", "dtype", "out", "keepdims")
    options = dict(zip(names, call.args[1:], strict=False)) | call.rest
    array, axis, keepdims = call.args[0], options.get("axis"), options.get("keepdims", False)
    wanted = mean_dtype(array, options.get("dtype"), "mean")
    mask = mask_of(call.where, array)
    total = sum_of(_chosen(array, mask, 0), axis, wanted, None, keepdims)
    count = sum_of(mask, axis, np.intp, None, keepdims)
    return into(divided(total, count), options.get("out"))


for _function, _neutral in _NEUTRAL.items():
    _wrap(_function, functools.partial(_total, _function, _neutral))
_wrap(np.max, functools.partial(_extremum, "max", np.maximum))
_wrap(np.min, functools.partial(_extremum, "min", np.minimum))
_wrap(np.mean, _mean)


# ------------------------------------------------------------------------------------ ufuncs
@rejects_complex("a ufunc with where=")
def ufunc_where(ufunc: np.ufunc, args: tuple[Any, ...], out: Any, dtype: Any, given: Any) -> Any:
    """``ufunc(*args, out=out, where=mask)``: what the mask leaves out stays as it is."""
    if isinstance(out, tuple):
        (out,) = out
    if len(args) == ufunc.nin + 1 and out is None:
        *rest, out = args
        args = tuple(rest)
    if out is None:
        what = f"np.{ufunc.__name__} with where= and no out= leaves elements without a value"
        raise unsupported(what, "give out=np.zeros_like(x), or choose with np.where(mask, x, y)")
    if not isinstance(out, TracedArray):
        raise Fallback("out= is neither an argument nor an array that the function makes")
    wanted = None if dtype is None else dtype_argument(dtype)
    with out.trace.everywhere():
        value = apply_ufunc(ufunc, args, None, wanted)
    if not np.can_cast(value.dtype, out.dtype, "same_kind"):
        raise numpy_raises(f"UFuncTypeError: cannot cast the result to {out.dtype}")
    copyto(out, value, "unsafe", mask_of(given, out))
    return out


# ------------------------------------------------------------------------------------ np.place
@primitive(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """``arr[mask] = vals``, repeated as often as the mask is true."""
    if not isinstance(arr, TracedArray):
        raise Fallback(
            "np.place into an array that is neither an argument nor made by the function"
        )
    arr = target_operand(arr)
    chosen = array_from(mask)
    if not has_extents(chosen.extents, arr.extents):
        what = "np.place with a mask of another shape than the array is not traced"
        raise unsupported(what, "reshape the mask")
    if chosen.dtype != BOOL:
        chosen = astype(chosen, BOOL)
    require_int_fits(operand_of(vals), arr.dtype)
    if not isinstance(vals, TracedArray | np.ndarray | list | tuple):
        copyto(arr, vals, "unsafe", chosen)
        return
    values = PRIMITIVES[np.ravel](array_from(vals))
    size = affine_number(arr.trace, values.extents[0])
    if arr.trace.decisions.equal(values.extents[0], 0, "np.place of no values"):
        what = "np.place of no values raises if the mask is true anywhere"
        raise unsupported(what, "ask for mask.any() first")
    order = PRIMITIVES[np.cumsum](PRIMITIVES[np.ravel](chosen))
    places = PRIMITIVES[np.reshape](np.remainder(order - 1, size), arr.shape)
    taken = PRIMITIVES[np.take](values, places)
    copyto(arr, taken, "unsafe", chosen)
