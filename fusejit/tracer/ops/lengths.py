"""Checks of how many items there are."""

from __future__ import annotations

from typing import Any

from fusejit.ir.ops import Assert
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of


def require_some(number: Any) -> None:
    """Leave it to Python where there is no item."""
    condition = as_kernel_number(truth_of(number > 0)).value()
    reason = "an array of an empty list"
    current_trace().emit(Assert(condition=condition, reason=reason, error=LEFT_TO_PYTHON))
