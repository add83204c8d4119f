"""Fills the slots through which traced values reach the floors above them.

The slots are declared in `fusejit.tracer.values.operations`.
"""

from __future__ import annotations

from fusejit.tracer.containers.list_functions import tolist
from fusejit.tracer.flow import compaction
from fusejit.tracer.flow.conditions import choose
from fusejit.tracer.host.numpy_forms import with_host_fallback
from fusejit.tracer.indexing.creation import scalar_of
from fusejit.tracer.indexing.extent_products import product_if_small
from fusejit.tracer.indexing.kernel_indices import check_fits, symbol_of
from fusejit.tracer.indexing.reshape_functions import reshape_method
from fusejit.tracer.np.arrays.conversions import astype, copy_method
from fusejit.tracer.np.arrays.joins import array_of_list
from fusejit.tracer.np.arrays.subscripts import getitem, setitem
from fusejit.tracer.np.elementwise.foreign_operands import not_a_number
from fusejit.tracer.np.elementwise.ufuncs import call_method, operator_call, ufunc_on
from fusejit.tracer.np.elementwise.where_arguments import ufunc_where
from fusejit.tracer.np.numbers.builtin_functions import item_of
from fusejit.tracer.np.numbers.complex_parts import complex_number, part_view
from fusejit.tracer.np.numbers.python_arithmetic import complex_arithmetic, kernel_arithmetic
from fusejit.tracer.ops import union_operators
from fusejit.tracer.ops.kernel_numbers import int_value, kernel_number
from fusejit.tracer.ops.number_values import type_text
from fusejit.tracer.ops.traced_text import TEXT_OPS
from fusejit.tracer.strings import joined_text, string_table, string_view
from fusejit.tracer.values.array import ARRAY_OPS
from fusejit.tracer.values.symbolic_number import NUMBER_OPS
from fusejit.tracer.values.union_scalar import UNION_OPS


def bind_operations() -> None:
    """Give each operation on a traced value its function."""
    ARRAY_OPS.operator = operator_call
    ARRAY_OPS.ufunc = call_method
    ARRAY_OPS.compute = ufunc_on
    ARRAY_OPS.compute_where = ufunc_where
    ARRAY_OPS.with_host_fallback = with_host_fallback
    ARRAY_OPS.getitem = getitem
    ARRAY_OPS.setitem = setitem
    ARRAY_OPS.item = item_of
    ARRAY_OPS.tolist = tolist
    ARRAY_OPS.astype = astype
    ARRAY_OPS.copy = copy_method
    ARRAY_OPS.reshape = reshape_method
    ARRAY_OPS.complex_part = part_view
    ARRAY_OPS.array_of_list = array_of_list
    ARRAY_OPS.selected = compaction.select
    ARRAY_OPS.selected_rows = compaction.select_rows
    ARRAY_OPS.check_fits = check_fits
    ARRAY_OPS.int_value = int_value
    NUMBER_OPS.ufunc = call_method
    NUMBER_OPS.kernel_arithmetic = kernel_arithmetic
    NUMBER_OPS.kernel_value = lambda number: kernel_number(number).value()
    NUMBER_OPS.symbol = lambda number: symbol_of(number.trace, number)
    NUMBER_OPS.complex_arithmetic = complex_arithmetic
    NUMBER_OPS.complex_of_parts = complex_number
    NUMBER_OPS.as_array = scalar_of
    NUMBER_OPS.unsupported_operand = not_a_number
    NUMBER_OPS.product = product_if_small
    UNION_OPS.for_each_type = union_operators.for_each_type
    UNION_OPS.operator = union_operators.operator
    UNION_OPS.present = union_operators.tuple_of_maybe
    UNION_OPS.type_text = type_text
    UNION_OPS.choose = choose
    UNION_OPS.truth = union_operators.truth
    UNION_OPS.one_of_two = union_operators.one_of_two
    TEXT_OPS.view = string_table.view_of
    TEXT_OPS.number = string_table.number_of
    TEXT_OPS.added = joined_text.added
    TEXT_OPS.decimal = joined_text.decimal
    TEXT_OPS.part = string_view.part_of
    TEXT_OPS.compared = string_table.compared
