"""Python's ``any``, ``all``, ``min``, ``max``, ``bool``, ``int``, ``float``, ``round``.

Of numbers that only the kernel knows: `fusejit.tracer.ops.kernel_numbers`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.numbers import builtin_functions
from fusejit.tracer.np.numbers.python_arithmetic import kernel_arithmetic
from fusejit.tracer.ops.kernel_numbers import (
    arithmetic,
    chosen,
    is_kernel_number,
    is_number,
    needs_kernel,
    python_number,
    truth_of,
)
from fusejit.tracer.ops.traced_text import is_kernel_string, is_string
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.operand_types import BOOL


def _truth_of_items(function: Callable[..., Any], ufunc: np.ufunc) -> Callable[..., Any]:
    """``any`` or ``all`` of numbers: of all of them, where Python may stop early."""

    @primitive(function, complex=True)
    def call(items: Any) -> Any:
        if isinstance(items, TracedArray):
            if items.ndim != 1:
                return NotImplemented
            named = np.all if function is builtins.all else np.any
            return python_number(PRIMITIVES[named](items), BOOL)
        if isinstance(items, TracedContainer):
            return items.has_all() if function is builtins.all else items.has_any()
        result: Any = function is builtins.all
        for item in items:
            truth = truth_of(item)
            if isinstance(truth, TracedArray):
                is_first = not isinstance(result, TracedArray)
                result = truth if is_first else arithmetic(ufunc, result, truth)
            elif truth is (function is builtins.any):
                return truth
        return python_number(result, BOOL) if isinstance(result, TracedArray) else result

    call.__name__ = function.__name__
    return call


def _conversion(
    function: Callable[..., Any], op: str, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """``int(x)`` and the like, in the kernel where only that knows the number."""

    @primitive(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and is_kernel_number(args[0]):
            return kernel_arithmetic(op, args)
        return otherwise(*args, **kwargs)

    call.__name__ = function.__name__
    return call


def _first(best, item):  # type: ignore[no-untyped-def]
    return item if item < best else best


def _last(best, item):  # type: ignore[no-untyped-def]
    return item if item > best else best


def _extremum(
    function: Callable[..., Any],
    ufunc: np.ufunc,
    of_two: Callable[[Any, Any], Any],
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """``min`` or ``max`` of numbers or strings, of which the kernel knows some."""

    @primitive(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        items = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
        if not kwargs and any(map(is_kernel_string, items)) and all(map(is_string, items)):
            inlined = current_trace().inlined
            return functools.reduce(lambda best, item: inlined(of_two, (best, item)), items)
        is_alone = len(args) == 1 and items is args  # a number has no items
        is_left = is_alone or not any(map(needs_kernel, items))
        if kwargs or is_left or not all(map(is_number, items)):
            return otherwise(*args, **kwargs)
        return functools.reduce(lambda best, item: chosen(best, item, ufunc), items)

    call.__name__ = function.__name__
    return call


_truth_of_items(builtins.any, np.logical_or)
_truth_of_items(builtins.all, np.logical_and)
_conversion(builtins.bool, "truth", builtin_functions.truth)
_conversion(builtins.int, "int", builtin_functions.to_int)
_conversion(builtins.float, "float", builtin_functions.to_float)
_conversion(builtins.round, "round", builtin_functions.round_of)
smallest = _extremum(builtins.min, np.less, _first, builtin_functions.smallest)
largest = _extremum(builtins.max, np.greater, _last, builtin_functions.largest)
