"""Which elementwise nests may stream their result (`fusejit.codegen.intrinsics.streaming`)."""

from __future__ import annotations

from fusejit.codegen.loop_nests.loop_nest import LoopNest, calls_vector_functions
from fusejit.ir.loops.nodes import Integer, Role, Streamed
from fusejit.ir.loops.polynomial import Polynomial


def is_streamable(nest: LoopNest) -> bool:
    """Whether all that the nest does with its result is to write it from end to end.

    One loop and one result: an argument or result of the kernel, since what a kernel keeps for
    itself is read again soon. Not where functions such as ``exp`` are called: their cost hides that
    of the stores.
    """
    if len(nest.loops) != 1 or len(nest.outputs) != 1 or nest.mask is not None:
        return False
    (output,), (loop,) = nest.outputs, nest.loops
    payload = nest.op.payload
    if not isinstance(output.pointer, str) or output.role is Role.OWN:
        return False
    if payload.has_extract() or payload.reads_init(0) or calls_vector_functions(nest):
        return False
    if any(r.pointer == output.pointer for r in nest.inputs):
        return False  # its lines are read anyway
    return output.offset == Polynomial.name(loop.var)


def streamed(nest: LoopNest) -> Streamed:
    """The result of a streamable nest, and what decides at run time."""
    (output,), (loop,) = nest.outputs, nest.loops
    dtypes = nest.op.payload.arguments
    touched = {
        (r.pointer, r.offset): dtype.itemsize
        for r, dtype in zip((*nest.inputs, *nest.outputs), dtypes, strict=True)
        if r.pointer is not None and r.offset.mentions(loop.var)
    }
    assert isinstance(output.pointer, str)
    is_fresh = output.role is Role.RESULT
    fresh = loop.extent * (dtypes[len(nest.inputs)].itemsize if is_fresh else 0)
    return Streamed(output.pointer, Integer(loop.extent * sum(touched.values())), Integer(fresh))
