"""`Definition`: a structured op as data. Domain, iterator types, indexing maps, payload.

Everything but the sizes, the dtypes and the values of its attributes is known. `binding.bind`
finds these for a call; `instance` makes the generic op of the IR.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.indices import DIM, Index
from fusejit.ir.definitions.scalars import Scalar, type_name
from fusejit.ir.indexing_map import IndexingMap


class Role(enum.Enum):
    """What an operand is to its op."""

    INPUT = "input"
    SHAPE = "shape-only input"  # its extents are used, its elements are not
    SCALAR = "scalar"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """An operand: its name, type variable or dtype, and the extents of its axes.

    An axis whose extent is an expression has exactly that many elements if the operand is an output
    or ``is_exact``; another input has at least the elements that are read. A Python number that is
    given for one that ``is_weak`` stays one in NumPy's promotion.
    """

    name: str
    role: Role
    type: Any
    shape: tuple[Index, ...]
    is_exact: bool = False
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """What holds where an element is read: ``value >= 0``, or ``value != 0``."""

    value: Index
    is_not_zero: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """Where an operand is read or written: one subscript per axis.

    A *padded* access may leave its operand; the payload says what it reads there. If it has guards,
    it is inside of its operand where these hold.
    """

    operand: str
    subscripts: tuple[Index, ...]
    is_padded: bool = False
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """What happens to an output at each point of the domain.

    With a ``combiner`` the value is merged into the element that is there: a row of `COMBINERS` or
    one of linalg's ``max_unsigned`` and ``min_unsigned``. Without one it is written; a value that
    reads the output makes the reduction dims run in order.
    """

    access: Access
    value: Scalar
    combiner: str | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A structured op.

    Attributes
    ----------
    name : str
    operands : tuple of OperandSpec
        Inputs in the order of their parameters, then outputs.
    attributes : mapping
        Names and default values.
    dims : tuple of str
        The domain.
    reductions : frozenset of str
        The dims that outputs lack.
    accesses : tuple of Access
        One or more for each input.
    updates : tuple of Update
        One for each output.
    numpy_bools : bool
        Whether booleans are NumPy's, where True is 1. In linalg's dialect they are signed integers
        of one bit: True is -1, and less than False.
    """

    name: str
    operands: tuple[OperandSpec, ...]
    attributes: Mapping[str, Any]
    dims: tuple[str, ...]
    reductions: frozenset[str]
    accesses: tuple[Access, ...]
    updates: tuple[Update, ...]
    doc: str = ""
    library_call: str | None = None
    numpy_bools: bool = False

    # -- queries --------------------------------------------------------------------------------
    @property
    def inputs(self) -> tuple[OperandSpec, ...]:
        """The operands that a call must give."""
        return tuple(o for o in self.operands if o.role is not Role.OUTPUT)

    @property
    def outputs(self) -> tuple[OperandSpec, ...]:
        """The operands that it writes."""
        return tuple(o for o in self.operands if o.role is Role.OUTPUT)

    @property
    def every_access(self) -> tuple[Access, ...]:
        """Where inputs are read and outputs written."""
        return (*self.accesses, *(update.access for update in self.updates))

    def operand(self, name: str) -> OperandSpec:
        """The operand of that name."""
        return next(o for o in self.operands if o.name == name)

    def is_read(self, access: Access) -> bool:
        """Whether some payload reads the elements of an access."""
        key = access.operand, access.subscripts
        return any(key in update.value.elements() for update in self.updates)

    def is_read_by_values(self, output: str) -> bool:
        """Whether the value of some update reads an output."""
        return any(output == name for u in self.updates for name, _ in u.value.elements())

    def gathers(self) -> list[tuple[str, int, str]]:
        """The operands that are read at places that are data: which axis, and whose integers."""
        found = [
            (part.attr[0], axis, place.attr[0])
            for update in self.updates
            for part in update.value.parts()
            if part.op == "gather"
            for axis, place in enumerate(part.operands)
            if place.op == "element"
        ]
        return list(dict.fromkeys(found))

    def reads_init(self, update: Update) -> bool:
        """Whether what an output holds before matters."""
        return update.combiner is not None or self.is_read_by_values(update.access.operand)

    def runs_in_order(self) -> bool:
        """Whether the reduction dims have an order: some value reads what earlier points wrote."""
        return bool(self.reductions) and any(
            self.is_read_by_values(u.access.operand) for u in self.updates
        )

    def parts(self) -> list[Definition]:
        """The op once for each set of dims that outputs have: ``O[i, j]`` beside ``P[i]``."""
        by_dims: dict[frozenset[str], list[Update]] = {}
        for update in self.updates:
            by_dims.setdefault(frozenset(dims_of(update.access)), []).append(update)
        if len(by_dims) == 1:
            return [self]
        return [
            replace(self, updates=tuple(updates), reductions=frozenset(self.dims) - dims)
            for dims, updates in by_dims.items()
        ]

    def indexing_map(
        self, access: Access, extents: Mapping[str, AffineExpr], attributes: Mapping[str, Any]
    ) -> IndexingMap:
        """The map from the domain to an operand's elements."""
        if access.is_padded:  # the payload computes where it reads
            return IndexingMap(len(self.dims), (AffineExpr.const(0),) * len(access.subscripts))
        names = {**extents, **{d: AffineExpr.dim(k) for k, d in enumerate(self.dims)}}
        results = tuple(s.affine(names, attributes) for s in access.subscripts)
        return IndexingMap(len(self.dims), results)

    # -- printing -------------------------------------------------------------------------------
    def __str__(self) -> str:
        kinds = ", ".join(
            f"{d}: {'reduction' if d in self.reductions else 'parallel'}" for d in self.dims
        )
        lines = [f"structured op {self.name}"]
        if self.library_call:
            lines.append(f"  library call {self.library_call}")
        if not self.numpy_bools:
            lines.append("  booleans are signed: True is -1")
        if self.attributes:
            given = ", ".join(f"{name}={value!r}" for name, value in self.attributes.items())
            lines.append(f"  attributes {given}")
        lines += [f"  {_operand_text(operand)}" for operand in self.operands]
        lines.append(f"  domain ({kinds})")
        for access in self.every_access:
            how = " padded" if access.is_padded else ""
            lines.append(f"  map {access.operand}: {map_text(self.dims, access.subscripts)}{how}")
        for update in self.updates:
            name = str(Scalar("element", (), (update.access.operand, update.access.subscripts)))
            value = str(update.value)
            lines.append(
                f"  {name} = {f'{update.combiner}({name}, {value})' if update.combiner else value}"
            )
        return "\n".join(lines)


