"""``sum``, ``max`` and ``min`` of arrays, lists and ranges as the loops that they are."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from fusejit.ir.ops import Assert
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.containers.list_functions import is_written_out
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.item_forms import ArrayForm, ListForm, TupleForm
from fusejit.tracer.lists.list_methods import copied
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.np.numbers.python_functions import largest, smallest
from fusejit.tracer.ops.checks import COMPUTED, RAISE
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of
from fusejit.tracer.ops.lengths import require_some
from fusejit.tracer.ops.union_operators import without_none
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer


def _sum_of(items, start):  # type: ignore[no-untyped-def]
    total = start
    for item in items:
        total = total + item
    return total


def _sum_of_arrays(items, start):  # type: ignore[no-untyped-def]
    _have_some(len(items))  # else the sum is the number with which it starts
    total = start + items[0]
    for k in range(1, len(items)):
        total = total + items[k]
    return total


def _have_some(size: Any) -> None:
    """Leave a sum of no arrays to Python."""


primitive(_have_some)(require_some)


def _some(item: Any) -> Any:
    """``item``, which must not be None: that stands for no item yet."""
    return item


@primitive(_some)
def _require_some(item: Any) -> Any:
    what = "looks for the largest of items that may be None"
    if item is None:
        raise needs_python(what, MOVE_OUTSIDE)
    return without_none(item, lambda: what, COMPUTED)


def _require_any(size: Any, text: str) -> None:
    """Raise ValueError if the size is 0."""


@primitive(_require_any)
def _check_any(size: Any, text: str) -> None:
    has_any = truth_of(size > 0)
    if has_any is False:
        raise ValueError(text)
    if has_any is not True:
        condition = as_kernel_number(has_any).value()
        error = f"{RAISE}ValueError"
        current_trace().emit(Assert(condition=condition, reason=text, error=error))


def _best_of(items, is_better):  # type: ignore[no-untyped-def]
    best = None
    for item in items:
        item = _some(item)
        if best is None or is_better(item, best):
            best = item
    return best


def _best_by(items, is_better, key, text):  # type: ignore[no-untyped-def]
    _require_any(len(items), text)
    place, best = 0, key(items[0])
    for k in range(1, len(items)):
        value = key(items[k])
        if is_better(value, best):
            place, best = k, value
    return items[place]


def _itself(item: Any) -> Any:
    """The item."""


primitive(_itself)(lambda item: item)


def _or_default(best, default):  # type: ignore[no-untyped-def]
    return default if best is None else best


def _is_sequence(args: tuple[Any, ...]) -> bool:
    """Whether it is one argument with as many items as each call says."""
    if not args or not isinstance(args[0], TracedArray | TracedContainer | Items):
        return False
    return not isinstance(args[0], TracedArray) or args[0].ndim > 0


@primitive(sum, complex=True)
def summed(*args: Any, **kwargs: Any) -> Any:
    """``sum(items, start)`` as the loop that it is."""
    if not _is_sequence(args) or len(args) > 2 or kwargs.keys() - {"start"}:
        return NotImplemented
    start = args[1] if len(args) == 2 else kwargs.get("start", 0)
    items = args[0]
    if isinstance(items, TracedContainer) and type(start) is int:
        items = items.addends()
    is_of_arrays = isinstance(items, TracedList) and isinstance(items.form, ArrayForm)
    sum_of = _sum_of_arrays if is_of_arrays else _sum_of
    total = current_trace().inlined(sum_of, (items, start))
    is_python = isinstance(total, TracedArray) and total.kind is Kind.PYTHON
    if is_python and total.dtype.kind == "f" and sys.version_info >= (3, 12):
        what = "adds Python's floats with sum(), which is more exact than additions"
        raise needs_python(what, "add them in a loop")
    return total


def _best_by_key(function: Any, is_better: Any, items: Any, options: dict[str, Any]) -> Any:
    """``max(items, key=..)``; items that cannot be counted are listed first."""
    if [*options] != ["key"]:
        what = f"calls {function.__name__}() with a key and with other options"
        raise needs_python(what, "ask first whether there are any: if items: ..")
    trace = current_trace()
    if not isinstance(items, AnyList | TracedArray):
        items = trace.inlined(copied, (items,))
    return trace.inlined(_best_by, (items, is_better, options["key"], _text_of_none(function)))


def _has_tuples(items: Any) -> bool:
    """Whether it is a list of tuples or lists, which are compared one with another."""
    return isinstance(items, TracedList) and isinstance(items.form, TupleForm | ListForm)


def _text_of_none(function: Any) -> str:
    """The text of Python's error for an empty sequence."""
    try:
        function(())
    except ValueError as error:
        return str(error)
    raise AssertionError(function)


def _extremum(function: Any, is_better: Any, otherwise: Callable[..., Any]) -> None:
    """``max(items)`` or ``min(items)`` as the loop that it is."""

    @primitive(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_written_out(function, args) and kwargs.get("key") is not None:
            return _best_by_key(function, is_better, args[0], kwargs)
        if not _is_sequence(args) or len(args) > 1 or kwargs.keys() - {"default"}:
            return otherwise(*args, **kwargs)
        items = args[0]
        items = items.in_any_order() if isinstance(items, TracedContainer) else items
        if _has_tuples(items) and not kwargs:
            return _best_by_key(function, is_better, items, {"key": _itself})
        best = current_trace().inlined(_best_of, (items, is_better))
        if "default" in kwargs:
            return current_trace().inlined(_or_default, (best, kwargs["default"]))
        if best is not None:
            text = _text_of_none(function)
            return without_none(best, lambda: text, f"{RAISE}ValueError")
        raise ValueError(_text_of_none(function))


_extremum(max, operator.gt, largest)
_extremum(min, operator.lt, smallest)
