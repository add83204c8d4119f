"""Named ops of linalg as the generic ops that their definitions make."""

from __future__ import annotations

from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import bind
from fusejit.ir.definitions.extents import Given
from fusejit.ir.definitions.instance import instantiate
from fusejit.mlir.export.named import WRITTEN, follows_from_maps
from fusejit.mlir.read_generic import GenericReader
from fusejit.mlir.size_facts import Sizes
from fusejit.structured.op import StructuredOp


def definition_of(op: Any) -> StructuredOp | None:
    """The op of `fusejit.linalg` that an operation of MLIR is; None if it is another one."""
    from fusejit.linalg.registry import OPS

    dialect, _, name = op.name.partition(".")
    named = OPS.get(name) if dialect == "linalg" else None
    if not isinstance(named, StructuredOp) or not follows_from_maps(named):
        return None
    own = {"operandSegmentSizes", "linalg.memoized_indexing_maps", *WRITTEN}
    has_others = any(str(a) not in own for a in op.attributes)
    has_maps = "indexing_maps" in op.attributes and "indexing_maps" in named.definition.attributes
    return None if has_others or has_maps or name in ("matmul", "fill") else named


class _Sizes:
    """Decisions about extents: what MLIR takes for equal is required; reach is checked later."""

    def __init__(self, sizes: Sizes, what: str, location: Any) -> None:
        self._sizes, self._what, self._location = sizes, what, location

    def equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Require it."""
        self._sizes.require_equal(left, right, f"{self._what}: {reason}", self._location)
        return True

    def at_most(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Taken for granted."""
        return True


class NamedReader(GenericReader):
    """The handler of named ops."""

    def named(self, op: Any, named: StructuredOp) -> None:
        """A named op with one output."""
        operands = list(op.operands)
        values = [self.entity(v) for v in operands]
        ranks = {
            o.name: v.type.rank  # type: ignore[union-attr]
            for o, v in zip(named.definition.operands, values, strict=True)
        }
        definition = named.definition_for(ranks, {})
        given = {
            o.name: Given(v.type.dtype, v.type.extents)  # type: ignore[union-attr]
            for o, v in zip(definition.operands, values, strict=True)
        }
        attributes: dict[str, Any] = {
            name: tuple(int(v) for v in op.attributes[name])
            for name in ("strides", "dilations")
            if name in op.attributes
        }
        where = self.location(op)
        what = f"{op.name} of line {where.line}"
        binding = bind(definition, given, attributes, None, _Sizes(self.sizes, what, where))
        (made,) = instantiate(binding)
        names = [o.name for o in definition.operands]
        inputs = [self.value(operands[names.index(name)], op) for name, _ in made.reads]
        (output,) = made.outputs
        domain = made.domain
        init, type_ = self.init(
            op, operands[-1], output.map, output.combiner, made.payload, 0, domain
        )
        generic = made.generic(inputs, [None], [self.new(type_)])
        generic.inits = (init,)
        generic.location = where
        self.emit(generic)
        self.known[op.results[0]] = generic.results[0]
        for operand, (_, indexing_map) in zip(inputs, made.reads, strict=True):
            pairs = zip(indexing_map.results, operand.type.extents, strict=True)
            for axis, (expr, extent) in enumerate(pairs):
                if expr.as_dim() is None:
                    text = f"{what}, axis {axis}"
                    self.sizes.require_inside(expr, domain, extent, text, where)
