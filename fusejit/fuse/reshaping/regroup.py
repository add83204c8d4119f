"""Splitting and merging the dims of a generic op, so that a reshape can move past it.

A dim that is split is read by every operand through the new dims, and an operand whose axis it was
is reshaped; dims that are merged must be read side by side. Before and after splitting ``d1``::

    %r = generic domain (s0, s1) ins (%a, %b [(d0, d1) -> (d1)]) { in0 + in1 }

    %a1 = reshape %a expand [[0], [1, 2]]       %b1 = reshape %b expand [[0, 1]]
    %r1 = generic domain (s0, s2, s3) ins (%a1, %b1 [(d0, d1, d2) -> (d1, d2)]) { in0 + in1 }

Source: MLIR's reshape fusion by expansion and by collapsing (``ElementwiseOpFusion.cpp``), with
refusals as named reasons.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.folding.legality import Illegal
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand, ReshapeOp
from fusejit.ir.payload import Instr
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value


@dataclass(frozen=True, slots=True)
class DimGroup:
    """Dims of an op, in the order in which the reshaped value has them, and their new extents.

    One dim and several extents for a split, several dims and one extent for a merge.
    """

    dims: tuple[int, ...]
    extents: tuple[AffineExpr, ...]


class Refused(Exception):
    """A rule that moving the reshape would break."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(f"{rule}: {reason}")
        self.illegal = Illegal(rule, reason)


def dim_groups(
    reassociation: Reassociation, map: IndexingMap, extents: Sequence[AffineExpr]
) -> list[DimGroup]:
    """The dims that change if a value read or written through ``map`` is reshaped to ``extents``.

    ``reassociation`` is the reshape from the value to its new form. Groups of one axis stay.

    Raises
    ------
    Refused
        If an axis that changes is not a dim.
    """
    groups: list[DimGroup] = []
    for coarse, fine in enumerate(reassociation.groups):
        if len(fine) == 1:
            continue
        old, new = ((coarse,), fine) if reassociation.expands else (fine, (coarse,))
        dims = [map.results[axis].as_dim() for axis in old]
        known = tuple(d for d in dims if d is not None)
        if len(known) < len(dims) or len(set(known)) < len(known):
            raise Refused("dims are read as they are", f"an axis is read through {map}")
        groups.append(DimGroup(known, tuple(extents[axis] for axis in new)))
    return groups


