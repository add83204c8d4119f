"""`Binding`: what a call makes of a definition: extents, dtypes, values of the attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.definition import Definition, OperandSpec, Role
from fusejit.ir.definitions.extents import Decisions, ExtentFinder, Extents, Given
from fusejit.ir.definitions.indices import ATTRIBUTE, DIM, Index, attribute_value
from fusejit.ir.definitions.written_types import kernel_dtype


@dataclass(frozen=True, slots=True)
class Binding:
    """A definition with all that one kind of call knows.

    Attributes
    ----------
    attributes : mapping
        The values of the attributes.
    dtypes : mapping
        From type variables to dtypes.
    dims : mapping
        The extents of the domain.
    extents : mapping
        The extents that annotations name.
    shapes : mapping
        The extents of the operands that the call gives, and of the outputs.
    empty : frozenset of str
        The operands of padded accesses that have no element.
    weak : mapping
        The types of Python numbers that stay such in NumPy's promotion, by operand.
    """

    definition: Definition
    attributes: Mapping[str, Any]
    dtypes: Mapping[str, np.dtype]
    dims: Mapping[str, AffineExpr]
    extents: Mapping[str, AffineExpr]
    shapes: Mapping[str, Extents]
    empty: frozenset[str]
    weak: Mapping[str, type]

    def dtype_of(self, operand: OperandSpec) -> np.dtype:
        """The dtype of an operand's elements."""
        return self.dtypes[operand.type] if isinstance(operand.type, str) else operand.type


def bind(
    definition: Definition,
    given: Mapping[str, Given],
    attributes: Mapping[str, Any],
    dtype: np.dtype | None,
    decide: Decisions,
) -> Binding:
    """Bind a definition to the operands of a call.

    Parameters
    ----------
    given : mapping
        All inputs, and the outputs for which the call has a start or memory.
    attributes : mapping
        Of those that differ from their default.
    dtype : np.dtype or None
        That of outputs whose type no operand determines; by default the common type of the inputs.

    Raises
    ------
    TypeError
        If types disagree or are not compiled, or an attribute has the wrong type.
    ValueError
        If ranks or extents disagree, a subscript leaves its operand, a dim has no extent, or an
        attribute that multiplies a dim is 0.
    """
    values = _attributes(definition, attributes)
    dtypes = _dtypes(definition, given, dtype)
    for operand in definition.operands:
        if operand.name in given:
            rank = len(given[operand.name].extents)
            if rank != len(operand.shape):
                raise ValueError(
                    f"{definition.name}: {operand.name} has {rank} axes, not {len(operand.shape)}"
                )
    found = ExtentFinder(definition, given, values, decide)
    found.find()
    weak = {o.name: given[o.name].token for o in definition.inputs if o.is_weak}
    return Binding(
        definition,
        values,
        dtypes,
        found.dims,
        found.extents,
        found.shapes,
        found.empty,
        {name: token for name, token in weak.items() if token in _WEAK_KINDS},
    )


