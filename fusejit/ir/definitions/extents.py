"""Extents of a call of a structured op: those of the dims, of named extents, and of the outputs.

The same rules run twice. While a function is traced extents are symbols and each question is a
guard; where Python runs the call they are numbers, and what is wrong is an error of one sentence
that names the op, the operands and the dim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.definitions.definition import Access, Definition, Guard, OperandSpec, Role
from fusejit.ir.definitions.indices import DIM, EXTENT, Index
from fusejit.ir.definitions.injectivity import require_distinct

Extents = tuple[AffineExpr, ...]
Ranges = dict[str, tuple[AffineExpr, AffineExpr]]


class Decisions(Protocol):
    """Answers questions about extents."""

    def equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether two extents are one number."""

    def at_most(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether ``left <= right``."""


class Numbers:
    """Decisions about extents that are known."""

    def equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether two numbers are equal."""
        return left == right

    def at_most(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether ``left <= right``."""
        return left.constant <= right.constant


@dataclass(frozen=True, slots=True)
class Given:
    """An operand of a call: its dtype (or the type of a Python number), and its extents."""

    token: Any
    extents: Extents


class ExtentFinder:
    """Finds the extent of each dim, and checks every axis.

    Attributes
    ----------
    dims, extents, shapes, empty
        As in `fusejit.ir.definitions.binding.Binding`, once `find` has run.
    """

    def __init__(
        self,
        definition: Definition,
        given: Mapping[str, Given],
        attributes: Mapping[str, Any],
        decide: Decisions,
    ) -> None:
        self.definition = definition
        self.given = given
        self.attributes = attributes
        self.decide = decide
        self.name = definition.name
        self.dims: dict[str, AffineExpr] = {}
        self.extents: dict[str, AffineExpr] = {}
        self.shapes: dict[str, Extents] = {}
        self.empty: frozenset[str] = frozenset()
        self.accesses = [a for a in definition.every_access if a.operand in given]

    def find(self) -> None:
        """Find all extents.

        Raises
        ------
        ValueError
            If extents disagree, a dim has none, or a subscript leaves its operand.
        """
        self._name_extents()
        self._take_plain_axes()
        self._take_output_shapes()
        self._solve_windows()
        self._check_exact_shapes()
        new = {o.name: self._shape(o) for o in self.definition.outputs}
        self.shapes = {**{name: given.extents for name, given in self.given.items()}, **new}
        for access in [*self.accesses, *(u.access for u in self.definition.updates)]:
            self._check_reach(access, self.shapes[access.operand])
        for update in self.definition.updates:
            require_distinct(
                self.name, update.access, self.dims, self._symbols(), self.attributes, self.decide
            )
        padded = {a.operand for a in self.accesses if a.is_padded}
        self.empty = frozenset(name for name in padded if self._is_empty(name))

    def _is_empty(self, name: str) -> bool:
        one, why = AffineExpr.const(1), f"{self.name}: {name} has elements"
        return not all(self.decide.at_most(one, e, why) for e in self.given[name].extents)

    def _name_extents(self) -> None:
        """The extents that annotations name, one number each."""
        first: dict[str, str] = {}
        for operand in self.definition.operands:
            if operand.name not in self.given:
                continue
            extents = self.given[operand.name].extents
            for axis, (expected, extent) in enumerate(zip(operand.shape, extents, strict=True)):
                where = f"axis {axis} of {operand.name}"
                if expected.op == "const":
                    number = AffineExpr.const(expected.operands[0])
                    self._require_equal(extent, number, f"{where} must be {number}", f"{where} is")
                if expected.op != EXTENT:
                    continue
                (symbol,) = expected.operands
                if symbol not in self.extents:
                    self.extents[symbol], first[symbol] = extent, where
                    continue
                known = self.extents[symbol]
                what = f"{first[symbol]} and {where} must be equal"
                if not self.decide.equal(known, extent, f"{self.name}: {what}"):
                    dims = self._dims_along(operand, axis)
                    raise ValueError(
                        f"{self.name}: {first[symbol]} has {known} elements and {where} {extent}; "
                        f"both are the extent {symbol}{f' of dim {dims[0]}' if dims else ''}"
                    )

    def _require_equal(self, extent: AffineExpr, number: AffineExpr, what: str, text: str) -> None:
        if not self.decide.equal(extent, number, f"{self.name}: {what}"):
            raise ValueError(f"{self.name}: {text} {extent}, not {number}")

    def _dims_along(self, operand: OperandSpec, axis: int) -> list[str]:
        accesses = (a for a in self.accesses if a.operand == operand.name)
        return [d for a in accesses if (d := a.subscripts[axis].as_dim())]

    def _take_plain_axes(self) -> None:
        """A dim that is an axis by itself has the extent of that axis."""
        first: dict[str, str] = {}
        for access in self.accesses:
            extents = self.given[access.operand].extents
            for axis, (subscript, extent) in enumerate(
                zip(access.subscripts, extents, strict=True)
            ):
                dim = subscript.as_dim()
                where = f"axis {axis} of {access.operand}"
                if dim is None:
                    continue
                if dim not in self.dims:
                    self.dims[dim], first[dim] = extent, where
                    continue
                known = self.dims[dim]
                what = f"{first[dim]} and {where} must be equal"
                if not self.decide.equal(known, extent, f"{self.name}: {what}"):
                    raise ValueError(
                        f"{self.name}: dim {dim} has the extent {known} in {first[dim]} and "
                        f"{extent} in {where}"
                    )

    def _take_output_shapes(self) -> None:
        """An axis of a new output has the extent that its annotation says, if that is known."""
        for update in self.definition.updates:
            operand = self.definition.operand(update.access.operand)
            if operand.name in self.given:
                continue
            for subscript, extent in zip(update.access.subscripts, operand.shape, strict=True):
                dim = subscript.as_dim()
                known = all(name in self.extents for name in extent.names(EXTENT))
                if dim is not None and dim not in self.dims and known:
                    self.dims[dim] = extent.affine(self.extents, self.attributes)

    def _check_exact_shapes(self) -> None:
        """Axes whose extents are expressions that hold exactly."""
        for operand in self.definition.operands:
            if operand.name not in self.given or not (
                operand.is_exact or operand.role is Role.OUTPUT
            ):
                continue
            extents = self.given[operand.name].extents
            for axis, (expected, extent) in enumerate(zip(operand.shape, extents, strict=True)):
                if expected.op in ("const", EXTENT) or any(
                    name not in self.extents for name in expected.names(EXTENT)
                ):
                    continue
                number = expected.affine(self.extents, self.attributes)
                where = f"axis {axis} of {operand.name}"
                self._require_equal(
                    extent, number, f"{where} must be {expected}", f"{where} must be {expected}:"
                )

    def _solve_windows(self) -> None:
        """A dim that only moves a window takes as many steps as fit into the operand's axis."""
        by_need = sorted(self.accesses, key=lambda access: bool(access.guards))  # these last
        while len(self.dims) < len(self.definition.dims):
            for access in by_need:
                if self._solve(access):
                    break
            else:
                unknown = next(d for d in self.definition.dims if d not in self.dims)
                outputs = [u.access.operand for u in self.definition.updates]
                raise ValueError(
                    f"{self.name}: no operand determines the extent of dim {unknown}; give "
                    f"{outputs[0]} by init= or out="
                )

    def _solve(self, access: Access) -> bool:
        extents = self.given[access.operand].extents
        if access.is_padded and not access.guards:
            return False
        for axis, (subscript, extent) in enumerate(zip(access.subscripts, extents, strict=True)):
            unknown = [d for d in subscript.names(DIM) if d not in self.dims]
            if len(unknown) != 1:
                continue
            (dim,) = unknown
            still = {dim: (AffineExpr.const(0),) * 2}
            step = self._step(subscript, dim)
            if step <= 0:
                continue
            _, reach = subscript.bounds({**self._ranges(), **still}, self.attributes)
            steps = (extent - 1 - reach).floordiv(step) + 1
            what = f"axis {axis} of {access.operand} is long enough for ({subscript})"
            if not self.decide.at_most(AffineExpr.const(0), steps, f"{self.name}: {what}"):
                raise ValueError(
                    f"{self.name}: axis {axis} of {access.operand} has {extent} elements, too few "
                    f"for the subscript {subscript}, which reaches {reach} for {dim} = 0"
                )
            self.dims[dim] = steps
            return True
        return False

    def _step(self, subscript: Index, dim: str) -> int:
        """How far one step of a dim moves a subscript; 0 if that is not one number."""
        expr = self._affine(subscript)
        atom = Dim(self.definition.dims.index(dim))
        return expr.coefficient(atom) if expr.is_linear else 0

    def _affine(self, index: Index) -> AffineExpr:
        """An expression over the dims by their numbers, and the extents."""
        names = {d: AffineExpr.dim(k) for k, d in enumerate(self.definition.dims)}
        return index.affine({**self._symbols(), **names}, self.attributes)

    def _symbols(self) -> dict[str, AffineExpr]:
        return {
            name: self.extents.get(name, AffineExpr.symbol(name))
            for o in self.definition.operands
            for e in o.shape
            for name in e.names(EXTENT)
        }

    def _ranges(self) -> Ranges:
        """The least and the largest value of each dim and extent."""
        zero = AffineExpr.const(0)
        dims = {d: (zero, extent - 1) for d, extent in self.dims.items()}
        return {**{name: (e, e) for name, e in self.extents.items()}, **dims}

    def _narrow(self, ranges: Ranges, guard: Guard) -> None:
        """Narrow the range of the dim of a guard to where it holds."""
        dims = guard.value.names(DIM)
        if len(dims) != 1:
            return
        (dim,) = dims
        step = self._step(guard.value, dim)
        if abs(step) != 1:
            return
        zero = AffineExpr.const(0)
        rest, _ = guard.value.bounds({**ranges, dim: (zero, zero)}, self.attributes)
        low, high = ranges[dim]
        limit = rest * -step  # where the value is 0
        why = f"{self.name}: the range of {dim} where it is guarded"
        if guard.is_not_zero:
            if (low - limit).as_constant() == 0:
                ranges[dim] = low + 1, high
            elif (high - limit).as_constant() == 0:
                ranges[dim] = low, high - 1
        elif step > 0:
            ranges[dim] = (limit if self.decide.at_most(low, limit, why) else low), high
        else:
            ranges[dim] = low, (limit if self.decide.at_most(limit, high, why) else high)

    def _is_above(self, room: AffineExpr, guard: Guard) -> bool:
        """Whether a number is not negative where a guard holds."""
        more = (room - self._affine(guard.value)).as_constant()
        return not guard.is_not_zero and more is not None and more >= 0

    def _is_never(self, access: Access, ranges: Ranges) -> bool:
        """Whether the guards of an access hold nowhere."""
        why = f"{self.name}: {access.operand} is read nowhere"
        dims = {d for s in access.subscripts for d in s.names(DIM)}
        return any(not self.decide.at_most(*ranges[dim], why) for dim in sorted(dims))

    def _shape(self, operand: OperandSpec) -> Extents:
        """The extents of an output."""
        if operand.name in self.given:
            return self.given[operand.name].extents
        update = next(u for u in self.definition.updates if u.access.operand == operand.name)
        shape = []
        for subscript, expected in zip(update.access.subscripts, operand.shape, strict=True):
            dim = subscript.as_dim()
            if dim is not None:
                shape.append(self.dims[dim])
                if expected.op == EXTENT:
                    self.extents.setdefault(expected.operands[0], self.dims[dim])
                continue
            unknown = [n for n in expected.names(EXTENT) if n not in self.extents]
            if unknown:
                raise ValueError(
                    f"{self.name}: no operand determines the extent {unknown[0]} of "
                    f"{operand.name}; give it by init= or out="
                )
            shape.append(expected.affine(self.extents, self.attributes))
        return tuple(shape)

    def _check_reach(self, access: Access, extents: Extents) -> None:
        """No subscript leaves its operand; where there are no points none is computed.

        An output has its start also where the reduction dims have no points.
        """
        if access.is_padded and not access.guards:
            return
        ranges = self._ranges()
        is_output = self.definition.operand(access.operand).role is Role.OUTPUT
        dims = [d for d in self.dims if not (is_output and d in self.definition.reductions)]
        for guard in access.guards:
            self._narrow(ranges, guard)
        if access.guards and self._is_never(access, ranges):
            return
        for axis, (subscript, extent) in enumerate(zip(access.subscripts, extents, strict=True)):
            if subscript.as_dim() is not None:
                continue
            low, high = subscript.bounds(ranges, self.attributes)
            what = f"axis {axis} of {access.operand} holds ({subscript})"
            zero, place = AffineExpr.const(0), self._affine(subscript)
            for end, first, second, room in (
                (low, zero, low, place),
                (high, high, extent - 1, extent - 1 - place),
            ):
                if any(self._is_above(room, guard) for guard in access.guards):
                    continue
                if self.decide.at_most(first, second, f"{self.name}: {what}"):
                    continue
                if any(
                    self.decide.equal(self.dims[d], zero, f"{self.name}: no points") for d in dims
                ):
                    return
                raise ValueError(
                    f"{self.name}: the subscript {subscript} of {access.operand} reaches {end}, "
                    f"and axis {axis} has {extent} elements"
                )
