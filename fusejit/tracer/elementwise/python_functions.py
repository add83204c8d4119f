"""Python's ``any``, ``all``, ``min``, ``max``, ``bool``, ``int``, ``float``, ``round``.

Of numbers that only the kernel knows: `fusejit.tracer.values.kernel_numbers`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import fusejit.tracer.runtime.builtin_functions  # noqa: F401  its handlers are there first
from fusejit.tracer.elementwise.python_arithmetic import kernel_arithmetic
from fusejit.tracer.runtime.primitives import PRIMITIVES
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.kernel_numbers import (
    arithmetic,
    chosen,
    is_kernel_number,
    is_number,
    needs_kernel,
    python_number,
    truth_of,
)
from fusejit.tracer.values.operand_types import BOOL


def _register_truths() -> None:
    """``any`` and ``all`` of numbers: of all of them, where Python may stop early."""

    def wrap(function: Callable[..., Any], ufunc: np.ufunc) -> None:
        def call(items: Any) -> Any:
            if isinstance(items, TracedArray):
                if items.ndim != 1:
                    return NotImplemented
                named = np.all if function is builtins.all else np.any
                return python_number(PRIMITIVES[named](items), BOOL)
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
        PRIMITIVES[function] = call

    wrap(builtins.any, np.logical_or)
    wrap(builtins.all, np.logical_and)


def _register_conversions() -> None:
    def wrap(function: Callable[..., Any], op: str) -> None:
        before = PRIMITIVES[function]

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) == 1 and not kwargs and is_kernel_number(args[0]):
                return kernel_arithmetic(op, args)
            return before(*args, **kwargs)

        call.__name__ = function.__name__
        PRIMITIVES[function] = call

    table: dict[Callable[..., Any], str] = {
        builtins.bool: "truth",
        builtins.int: "int",
        builtins.float: "float",
        builtins.round: "round",
    }
    for function, op in table.items():
        wrap(function, op)


def _register_extrema() -> None:
    def wrap(function: Callable[..., Any], ufunc: np.ufunc) -> None:
        before = PRIMITIVES[function]

        def call(*args: Any, **kwargs: Any) -> Any:
            items = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
            if kwargs or not any(map(needs_kernel, items)) or not all(map(is_number, items)):
                return before(*args, **kwargs)
            return functools.reduce(lambda best, item: chosen(best, item, ufunc), items)

        call.__name__ = function.__name__
        PRIMITIVES[function] = call

    wrap(builtins.min, np.less)
    wrap(builtins.max, np.greater)


_register_truths()
_register_conversions()
_register_extrema()
