"""`vectorize`: partial results of a tile in vector registers, neighbours along a dim in one.

>>> h = schedule(lambda a: a @ a, np.ones((40, 40), "f4"))["matmul"].generalize().tile(n=16)
>>> print(h.show().splitlines()[-3].strip())
%v1_tile = generic "matmul" domain (s0, n_1, s0) iterators (parallel, parallel, reduction) ins
    (%v0 [(d0, d1, d2) -> (d0, d2)], %v0_slice [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1,
    d2) -> (d0, d1)]) { t0 = multiply in0, in1 : f32; yield t0 } : s0 x n_1 x f32
>>> h = h.vectorize("n", reassociate=True)
>>> print(h.show().splitlines()[-3].strip())
%v1_tile = generic "matmul" domain (s0, n_1, s0) iterators (parallel, parallel, reduction) ins
    (%v0 [(d0, d1, d2) -> (d0, d2)], %v0_slice [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1,
    d2) -> (d0, d1)]) registers (_, 16 vector, _) { t0 = multiply in0, in1 : f32; yield t0 } :
    s0 x n_1 x f32
>>> print(h.tile(m=4).unroll("m").op.register_tile)
registers (4, 16 vector, _)

Rule: the op combines terms into its results; the dim is parallel, and a tile of it has a known
extent. Terms are combined one after the other. A float sum over reduction dims has another order,
which shows in its bits; sequential dims, as those of convolutions, are in this order already. Tiles
of other extents, at the ends, are computed by loops for any extent. The loops of an op that
combines nothing are vectorized by LLVM. Source: MLIR's ``transform.structured.vectorize``, Halide's
``vectorize``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import (
    full_extent,
    is_parallel,
    reassociates,
    replaced,
    why_no_accumulators,
)
from fusejit.ir.ops import GenericOp
from fusejit.ir.tiles import RegisterTile
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import BaseHandle, H, call

MAX_REGISTERS = 1024
"""Points of a register tile: more would not be registers."""


@primitive
def vectorize(handle: H, dim: str, *, reassociate: bool = False, check: bool = True) -> H:
    """Keep partial results along a dim in vector registers.

    Parameters
    ----------
    dim : str
        A parallel dim whose extent is known, or is that of a tile. Its elements should be
        neighbours in memory.
    reassociate : bool, optional
        True: the terms of a float sum may be summed one after the other.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the op combines nothing, is vectorized already or calls a routine, or if the dim is not
        parallel or has no known extent.
    """
    step, op = call("vectorize", dim), handle.op
    if op.library_call is not None:
        why = f"it calls the routine {op.library_call}"
        raise illegal(step, op.name, why, ["generalize() first"])
    if op.register_tile is not None:
        raise illegal(step, op.name, "it is vectorized already", ["unroll(..)"])
    if op.has_only_parallel_dims:
        raise illegal(step, op.name, "it combines nothing: LLVM vectorizes such loops by itself")
    if why := why_no_accumulators(op):
        raise illegal(step, op.name, why)
    if reassociates(op) and not reassociate:
        why = "the order of a float sum shows in its bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    number = handle.dim(dim, step)
    sizes: list[int | None] = [None] * len(op.domain)
    sizes[number] = tile_size(handle, dim, step)
    what = f"{sizes[number]} points of {dim} in vector registers"
    return in_registers(handle, step, what, RegisterTile(tuple(sizes), number), check)


def in_registers(handle: H, step: str, what: str, tile: RegisterTile, check: bool) -> H:
    """The op with another register tile."""
    op: GenericOp = replace(handle.op, register_tile=tile)
    points = 1
    for size in tile.sizes:
        points *= size or 1
    if points > MAX_REGISTERS:
        why = f"{points} partial results do not fit into registers ({MAX_REGISTERS} at most)"
        raise illegal(step, op.name, why, ["smaller tiles"])
    graph = replaced(handle.schedule.graph, handle.op, [op])
    tag = "reassoc" if reassociates(op) else "bits"
    return handle.after(step, tag, what, graph, op, check=check)


def tile_size(handle: BaseHandle, dim: str, step: str) -> int:
    """The extent of a dim in all tiles but the last one."""
    op, number = handle.op, handle.dim(dim, step)
    if not is_parallel(op, number):
        why = f"{dim} is {op.iterators[number].value}: partial results of it are no neighbours"
        raise illegal(
            step, op.name, why, [n for d, n in enumerate(handle.dims) if is_parallel(op, d)]
        )
    extent = op.domain[number]
    constant = full_extent(extent, handle.schedule.graph).as_constant()
    if constant is not None:
        return constant
    raise illegal(step, op.name, f"the extent of {dim} is {extent}", [f"tile({dim}=16) first"])
