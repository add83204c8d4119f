"""The generated part of docs/linalg.md: each op with its formula, operands, and an example."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusejit.linalg
from fusejit.ir.definitions.definition import Definition, OperandSpec, Role
from fusejit.ir.definitions.indices import ATTRIBUTE, CONST, EXTENT, Index, attribute_value
from fusejit.ir.definitions.scalars import Scalar, type_name
from fusejit.linalg.registry import OPS
from fusejit.structured.op import StructuredOp

_SIZES = {"KD": 2, "KH": 2, "KW": 2, "OD": 3, "OH": 3, "OW": 3, "N": 2, "Batch": 2, "D0": 3}
_EXAMPLES = {
    "map": "linalg.map(lambda a, b: a * b, x, y)",
    "reduce": "linalg.reduce(lambda a, total: total + a, x, np.zeros(2), [1])",
    "elementwise": 'linalg.elementwise(x, y, kind="add")',
    "generic": 'linalg.generic([x], [np.zeros(2)], ["(i, j) -> (i, j)", "(i, j) -> (i)"], '
    '["parallel", "reduction"], lambda a, total: total + a)',
    "pack": "linalg.pack(x, inner_dims_pos=[1], inner_tiles=[2], padding_value=0.0)",
    "softmax": "linalg.softmax(x, dimension=1)",
    "winograd_filter_transform": "linalg.winograd_filter_transform(np.ones((1, 3, 3, 1)))",
    "winograd_input_transform": "linalg.winograd_input_transform(np.ones((1, 6, 6, 1)))",
    "winograd_output_transform": "linalg.winograd_output_transform(np.ones((4, 4, 2, 2, 1, 1)))",
    "broadcast": "linalg.broadcast(v, init=np.zeros((2, 3)), dimensions=[0])",
    "transpose": "linalg.transpose(x, permutation=[1, 0])",
    "unpack": "linalg.unpack(np.ones((2, 2, 2)), inner_dims_pos=[1], inner_tiles=[2])",
    "fill": "linalg.fill(7.0, init=np.zeros((2, 3)))",
    "fill_rng_2d": "linalg.fill_rng_2d(0.0, 1.0, 5, init=np.zeros((2, 3)))",
    "contract": 'linalg.contract(x, x, indexing_maps=["(i, j, k) -> (i, k)", '
    '"(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"])',
    "index": 'linalg.map(lambda: linalg.index("d0 + d1"), init=np.zeros((2, 3), int))',
    "yield": "linalg.map(lambda a: getattr(linalg, 'yield')(a + 1), x)",
}
"""Calls of ops whose operands do not follow from their definition; x and y are of shape (2, 3)."""


def linalg_ops() -> str:
    """A section for each op, in the order of the alphabet."""
    return "\n".join(_section(name, OPS[name]) for name in sorted(OPS))


def _section(name: str, op: Any) -> str:
    doc = " ".join((op.__doc__ or "").partition("\n\n")[0].split())
    lines = [f"### {name}", "", doc, ""]
    if isinstance(op, StructuredOp):
        definition = op.definition
        lines += [f"    {formula}" for formula in _formulas(definition)]
        lines += ["", f"- operands: {', '.join(map(_operand, definition.operands))}"]
        lines.append(f"- domain: {_domain(definition)}")
        if definition.attributes:
            given = ", ".join(f"`{a}={v!r}`" for a, v in definition.attributes.items())
            lines.append(f"- attributes: {given}")
    lines.append(f"- example: {_example(name, op)}")
    return "\n".join(lines) + "\n"


def _formulas(definition: Definition) -> list[str]:
    found = []
    for update in definition.updates:
        target = str(Scalar("element", (), (update.access.operand, update.access.subscripts)))
        value = _text(update.value)
        symbol = {"add": "+=", "multiply": "*="}.get(str(update.combiner))
        if symbol:
            found.append(f"{target} {symbol} {value}")
        elif update.combiner:
            found.append(f"{target} = {update.combiner}({target}, {value})")
        else:
            found.append(f"{target} = {value}")
    return found


_INFIX = {"multiply": "*", "add": "+", "subtract": "-", "divide": "/"}


def _text(scalar: Scalar) -> str:
    if scalar.op in _INFIX and len(scalar.operands) == 2:
        left, right = (
            f"({_text(o)})" if o.op in ("add", "subtract") else _text(o) for o in scalar.operands
        )
        return f"{left} {_INFIX[scalar.op]} {right}"
    if scalar.op == "cast":
        type_, is_signed = scalar.attr
        (operand,) = scalar.operands
        return f"cast{'' if is_signed else '_unsigned'}({type_name(type_)}, {_text(operand)})"
    if scalar.operands and scalar.op not in ("element", "padded"):
        return f"{scalar.op}({', '.join(map(_text, scalar.operands))})"
    return str(scalar)


def _operand(operand: OperandSpec) -> str:
    shape = ", ".join(map(str, operand.shape))
    what = "" if operand.role is Role.INPUT else f" ({operand.role.value})"
    return f"`{operand.name}: {type_name(operand.type)}[{shape}]`{what}"


def _domain(definition: Definition) -> str:
    return ", ".join(f"{d} reduced" if d in definition.reductions else d for d in definition.dims)


def _example(name: str, op: Any) -> str:
    """A call that is made, and the shape of its result."""
    x = np.arange(6.0).reshape(2, 3)
    scope = {"np": np, "linalg": fusejit.linalg, "x": x, "y": x + 1, "v": x[0]}
    if name in _EXAMPLES:
        call = _EXAMPLES[name]
        return f"`{call}` has the shape {np.shape(eval(call, scope))}"
    definition = op.definition
    extents = {
        e: _SIZES.get(e, 3) for o in definition.operands for s in o.shape for e in s.names(EXTENT)
    }

    def size(index: Index) -> int:
        if index.op == CONST:
            return int(index.operands[0])
        if index.op == EXTENT:
            return extents[index.operands[0]]
        if index.op == ATTRIBUTE:
            return attribute_value(index, definition.attributes)
        left, right = map(size, index.operands)
        return {"+": left + right, "-": left - right, "*": left * right}[index.op]

    arguments, shown = [], []
    for operand in definition.inputs:
        shape = tuple(map(size, operand.shape))
        dtype = operand.type if not isinstance(operand.type, str) else np.dtype(float)
        if definition.name == "div_unsigned":
            dtype = np.dtype(int)
        arguments.append(np.ones(shape, dtype) if shape else dtype.type(1))
        shown.append(f"{operand.name} of {shape}" if shape else f"{operand.name} = 1")
    if name.endswith("_unsigned"):
        arguments[0] = arguments[0].astype(int)
    result = op.reference(*arguments)
    return f"{', '.join(shown)} give {np.shape(result)}"
