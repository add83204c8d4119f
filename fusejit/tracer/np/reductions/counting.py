"""How often each small integer occurs: ``np.bincount`` of bytes, as a loop over the elements.

NumPy's own first makes an array of 8 bytes per element of them, then looks for the largest. Where
there is a bin for each byte anyway (``minlength=256``), the size of the result is known, and one
pass counts. Neighbours are often equal; so there are four counts of each, which are added at the
end, because an addition that waits for the one before it takes several times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import HOST_PRIMITIVES, PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.kernel_indices import between
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_BINS = {np.dtype(np.bool_): 2, np.dtype(np.uint8): 256}


@primitive(np.bincount)
def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """``np.bincount``; a loop of the kernel where there is a bin for each value of the dtype."""
    is_array = isinstance(x, TracedArray) and x.ndim == 1
    bins = _BINS.get(x.dtype) if is_array and weights is None else None
    if bins is None or not _is_at_least(minlength, bins):
        return HOST_PRIMITIVES[np.bincount](x, weights, minlength)
    counts = current_trace().inlined(_count, (x, bins))
    if isinstance(minlength, int) and minlength == bins:
        return counts
    padded = PRIMITIVES[np.zeros](minlength, np.int64)
    padded[:bins] = counts
    return padded


def _is_at_least(minlength: Any, bins: int) -> bool:
    if isinstance(minlength, SymbolicNumber) and minlength.affine is not None:
        trace = minlength.trace
        reason = "there is a bin for each value"
        is_local = trace.decisions.is_local(minlength.affine)
        return not is_local and trace.decisions.at_most(bins, minlength.affine, reason)
    return type(minlength) is int and minlength >= bins


def _count(x, bins):  # type: ignore[no-untyped-def]
    counts = np.zeros((4, bins), np.int64)
    for i in range(len(x) // 4):
        counts[0, between(int(x[4 * i]), 0, bins - 1)] += 1
        counts[1, between(int(x[4 * i + 1]), 0, bins - 1)] += 1
        counts[2, between(int(x[4 * i + 2]), 0, bins - 1)] += 1
        counts[3, between(int(x[4 * i + 3]), 0, bins - 1)] += 1
    i = len(x) // 4 * 4
    while i < len(x):  # no `for`: whether something is left should not be a question of variants
        counts[0, between(int(x[between(i, 0, len(x) - 1)]), 0, bins - 1)] += 1
        i += 1
    return counts[0] + counts[1] + counts[2] + counts[3]