def _attributes(definition: Definition, given: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(definition.attributes)
    for name, value in given.items():
        default = values[name]
        if isinstance(default, tuple) and default and all(type(v) is int for v in default):
            items = tuple(value) if isinstance(value, (tuple, list)) else (value,) * len(default)
            if len(items) != len(default):
                raise ValueError(
                    f"{definition.name}: {name} has {len(items)} values, not {len(default)}"
                )
            value = tuple(int(_integer(definition, name, v)) for v in items)
        elif type(default) is int:
            value = int(_integer(definition, name, value))
        values[name] = value
    for access in definition.every_access:
        for subscript in access.subscripts:
            for factor in _factors(subscript):
                if attribute_value(factor, values) == 0:
                    raise ValueError(f"{definition.name}: {factor} is 0; it must be at least 1")
    return values


def _integer(definition: Definition, name: str, value: Any) -> Any:
    if isinstance(value, (bool, np.bool_, np.ndarray)) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{definition.name}: {name} takes integers, not {value!r}")
    return value.__index__()


def _factors(index: Index) -> list[Index]:
    """The attributes that multiply a dim."""
    found = [f for o in index.operands if isinstance(o, Index) for f in _factors(o)]
    if index.op == "*":
        left, right = index.operands
        found += [
            a for a, b in ((left, right), (right, left)) if a.op == ATTRIBUTE and b.names(DIM)
        ]
    return found


# ---------------------------------------------------------------------------------------- dtypes
_WEAK_KINDS: dict[Any, str] = {int: "iufc", float: "fc", complex: "c"}
"""The kinds of dtypes that a Python number takes."""
_WEAK_DEFAULT = {kind: np.dtype(kind) for kind in _WEAK_KINDS}


def _dtypes(
    definition: Definition, given: Mapping[str, Given], dtype: np.dtype | None
) -> dict[str, np.dtype]:
    found: dict[str, tuple[str, np.dtype]] = {}
    name = definition.name
    for operand in definition.operands:
        token = given[operand.name].token if operand.name in given else None
        if operand.role is Role.SHAPE or not isinstance(token, np.dtype):
            continue
        try:
            kernel_dtype(token)
        except TypeError:
            raise TypeError(f"{name}: {operand.name} is of type {token}, not compiled") from None
        wanted = operand.type
        if not isinstance(wanted, str):
            if token != wanted and (operand.role is not Role.SCALAR or token.kind != wanted.kind):
                raise TypeError(f"{name}: {operand.name} is of type {token}, not {wanted}")
        elif wanted not in found:
            found[wanted] = operand.name, kernel_dtype(token)
        elif found[wanted][1] != token:
            first, other = found[wanted]
            raise TypeError(
                f"{name}: {first} is of type {other} and {operand.name} of {token}; both must be "
                "of one type"
            )
    dtypes = {variable: dtype_ for variable, (_, dtype_) in found.items()}
    for operand in definition.operands:
        token = given[operand.name].token if operand.name in given else None
        if operand.role is Role.OUTPUT:
            continue  # a Python number to start from has no type of its own
        if isinstance(operand.type, str) and operand.type not in dtypes and token in _WEAK_DEFAULT:
            dtypes[operand.type] = _WEAK_DEFAULT[token]
    is_free = {o.name: isinstance(o.type, str) and o.type not in dtypes for o in definition.outputs}
    for operand in definition.outputs:
        if isinstance(operand.type, str) and operand.type not in dtypes:
            dtypes[operand.type] = kernel_dtype(_common_type(definition, given, dtypes, dtype))
        is_fixed = not isinstance(operand.type, str)
        if dtype is None or (is_fixed and any(is_free.values())):
            continue  # it is that of another output
        known = operand.type if is_fixed else dtypes[operand.type]
        if known != dtype:
            raise TypeError(f"{name}: {operand.name} is of type {known}, not {dtype}")
    for operand in definition.operands:  # of shapes only: their type may be anything
        if isinstance(operand.type, str):
            dtypes.setdefault(operand.type, np.dtype(np.float64))
    for operand in definition.inputs:
        number: Any = given[operand.name].token if operand.name in given else None
        wanted = dtypes[operand.type] if isinstance(operand.type, str) else operand.type
        if wanted.kind not in _WEAK_KINDS.get(number, wanted.kind):
            raise TypeError(f"{name}: {operand.name} is a {number.__name__}, not of type {wanted}")
    return dtypes


def _common_type(
    definition: Definition,
    given: Mapping[str, Given],
    dtypes: Mapping[str, np.dtype],
    dtype: np.dtype | None,
) -> np.dtype:
    if dtype is not None:
        return dtype
    read = [o for o in definition.inputs if o.role is not Role.SHAPE and not o.is_weak]
    types = [dtypes[o.type] if isinstance(o.type, str) else o.type for o in read]
    return np.result_type(*types) if types else np.dtype(np.float64)
