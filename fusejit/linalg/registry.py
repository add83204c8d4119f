"""The table of named ops, `OPS`, and the rows that make most of them.

A row says where the operands of a product or a pooling are read and written, in the letters of
index notation: ``"n oh+kh ow+kw c, kh kw c f -> n oh ow f"`` is
``O[n, oh, ow, f] += I[n, oh * strides[0] + kh * dilations[0], .., c] * K[kh, kw, c, f]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusejit.ir.definitions.definition import (
    Access,
    Definition,
    OperandSpec,
    Role,
    Update,
    make_definition,
)
from fusejit.ir.definitions.indices import attribute_in_formula, dim, extent
from fusejit.ir.definitions.scalars import FORMULA_NAMES, element
from fusejit.structured.annotations import _
from fusejit.structured.notation import with_windows
from fusejit.structured.op import StructuredOp, structured_op

OPS: dict[str, Any] = {}
"""Every op of the dialect by its name."""

_EXTENTS = {"b": "Batch"}
"""Extents whose name is not the dim's in capitals."""


def named(function: Callable[..., Any]) -> Any:
    """`structured_op` with the dialect's booleans, and a row of the table."""
    return register(structured_op(function, numpy_bools=False))


def register(op: Any, name: str = "") -> Any:
    """Put an op into the table."""
    OPS[name or op.__name__] = op
    if isinstance(op, StructuredOp):
        op.__module__ = "fusejit.linalg"
    return op


def cast_of(op: str, attributes: Mapping[str, Any]) -> str:
    """The function of formulas that the attribute ``cast`` names."""
    cast = attributes.get("cast", "cast_signed")
    if cast not in ("cast_signed", "cast_unsigned"):
        raise ValueError(f"{op}: cast is one of cast_signed and cast_unsigned, not {cast!r}")
    return str(cast)


# --------------------------------------------------------------------------------- rows as formulas
def subscripts_of(text: str) -> list[list[str]]:
    """The subscripts of each operand, the output's last.

    >>> subscripts_of("m k, k n -> m n")
    [['m', 'k'], ['k', 'n'], ['m', 'n']]
    """
    inputs, _arrow, output = text.partition("->")
    return [part.split() for part in [*inputs.split(","), output]]


def operands_of(
    op: str,
    names: Sequence[str],
    types: Sequence[Any],
    subscripts: Sequence[Sequence[str]],
    attributes: Mapping[str, Any],
    window: str = "",
) -> tuple[list[OperandSpec], list[Access]]:
    """The operands of a row and their accesses; ``window`` is the operand that gives only extents.

    A subscript ``oh+kh`` is moved by the op's strides and dilations, if it has such.
    """
    strides = attribute_in_formula("strides", attributes.get("strides"))
    dilations = attribute_in_formula("dilations", attributes.get("dilations"))
    operands, accesses = [], []
    for name, type_, texts in zip(names, types, subscripts, strict=True):
        moved, indices, shape = 0, [], []
        for text in texts:
            first, *second = (dim(d) for d in text.split("+"))
            if second and strides:
                first = first * strides[moved] + second[0] * dilations[moved]
                moved += 1
            elif second:
                first = first + second[0]
            indices.append(first)
            shape.append(_ if second else extent(_EXTENTS.get(text, text.upper())))
        role = Role.OUTPUT if name is names[-1] else Role.SHAPE if name == window else Role.INPUT
        operands.append(OperandSpec(name, role, type_, tuple(shape)))
        accesses.append(Access(name, tuple(indices)))
    return with_windows(op, operands, accesses), accesses


def product(
    name: str,
    row: str,
    doc: str,
    *,
    names: Sequence[str] = ("A", "B", "C"),
    types: Sequence[Any] = ("T1", "T2", "U"),
    attributes: Mapping[str, Any] | None = None,
    domain: str = "",
    zero_points: Sequence[str] = (),
    cast: str = "cast_signed",
    library_call: str | None = None,
) -> Definition:
    """``C += cast(U, A) * cast(U, B)``, less the zero points of quantized factors."""
    attributes = attributes or {}
    operands, accesses = operands_of(name, names, types, subscripts_of(row), attributes)
    convert = FORMULA_NAMES[cast]
    factors = [convert(types[-1], element(a.operand, a.subscripts)) for a in accesses[:-1]]
    numbers = [Access(zero_point, ()) for zero_point in zero_points]
    for k, number in enumerate(numbers):
        factors[k] = factors[k] - convert(types[-1], element(number.operand))
    scalars = [OperandSpec(z, Role.SCALAR, FORMULA_NAMES["I32"], ()) for z in zero_points]
    return make_definition(
        name,
        [*operands[:-1], *scalars, operands[-1]],
        [*accesses[:-1], *numbers],
        [Update(accesses[-1], factors[0] * factors[1], "add")],
        attributes=attributes,
        dims=domain.split() or None,
        doc=doc,
        library_call=library_call,
    )


def pooling(
    name: str, row: str, doc: str, combiner: str, attributes: Mapping[str, Any]
) -> Definition:
    """``O = combiner(O, cast(U, I))`` over the window that K gives."""
    operands, accesses = operands_of(
        name, ("I", "K", "O"), ("T1", "T2", "U"), subscripts_of(row), attributes, "K"
    )
    convert = FORMULA_NAMES["cast_unsigned" if combiner.endswith("_unsigned") else "cast"]
    value = convert("U", element(accesses[0].operand, accesses[0].subscripts))
    update = Update(accesses[-1], value, combiner)
    return make_definition(name, operands, accesses[:-1], [update], attributes=attributes, doc=doc)
