"""Nests with a short inner loop that calls vector functions: rows are packed into tiles.

A vector function is called once per register; an inner loop of three steps would call it for each
element. So a tile of rows becomes one flat loop: operands that run through the tile as one are read
where they are, the others are copied into scratch in the tile's order first.
"""

from __future__ import annotations

from fusejit.codegen.loop_nests.chunks import in_tiles
from fusejit.codegen.loop_nests.loop_nest import LoopDim, LoopNest, Reference, over, point_of, wrap
from fusejit.dataclass import replace
from fusejit.ir.loops.index_math import floordiv, let, maximum, minimum, name, operand
from fusejit.ir.loops.nodes import Element, Expr, ParallelFor, Scratch, Stmt, StoreElement
from fusejit.ir.loops.polynomial import Polynomial

PACK = 512  # elements of a tile


def lower_packed(nest: LoopNest, work: Expr) -> ParallelFor:
    """The nest with its two innermost loops run as tiles of one flat loop.

    Before: ``for i: for j in range(3): o[3*i + j] = exp(a[3*i + j] * b[i])``; after, per tile of
    rows: ``for i: for j: t[..] = b[i]`` and ``for e: o[start + e] = exp(a[start + e] * t[e])``.
    """
    *around, row, column = nest.loops
    first, e = name("first"), name("e")
    scratch: list[Stmt] = []
    pack: list[Stmt] = []
    unpack: list[Stmt] = []
    inputs: list[Reference] = []
    outputs: list[Reference] = []
    dtypes = nest.op.payload.arguments
    for at, reference in enumerate((*nest.inputs, *nest.outputs)):
        is_input = at < len(nest.inputs)
        flat = flat_reference(reference, row, column, first, e)
        if flat is None:
            packed = f"pack{at}"
            scratch.append(Scratch(packed, operand(PACK), dtypes[at], True))
            place = name("i") * column.extent + name("j")
            there = reference.substitute(row.var, first + name("i"))
            there = there.substitute(column.var, name("j"))
            assert there.pointer is not None
            loops = [LoopDim("i", name("rows"), False), LoopDim("j", column.extent, False)]
            if is_input or nest.op.payload.reads_init(at - len(nest.inputs)):
                pack += wrap(loops, [StoreElement(packed, place, there.load())])
            if not is_input:
                whole = StoreElement(there.pointer, there.offset, Element(packed, place))
                unpack += wrap(loops, [whole])
            flat = Reference(packed, e)
        (inputs if is_input else outputs).append(flat)
    lets, results = point_of(nest, inputs, nest.inits(outputs), {})
    stores = [r.store(value) for r, value in zip(outputs, results, strict=True)]
    count = name("rows") * column.extent
    tile: list[Stmt] = [
        let("first", name("start") + name("tile") * name("tile_rows")),
        let("rows", minimum("tile_rows", name("stop") - name("first"))),
        *pack,
        over("e", count, [*lets, *stores]),
        *unpack,
    ]
    sized = [let("tile_rows", floordiv(PACK, maximum(column.extent, 1)))]
    comment = f"{nest.op.name}, short rows packed"
    return in_tiles(around, row, name("tile_rows"), scratch, tile, work, comment, sized)


def flat_reference(
    reference: Reference, row: LoopDim, column: LoopDim, first: Polynomial, e: Polynomial
) -> Reference | None:
    """The reference as a function of the flat position, if it runs through both loops as one."""
    if reference.pointer is None:
        return reference
    if not reference.runs_through(row, column):
        return None
    step = reference.offset.coefficient(column.var)
    zero_column = reference.substitute(column.var, Polynomial.const(0))
    start = zero_column.substitute(row.var, first)
    return replace(start, offset=start.offset + e * step)
