"""Whether a graph may be computed twice, and has the bits that Python and NumPy have.

Kernels add and round as IEEE 754 says, and sums of arrays are added in NumPy's order, so they have
the same bits everywhere; not so products of matrices. Products and absolute values of complex
numbers are written as NumPy's loops compute them, on their parts. Functions such as ``exp`` are
other code than NumPy's, and differ in the last place. The items of a list are copied, and random
numbers are drawn with the bits of their generators.
"""

from __future__ import annotations

import numpy as np

from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import FIRST_ITEMS, is_draw, is_effect
from fusejit.ir.ops import GenericOp, HostCall, Op, walk
from fusejit.ir.payload import Instr
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

_MOVES = frozenset({"const", "index", "extract", "cast", "real", "imag", "complex", "select"})
"""What neither adds nor rounds; nothing else is done with complex numbers as a whole."""


def is_repeatable(graph: Graph) -> bool:
    """Whether a call leaves nothing behind but its results: no store, draw or text."""
    return not any(is_effect(op) for op in walk(graph.block))


def is_exact(graph: Graph) -> bool:
    """Whether all that is computed has the bits of Python and NumPy."""
    ops = [*walk(graph.block)]
    chosen = {r for op in ops if isinstance(op, GenericOp) and _chooses(op) for r in op.results}
    sums = (op for op in ops if isinstance(op, GenericOp) and _reduces_floats(op))
    return all(map(_is_exact, ops)) and not any(o.value in chosen for s in sums for o in s.inputs)


def _is_exact(op: Op) -> bool:
    if isinstance(op, HostCall):
        return op.function == FIRST_ITEMS or (op.inline and is_draw(op))
    return not isinstance(op, GenericOp) or _computes_exactly(op)


def _computes_exactly(op: GenericOp) -> bool:
    inputs = [operand.value.type.dtype for operand in op.inputs]
    if op.library_call is not None or (_reduces_floats(op) and not _is_sum_of_array(op)):
        return False
    dtypes = [*inputs, *(i.dtype for i in op.payload.instrs), *(r.type.dtype for r in op.results)]
    are_whole = all(dtype.kind in "iub" for dtype in dtypes)
    return are_whole or all(map(_is_exact_instr, op.payload.instrs))


def _chooses(op: GenericOp) -> bool:
    """Whether it may put zeros where a mask selects nothing, which NumPy does not add."""
    return any(instr.op == "select" for instr in op.payload.instrs)


def _reduces_floats(op: GenericOp) -> bool:
    return any(
        init.combiner is not None and result.type.dtype.kind not in "iub"
        for init, result in zip(op.inits, op.results, strict=True)
    )


def _is_sum_of_array(op: GenericOp) -> bool:
    """Whether numbers of an array are added as they are, which is how NumPy's sums are traced."""
    rows = [COMBINERS[i.combiner] for i in op.inits if i.combiner is not None]
    are_sums = len(rows) == len(op.inits) and {row.ufunc for row in rows} <= {np.add, np.multiply}
    return are_sums and all(instr.op == "cast" for instr in op.payload.instrs)


def _is_exact_instr(instr: Instr) -> bool:
    row = SCALAR_OPS.get(instr.op)
    if row is None or instr.dtype.kind == "c":
        return instr.op in _MOVES
    return row.exact
