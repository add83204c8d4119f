"""Calls of a compiled schedule: their arguments, and which argument is not like the traced one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.errors import ScheduleError
from fusejit.ir.traced import ArrayClass, CheckKind, PathCheck
from fusejit.outcome import Outcome
from fusejit.path_resolver import resolver
from fusejit.stages import Traced
from fusejit.support.identity import own_signature
from fusejit.tracer.builder.layout import classify
from fusejit.transform.core.base import short

_SIMPLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class NotServed(ScheduleError):
    """Guards of the trace do not hold for a call."""


class CallBinder:
    """The arguments of calls in the order of parameters.

    Parameters
    ----------
    stage : Traced
        The traced function.
    """

    def __init__(self, stage: Traced) -> None:
        self._stage = stage
        self._signature = own_signature(stage.function)
        parameters = self._signature.parameters.values()
        self._is_simple = all(p.kind in _SIMPLE for p in parameters)
        self._num = len(parameters)

    def in_order(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments by position.

        Raises
        ------
        TypeError
            If the function does not take them.
        """
        if self._is_simple and not kwargs and len(args) == self._num:  # calls may be timed
            return args
        return tuple(self.by_name(args, kwargs).values())

    def by_name(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by parameter; a `TypeError` if the function does not take them."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            name = self._stage.function.__name__
            raise TypeError(f"{name}{self._signature}: {error}") from None
        bound.apply_defaults()
        return bound.arguments

    def why_not_served(self, args: tuple[Any, ...], outcome: Outcome) -> str:
        """What is not like the traced call; the outcome, if that is not known."""
        traced = self._stage.traced
        arguments = dict(zip(self._signature.parameters, args, strict=True))
        find = resolver(self._stage.function, arguments, traced)
        for check in traced.checks:
            try:
                if why := _difference(check, find(check.path)):
                    return f"{check.path.user_text()} is {why}"
            except (AttributeError, KeyError, IndexError, TypeError):
                return f"{check.path.user_text()} is missing"
        graph, sizes = traced.graph, dict[str, int]()
        names = {symbol.name: symbol.expr for symbol in graph.symbols}
        names |= {scalar.value.name: scalar.expr for scalar in graph.scalars}
        try:
            for symbol in graph.symbols:
                sizes[symbol.name] = int(symbol.expr.evaluate(find, sizes))
            for guard in graph.guards:
                if bool(guard.expr.evaluate(find, sizes)) is not guard.expected:
                    state = "false" if guard.expected else "true"
                    return f"{guard.expr.user_text(names)} is {state}"
        except Exception:  # an expression that raises for this call
            return str(outcome)
        return str(outcome)


def _difference(check: PathCheck, found: Any) -> str:
    """How an object differs from the traced one, or the empty text."""
    expected = check.expected
    if check.kind is CheckKind.ARRAY:
        if isinstance(found, np.ndarray):
            order, layout = classify(found)
            actual = ArrayClass(found.dtype, found.ndim, order, layout, found.flags.writeable)
            if expected.writeable and not actual.writeable:
                return "read-only, and the function writes into it"
            shown, traced = _array_text(actual), _array_text(expected)
        else:
            shown, traced = f"of type {type(found).__name__}", _array_text(expected)
        return f"{shown}, and was {traced}" if shown != traced else ""
    if check.kind is CheckKind.TYPE and type(found) is not expected:
        return f"of type {type(found).__name__}, and was of type {expected.__name__}"
    is_other = check.kind is CheckKind.IS and found is not expected
    if check.kind is CheckKind.EQUAL:
        is_other = type(found) is not type(expected) or bool(found != expected)
    return f"{short(found)}, and was {short(expected)}" if is_other else ""


def _array_text(array: ArrayClass) -> str:
    ordered = "" if array.order == tuple(range(array.ndim)) else f", axes in order {array.order}"
    return f"{array.dtype}[{array.ndim}] {array.layout.value}{ordered}"
