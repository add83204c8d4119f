"""`unroll`: a register tile of several rows.

>>> a = np.ones((40, 40), "f4")
>>> h = schedule(lambda a: a @ a, a)["matmul"].generalize().tile(m=4, n=16)
>>> h = h.vectorize("n", reassociate=True)
>>> print(h.show().splitlines()[-4].strip())
%v1_tile = generic "matmul" domain (m_1, n_1, s0) iterators (parallel, parallel, reduction) ins
    (%v0_slice [(d0, d1, d2) -> (d0, d2)], %v0_slice_1 [(d0, d1, d2) -> (d2, d1)]) outs (add
    [(d0, d1, d2) -> (d0, d1)]) registers (_, 16 vector, _) { t0 = multiply in0, in1 : f32;
    yield t0 } : m_1 x n_1 x f32
>>> print(h.unroll("m").op.register_tile)
registers (4, 16 vector, _)

Rule: the op is vectorized; the dim is parallel, and a tile of it has a known extent. What all rows
read is loaded once. Source: MLIR's ``transform.loop.unroll`` and ``unroll_and_jam``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.primitives.vectorize import in_registers, tile_size


@primitive
def unroll(handle: H, dim: str, *, check: bool = True) -> H:
    """Keep the partial results of all points of a dim in registers, beside those of other dims.

    Raises
    ------
    ScheduleError
        If the op is not vectorized, or the dim is not parallel, is part of the register tile
        already, or has no known extent.
    """
    step, op = call("unroll", dim), handle.op
    tile = op.register_tile
    if tile is None:
        raise illegal(step, op.name, "it has no partial results in registers", ["vectorize first"])
    number = handle.dim(dim, step)
    if tile.sizes[number] is not None:
        raise illegal(step, op.name, f"{dim} is part of the register tile already")
    sizes = [*tile.sizes]
    sizes[number] = tile_size(handle, dim, step)
    what = f"{sizes[number]} points of {dim} in registers"
    return in_registers(handle, step, what, replace(tile, sizes=tuple(sizes)), check)
