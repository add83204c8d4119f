"""`as_named`: the named op of linalg that a generic op is, up to names.

The op may have its dims and inputs in another order, and the operands of commutative operations. A
dim that is a subscript by itself tells the dim of the definition; the one that is left in a window
is told by the others. `named.form_of` compares the whole then.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.change_domain import on_domain
from fusejit.ir.definitions.definition import Definition
from fusejit.ir.definitions.indices import DIM, Index
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import PayloadBuilder
from fusejit.mlir.export.named import definition_of, follows_from_maps, form_of
from fusejit.structured.op import StructuredOp


@dataclass(frozen=True, slots=True)
class Match:
    """The op as a named one, and the dims of the old one in the order in which it has them."""

    op: GenericOp
    dims: tuple[int, ...]


def as_named(op: GenericOp) -> Match | None:
    """The first op of the dialect that a generic op is, with its dims and inputs in order."""
    from fusejit.linalg.registry import OPS

    for name, row in OPS.items():
        if not isinstance(row, StructuredOp) or not follows_from_maps(row):
            continue
        for given in _with_inputs_in_any_order(op):
            definition = definition_of(row, given)
            dims = None if definition is None else _dims(given, definition)
            if definition is None or dims is None:
                continue
            table = {d: AffineExpr.dim(at) for at, d in enumerate(dims)}
            domain, iterators = [op.domain[d] for d in dims], [op.iterators[d] for d in dims]
            new = on_domain(given, table, domain, iterators)
            if form_of(new, definition) is not None:
                return Match(replace(new, name=name, is_named=True), dims)
    return None


def _with_inputs_in_any_order(op: GenericOp) -> Iterator[GenericOp]:
    if op.payload.has_extract():
        return
    for order in permutations(range(len(op.inputs))) if len(op.inputs) <= 4 else ():
        place = {old: new for new, old in enumerate(order)}
        num_inputs = op.payload.num_inputs
        arguments = [op.payload.arguments[k] for k in order]
        builder = PayloadBuilder(arguments, op.payload.arguments[num_inputs:])
        refs = [place.get(k, k) for k in range(op.payload.num_arguments)]
        payload = builder.finish(builder.inline(op.payload, refs))
        yield replace(op, inputs=tuple(op.inputs[k] for k in order), payload=payload)


def _dims(op: GenericOp, definition: Definition) -> tuple[int, ...] | None:
    """The op's dims in the order of the definition; None if maps do not tell it."""
    reads = [a for a in definition.accesses if definition.is_read(a)]
    accesses = [*reads, *(u.access for u in definition.updates)]
    maps = [*(o.map for o in op.inputs), *(i.map for i in op.inits)]
    if len(accesses) != len(maps) or len(definition.dims) != len(op.domain):
        return None
    pairs: list[tuple[Index, AffineExpr]] = []
    for access, map_ in zip(accesses, maps, strict=True):
        if len(access.subscripts) != map_.rank:
            return None
        pairs += zip(access.subscripts, map_.results, strict=True)
    known: dict[str, int] = {}
    for subscript, expr in pairs:
        if subscript.op == DIM:
            dim = expr.as_dim()
            if dim is None or known.setdefault(subscript.operands[0], dim) != dim:
                return None
    for subscript, expr in pairs:
        names = {*subscript.names(DIM)} - {*known}
        dims = expr.dims() - {*known.values()}
        if len(names) == len(dims) == 1:
            known[names.pop()] = min(dims)
    order = tuple(known.get(name, -1) for name in definition.dims)
    return order if sorted(order) == list(range(len(op.domain))) else None
