"""NumPy's tree of additions, `fusejit.ir.interpreter.summation`, a block of it at a time.

The numbers of a block lie side by side, in a tile of scratch or in an operand itself.
"""

from __future__ import annotations

from functools import partial

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, register
from fusejit.codegen.intrinsics.lanes import tile_fold
from fusejit.ir.interpreter.summation import block_start, blocks_of, pairwise_sum
from fusejit.ir.scalar_ops.combiners import COMBINERS

PARTS = COMBINERS["add_parts"].accumulators

for _name, _python in (
    ("tile_add", tile_fold(pairwise_sum)),
    ("tile_add_parts", tile_fold(partial(pairwise_sum, accumulators=PARTS))),
    ("tree_blocks", blocks_of),
    ("tree_block_start", block_start),
):
    register(_name, _python, jit_path(__name__, _name))
