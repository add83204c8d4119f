"""What a generic op is to linalg: a fill, a matrix product, operands cut out of larger tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.analysis.affine_gathers import read_through_maps
from fusejit.ir.analysis.reduction_starts import is_overwritten
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Effect, GenericOp, Op, walk
from fusejit.ir.payload import Instr, PayloadBuilder
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


def map_text(indexing_map: IndexingMap, symbols: Sequence[str]) -> str:
    """``(d0, d1)[s0] -> (d0 + s0, d1)``, the symbols by their position."""
    numbered = {name: AffineExpr.symbol(f"s{at}") for at, name in enumerate(symbols)}
    shown = indexing_map.substitute_symbols(numbered)
    dims = ", ".join(f"d{i}" for i in range(indexing_map.num_dims))
    names = f"[{', '.join(f's{at}' for at in range(len(symbols)))}]" if symbols else ""
    return f"({dims}){names} -> ({', '.join(map(str, shown.results))})"


# ------------------------------------------------------------------------------------ normal form
def live_ops(graph: Graph) -> list[Op]:
    """The ops that some result needs, and all that are not pure; generic ops are normalized."""
    needed = {r for r in graph.results if isinstance(r, Value)}
    live: list[Op] = []
    for op in reversed(graph.block.ops):
        shown = normalized(op) if isinstance(op, GenericOp) else op
        if op.effect is not Effect.PURE or not needed.isdisjoint(op.results):
            inner = (o for block in op.blocks for o in walk(block))
            needed.update(shown.operand_values, *(o.operand_values for o in inner))
            needed.update(*(block.yields for block in op.blocks))
            live.append(shown)
    return live[::-1]


def normalized(op: GenericOp) -> GenericOp:
    """Gathers at affine subscripts become operands with a map; what is not read goes.

    Inputs that the payload does not read are dropped, and so are starts of which every element is
    overwritten unread.
    """
    op = read_through_maps(without_unread_starts(op), is_there=True)
    payload = op.payload
    kept = [k for k in range(len(op.inputs)) if k in payload.used_arguments()]
    if len(kept) == len(op.inputs):
        return op
    builder = PayloadBuilder(
        [payload.arguments[k] for k in kept], payload.arguments[payload.num_inputs :]
    )
    place = {old: new for new, old in enumerate(kept)}
    arguments = [*map(place.get, range(payload.num_inputs))]
    arguments += range(len(kept), len(kept) + len(op.inits))

    def moved(instr: Instr) -> Instr:
        return replace(instr, attr=place[instr.attr]) if instr.op == "extract" else instr

    results = builder.inline(payload, arguments, moved)
    inputs = tuple(op.inputs[k] for k in kept)
    return replace(op, inputs=inputs, payload=builder.finish(results))


def without_unread_starts(op: GenericOp) -> GenericOp:
    """An op without the starts whose elements are all overwritten unread."""
    inits = tuple(
        replace(init, start=None) if is_overwritten(op, k) else init
        for k, init in enumerate(op.inits)
    )
    return op if inits == op.inits else replace(op, inits=inits)


# --------------------------------------------------------------------------------------- patterns
def constant_written(op: GenericOp) -> Value | tuple[Any, np.dtype] | None:
    """The number that a fill writes everywhere: a scalar value, or a constant with its dtype."""
    if not op.is_elementwise or len(op.results) != 1 or op.inits[0].start is not None:
        return None
    written = [r for r in op.inits[0].map.results if r.as_constant() != 0]
    if written != [AffineExpr.dim(d) for d in range(len(op.domain))]:
        return None
    payload = op.payload
    if not op.inputs and len(payload.instrs) == 1 and payload.instrs[0].op == "const":
        return payload.instrs[0].attr, payload.instrs[0].dtype
    if len(op.inputs) == 1 and not payload.instrs and not op.inputs[0].value.type.rank:
        return op.inputs[0].value
    return None


def is_matrix_product(op: GenericOp) -> bool:
    """``out[d0, d1] = sum_d2 a[d0, d2] * b[d2, d1]``."""
    parallel, reduction = IteratorType.PARALLEL, IteratorType.REDUCTION
    if op.iterators != (parallel, parallel, reduction) or len(op.inputs) != 2:
        return False
    maps = [o.map for o in op.inputs] + [i.map for i in op.inits]
    if maps != [IndexingMap.select(3, dims) for dims in ((0, 2), (2, 1), (0, 1))]:
        return False
    payload = op.payload
    return (
        op.inits[0].combiner == "add"
        and op.results[0].type.dtype.kind != "b"
        and len(payload.instrs) == 1
        and payload.instrs[0].op == "multiply"
        and payload.instrs[0].operands == (0, 1)
        and payload.results == (payload.num_arguments,)
    )


# ------------------------------------------------------------------------------------------- cuts
@dataclass(frozen=True, slots=True)
class Cut:
    """The part of a tensor that an operand reads: per axis offset, size, step, and its dim.

    ``results`` is the map into the part. An axis that is read at one place has no dim and is
    dropped, one whose map stays as it is has no dim either but is kept whole (``everything`` is
    False only).
    """

    offsets: tuple[AffineExpr, ...]
    sizes: tuple[AffineExpr, ...]
    steps: tuple[int, ...]
    dims: tuple[int | None, ...]
    results: tuple[AffineExpr, ...]
    is_whole: bool


def cut_of(
    indexing_map: IndexingMap,
    domain: Sequence[AffineExpr],
    extents: Sequence[AffineExpr],
    *,
    everything: bool,
) -> Cut | None:
    """How to cut a tensor so that a map without symbols, and dims of full length, are left.

    With ``everything``, each axis must become a dim by itself or be dropped. None if a cut cannot
    do it: flips, symbols in quotients, and (MLIR refuses offsets at the end of an axis, even for
    no elements) domains that are known to be empty.
    """
    is_empty = any(e.as_constant() == 0 for e in (*domain, *extents))
    axes: list[tuple[AffineExpr, AffineExpr, int, int | None]] = []
    results: list[AffineExpr] = []
    whole = True
    for expr, extent in zip(indexing_map.results, extents, strict=True):
        dim = expr.as_dim()
        keeps = not everything and not is_empty and not expr.symbols()
        if dim is not None and domain[dim] == extent:
            axes.append((AffineExpr.const(0), extent, 1, dim))
            results.append(expr)
        elif dim is None and keeps:
            axes.append((AffineExpr.const(0), extent, 1, -1))
            results.append(expr)
        else:
            part = None if is_empty else _progression(expr)
            if part is None:
                return None
            step, dim, offset = part
            size = AffineExpr.const(1) if dim is None else domain[dim]
            if _leaves(offset, size, step, extent):
                return None
            step = 1 if size.as_constant() == 1 else step
            whole &= dim is not None and (offset, size, step) == (AffineExpr.const(0), extent, 1)
            if dim is None:
                axes.append((offset, AffineExpr.const(1), 1, None))
                continue
            axes.append((offset, size, step, dim))
            results.append(AffineExpr.dim(dim))
    if everything and len({a[3] for a in axes if a[3] is not None}) != sum(
        a[3] is not None for a in axes
    ):
        return None
    offsets, sizes, steps, dims = zip(*axes, strict=True) if axes else ((), (), (), ())
    return Cut(offsets, sizes, steps, dims, tuple(results), whole)


def _leaves(offset: AffineExpr, size: AffineExpr, step: int, extent: AffineExpr) -> bool:
    """Whether a slice is known to leave its axis (its other sizes are then 0)."""
    last = offset + (size - 1) * step if size.is_constant else offset
    excess = (last - extent).as_constant()
    return last.is_constant and excess is not None and excess >= 0


def _progression(expr: AffineExpr) -> tuple[int, int | None, AffineExpr] | None:
    """``step * dim + offset`` with a positive step and an offset free of dims."""
    dims = [(atom, c) for atom, c in expr.terms if isinstance(atom, Dim)]
    offset = AffineExpr(tuple(t for t in expr.terms if not isinstance(t[0], Dim)), expr.constant)
    if offset.dims() or len(dims) > 1:
        return None
    if not dims:
        return 1, None, offset
    atom, step = dims[0]
    return (step, atom.index, offset) if step > 0 else None
