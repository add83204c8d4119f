"""Draws that kernels make themselves: the calls of a generator that come down to such draws.

    rng.normal(loc, scale, n)     ->    loc + scale * rng.standard_normal(n)
    rng.uniform(low, high)        ->    low + (high - low) * rng.random()

as NumPy computes them. Parameters are numbers; what kernels do not draw stays a host call.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.host import HostExpr, Path, generator_address
from fusejit.ir.inline_calls.inline_draws import BOUNDS, inline_draw
from fusejit.ir.ops import Assert, HostCall
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents, Varies
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.host.host_call_tracing import Arguments
from fusejit.tracer.indexing.creation import shape_argument
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.operand_types import BOOL, F64, I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_INT64 = np.iinfo(np.int64)


class Unknown(Exception):
    """The call is none that kernels make themselves."""


class Draws:
    """The draws from one generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        The generator itself, from which nothing is drawn here.
    path : Path
        Where each call finds it.
    """

    def __init__(self, rng: np.random.Generator, path: Path) -> None:
        self.rng = rng
        self.path = path

    def draw(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``rng.method(*args, **kwargs)``.

        Raises
        ------
        Unknown
            If that is none of the draws.
        """
        function = _METHODS.get(method)
        if function is None or not isinstance(self.rng.bit_generator, np.random.BitGenerator):
            raise Unknown
        try:
            bound = inspect.signature(function).bind(self, *args, **kwargs)
        except TypeError as error:  # NumPy knows what to say
            raise Unknown from error
        return function(*bound.args, **bound.kwargs)

    def numbers(self, method: str, size: Any, dtype: Any = F64, *parameters: Any) -> Any:
        """A draw of `fusejit.ir.inline_calls.inline_draws`."""
        row = inline_draw(method, np.dtype(dtype).name)
        if row is None:
            raise Unknown
        if size is None and row.dtype == "float32":
            raise Unknown  # a Python float
        trace = current_trace()
        extents: Extents = ()
        kind = Kind.ARRAY
        if size is None:
            kind = Kind.SCALAR if row.num_parameters else Kind.PYTHON
        elif all(isinstance(s, int | SymbolicNumber) for s in _sizes(size)):
            extents = shape_argument(size)
        else:
            raise Unknown
        address = SymbolicNumber(
            trace,
            np.int64(generator_address(self.rng)),
            HostExpr("bits", (HostExpr.path(self.path),)),
        )
        given: list[Value] = [as_kernel_number(p).value() for p in parameters]
        keywords = {} if size is None else {"size": size}
        if row.dtype == "float32":
            keywords["dtype"] = np.dtype(row.dtype)
        if parameters:
            keywords["endpoint"] = True
        arguments = Arguments(trace)
        text = arguments.text(parameters, keywords)
        traced = arguments.values()
        drawn = trace.new_value(np.dtype(row.dtype), extents, kind)
        trace.emit(
            HostCall(
                results=(drawn,),
                function=f"numpy.random.Generator.{method}",
                arguments=(*traced, *given, scalar_value(address)),
                pure=False,
                call=f"{{o0}}, {text}" if text else "{o0}",
                objects=(HostExpr.path(self.path),),
                inline=True,
            )
        )
        return TracedArray.of_value(trace, drawn)


def _standard(method: str) -> Callable[..., Any]:
    def draw(draws: Draws, size: Any = None, dtype: Any = F64, out: Any = None) -> Any:
        if out is not None:
            raise Unknown
        return draws.numbers(method, size, dtype)

    return draw


def _standard_exponential(
    draws: Draws, size: Any = None, dtype: Any = F64, method: Any = "zig", out: Any = None
) -> Any:
    if out is not None or method != "zig":
        raise Unknown
    return draws.numbers("standard_exponential", size, dtype)


