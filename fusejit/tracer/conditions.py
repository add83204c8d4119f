"""``and``, ``or``, ``not`` and conditional expressions of the traced program.

Where nothing is traced, and where the truth is known while tracing, they are Python's own: operands
are returned as they are. Otherwise what stands behind is computed in a block of a conditional, so
that it is not run where Python would not run it (``j >= 0 and x[j] > key``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.tracer.array import TracedArray
from fusejit.tracer.context import current_trace
from fusejit.tracer.dispatch import HANDLERS
from fusejit.tracer.kernel_numbers import truth_of
from fusejit.tracer.locations import current_location
from fusejit.tracer.staged_if import StagedIf, decide

_RESULT = "the value of a conditional expression"


def not_(operand: Any) -> Any:
    """``not operand``."""
    truth = decide(operand)
    if not isinstance(truth, TracedArray):
        return not truth
    return HANDLERS["operator"](np.logical_not, (truth,))


def and_(first: Any, *others: Callable[[], Any]) -> Any:
    """``first and others[0]() and ..``."""
    result = first
    for position, other in enumerate(others):
        truth = decide(result)
        if isinstance(truth, TracedArray):
            return _chosen(truth, _rest(and_, others[position:]), lambda: False)
        if not truth:
            return result
        result = other()
    return result


def or_(first: Any, *others: Callable[[], Any]) -> Any:
    """``first or others[0]() or ..``."""
    result = first
    for position, other in enumerate(others):
        truth = decide(result)
        if isinstance(truth, TracedArray):
            return _chosen(truth, lambda: True, _rest(or_, others[position:]))
        if truth:
            return result
        result = other()
    return result


def _rest(join: Callable[..., Any], later: tuple[Callable[[], Any], ...]) -> Callable[[], Any]:
    """The truth of the operands that are left."""
    return lambda: truth_of(join(later[0](), *later[1:]))


def choose(test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """``first() if test else second()``."""
    truth = decide(test)
    if not isinstance(truth, TracedArray):
        return first() if truth else second()
    return _chosen(truth, first, second)


def _chosen(truth: TracedArray, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    key = ("choose", str(current_location()))
    region = StagedIf(current_trace(), key, truth, (_RESULT,), frozenset())
    region.then({})
    value = first()
    region.otherwise({_RESULT: value})
    (result,) = region.result({_RESULT: second()})
    return result


def any_of(*flags: Any) -> Any:
    """Whether a flag is raised: a bool, or a number of the kernel."""
    raised: Any = False
    for flag in flags:
        if isinstance(flag, TracedArray):
            raised = flag if raised is False else raised | flag
        elif flag:
            return True
    return raised


def none_of(*flags: Any) -> Any:
    """Whether no flag is raised."""
    return not_(any_of(*flags))
