"""Generic ops that were defined as named ops of linalg: whether they are these still.

The maps of a definition are unified with those of the op, which gives the values of attributes such
as strides; then the whole definition, instantiated for the op's dtypes, must be the op.
"""

from __future__ import annotations

from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.definitions.binding import Binding
from fusejit.ir.definitions.definition import Access, Definition, Role
from fusejit.ir.definitions.indices import ATTRIBUTE, CONST, DIM, Index
from fusejit.ir.definitions.instance import Instance, instantiate
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import Payload
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import IteratorType
from fusejit.structured.op import StructuredOp

WRITTEN = {"strides", "dilations", "indexing_maps", "cast"}
"""Attributes that follow from the maps, or have their default where these are the op's own."""


@dataclass(frozen=True, slots=True)
class NamedForm:
    """A named op of linalg with the values of its attributes."""

    definition: Definition
    attributes: dict[str, Any]


def named_form(op: GenericOp) -> NamedForm | None:
    """The op of linalg that a generic op was defined as; None if it is none, or is changed."""
    from fusejit.linalg.registry import OPS

    named = OPS.get(op.name)
    if not op.is_named or not isinstance(named, StructuredOp):
        return None
    return form_of(op, definition_of(named, op)) if follows_from_maps(named) else None


def follows_from_maps(named: StructuredOp) -> bool:
    """Whether the maps of an op give all its attributes but those that have their default."""
    return set(named.definition.attributes) <= WRITTEN


def definition_of(named: StructuredOp, op: GenericOp) -> Definition | None:
    """The definition for the ranks of the op's operands."""
    operands = [o for o in named.definition.operands if o.role is not Role.SHAPE]
    values = [*(o.value for o in op.inputs), *op.results]
    if len(values) != len(operands):
        return None
    ranks = {o.name: v.type.rank for o, v in zip(operands, values, strict=True)}
    try:
        return named.definition_for(ranks, {})
    except (TypeError, ValueError):
        return None


def form_of(op: GenericOp, definition: Definition | None) -> NamedForm | None:
    """The op as an instance of a definition; None if it is none."""
    if definition is None or len(definition.dims) != len(op.domain):
        return None
    reads = [a for a in definition.accesses if definition.is_read(a)]
    writes = [u.access for u in definition.updates]
    if len(reads) != len(op.inputs) or len(writes) != len(op.inits):
        return None
    attributes: dict[str, Any] = {}
    maps = [*(o.map for o in op.inputs), *(i.map for i in op.inits)]
    for access, indexing_map in zip([*reads, *writes], maps, strict=True):
        if len(access.subscripts) != len(indexing_map.results):
            return None
        for subscript, expr in zip(access.subscripts, indexing_map.results, strict=True):
            _note_attributes(subscript, expr, definition, attributes)
    whole = _whole_attributes(definition, attributes)
    binding = _binding(op, definition, whole, [*reads, *writes])
    if binding is None:
        return None
    try:
        made = [m for in_order in (False, True) for m in instantiate(binding, in_order)]
    except (TypeError, ValueError, KeyError):
        return None
    return NamedForm(definition, whole) if any(_is_same(m, op) for m in made) else None


def _is_same(made: Instance, op: GenericOp) -> bool:
    return (
        [m for _, m in made.reads] == [o.map for o in op.inputs]
        and [o.map for o in made.outputs] == [i.map for i in op.inits]
        and [o.combiner for o in made.outputs] == [i.combiner for i in op.inits]
        and _terms(made.payload) == _terms(op.payload)
        and list(map(_is_parallel, made.iterators)) == list(map(_is_parallel, op.iterators))
    )


def _terms(payload: Payload) -> list[Any]:
    """What a payload yields, whatever the order of its instructions and of commuting operands."""
    terms: list[Any] = [*range(payload.num_arguments)]
    for instr in payload.instrs:
        operands = [terms[o] for o in instr.operands]
        row = SCALAR_OPS.get(instr.op)
        if row is not None and row.commutative:
            operands.sort(key=repr)
        key = instr.key()
        terms.append((key[0], tuple(operands), *key[2:]))
    return [terms[r] for r in payload.results]


def _is_parallel(iterator: IteratorType) -> bool:
    return iterator is IteratorType.PARALLEL


def _note_attributes(
    index: Index, expr: AffineExpr, definition: Definition, found: dict[str, Any]
) -> None:
    """The values of attributes that multiply a dim: its coefficient."""
    if index.op == "*":
        left, right = index.operands
        for factor, dim in ((left, right), (right, left)):
            if factor.op == ATTRIBUTE and dim.op == DIM:
                name, position = factor.operands
                at = definition.dims.index(dim.operands[0])
                found[f"{name}[{position}]"] = expr.coefficient(Dim(at))
    elif index.op not in (DIM, ATTRIBUTE, CONST, "extent"):
        for operand in index.operands:
            _note_attributes(operand, expr, definition, found)


def _whole_attributes(definition: Definition, found: dict[str, Any]) -> dict[str, Any]:
    whole = dict(definition.attributes)
    for name, default in whole.items():
        if isinstance(default, tuple):
            whole[name] = tuple(found.get(f"{name}[{k}]", v) for k, v in enumerate(default))
    return whole


def _binding(
    op: GenericOp, definition: Definition, attributes: dict[str, Any], accesses: list[Access]
) -> Binding | None:
    values = [*(o.value for o in op.inputs), *op.results]
    dtypes: dict[str, Any] = {}
    shapes = {}
    for access, value in zip(accesses, values, strict=True):
        operand = definition.operand(access.operand)
        shapes[operand.name] = value.type.extents
        if isinstance(operand.type, str):
            if dtypes.setdefault(operand.type, value.type.dtype) != value.type.dtype:
                return None
        elif operand.type != value.type.dtype:
            return None
    dims = dict(zip(definition.dims, op.domain, strict=True))
    return Binding(definition, attributes, dtypes, dims, {}, shapes, frozenset(), {})
