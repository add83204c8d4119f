"""Places of items in sequences of the kernel, found as Python finds them."""

from __future__ import annotations

from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Assert
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import affine_index, clamped_slice, wrapped_index
from fusejit.tracer.ops.checks import RAISE
from fusejit.tracer.ops.kernel_numbers import is_number
from fusejit.tracer.ops.union_operators import as_integer
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.symbolic_number import affine_number, as_affine

INDEX_ERROR = f"{RAISE}IndexError"


def place_of(trace: Trace, index: Any, size: AffineExpr, kind: str, what: str) -> AffineExpr:
    """An index, counted from the start; raises IndexError where there is no such item.

    Parameters
    ----------
    kind
        The class of the sequence, for messages.
    what
        The text of the error.
    """
    index = as_integer(index)
    if not is_number(index):
        raise needs_python(f"uses a {kind} in a way that is not compiled", MOVE_OUTSIDE)
    local = affine_index(trace, index)
    no_index = f"TypeError: {kind} indices must be integers or slices, not {{1}}"
    at = as_affine(index, no_index) if local is None else local
    start, is_inside = wrapped_index(trace, at, size)
    if is_inside is not None:
        trace.emit(Assert(condition=is_inside, reason=what, error=INDEX_ERROR))
    return start


def ends_of(trace: Trace, index: slice, step: int, size: AffineExpr) -> tuple[Any, Any]:
    """The first place of a slice, and how many there are, as numbers."""
    first, count = clamped_slice(
        trace, _bound(trace, index.start), _bound(trace, index.stop), step, size
    )
    return affine_number(trace, first), affine_number(trace, count)


def _bound(trace: Trace, bound: Any) -> AffineExpr | None:
    if bound is None:
        return None
    bound = as_integer(bound)
    local = affine_index(trace, bound)
    return as_affine(bound, "TypeError: slice indices must be integers") if local is None else local
