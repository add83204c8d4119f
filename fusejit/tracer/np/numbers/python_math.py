"""Python's `math` on traced numbers: by the launcher where it knows them, else in the kernel.

In the kernel an argument is converted to a float, as Python converts it, and the function of NumPy
is computed; where Python would raise, an `Assert` ends the call (`tracer.ops.domains`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fusejit.ir.scalar_ops.scalar_op_table import HOST_ROWS
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.numbers.python_arithmetic import kernel_arithmetic
from fusejit.tracer.ops.kernel_numbers import is_kernel_number, is_number
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import contains_traced
from fusejit.tracer.values.symbolic_number import apply_host
from fusejit.tracer.values.traced_primitives import primitive_of

_IN_LAUNCHERS = ("gamma", "lgamma", "pow")
_IN_KERNELS = tuple(
    name
    for name in (*HOST_ROWS, "floor", "ceil", "trunc")
    if hasattr(math, name) and name not in _IN_LAUNCHERS
)
_OF_TWO = frozenset(name for name, row in HOST_ROWS.items() if row.arity == 2)
_INSTEAD = {"fabs": "np.abs", "pow": "x ** y", "gamma": "", "lgamma": "", "erf": "", "erfc": ""}


def _math_function(name: str) -> None:
    function: Callable[..., Any] = getattr(math, name)

    def call(*args: Any) -> Any:
        if name == "log" and len(args) == 2 and contains_traced(list(args)):
            x, base = args
            return _log(x) / _log(base)
        if not contains_traced(list(args)) or len(args) != 1 + (name in _OF_TWO):
            return NotImplemented
        if any(map(is_kernel_number, args)) and all(map(is_number, args)):
            if name in _IN_LAUNCHERS:
                raise _refused(name, "no element of an array")
            return kernel_arithmetic(name, args)
        if any(isinstance(x, TracedArray) for x in args):
            raise _refused(name, "not an array")
        if name == "fabs":
            return apply_host("abs", apply_host("float", args[0]))
        return apply_host("math_pow" if name == "pow" else name, *args)

    call.__name__ = name
    primitive(function)(call)


def _log(x: Any) -> Any:
    return PRIMITIVES[math.log](x) if contains_traced([x]) else math.log(x)


def _refused(name: str, but: str) -> Exception:
    instead = _INSTEAD.get(name, f"np.{name}")
    remedy = f"use {instead} instead" if instead else "move it outside the decorated function"
    return unsupported(f"math.{name} needs a Python number, {but}", remedy)


for _name in (*_IN_KERNELS, *_IN_LAUNCHERS):
    _math_function(_name)


# ------------------------------------------------------------------- written out, and then traced
def _isclose(a, b, rel_tol, abs_tol):  # type: ignore[no-untyped-def]
    a, b = float(a), float(b)
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    distance = abs(b - a)
    if distance <= abs(rel_tol * b):
        return True
    if distance <= abs(rel_tol * a):
        return True
    return distance <= abs_tol


def _prod(values, start):  # type: ignore[no-untyped-def]
    product = start
    for value in values:
        product = product * value
    return product


@primitive_of("a b rel_tol abs_tol", math.isclose)
def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """``math.isclose``."""
    given = (a, b, rel_tol, abs_tol)
    if not all(map(is_number, given)):
        raise unsupported("math.isclose needs Python numbers", "use np.isclose instead")
    if not all(isinstance(t, float) and t >= 0 for t in given[2:]):
        raise unsupported("math.isclose with such tolerances", "write them as numbers")
    return current_trace().inlined(_isclose, given)


@primitive_of("iterable start", math.prod)
def prod(iterable: Any, /, *, start: Any = 1) -> Any:
    """``math.prod``."""
    return current_trace().inlined(_prod, (iterable, start))