def dims_of(access: Access) -> set[str]:
    """The dims that move an access."""
    return {d for s in access.subscripts for d in s.names(DIM)}


def map_text(dims: Sequence[str], subscripts: Sequence[Index]) -> str:
    """A map with the names of the dims: ``(ow, kw) -> (ow + kw)``."""
    return f"({', '.join(dims)}) -> ({', '.join(map(str, subscripts))})"


def _operand_text(operand: OperandSpec) -> str:
    shape = ", ".join(map(str, operand.shape))
    return f"{operand.role.value} {operand.name}: {type_name(operand.type)}[{shape}]"


# ----------------------------------------------------------------------------------- construction
class DefinitionError(TypeError, ValueError):
    """A definition that is no structured op."""


def make_definition(
    name: str,
    operands: Sequence[OperandSpec],
    accesses: Sequence[Access],
    updates: Sequence[Update],
    *,
    attributes: Mapping[str, Any] | None = None,
    dims: Sequence[str] | None = None,
    doc: str | None = None,
    library_call: str | None = None,
    numpy_bools: bool = False,
) -> Definition:
    """Check the parts of a definition and put them together.

    Without ``dims`` the domain is the dims of the outputs, then those of the inputs, in the order
    of their first subscript.

    Raises
    ------
    DefinitionError
        If outputs or inputs have no subscripts, their number differs from the rank, a dim is
        missing in ``dims``, or a parallel dim is missing in an output (each of its points would
        write the same element).
    """
    by_name = {operand.name: operand for operand in operands}
    written = {update.access.operand for update in updates}
    accessed = {access.operand for access in accesses} | written
    for operand in operands:
        if operand.name not in accessed and (operand.shape or operand.role is Role.OUTPUT):
            verb = "written" if operand.role is Role.OUTPUT else "subscripted"
            raise DefinitionError(f"{name}: {operand.name} is never {verb}")
    every = [*(u.access for u in updates), *accesses]
    for access in every:
        rank = len(by_name[access.operand].shape)
        if len(access.subscripts) != rank:
            raise DefinitionError(
                f"{name}: {access.operand} has {rank} axes and {len(access.subscripts)} subscripts"
            )
    found = list(dict.fromkeys(d for a in every for s in a.subscripts for d in s.names(DIM)))
    order = tuple(found if dims is None else dims)
    if sorted(found) != sorted(order):
        stray = ", ".join(sorted(set(found) ^ set(order)))
        raise DefinitionError(
            f"{name}: the dims of the domain and of the subscripts differ: {stray}"
        )
    _check_indices(name, updates, order)
    outputs = [dims_of(u.access) for u in updates]
    parallel = set().union(*outputs)
    for update, axes in zip(updates, outputs, strict=True):
        missing = [d for d in order if d in parallel - axes]
        read = {operand for operand, _ in update.value.elements()}
        for other, of_other in zip(updates, outputs, strict=True):
            if of_other != axes and other.access.operand in read:
                raise DefinitionError(
                    f"{name}: the value of {update.access.operand} reads {other.access.operand}, "
                    "which is an output with other dims"
                )
        if missing and update.combiner is None:
            raise DefinitionError(
                f"{name}: {update.access.operand} lacks the parallel dim {missing[0]}, so that "
                "several points would write one element"
            )
    return Definition(
        name,
        tuple(operands),
        dict(attributes or {}),
        order,
        frozenset(order) - parallel,
        tuple(accesses),
        tuple(updates),
        doc or "",
        library_call,
        numpy_bools,
    )


def _check_indices(name: str, updates: Sequence[Update], dims: Sequence[str]) -> None:
    """``index(d)`` names a dim of the domain."""

    def visit(scalar: Scalar) -> None:
        if scalar.op == "index":
            for dim in scalar.attr.names(DIM):
                if dim not in dims:
                    raise DefinitionError(f"{name}: index({dim}) names no dim of the domain")
        for operand in scalar.operands:
            visit(operand)

    for update in updates:
        visit(update.value)
