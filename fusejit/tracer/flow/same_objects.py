"""``left is right`` of the traced program: a question about objects, of which the trace has values.

There are two objects of the type bool, and two of np.bool_, so their identity is their truth:
``(x[i] > 0) is np.True_`` is ``bool(x[i] > 0)``. Objects of two types are two objects. Which object
any other number is, Python's caches of small integers and constants decide: Python is asked.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.errors import NeedsPython
from fusejit.ir.ops import Cond, Loop
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.carried.regions import is_array, is_untraced_value
from fusejit.tracer.flow.conditions import not_
from fusejit.tracer.ops.kernel_numbers import is_number, number_type
from fusejit.tracer.ops.union_operators import for_each_type, in_either_case, is_none
from fusejit.tracer.ops.union_types import narrowed
from fusejit.tracer.program.callables import is_traced_type
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, is_tuple
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.pooled_objects import pooled
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import OptionalTuple, is_union_scalar

if TYPE_CHECKING:
    from fusejit.tracer.program.captures import CaptureRegistry

_SINGLETONS = (bool, type(None), type(Ellipsis), type(NotImplemented), np.bool_)


def same_object(captures: CaptureRegistry, left: Any, right: Any) -> Any:
    """``left is right``: a bool, or a bool of the kernel; the captured objects are guarded."""
    for obj in (left, right):
        if isinstance(obj, Undefined):
            obj()
    same = is_same(left, right)
    if pooled(left) is not None or pooled(right) is not None:
        return same
    if not any(isinstance(obj, _SINGLETONS) for obj in (left, right)):  # else the types tell it
        captures.identify(left)
        captures.identify(right)
    return same


def has_traced(obj: Any) -> bool:
    """Whether only the trace knows what an object is, or what a tuple holds."""
    return any(map(has_traced, obj)) if is_tuple(obj) else is_traced_type(type(obj))


def is_told_by_patterns(obj: Any) -> bool:
    """Whether ``case None``, ``case True``, ``case False`` see in it what the program has there."""
    if is_tuple(obj) or type(obj) is list:
        return all(map(is_told_by_patterns, obj))
    if type(obj) is dict:
        return all(map(is_told_by_patterns, obj.values()))
    if is_untraced_value(obj) or is_array(obj):
        return True
    return is_number(obj) and number_type(obj) != (Kind.PYTHON, BOOL)


def is_same(left: Any, right: Any) -> Any:
    """``left is right`` of objects that no later call has to find again."""
    left, right = narrowed(left), narrowed(right)
    for obj, other in ((left, right), (right, left)):
        if obj is None:
            return is_none(other)
        if isinstance(obj, OptionalTuple) and is_tuple(other):
            raise _refusal("asks which object a tuple is", "keep a flag beside it")
    for obj, other in ((left, right), (right, left)):
        if isinstance(obj, OptionalTuple) and obj is not other:
            return in_either_case(obj, functools.partial(is_same, other))
    first, second = pooled(left), pooled(right)
    if first is not None and second is not None and type(left) is type(right):
        return left is right or operator.eq(first.number, second.number)
    if not has_traced(left) and not has_traced(right):
        return left is right
    if is_union_scalar(left) or is_union_scalar(right):
        return for_each_type(is_same, left, right)
    if is_number(left) and is_number(right):
        return number_type(left) == number_type(right) and _is_same_number(left, right)
    if is_array(left) and is_array(right):
        return _is_same_array(left, right)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        raise needs_python("asks whether an array is that of a library", "compare what they hold")
    are_tuples = is_tuple(left) and type(left) is type(right) and len(left) == len(right)
    if left is not right and are_tuples:
        raise _refusal("asks whether tuples of traced values are one object")
    if isinstance(left, TracedContainer) and left is not right:
        left.require_not(right)
    return left is right


def _is_same_number(left: Any, right: Any) -> Any:
    """Whether two numbers of one type, of which one is traced, are one object."""
    if number_type(left)[1] != BOOL:
        raise _refusal("asks whether numbers of the same type are one object")
    truths = [PRIMITIVES[bool](number) for number in (left, right)]
    first, second = sorted(truths, key=lambda truth: type(truth) is not bool)
    if type(second) is bool:
        return first is second
    if type(first) is bool:
        return second if first else not_(second)
    return operator.eq(first, second)


def _is_same_array(left: TracedArray, right: TracedArray) -> bool:
    """Whether two arrays are one object, which the trace knows of those that it made itself."""
    if left is not right and all(map(_is_arguments, (left, right))):
        raise needs_python("asks whether two arguments are one object", "pass a bool instead")
    if left is not right and any(map(_is_one_of, (left, right))):
        what = "asks whether arrays that a condition or a loop has bound are one object"
        raise needs_python(what, "keep a flag beside the array")
    return left is right


def _is_arguments(array: TracedArray) -> bool:
    """Whether each call decides which object it is."""
    return array.path is not None or array.dtype.kind == "c"


def _is_one_of(array: TracedArray) -> bool:
    """Whether only the kernel knows which of several objects an array is."""
    root = array.storage.root
    is_joined = root.is_chosen or bool(root.copied_from) or root.origin is not None
    op = None if root.value is None else array.trace.defined.get(root.value)
    return is_joined or isinstance(op, Loop | Cond) or not array.is_known


def _refusal(what: str, remedy: str = "compare them with ==") -> NeedsPython:
    """The refusal of a question that Python has to be asked of its own objects alone."""
    error = needs_python(what, remedy)
    error.is_whole = True
    return error
