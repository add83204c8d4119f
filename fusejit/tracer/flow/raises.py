"""``raise`` and ``try`` under a condition that only the kernel can evaluate.

``if x.min() < 0: raise ValueError(..)`` becomes an `Assert` that the condition does not hold. Where
the check fails, NumPy runs the call and raises, with all that the message needs. After a store to
the caller's memory the kernel itself raises, which it can if the exception is one of Python's own
with a literal text, and nothing around could catch it.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import deferred_ops
from fusejit.ir.ops import Assert, Effect, HostCall, Op, walk
from fusejit.tracer.builder.trace import current_trace, running_trace
from fusejit.tracer.flow.traced_if import TracedIf
from fusejit.tracer.ops.checks import BEYOND_RANGE, COMPUTED, EXTENTS_DIFFER, RAISE
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.program.fallback import Fallback

ASSERTS = (
    "asserts something about elements, after a store to an argument, with a message that is "
    "computed; write the message as a literal"
)
"""The reason of such a check that stands for an ``assert``."""

_WHERE = "under a condition that is known only when compiled code runs"
_REMEDY = "return a flag, and raise outside"


def raises(kind: Any = None, text: Any = None) -> bool:
    """Whether a ``raise`` happens while tracing; otherwise it becomes a check of the kernel.

    Parameters
    ----------
    kind : object
        The exception's class, if it stands in the statement.
    text : str or None
        Its literal argument, "" for none, None for what has to be computed.
    """
    trace = running_trace()
    conditions = [r for r in trace.regions if isinstance(r, TracedIf)] if trace is not None else []
    if not conditions:
        return True
    holds: Any = True
    for region in conditions:
        holds = region.condition_here() if holds is True else holds & region.condition_here()
    name = getattr(kind, "__name__", "an exception")
    error, reason = COMPUTED, f"raises {name} {_WHERE}; {_REMEDY}"
    if type(text) is str and _is_known(kind):
        error, reason = f"{RAISE}{name}", text
    check = Assert(condition=as_kernel_number(~holds).value(), reason=reason, error=error)
    current_trace().emit(check)
    return False


def _is_known(kind: Any) -> bool:
    """Whether the class can be told from its name alone."""
    if kind is np.linalg.LinAlgError:
        return True
    is_exception = isinstance(kind, type) and issubclass(kind, Exception)
    return is_exception and getattr(builtins, kind.__name__, None) is kind


def trying() -> int:
    """At the start of the body of a ``try``: how many loops and conditionals are open there."""
    trace = running_trace()
    if trace is None:
        return 0
    trace.tries = True
    return len(trace.regions)


def caught_inside(error: BaseException, depth: int) -> None:
    """Refuse to go on in an ``except`` that only some of the iterations or branches reach."""
    trace = running_trace()
    if trace is not None and len(trace.regions) != depth:
        raise Fallback(f"raises {type(error).__name__} {_WHERE}; {_REMEDY}") from error


def may_raise_deferred(graph: Graph) -> bool:
    """Whether a call may raise where NumPy cannot run it again."""
    deferred = [op for op in deferred_ops(graph) if _may_raise(op)]
    return any(not isinstance(op, Assert) or op.error != EXTENTS_DIFFER for op in deferred)


def _may_raise(op: Op) -> bool:
    """Whether an op may end the call; what only Python can do is undone, and done by Python."""
    if isinstance(op, Assert):
        return op.error not in BEYOND_RANGE
    return isinstance(op, HostCall) and op.effect is not Effect.PURE


def refuse_deferred_raises(graph: Graph, tries: bool) -> None:
    """Fall back if the kernel had to raise, after a store, what it cannot or what may be caught."""
    deferred = deferred_ops(graph)
    for op in walk(graph.block):
        if op not in deferred:
            continue
        if isinstance(op, Assert) and op.error == COMPUTED:
            if op.reason == ASSERTS:
                raise UnsupportedError.at(op.location, ASSERTS)
            raise Fallback(op.reason)
        if tries and _may_raise(op):
            what = "may raise, after a store to an argument, in a function that has a `try`"
            raise Fallback(f"{what}; raise before the first store")