class Regrouping:
    """A generic op with its dims split or merged. All groups split, or all merge.

    Parameters
    ----------
    op : GenericOp
        The op as it is.
    groups : sequence of DimGroup
        What is split or merged.
    reassociates : bool, optional
        Whether floats may be summed in another order.

    Attributes
    ----------
    op : GenericOp
        The op with new dims. Its operands and results are new values where their axes changed.
    before : list of ReshapeOp
        Make the new operands out of the old ones.
    after : list of ReshapeOp
        Make the old results out of the new ones.
    """

    def __init__(
        self, op: GenericOp, groups: Sequence[DimGroup], *, reassociates: bool = False
    ) -> None:
        self.groups = {g.dims[0]: g for g in groups}
        self.expands = all(len(g.dims) == 1 for g in groups)
        self.changed = {d for g in groups for d in g.dims}
        self.before: list[ReshapeOp] = []
        self.after: list[ReshapeOp] = []
        self._values: dict[tuple[Value, Reassociation], Value] = {}
        self._check(op, groups, reassociates)
        self._number_dims(op)
        self.op = self._rebuild(op)

    # -- legality -------------------------------------------------------------------------------
    def _check(self, op: GenericOp, groups: Sequence[DimGroup], reassociates: bool) -> None:
        if op.library_call is not None:
            raise Refused("neither is a library call", f"{op.name} is {op.library_call}")
        if op.payload.has_extract():
            raise Refused("nothing is gathered", f"{op.name} reads at computed subscripts")
        for group in groups:
            kinds = {op.iterators[d] for d in group.dims}
            if len(kinds) > 1:
                what = " and ".join(sorted(k.value for k in kinds))
                raise Refused("iterator types agree", f"{what} dims of {op.name} cannot be one")
            if kinds == {IteratorType.SEQUENTIAL}:
                raise Refused("iterator types agree", f"{op.name} runs in sequence")
            if kinds == {IteratorType.REDUCTION} and not reassociates:
                for init, result in zip(op.inits, op.results, strict=True):
                    combiner = COMBINERS[init.combiner] if init.combiner is not None else None
                    if combiner is None or result.type.dtype.kind in combiner.ordered:
                        reason = f"{init.combiner} of {op.name} rounds in another order"
                        raise Refused("reductions keep their order", reason)

    # -- mechanism ------------------------------------------------------------------------------
    def _number_dims(self, op: GenericOp) -> None:
        self.domain: list[AffineExpr] = []
        self.iterators: list[IteratorType] = []
        self.new_dims: dict[int, tuple[int, ...]] = {}
        for d, extent in enumerate(op.domain):
            if d in self.groups:
                extents: tuple[AffineExpr, ...] = self.groups[d].extents
            elif d in self.changed:
                continue
            else:
                extents = (extent,)
            self.new_dims[d] = tuple(range(len(self.domain), len(self.domain) + len(extents)))
            self.domain += extents
            self.iterators += [op.iterators[d]] * len(extents)
        self.old_domain = op.domain
        self.kept = {
            d: AffineExpr.dim(new[0]) for d, new in self.new_dims.items() if d not in self.changed
        }

    def _rebuild(self, op: GenericOp) -> GenericOp:
        inputs = tuple(self._operand(o.value, o.map) for o in op.inputs)
        inits: list[Init] = []
        results: list[Value] = []
        for init, result in zip(op.inits, op.results, strict=True):
            start = init.start and self._operand(init.start, init.map).value
            new_map, new, reassociation = self._map(init.map, result)
            inits.append(replace(init, map=new_map, start=start))
            results.append(new)
            if reassociation is not None:
                back = reassociation.inverse()
                self.after.append(ReshapeOp(results=(result,), source=new, reassociation=back))
        payload = replace(op.payload, instrs=tuple(map(self._instr, op.payload.instrs)))
        return replace(
            op,
            domain=tuple(self.domain),
            iterators=tuple(self.iterators),
            inputs=inputs,
            inits=tuple(inits),
            results=tuple(results),
            payload=payload,
        )

    def _map(
        self, map: IndexingMap, value: Value
    ) -> tuple[IndexingMap, Value, Reassociation | None]:
        """The map from the new dims, the value in its new form, and the reshape to that form."""
        results: list[AffineExpr] = []
        lengths: list[int] = []
        extents: list[AffineExpr] = []
        axis = 0
        while axis < map.rank:
            dim = map.results[axis].as_dim()
            group = None if dim is None else self.groups.get(dim)
            if group is None:
                result = map.results[axis]
                if result.dims() & self.changed:
                    rule = "dims are read as they are" if dim is None else "dims stand together"
                    raise Refused(rule, f"%{value.name} is read through {map}")
                results.append(result.substitute(dims=self.kept))
                extents.append(value.type.extents[axis])
                lengths.append(1)
                axis += 1
                continue
            read = tuple(r.as_dim() for r in map.results[axis : axis + len(group.dims)])
            if read != group.dims:
                raise Refused("dims stand together", f"%{value.name} is read through {map}")
            for at, d in enumerate(group.dims):
                if value.type.extents[axis + at] != self.old_domain[d]:
                    raise Refused("whole axes are read", f"only part of %{value.name} is read")
            new = self.new_dims[group.dims[0]]
            results += [AffineExpr.dim(d) for d in new]
            extents += group.extents
            lengths.append(max(len(new), len(group.dims)))
            axis += len(group.dims)
        new_map = IndexingMap(len(self.domain), tuple(results))
        if all(n == 1 for n in lengths):
            return new_map, value, None
        reassociation = Reassociation.of_lengths(lengths, self.expands)
        type_ = TensorType(value.type.dtype, tuple(extents))
        order = reassociation.order(value.order)
        return new_map, Value(f"{value.name}_r", type_, value.kind, order), reassociation

    def _operand(self, value: Value, map: IndexingMap) -> Operand:
        new_map, new, reassociation = self._map(map, value)
        if reassociation is None:
            return Operand(value, new_map)
        key = (value, reassociation)
        if key not in self._values:
            self._values[key] = new
            self.before.append(ReshapeOp(results=(new,), source=value, reassociation=reassociation))
        return Operand(self._values[key], new_map)

    def _instr(self, instr: Instr) -> Instr:
        if instr.op != "index" or not instr.attr.dims() & self.changed:
            if instr.op == "index":
                return replace(instr, attr=instr.attr.substitute(dims=self.kept))
            return instr
        if not self.expands:
            raise Refused("index sizes are known", f"{instr.attr} would need the parts of a dim")
        table = dict(self.kept)
        for d, group in self.groups.items():
            total, step = AffineExpr.const(0), 1
            for at, new in reversed(list(zip(group.extents, self.new_dims[d], strict=True))):
                total = total + AffineExpr.dim(new) * step
                size = at.as_constant()
                if size is None and new != self.new_dims[d][0]:
                    raise Refused("index sizes are known", f"{at} is not known at compile time")
                step *= size or 0
            table[d] = total
        return replace(instr, attr=instr.attr.substitute(dims=table))
