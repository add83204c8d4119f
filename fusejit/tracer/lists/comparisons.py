"""Equality and order of the items of lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.host import HostExpr
from fusejit.ir.ops import Assert
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_number
from fusejit.tracer.ops.traced_text import compared, is_kernel_string, is_string
from fusejit.tracer.ops.union_types import mixes_strings
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, is_tuple
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.pooled_objects import pooled
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import UNION_OPS, OptionalTuple, is_union_scalar


def are_equal(left: Any, right: Any) -> bool:
    """``left is right or left == right``, as lists compare their items."""
    return bool(left is right or left == right)


@primitive(are_equal)
def _are_equal(left: Any, right: Any) -> Any:
    if is_tuple(left) and is_tuple(right):
        if len(left) != len(right):
            return False
        return _all(_are_equal(*pair) for pair in zip(left, right, strict=True))
    if isinstance(left, OptionalTuple) or isinstance(right, OptionalTuple):
        return _are_equal_or_none(left, right)
    if left is None or right is None:  # no number is equal to it
        other = right if left is None else left
        is_union = is_union_scalar(other)
        return current_trace().inlined(_is_none, (other,)) if is_union else other is None
    if mixes_strings(left) or mixes_strings(right):
        return current_trace().inlined(_equals, (left, right))
    if is_kernel_string(left) or is_kernel_string(right):
        return left == right
    for one, other in ((left, right), (right, left)):
        if isinstance(one, TracedContainer) and one.python_type in (list, tuple):
            return one == other
    if pooled(left) is not None or pooled(right) is not None:
        return current_trace().inlined(_is_or_equals, (left, right))
    if not all(map(_is_of_kernel, (left, right))):
        return are_equal(left, right)
    for number in (left, right):
        _require_number(number)
    if is_union_scalar(left) or is_union_scalar(right):
        return current_trace().inlined(_equals, (left, right))
    return _compared(np.equal, left, right)


def _are_equal_or_none(left: Any, right: Any) -> Any:
    """Equality of two objects; one or both are a tuple or None, depending on elements."""
    (has_left, one), (has_right, other) = map(_if_there, (left, right))
    if one is None or other is None:
        return operator_call(np.logical_not, (has_left if other is None else has_right,))
    same = _all((has_left, has_right, _are_equal(one, other)))
    if has_left is True or has_right is True:
        return same
    is_one_there = operator_call(np.logical_or, (has_left, has_right))
    return operator_call(np.logical_or, (operator_call(np.logical_not, (is_one_there,)), same))


def _if_there(obj: Any) -> tuple[Any, Any]:
    """Whether an object is not None, and what it is then."""
    if isinstance(obj, OptionalTuple):
        return as_kernel_number(obj.tag, Kind.SCALAR, BOOL), obj.items
    return obj is not None, obj


def _compared(ufunc: np.ufunc, left: Any, right: Any) -> Any:
    return operator_call(ufunc, (as_kernel_number(left), as_kernel_number(right)))


def _equals(left, right):  # type: ignore[no-untyped-def]
    return bool(left == right)


def _is_or_equals(left, right):  # type: ignore[no-untyped-def]
    return left is right or left == right


def _is_none(obj):  # type: ignore[no-untyped-def]
    return obj is None


def _is_less(left, right):  # type: ignore[no-untyped-def]
    return bool(left < right)


def _all(tests: Any) -> Any:
    made: Any = True
    for test in tests:
        if test is False:
            return False
        if test is not True:
            number = as_kernel_number(test, Kind.SCALAR, BOOL)
            made = number if made is True else operator_call(np.logical_and, (made, number))
    return made


def _is_of_kernel(obj: Any) -> bool:
    return is_number(obj) or is_union_scalar(obj)


def _require_number(number: Any) -> None:
    """Leave a NaN to Python: it is equal to itself if it is the very object that a list holds."""
    if isinstance(number, SymbolicNumber) and isinstance(number.value, float | complex):
        if number.value != number.value:
            raise needs_python("looks for a NaN in a list", MOVE_OUTSIDE)
        same = HostExpr("eq", (number.expr, number.expr))
        number.trace.decisions.condition(same, True, "no NaN is looked for in a list")
    if isinstance(number, TracedArray) and number.dtype.kind in "fc":
        is_number_ = as_kernel_number(operator_call(np.equal, (number, number)), Kind.PYTHON, BOOL)
        why = "looks for a NaN in a list"
        current_trace().emit(Assert(condition=is_number_.value(), reason=why, error=LEFT_TO_PYTHON))


def require_numbers(obj: Any, depth: int = 8) -> None:
    """Leave NaNs to Python among the items of lists and tuples that it is about to compare."""
    if type(obj) in (list, tuple):
        if not depth:
            raise needs_python("compares lists in lists that may hold themselves", MOVE_OUTSIDE)
        for item in obj:
            require_numbers(item, depth - 1)
    elif isinstance(obj, SymbolicNumber):
        _require_number(obj)


def comes_before(left: Any, right: Any, is_reversed: bool) -> bool:
    """``left < right``, or ``right < left`` for a list that is sorted in reverse."""
    return bool(right < left if is_reversed else left < right)


@primitive(comes_before)
def _comes_before(left: Any, right: Any, is_reversed: bool) -> Any:
    if is_reversed:
        left, right = right, left
    if _may_be_none(left) or _may_be_none(right):
        return _comes_before_unless_none(left, right)
    if is_list(left) or is_list(right):
        if type_in_program(left) is not type_in_program(right):
            raise needs_python("orders objects of several types", MOVE_OUTSIDE)
        return current_trace().inlined(_list_comes_before, (left, right))
    if not is_tuple(left):
        if is_union_scalar(left) or is_union_scalar(right):
            return current_trace().inlined(_is_less, (left, right))
        if is_string(left) and is_string(right):
            return compared(np.less, (left, right))
        if pooled(left) is not None and pooled(right) is not None:
            return _object_comes_before(left, right)
        if not (_is_of_kernel(left) and _is_of_kernel(right)):
            raise needs_python("sorts items that are not numbers", MOVE_OUTSIDE)
        return _compared(np.less, left, right)
    if not is_tuple(right) or len(left) != len(right):
        raise needs_python("orders tuples of several lengths", MOVE_OUTSIDE)
    if any(map(_is_asked_late, (*left, *right))):
        return _tuple_comes_before(left, right)
    made: Any = False
    for one, other in reversed([*zip(left, right, strict=True)]):
        for number in () if is_tuple(one) else (one, other):
            _require_number(number)
        is_less = _comes_before(one, other, False)
        rest = made if made is False else _all((_are_equal(one, other), made))
        made = is_less if rest is False else operator_call(np.logical_or, (is_less, rest))
    return made


def _object_comes_before(left: Any, right: Any) -> Any:
    """``left < right`` of objects; those of a class without order are left to Python."""
    if type(left).__lt__ is not vars(object)["__lt__"]:
        return current_trace().inlined(_is_less, (left, right))
    numbers = [one.number for one in (pooled(left), pooled(right)) if one is not None]
    is_one = as_kernel_number(_compared(np.equal, *numbers), Kind.PYTHON, BOOL)
    why = f"orders objects of the type {type(left).__name__}"
    current_trace().emit(Assert(condition=is_one.value(), reason=why, error=LEFT_TO_PYTHON))
    return False


def _may_be_none(obj: Any) -> bool:
    return obj is None or isinstance(obj, OptionalTuple)


def _is_asked_late(item: Any) -> bool:
    """Whether a comparison of it takes long, or raises: only where all before it are equal."""
    is_long = pooled(item) is not None or is_list(item)
    is_other = is_tuple(item) and any(map(_is_asked_late, item))
    return is_long or is_other or _may_be_none(item) or is_union_scalar(item)


def _comes_before_unless_none(left: Any, right: Any) -> Any:
    """``left < right``; Python, which raises TypeError, orders None."""
    (has_left, one), (has_right, other) = map(_if_there, (left, right))
    are_there = _all((has_left, has_right))
    regions = current_trace().regions
    runs = getattr(regions[-1] if regions else None, "condition_here", None)
    if runs is not None:  # said in the condition: a check may run before the conditional it is in
        are_there = operator_call(
            np.logical_or, (operator_call(np.logical_not, (runs(),)), are_there)
        )
    elif are_there is False:
        raise needs_python("sorts items that are not numbers", MOVE_OUTSIDE)
    condition = as_kernel_number(are_there, Kind.PYTHON, BOOL).value()
    current_trace().emit(Assert(condition=condition, reason="orders None", error=LEFT_TO_PYTHON))
    return one is not None and other is not None and _comes_before(one, other, False)


def is_list(obj: Any) -> bool:
    """Whether an object of the trace is a list, or a tuple whose length only the kernel knows."""
    kind = obj.python_type if isinstance(obj, TracedContainer) else None
    return type(obj) is list or kind in (list, tuple)


def type_in_program(obj: Any) -> type:
    """The class that the program sees."""
    return obj.python_type if isinstance(obj, TracedContainer) else type(obj)


def _list_comes_before(left, right):  # type: ignore[no-untyped-def]
    for k in range(min(len(left), len(right))):
        if not are_equal(left[k], right[k]):
            return comes_before(left[k], right[k], False)
    return len(left) < len(right)


def _tuple_comes_before(left: Any, right: Any) -> Any:
    """``left < right``: as the first items that differ, which alone are asked."""
    if not left:
        return False

    def rest() -> Any:
        return _tuple_comes_before(left[1:], right[1:])

    same = _are_equal(left[0], right[0])
    if isinstance(same, bool):
        return rest() if same else _comes_before(left[0], right[0], False)
    return UNION_OPS.choose(same, rest, lambda: _comes_before(left[0], right[0], False))


def require_ordered(keys: Any) -> None:
    """Leave a list to Python whose items have no order: NaNs among them."""


@primitive(require_ordered)
def _require_ordered(keys: Any) -> None:
    current_trace().inlined(_look_at, (keys,))


def _look_at(keys):  # type: ignore[no-untyped-def]
    for key in keys:
        _is_ordered(key)


def _is_ordered(key: Any) -> None:
    """Nothing: the handler checks."""


@primitive(_is_ordered)
def _check_ordered(key: Any) -> None:
    for one in key if is_tuple(key) else (key,):
        if is_tuple(one):
            _check_ordered(one)
        elif is_list(one):
            current_trace().inlined(_look_at, (one,))
        else:
            _require_number(one)
