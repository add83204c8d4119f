"""`on_slices`: an op for part of its domain, on views of its operands.

Where dim ``d`` begins at ``lo`` and has extent ``n``, a subscript that is a sum of dims with
positive factors reaches from its value at the beginning to its value at the last point. Tiles,
windows and halos are views that begin there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr, Atom, Dim, FloorDiv, Mod
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Op, Operand, ViewOp
from fusejit.ir.types import TensorType
from fusejit.ir.values import Value

Origin = Mapping[int, AffineExpr]
"""Where dims begin, if not at 0."""


def shifted(expr: AffineExpr, origin: Mapping[int, AffineExpr]) -> AffineExpr:
    """How far an expression moves when the dims of ``origin`` begin there instead of at 0."""
    dims = {d: AffineExpr.dim(d) + start for d, start in origin.items()}
    return expr.substitute(dims=dims) - expr


def moved_identity(starts: Sequence[AffineExpr]) -> IndexingMap:
    """The map of a view that begins at these subscripts."""
    rank = len(starts)
    return IndexingMap(rank, tuple(AffineExpr.dim(k) + s for k, s in enumerate(starts)))


def why_not_sliceable(op: GenericOp, dims: set[int], sizes: Mapping[int, int] | None = None) -> str:
    """Why the elements that part of the domain reads are not known, or the empty text.

    With the ``sizes`` of tiles, blocks of which a tile has whole ones are known, too.
    """
    tiles = {d: AffineExpr.symbol("tile") * size for d, size in (sizes or {}).items()}
    if op.payload.has_extract():
        return "it gathers, so that the elements it reads are not known"
    for operand in op.inputs:
        for result in operand.map.results:
            if not result.dims() & dims or _is_sum(result):
                continue
            if not (tiles and _is_block(result) and not shifted(result, tiles).dims()):
                return f"it reads %{operand.value.name} at {result}, which is no sum of dims"
    return ""


def _is_sum(result: AffineExpr) -> bool:
    return result.is_linear and all(result.coefficient(Dim(d)) > 0 for d in result.dims())


def _is_block(result: AffineExpr) -> bool:
    """Whether it is the number of a block of a dim, or the place in a block."""
    if len(result.terms) != 1 or result.constant:
        return False
    atom, factor = result.terms[0]
    if not isinstance(atom, FloorDiv | Mod) or not isinstance(atom.denominator, int):
        return False
    return factor == 1 and atom.numerator.as_dim() is not None


def on_slices(
    op: GenericOp,
    origin: Origin,
    domain: Sequence[AffineExpr],
    is_split: bool,
    *,
    may_be_empty: bool = False,
    sizes: Mapping[int, int] | None = None,
) -> tuple[GenericOp, list[Op]]:
    """Return the op for part of its domain, and the views that stand before it.

    ``is_split``: a dim along which terms are combined is cut, so that only the first part has the
    start; the caller gives each part its own. ``may_be_empty``: the dims of ``origin`` may have
    extent 0. From the first to the last element there may be less than none then, so that no view
    ends there: the op reads all that is left through a map that begins at the part. ``sizes``
    are those of dims in tiles, at most.
    """
    ops: list[Op] = []
    inputs = []
    empty = {
        d
        for d, extent in enumerate(domain)
        if not extent.as_constant() and (may_be_empty or d not in origin)
    }
    for operand in op.inputs:
        map_ = operand.map
        undecided = [r for r in map_.results if sum(r.coefficient(Dim(d)) for d in empty) > 1]
        moved = {r: shifted(r, origin) for r in undecided}
        value = _slice(ops, operand.value, map_, origin, domain, op, {*undecided})
        reads = tuple(r + moved.get(r, 0) for r in map_.results)
        read = IndexingMap(map_.num_dims, reads)
        inputs.append(Operand(value, _in_one_block(read, sizes or {})))
    part = part_of(op, origin, domain)
    inits = [
        replace(i, start=_slice(ops, i.start, i.map, origin, domain, op))
        if i.start is not None and not is_split
        else replace(i, start=None)
        for i in op.inits
    ]
    return replace(part, inputs=tuple(inputs), inits=tuple(inits)), ops


def part_of(op: GenericOp, origin: Origin, domain: Sequence[AffineExpr]) -> GenericOp:
    """The op for part of its domain: it reads whole operands, through maps that begin there.

    Its starts are still those of whole results.
    """
    dims = {d: AffineExpr.dim(d) + start for d, start in origin.items()}
    inputs = [replace(o, map=o.map.over(o.map.num_dims, dims)) for o in op.inputs]
    results = [
        Value(
            f"{result.name}_tile",
            TensorType(
                result.type.dtype, extents_reached(init.map, domain, result.type.extents, origin)
            ),
            order=result.order,
        )
        for init, result in zip(op.inits, op.results, strict=True)
    ]
    return replace(
        op,
        results=tuple(results),
        domain=tuple(domain),
        inputs=tuple(inputs),
        payload=op.payload.over(dims),
    )


def _slice(
    ops: list[Op],
    source: Value,
    map_: IndexingMap,
    origin: Origin,
    domain: Sequence[AffineExpr],
    op: GenericOp,
    uncut: Collection[AffineExpr] = (),
) -> Value:
    """What is read of a value: itself, or a view, which is appended, of all but ``uncut`` axes."""
    zero = AffineExpr.const(0)
    starts = [zero if r in uncut else shifted(r, origin) for r in map_.results]
    extents = extents_reached(map_, domain, source.type.extents, origin, uncut)
    if extents == source.type.extents and all(s.as_constant() == 0 for s in starts):
        return source
    part = Value(f"{source.name}_slice", TensorType(source.type.dtype, extents))
    view = moved_identity(starts)
    ops.append(ViewOp(results=(part,), location=op.location, source=source, map=view))
    return part


def extents_reached(
    map_: IndexingMap,
    domain: Sequence[AffineExpr],
    whole: Sequence[AffineExpr],
    cut: Collection[int],
    uncut: Collection[AffineExpr] = (),
) -> tuple[AffineExpr, ...]:
    """The extents of the elements that a map reaches, along the axes that hold ``cut`` dims."""
    last = {d: extent - 1 for d, extent in enumerate(domain)}
    return tuple(
        r.substitute(dims=last) + 1
        if not r.dims().isdisjoint(cut) and r not in uncut and not _is_mod(r)
        else extent
        for r, extent in zip(map_.results, whole, strict=True)
    )


def _is_mod(result: AffineExpr) -> bool:
    """Whether all places of a block are read: those of a tile of whole blocks."""
    return any(isinstance(atom, Mod) for atom, _ in result.terms)


def _in_one_block(map_: IndexingMap, sizes: Mapping[int, int]) -> IndexingMap:
    """The map where tiles that are not larger than a block lie in one."""

    def known(atom: Atom) -> AffineExpr | None:
        if not isinstance(atom, FloorDiv | Mod) or not isinstance(atom.denominator, int):
            return None
        dim = atom.numerator.as_dim()
        if dim is None or sizes.get(dim, atom.denominator + 1) > atom.denominator:
            return None
        return AffineExpr.const(0) if isinstance(atom, FloorDiv) else AffineExpr.dim(dim)

    atoms = {atom: e for r in map_.results for atom, _ in r.terms if (e := known(atom)) is not None}
    return IndexingMap(map_.num_dims, tuple(r.replace_atoms(atoms) for r in map_.results))
