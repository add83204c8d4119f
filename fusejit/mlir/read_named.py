"""Named ops of linalg as the generic ops that their definitions make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import bind
from fusejit.ir.definitions.definition import Definition
from fusejit.ir.definitions.extents import Given
from fusejit.ir.definitions.instance import instantiate
from fusejit.ir.host import HostExpr
from fusejit.ir.values import Value
from fusejit.mlir.export.categories import category_definition
from fusejit.mlir.export.named import WRITTEN, follows_from_maps
from fusejit.mlir.export.patterns import map_text
from fusejit.mlir.read_generic import GenericReader, maps_of
from fusejit.mlir.size_facts import Sizes, host
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
    is_other = has_others or name in ("matmul", "fill") or not _has_own_maps(op, named)
    return None if is_other else named


def _has_own_maps(op: Any, named: StructuredOp) -> bool:
    """Whether an operation whose maps may be given has those of its definition."""
    if "indexing_maps" not in op.attributes or "indexing_maps" not in named.definition.attributes:
        return True
    definition = named.definition
    accesses = [*definition.accesses, *(u.access for u in definition.updates)]
    own = [definition.indexing_map(access, {}, definition.attributes) for access in accesses]
    return own == maps_of(op)


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
        names = [o.name for o in named.definition.operands]
        operands = dict(zip(names, op.operands, strict=True))
        attributes: dict[str, Any] = {
            name: tuple(int(v) for v in op.attributes[name])
            for name in ("strides", "dilations")
            if name in op.attributes
        }
        definition = named.definition_for(self.ranks_of(operands), {})
        self.defined(op, definition, operands, attributes)

    def category(self, op: Any) -> None:
        """``linalg.contract`` and ``linalg.elementwise``."""
        name = op.name.removeprefix("linalg.")
        maps = [map_text(m, []) for m in maps_of(op)]
        kind = str(op.attributes["kind"]) if "kind" in op.attributes else ""
        kind = kind.partition("<")[2].removesuffix(">")
        definition = category_definition(name, maps, kind)
        names = [o.name for o in definition.operands]
        self.defined(op, definition, dict(zip(names, op.operands, strict=True)), {}, name)

    def ranks_of(self, operands: Mapping[str, Any]) -> dict[str, int]:
        """The ranks of operands, by name."""
        return {name: len(self.extents_of(value)) for name, value in operands.items()}

    def defined(
        self,
        op: Any,
        definition: Definition,
        operands: Mapping[str, Any],
        attributes: Mapping[str, Any],
        name: str = "",
    ) -> None:
        """An operation as the generic op that a definition makes of its operands.

        ``operands`` are the values of the text by the names of the definition, the output included.
        """
        values = {name: self.entity(value) for name, value in operands.items()}
        given = {
            name: Given(v.type.dtype, v.type.extents)  # type: ignore[union-attr]
            for name, v in values.items()
        }
        where = self.location(op)
        what = f"{op.name} of line {where.line}"
        binding = bind(definition, given, attributes, None, _Sizes(self.sizes, what, where))
        (made,) = instantiate(binding)
        inputs = [self.value(operands[name], op) for name, _ in made.reads]
        (output,) = made.outputs
        domain = made.domain
        target = operands[definition.outputs[0].name]
        init, type_ = self.init(op, target, output.map, output.combiner, made.payload, 0, domain)
        generic = made.generic(inputs, [None], [self.new(type_)])
        generic.inits = (init,)
        generic.location = where
        generic.name = name or generic.name
        self.emit(generic)
        self.finish(op, generic.results)
        gathered = made.payload.gathered()
        for number, (operand, (_, indexing_map)) in enumerate(zip(inputs, made.reads, strict=True)):
            if number in gathered:
                self.require_elements(operand, op)
                continue
            pairs = zip(indexing_map.results, operand.type.extents, strict=True)
            for axis, (expr, extent) in enumerate(pairs):
                if expr.as_dim() is None:
                    text = f"{what}, axis {axis}"
                    self.sizes.require_inside(expr, domain, extent, text, where)

    def require_elements(self, source: Value, op: Any) -> None:
        """An operand that is read at the nearest place inside of it has such places."""
        where = self.location(op)
        one = HostExpr.const(1)
        for axis, extent in enumerate(source.type.extents):
            if not extent.is_above(0):
                reason = f"{op.name} of line {where.line}: axis {axis} of its source has no element"
                self.guard(HostExpr("ge", (host(extent), one)), reason, where)
