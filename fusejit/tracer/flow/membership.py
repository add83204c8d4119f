"""``item in container`` of the traced program.

Of an array that is ``(container == item).any()``, as NumPy has it. Of Python's containers of
numbers it is a comparison with each of them where only the kernel knows the item. Tuples are equal,
or in order, by their items.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.flow.conditions import not_
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.keyed.known_dicts import known_dict
from fusejit.tracer.lists.comparisons import are_equal, comes_before, require_numbers
from fusejit.tracer.lists.displays import CONTAINERS, look_up
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_number, needs_kernel, truth_of
from fusejit.tracer.ops.traced_text import TracedText
from fusejit.tracer.ops.traced_text import contained as contained_text
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, is_tuple
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.union_scalar import OptionalTuple, is_union_scalar

_OF_ITEMS = (tuple, list, set, frozenset, dict)


def contained(item: Any, container: Any, is_in: Callable[[Any, Any], bool]) -> Any:
    """``item in container``: a bool, or a number of the kernel.

    ``is_in`` is Python's own test, made in the user's function.
    """
    if isinstance(container, TracedContainer):
        return container.contains(item)
    if isinstance(container, Items) and container.contains is not None:
        return container.contains(item)
    known = known_dict(container, (item,))
    if known is not None:
        return known.contains(item)
    if isinstance(item, TracedText) and type(container) in (str, *_OF_ITEMS):
        return contained_text(item, container)
    if isinstance(container, TracedArray) and container.kind is Kind.ARRAY:
        if is_number(item) or isinstance(item, TracedArray):
            same = operator_call(np.equal, (container, item))
            return as_kernel_number(PRIMITIVES[np.any](same), Kind.PYTHON, BOOL)
    elif needs_kernel(item) or is_union_scalar(item):
        if type(container) is range:
            return _in_range(item, container)
        if type(container) in _OF_ITEMS and all(map(is_number, container)):
            return _any(item is one or operator.eq(item, one) for one in container)
    if type(container) in CONTAINERS:
        look_up(container, (item,))
    if type(container) in (list, tuple):
        require_numbers((item, container))
    return is_in(item, container)


def is_tuple_or_none(obj: Any) -> bool:
    """Whether it is a tuple or None, depending on elements."""
    return isinstance(obj, OptionalTuple) and is_tuple(obj.items)


def compared_tuples(name: str, left: Any, right: Any) -> Any:
    """``left == right``, and what else compares tuples; ``name`` is that of `operator`."""
    if name in ("eq", "ne"):
        same = _python_bool(PRIMITIVES[are_equal](left, right))
        return same if name == "eq" else not_(same)
    is_turned = name in ("gt", "le")
    is_less = _python_bool(PRIMITIVES[comes_before](left, right, is_turned))
    return is_less if name in ("lt", "gt") else not_(is_less)


def _python_bool(test: Any) -> Any:
    return as_kernel_number(test, Kind.PYTHON, BOOL) if isinstance(test, TracedArray) else test


def _in_range(item: Any, numbers: range) -> Any:
    if not numbers:
        return False
    low, high = sorted((numbers[0], numbers[-1]))
    tests = [item >= low, item <= high, (item - low) % abs(numbers.step) == 0]
    missing = _any(operator_call(np.logical_not, (test,)) for test in tests)
    return operator_call(np.logical_not, (missing,))


def _any(flags: Any) -> Any:
    """Whether one of some flags is raised."""
    found: Any = False
    for flag in map(truth_of, flags):
        if flag is True:
            return True
        if flag is not False:
            number = as_kernel_number(flag, Kind.SCALAR, BOOL)
            found = number if found is False else found | number
    return found if found is False else as_kernel_number(found, Kind.PYTHON, BOOL)
