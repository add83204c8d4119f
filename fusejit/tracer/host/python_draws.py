"""Draws from Python's own generator, `random.Random`: ``random.random()``, ``rng.choice(xs)``.

Kernels draw floats and bits. All other methods of the class are Python functions that come down to
these, and are traced as they stand in the standard library.
"""

from __future__ import annotations

import inspect
import random
from typing import Any

from fusejit.ir.host import HostExpr, Path, has_known_twister, twister_address
from fusejit.ir.inline_calls.inline_draws import PYTHON, inline_draw
from fusejit.ir.ops import Assert, HostCall
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.host import random_methods
from fusejit.tracer.host.host_call_tracing import Arguments
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.operand_types import BOOL, F64, I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_IN_PYTHON = frozenset(
    (
        *("_randbelow", "_randbelow_with_getrandbits", "choice", "shuffle"),
        *("sample", "choices", "uniform", "triangular", "normalvariate", "lognormvariate"),
        *("expovariate", "vonmisesvariate", "gammavariate", "betavariate", "paretovariate"),
        *("weibullvariate", "binomialvariate"),
    )
)
_NUM_ARGUMENTS = {"random": 0, "getrandbits": 1}
_MAX_BITS = 63
OF_MODULE: Any = getattr(random.random, "__self__", None)
"""What ``random.random`` draws from."""


def python_draw(rng: random.Random, method: str, path: Path | None, args: Any, kwargs: Any) -> Any:
    """``rng.method(*args, **kwargs)``, drawn in the kernel.

    Raises
    ------
    NeedsPython
        If the method does something else than draw, or this Python is not known.
    """
    trace = current_trace()
    if method in ("randrange", "randint"):
        return trace.inlined(random_methods.randrange, (rng, *_range(rng, method, args, kwargs)))
    if method in _IN_PYTHON:
        return trace.inlined(getattr(random.Random, method), (rng, *args), kwargs)
    is_known = len(args) == _NUM_ARGUMENTS.get(method) and not kwargs
    if not is_known or not has_known_twister():
        raise needs_python(f"calls {method} of random.Random", MOVE_OUTSIDE)
    if path is None:
        what = f"calls {method} of a random.Random that no argument or name holds"
        raise needs_python(what, "pass the generator as an argument")
    if method == "random":
        return _drawn(trace, rng, path, F64)
    (count,) = args
    count = as_kernel_number(count, Kind.PYTHON, I64)
    fits = emit_scalar("fits", [count], [I64], BOOL, _fits)
    trace.emit(Assert(condition=fits.value(), reason="an int has 64 bits", error=LEFT_TO_PYTHON))
    return _drawn(trace, rng, path, I64, count)


def _range(rng: random.Random, method: str, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Start, stop and step of the integers to choose from."""
    try:
        bounds = inspect.signature(getattr(random.Random, method)).bind(rng, *args, **kwargs).args
    except TypeError as error:  # Python knows what to say
        raise needs_python(f"calls {method} with such arguments", MOVE_OUTSIDE) from error
    if not all(map(_is_int, bounds[1:])):
        raise needs_python(f"calls {method} with other than integers", MOVE_OUTSIDE)
    if method == "randint":
        return bounds[1], bounds[2] + 1, 1
    return {2: (0, *bounds[1:], 1), 3: (*bounds[1:], 1), 4: bounds[1:]}[len(bounds)]


def _is_int(obj: Any) -> bool:
    """Whether it is an int to the program."""
    if isinstance(obj, SymbolicNumber):
        return type(obj.value) is int
    if isinstance(obj, TracedArray):
        return obj.kind is Kind.PYTHON and obj.dtype == I64
    return type(obj) is int


@primitive(random_methods.require)
def _require(condition: Any) -> None:
    trace, reason = current_trace(), "there is an integer to draw"
    holds = as_kernel_number(truth_of(condition)).value()
    trace.emit(Assert(condition=holds, reason=reason, error=LEFT_TO_PYTHON))


def _fits(builder: Any, refs: list[int]) -> int:
    """Whether a number of bits is one that kernels draw; it is below 0 for no other."""
    low = builder.op("greater_equal", [refs[0], builder.const(0, I64)], BOOL)
    high = builder.op("less_equal", [refs[0], builder.const(_MAX_BITS, I64)], BOOL)
    return int(builder.op("logical_and", [low, high], BOOL))


def _drawn(trace: Trace, rng: random.Random, path: Path, dtype: Any, *parameters: Any) -> Any:
    row = inline_draw("getrandbits" if parameters else "random", dtype.name, PYTHON)
    assert row is not None
    state = HostExpr("twister", (HostExpr.path(path),))
    address = SymbolicNumber(trace, twister_address(rng), state)
    arguments = Arguments(trace)
    text = arguments.text(parameters, {})
    drawn = trace.new_value(dtype, (), Kind.PYTHON)
    trace.emit(
        HostCall(
            results=(drawn,),
            function=row.function,
            arguments=(
                *arguments.values(),
                *(parameter.value() for parameter in parameters),
                scalar_value(address),
            ),
            pure=False,
            call=f"{{o0}}, {text}" if text else "{o0}",
            objects=(HostExpr.path(path),),
            inline=True,
        )
    )
    return TracedArray.of_value(trace, drawn)
