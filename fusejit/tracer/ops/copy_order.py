"""``x[..] = x[..]`` along one axis: whether NumPy copies as a kernel does.

A kernel reads all elements before it writes one that another place reads. So does NumPy, except for
views of one axis whose strides have the same sign: there it copies one element after the other.
With the strides p and q of the written and the read view, both made positive, it starts at the far
end if the read view begins below the written one and reaches it, else at the near end, and it reads
what it has written

- from the near end if p > q: ``x[:8:2] = x[:4]``;
- from the far end if q > p: ``x[1:5] = x[:8:2]``.

Source: ``PyArray_AssignArray`` and ``raw_array_assign_array`` of NumPy's array_assign_array.c.
"""

from __future__ import annotations

import math

from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.host import HostExpr
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage

_AXIS = Dim(0)


def require_copied_at_once(target: TracedArray, array: TracedArray) -> None:
    """Leave to Python a copy in which NumPy reads elements that it has written."""
    if target.ndim != 1 or array.ndim != 1 or target.storage is not array.storage:
        return
    try:
        is_overtaken = _reads_what_is_written(target, array)
    except Varies:
        is_overtaken = True
    if is_overtaken:
        what = "copies between overlapping views, and NumPy reads elements that it has overwritten"
        raise needs_python(what, "copy the value first: x.copy()")


def _reads_what_is_written(target: TracedArray, array: TracedArray) -> bool:
    """Whether some element is read after the step that writes it; decided by sizes."""
    pairs = list(zip(target.map.results, array.map.results, strict=True))
    moving = [k for k, pair in enumerate(pairs) if any(e.coefficient(_AXIS) for e in pair)]
    if len(moving) != 1 or not all(e.is_linear for pair in pairs for e in pair):
        return False  # a row and a column
    (axis,) = moving
    written, read = pairs.pop(axis)
    p, q = written.coefficient(_AXIS), read.coefficient(_AXIS)
    if p == q or p * q <= 0:
        return False
    decisions, reason = target.trace.decisions, "whether views overlap"
    if not all(decisions.equal(a, b, reason) for a, b in pairs):
        return False
    last = target.extents[0] - 1
    ahead = (read - AffineExpr.dim(0) * q) - (written - AffineExpr.dim(0) * p)
    if p < 0:
        ahead = ahead + last * (q - p)
    p, q = abs(p), abs(q)
    if not _is_forward(target.storage, axis):
        ahead = last * (p - q) - ahead
    known = decisions.constant(ahead)
    if known is not None and known % math.gcd(p, q):
        return False  # never the same element
    if decisions.nonnegative(ahead, reason):
        return p > q and decisions.nonnegative(last * (p - q) - p - ahead, reason)
    return q > p and decisions.nonnegative(ahead - p + (last - 1) * (q - p), reason)


def _is_forward(storage: Storage, axis: int) -> bool:
    """Whether an axis goes to higher addresses."""
    if storage.array is None or storage.is_dense:
        return True
    expr = HostExpr("ge", (storage.stride_expr(axis), HostExpr.const(0)))
    is_forward = storage.array.strides[axis] >= 0
    return storage.trace.decisions.condition(expr, is_forward, "the direction of an axis")
