"""Tables of docs/linalg.md and docs/structured.md: ops with their operands, and functions."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

import fusejit.linalg
from fusejit.ir.definitions.composed_functions import COMPOSED
from fusejit.ir.definitions.definition import Definition
from fusejit.ir.scalar_ops.scalar_op_table import UFUNC_ROWS
from fusejit.linalg.registry import OPS
from fusejit.structured.op import StructuredOp
from fusejit.tracer.values.operator_names import OPERATORS

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
    """The elementwise ops, a table of the indexed ops, and a table of ops with an example."""
    named = {n: op.definition for n, op in OPS.items() if isinstance(op, StructuredOp)}
    named = {n: d for n, d in sorted(named.items()) if n not in _EXAMPLES}
    elementwise = {n: d for n, d in named.items() if d.dims == ("d0",) and not d.reductions}
    indexed = {n: d for n, d in named.items() if n not in elementwise}
    assert all(map(_reduces_what_the_output_lacks, indexed.values()))
    lines = ["### Elementwise", ""]
    for count in (1, 2, 3):
        names = [n for n, d in elementwise.items() if len(d.inputs) == count]
        lines.append(f"- {count} operand{'s' * (count > 1)}: `{' '.join(names)}`")
    for title, kinds in _KINDS.items():
        lines += ["", f"### {title}", "", "| op | inputs | output |", "|---|---|---|"]
        names = [n for n in indexed if n.startswith(kinds)]
        lines += [f"| `{n}` | {_inputs(indexed[n])} | {_output(indexed[n])} |" for n in names]
        indexed = {n: d for n, d in indexed.items() if n not in names}
    assert not indexed
    lines += ["", "### Other ops", "", "| op | meaning | example | shape |", "|---|---|---|---|"]
    lines += [f"| `{n}` | {_meaning(n)} | {_example(n)} |" for n in sorted(_EXAMPLES)]
    return "\n".join(lines) + "\n"


_KINDS = {
    "Products": ("batch", "dot", "mat", "mmt", "quant", "vec"),
    "Convolutions": ("conv", "depthwise"),
    "Poolings": ("pooling",),
}
"""First letters of the names of indexed ops, by heading."""


def _reduces_what_the_output_lacks(definition: Definition) -> bool:
    (update,) = definition.updates
    kept = {name for s in update.access.subscripts for name in s.names("dim")}
    return set(definition.dims) - kept == set(definition.reductions)


def _subscripts(operand: str, subscripts: Any) -> str:
    """``I[n,oh+kh,c]``: with strides and dilations left out."""
    text = ",".join(str(s).replace(" ", "") for s in subscripts)
    for axis in range(3):
        text = text.replace(f"*strides[{axis}]", "").replace(f"*dilations[{axis}]", "")
    return f"{operand}[{text}]" if text else operand


def _inputs(definition: Definition) -> str:
    read = dict(definition.updates[0].value.elements())
    texts = []
    for operand in definition.inputs:
        shape = [str(s).lower() for s in operand.shape]
        texts.append(_subscripts(operand.name, read.get(operand.name, shape)))
    return f"`{' '.join(texts)}`"


def _output(definition: Definition) -> str:
    access = definition.updates[0].access
    return f"`{_subscripts(access.operand, access.subscripts)}`"


def _meaning(name: str) -> str:
    doc = " ".join((OPS[name].__doc__ or "").partition("\n\n")[0].split())
    return doc.replace("``", "`").removesuffix(".")


def _example(name: str) -> str:
    """A call that is made, and the shape of its result."""
    x = np.arange(6.0).reshape(2, 3)
    scope = {"np": np, "linalg": fusejit.linalg, "x": x, "y": x + 1, "v": x[0]}
    call = _EXAMPLES[name]
    return f"`{call}` | {str(np.shape(eval(call, scope))).replace(' ', '')}"


def formula_functions() -> str:
    """NumPy's functions that formulas may use, but for what operators compute."""
    written = {ufunc for name, ufunc in OPERATORS.items() if name != "abs"} | {np.conjugate}
    known = {ufunc.__name__ for ufunc in {*UFUNC_ROWS, *COMPOSED} - written}
    text = " ".join(sorted({*known, "where", "conj"}))
    return f"{textwrap.fill(f'`{text}`', 100, break_long_words=False)}\n"
