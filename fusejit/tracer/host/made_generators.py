"""Generators of random numbers that the program makes: ``rng = np.random.default_rng(seed)``.

Each call makes one before its kernels run, and these draw from it as from one that is given.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fusejit.ir.host import HOST_OPS, MAKE_GENERATORS, HostExpr
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.symbolic_number import SymbolicNumber, expr_of, value_of

_REMEDY = f"{MOVE_OUTSIDE} and pass its result as an argument"


def _maker(name: str, keywords: frozenset[str]) -> Callable[..., Any]:
    """The handler of what makes a generator: a row of `HOST_OPS`; its seed may have a keyword."""

    def make(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        seeds = (*args, *kwargs.values())
        if trace.regions or len(seeds) > 1 or not kwargs.keys() <= keywords:
            raise needs_python(f"calls {name}, which draws random numbers", _REMEDY)
        (seed,) = seeds or (None,)
        is_of_loop = isinstance(seed, SymbolicNumber) and seed.is_local
        if is_of_loop or type(value_of(seed)) not in (int, type(None)):
            raise needs_python(f"calls {name} with a seed that is not an int from outside", _REMEDY)
        sample = HOST_OPS[name].function(0)  # of which nothing is drawn
        trace.captured_reads.make(sample, HostExpr(name, (_of_call(trace, expr_of(seed)),)))
        return sample

    return make


def _of_call(trace: Trace, expr: HostExpr) -> HostExpr:
    """An expression of what each call is given, without symbols of the graph."""
    if expr.op == "name":
        (named,) = (symbol.expr for symbol in trace.graph.symbols if symbol.name == expr.attr)
        return _of_call(trace, named)
    operands = tuple(_of_call(trace, one) for one in expr.operands)
    return HostExpr(expr.op, operands, expr.attr)


for _function in MAKE_GENERATORS:
    _keywords = frozenset(() if _function is random.Random else ("seed",))
    primitive(_function)(_maker(_function.__name__, _keywords))
