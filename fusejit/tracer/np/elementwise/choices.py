"""Elements chosen among several arrays by conditions: ``select`` and ``piecewise``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import call_ufunc
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import contains_traced, operand_of
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``np.select``: for each element the first choice whose condition holds."""
    if not contains_traced([list(condlist), list(choicelist), default]):
        return NotImplemented
    if len(condlist) != len(choicelist):
        raise numpy_raises("ValueError: list of cases must be same length as list of conditions")
    if not len(condlist):
        raise numpy_raises("ValueError: select with an empty condition list is not possible")
    conditions = [array_from(c) for c in condlist]
    if any(c.dtype != np.bool_ for c in conditions):
        raise numpy_raises("TypeError: invalid entry in condlist: should be boolean ndarray")
    if not any(c.ndim for c in conditions):
        raise unsupported("np.select of single conditions is not traced", "write if and elif")
    given = [*choicelist, default]
    operands = [operand_of(c) for c in given]
    # a Python number is weak among the arrays, wherever it comes from
    choices = [
        array_from(c) if isinstance(o.token, np.dtype) else c
        for c, o in zip(given, operands, strict=True)
    ]
    # np.where is asked for two at a time; all of them together decide the dtype.
    dtype = np.result_type(*(o.promotion for o in operands))
    for o in operands[:-1]:  # NumPy makes arrays of the numbers, but for the default
        own = np.asarray(o.promotion).dtype if not isinstance(o.token, np.dtype) else o.token
        if not np.can_cast(own, dtype, "same_kind"):
            text = f"{own!r} to {dtype!r} according to the rule 'same_kind'"
            raise numpy_raises(f"TypeError: Cannot cast array data from {text}")
    result = choices[-1]
    for condition, choice in zip(reversed(conditions), reversed(choices[:-1]), strict=True):
        result = PRIMITIVES[np.where](condition, choice, result)
    return astype(result, dtype, order="C")


@primitive_of("x condlist", np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """``np.piecewise``: each function of the elements that its condition selects."""
    array = array_from(x)
    given = condlist if isinstance(condlist, list | tuple) else [condlist]
    conditions = [array_from(c) for c in given]
    if any(c.dtype != np.bool_ or c.ndim != array.ndim for c in conditions):
        what = "np.piecewise with conditions that are not arrays of bools like x is not traced"
        raise unsupported(what, "choose with np.where(condition, x, y)")
    if len(funclist) == len(conditions) + 1:
        found = conditions[0]
        for c in conditions[1:]:
            found = call_ufunc(np.logical_or, found, c)
        conditions.append(call_ufunc(np.logical_not, found))
    if len(funclist) != len(conditions):
        number = len(conditions)
        raise numpy_raises(f"ValueError: with {number} condition(s), other functions are expected")
    result: TracedArray = PRIMITIVES[np.zeros_like](array)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            chosen = array[condition]
            result[condition] = function(chosen, *args, **kw)
        else:
            result[condition] = function
    return result