def _normal(draws: Draws, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    loc, scale = _float(loc), _scale(scale)
    return loc + scale * draws.numbers("standard_normal", size)


def _exponential(draws: Draws, scale: Any = 1.0, size: Any = None) -> Any:
    return _scale(scale) * draws.numbers("standard_exponential", size)


def _uniform(draws: Draws, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    low, high = _float(low), _float(high)
    reach = high - low
    if not _holds(reach < math.inf) or not _holds(reach > -math.inf):
        raise Unknown
    return low + reach * draws.numbers("random", size)


def _integers(
    draws: Draws,
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: Any = I64,
    endpoint: Any = False,
) -> Any:
    if type(endpoint) is not bool or np.dtype(dtype) != I64:
        raise Unknown
    if high is None:
        low, high = 0, low
    low, high = _int(low), _int(high)
    if all(isinstance(n, int | SymbolicNumber) and not _is_local(n) for n in (low, high)):
        if not _holds(low <= high if endpoint else low < high):
            raise Unknown
        return draws.numbers("integers", size, I64, low, high if endpoint else high - 1)
    _check_order(low, high, endpoint)
    last: Any = as_kernel_number(high, Kind.SCALAR, I64)
    if not endpoint:
        last = last - np.int64(1)
    return draws.numbers("integers", size, I64, as_kernel_number(low, Kind.SCALAR, I64), last)


_METHODS: dict[str, Callable[..., Any]] = {
    "random": _standard("random"),
    "standard_normal": _standard("standard_normal"),
    "standard_exponential": _standard_exponential,
    "normal": _normal,
    "exponential": _exponential,
    "uniform": _uniform,
    "integers": _integers,
}


# ------------------------------------------------------------------------------------ parameters
def _float(number: Any) -> Any:
    """A parameter as the float that NumPy makes of it; what only the kernel knows is unbounded."""
    if not _sums_are_rounded():
        raise Unknown
    if isinstance(number, SymbolicNumber):
        if number.is_local or not isinstance(number.value, int | float):
            raise Unknown
        converted: Any = number
        return number if isinstance(number.value, float) else converted * 1.0
    if not isinstance(number, int | float):
        raise Unknown
    return float(number)


def _scale(number: Any) -> Any:
    """A factor above zero."""
    number = _float(number)
    if not _holds(number > 0.0):
        raise Unknown
    return number


def _int(number: Any) -> Any:
    """An integer, also one that only the kernel knows."""
    if isinstance(number, SymbolicNumber) and type(number.value) is int:
        return number
    if isinstance(number, TracedArray) and number.kind is not Kind.ARRAY and number.dtype == I64:
        return number
    if type(number) is int and _INT64.min <= number <= _INT64.max:
        return number
    raise Unknown


def _is_local(number: Any) -> bool:
    return isinstance(number, SymbolicNumber) and number.is_local


def _check_order(low: Any, high: Any, endpoint: bool) -> None:
    """Ensure that there is an integer from ``low`` to ``high``, as NumPy does."""
    trace = current_trace()
    if not isinstance(low, TracedArray) and not isinstance(high, TracedArray):
        reach = high - low if endpoint else high - low - 1
        try:
            if trace.decisions.nonnegative(reach.as_affine(), "there is an integer to draw"):
                return
        except Varies:
            pass  # from one iteration to the next
    compare = "less_equal" if endpoint else "less"
    ok = emit_scalar(
        "bounds", [low, high], [I64, I64], BOOL, lambda b, refs: b.op(compare, refs, BOOL)
    )
    error = BOUNDS[type(low) is int and low == 0, endpoint]
    trace.emit(Assert(condition=ok.value(), reason="there is an integer to draw", error=error))


def _sizes(size: Any) -> Sequence[Any]:
    return size if isinstance(size, tuple | list) else (size,)


def _holds(condition: Any) -> bool:
    """A decision about numbers that are known when the call begins."""
    if isinstance(condition, TracedArray):
        raise Unknown
    return bool(condition)


@functools.cache
def _sums_are_rounded() -> bool:
    """Whether NumPy's ``loc + scale * x`` rounds twice, as kernels do, and not once."""
    factors = np.random.Generator(np.random.PCG64(1)).standard_normal(64)
    whole = np.random.Generator(np.random.PCG64(1)).normal(0.1, 0.3, 64)
    return np.array_equal(whole, 0.1 + 0.3 * factors)
