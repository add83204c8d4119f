"""Pooling: windows as those of convolutions, whose elements are summed or compared.

The operand ``K`` gives the extents of the window; its elements are not read. Sums are formed in
the type of the output. Average pooling is a sum divided by the size of the window.
"""

from __future__ import annotations

from fusejit.linalg.registry import pooling, register
from fusejit.structured.op import StructuredOp

_ROWS = (
    ("ncw", "n c ow+kw, kw -> n c ow", "max sum"),
    ("nwc", "n ow+kw c, kw -> n ow c", "max max_unsigned min min_unsigned sum"),
    ("nchw", "n c oh+kh ow+kw, kh kw -> n c oh ow", "max sum"),
    ("nhwc", "n oh+kh ow+kw c, kh kw -> n oh ow c", "max max_unsigned min min_unsigned sum"),
    ("ndhwc", "n od+kd oh+kh ow+kw c, kd kh kw -> n od oh ow c", "max min sum"),
)
"""Axes of the image, operands of the formula, and what is computed of a window."""
_WHAT = {"sum": "The sum", "max": "The largest element", "min": "The smallest element"}


def _define() -> None:
    for axes, row, kinds in _ROWS:
        rank = row.partition(",")[0].count("+")
        attributes = {"strides": (1,) * rank, "dilations": (1,) * rank}
        for kind in kinds.split():
            what, _bar, unsigned = kind.partition("_")
            doc = f"{_WHAT[what]} of each window{', read as unsigned integers' * bool(unsigned)}."
            combiner = "add" if kind == "sum" else kind
            made = pooling(f"pooling_{axes}_{kind}", row, doc, combiner, attributes)
            register(StructuredOp(made))


_define()
