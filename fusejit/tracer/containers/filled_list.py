"""``[x] * n`` of a count that only the kernel knows: a list filled with one item."""

from __future__ import annotations

from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.indexing.kernel_indices import affine_index, bound_number, scalar
from fusejit.tracer.lists.item_forms import has_arrays, has_lists
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.ops.elementwise_op import full
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, operand_of
from fusejit.tracer.values.symbolic_number import as_affine


def fill(items: TracedList, item: Any, count: Any) -> None:
    """Have a new list hold one item so many times."""
    trace = items.trace
    local = affine_index(trace, count)
    wanted = as_affine(count) if local is None else local
    size = wanted
    if not trace.decisions.proves_nonnegative(wanted):

        def at_least_none(builder: PayloadBuilder, ref: Any) -> int:
            return builder.op("maximum", [ref(wanted), builder.const(0, I64)], I64)

        value = scalar(trace, "count", I64, at_least_none)
        size = bound_number(trace, value, AffineExpr.const(0), None)
    items.require_room(size - 1)
    form = items.require_form(item)
    if has_arrays(form):
        items.leave_to_python("repeats an array in a list", "put a copy into each place")
    if has_lists(form):  # all places have the same list
        items.refuse("repeats a list", "make a list for each place: [[0] * m for _ in range(n)]")
    values = form.values(item)
    for column, value in zip(items.columns, values, strict=True):
        operand = operand_of(TracedArray.of_value(trace, value))
        made = full((size,), operand, column.dtype).value()
        trace.store(rows(column, (size,)).memory(), made)
    items.set_length(size)
