"""``and``, ``or``, ``not`` and conditional expressions of the traced program.

Where nothing is traced, and where the truth is known while tracing, they are Python's own: operands
are returned as they are. Otherwise what stands behind is computed in a block of a conditional, so
that it is not run where Python would not run it (``j >= 0 and x[j] > key``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.ops import Assert
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.carried.regions import RegionNames
from fusejit.tracer.flow.raises import ASSERTS
from fusejit.tracer.flow.traced_if import TracedIf, decide, is_asked_for_truth
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.checks import COMPUTED
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, as_python, is_number, truth_of
from fusejit.tracer.ops.union_types import true_one
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.union_scalar import TypeTests, is_union_scalar

_RESULT = "the value of this expression"


def not_(operand: Any) -> Any:
    """``not operand``."""
    truth = decide(operand)
    if not isinstance(truth, TracedArray):
        return not truth
    result: TracedArray = as_python(operator_call(np.logical_not, (truth,)))
    tests = truth.trace.owned(TypeTests)
    if (test := tests.get(truth.value())) is not None:
        tests[result.value()] = test.negated()
    return result


def and_(first: Any, *others: Callable[[], Any]) -> Any:
    """``first and others[0]() and ..``."""
    return _joined(True, first, *others)


def or_(first: Any, *others: Callable[[], Any]) -> Any:
    """``first or others[0]() or ..``."""
    return _joined(False, first, *others)


def _joined(goes_on: bool, first: Any, *others: Callable[[], Any]) -> Any:
    """``and`` if a true operand leads to the next one, ``or`` if a false one does."""
    result = first
    for position, other in enumerate(others):
        truth = decide(result)
        if isinstance(truth, TracedArray):
            later = others[position:]

            def rest(later: Any = later) -> Any:
                last = _joined(goes_on, later[0](), *later[1:])
                return truth_of(decide(last) if is_asked_for_truth(last) else last)

            sides = (rest, lambda: False) if goes_on else (lambda: True, rest)
            return _chosen(truth, *sides)
        if bool(truth) is not goes_on:
            return result
        result = other()
    return result


def and_value(first: Any, *others: Callable[[], Any]) -> Any:
    """``first and others[0]() and ..`` where the operand itself is asked for."""
    truth = decide(first) if others else False
    if isinstance(truth, TracedArray):
        return _chosen(truth, lambda: and_value(others[0](), *others[1:]), lambda: first)
    return and_value(others[0](), *others[1:]) if truth else first


def or_value(first: Any, *others: Callable[[], Any]) -> Any:
    """``first or others[0]() or ..`` where the operand itself is asked for."""
    truth = decide(first) if others else True
    if isinstance(truth, TracedArray):
        return _chosen(truth, lambda: true_one(first), lambda: or_value(others[0](), *others[1:]))
    return first if truth else or_value(others[0](), *others[1:])


def chain(
    compare: Callable[[str, Any, Any], Any], first: Any, name: str, second: Any, *others: Any
) -> Any:
    """``first < second < others[1]() ..``; each operand is evaluated once.

    Parameters
    ----------
    compare : callable
        Makes one comparison, given the name that it has in `operator`.
    first, second : object
    name : str
    *others : str or callable
        Further comparisons and operands, in turn.
    """
    result = compare(name, first, second)
    if not others:
        return result
    truth = decide(result)

    def rest() -> Any:
        return chain(compare, second, others[0], others[1](), *others[2:])

    if isinstance(truth, TracedArray):
        return _chosen(truth, rest, lambda: result)
    return rest() if truth else result


def choose(test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """``first() if test else second()``."""
    truth = decide(test)
    if not isinstance(truth, TracedArray):
        return first() if truth else second()
    return _chosen(truth, first, second)


def _chosen(truth: TracedArray, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    key = ("choose", str(current_location()))
    region = TracedIf(current_trace(), key, truth, RegionNames((_RESULT,)))
    region.then({})
    value = first()
    region.otherwise({_RESULT: value})
    (result,) = region.result({_RESULT: second()})
    return result


def asserted(operand: Any, message: Any = None) -> Any:
    """What ``assert`` asks for; what only the kernel knows becomes an `Assert`.

    ``message`` is the literal after the comma, "" for none, None for what has to be computed,
    which NumPy does: not after a store to the caller's memory (`refuse_deferred_raises`).
    """
    truth = decide(operand) if is_number(operand) or is_union_scalar(operand) else operand
    if not isinstance(truth, TracedArray):
        return operand
    trace = current_trace()
    holds = as_kernel_number(truth_of(truth))
    error, reason = "AssertionError", message
    if type(message) is not str:
        error, reason = COMPUTED, ASSERTS
    trace.emit(Assert(condition=holds.value(), reason=reason, error=error))
    return True


def any_of(*flags: Any) -> Any:
    """Whether a flag is raised: a bool, or a number of the kernel."""
    raised: Any = False
    for flag in flags:
        if isinstance(flag, TracedArray):
            raised = flag if raised is False else raised | flag
        elif flag:
            return True
    return raised


def stop_flag(*flags: Any) -> Any:
    """At the end of a loop's body: a raised flag, or one that only the kernel knows.

    Nothing is computed: a traced body has ended when this is asked.
    """
    known = [flag for flag in flags if not isinstance(flag, TracedArray)]
    return any(known) or next((f for f in flags if isinstance(f, TracedArray)), False)


def none_of(*flags: Any) -> Any:
    """Whether no flag is raised."""
    return not_(any_of(*flags))
