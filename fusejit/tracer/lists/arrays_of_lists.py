"""``np.array(xs)`` of a list whose items are in columns."""

from __future__ import annotations

import numpy as np

from fusejit.ir import host_calls
from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.lists.item_forms import ArrayForm, ItemForm, NumberForm, TupleForm
from fusejit.tracer.ops.changing_extents import first_items
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.ops.lengths import require_some
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import F64
from fusejit.tracer.values.symbolic_number import affine_number
from fusejit.tracer.values.union_scalar import UnionType

_TYPICAL_LENGTH = 64  # of a list, where how an array is read depends on that


def array_of_columns(
    form: ItemForm | None,
    columns: tuple[TracedArray, ...],
    length: AffineExpr,
    dtype: np.dtype | None = None,
) -> TracedArray:
    """The array that NumPy makes of the items.

    Of no items it is float64 without further axes, whatever they would be.
    """
    if form is None:
        made: TracedArray = PRIMITIVES[np.empty]((0,), dtype or F64)
        return made
    if isinstance(form, NumberForm):
        values = columns[_place_of(form)]
        _require_one_dtype(form)
        if values.dtype != (dtype or F64):
            _require_items(values, length)
        return _first(values, length)
    if isinstance(form, ArrayForm):
        _require_items(columns[0], length)
        return _first(columns[0], length)
    if not isinstance(form, TupleForm):
        raise needs_python("makes an array of lists in a list", "make an array of each")
    _require_items(columns[0], length)
    parts: list[TracedArray] = []
    at = 0
    for part in form.parts:
        if not isinstance(part, NumberForm):
            raise needs_python("makes an array of nested tuples", "make an array of each part")
        _require_one_dtype(part)
        parts.append(_first(columns[at + _place_of(part)], length))
        at += len(part.types())
    stacked: TracedArray = PRIMITIVES[np.stack](parts, axis=1)
    return stacked


def _require_one_dtype(form: NumberForm) -> None:
    """Leave to Python what its array would have for a dtype: that depends on the items."""
    types = form.type.types if isinstance(form.type, UnionType) else (form.type,)
    if any(type_ is not None and type_[0] is Kind.TEXT for type_ in types):
        raise needs_python("makes an array of strings", "keep numbers in the list instead")
    if isinstance(form.type, UnionType) and len({t and t[1] for t in form.type.types}) > 1:
        raise needs_python(
            "makes an array of numbers of several types", "convert them: xs.append(float(x))"
        )


def _place_of(form: NumberForm) -> int:
    """The first column has the numbers."""
    if isinstance(form.type, UnionType) and None in form.type.types:
        raise needs_python("makes an array of None", "keep np.nan in the list instead")
    return 0


def _require_items(column: TracedArray, length: AffineExpr) -> None:
    """Leave an array of no items to Python."""
    require_some(affine_number(column.trace, length))


def _first(column: TracedArray, length: AffineExpr) -> TracedArray:
    """The first elements of a column as an array of its own.

    Between kernels Python makes it, so that its length is known there, where it is not already.
    """
    trace = column.trace
    if trace.regions or not trace.decisions.is_local(length):
        return copy_of(first_items(column, length), column.dtype, None, "copy")
    key = ("first", column.storage, length)
    number = affine_number(trace, length)
    made = host_call(
        host_calls.FIRST_ITEMS,
        host_calls.first_items,
        (column, number),
        {},
        by_data=True,
        size=trace.locals.find_bound(key),
    )
    assert isinstance(made, TracedArray)
    trace.locals.note_bound(key, made.extents[0])
    for name in made.extents[0].symbols():  # not that of a sample, of one item
        trace.decisions.hints[name] = max(trace.decisions.hints[name], _TYPICAL_LENGTH)
    return made
