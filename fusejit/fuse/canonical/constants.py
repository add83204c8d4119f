"""Constants move into payloads.

Before and after `fold_constants`::

    %c = constant 2.0 : f64
    %z = generic domain(s0) { yield 0.0 }               %r = generic ins(%x) { t0 = const 2.0
    %r = generic ins(%x, %c, %z) { .. in1 .. in2 .. }                          t1 = const 0.0 .. }

A value is a constant if it is a `ConstantOp`'s, a view of a constant, or the result of a generic op
that yields one number everywhere (``np.zeros``, ``np.full`` with a literal).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.rewrite_blocks import rewrite_generics
from fusejit.ir.analysis.reduction_starts import read_starts_as_inputs, writes_every_element
from fusejit.ir.graph import Graph
from fusejit.ir.ops import ConstantOp, GenericOp, Init, ViewOp, walk
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.values import Value


@dataclass(frozen=True, slots=True)
class Splat:
    """One number everywhere."""

    number: Any
    dtype: np.dtype


def splat_values(graph: Graph) -> dict[Value, Splat]:
    """The values of which every element is one known number."""
    table: dict[Value, Splat] = {}
    for op in walk(graph.block):
        if isinstance(op, ConstantOp):
            result = op.results[0]
            table[result] = Splat(op.number, result.type.dtype)
        elif isinstance(op, ViewOp) and op.source in table:
            table[op.results[0]] = table[op.source]
        elif isinstance(op, GenericOp):
            table.update(_splat_results(op))
    return table


def _splat_results(op: GenericOp) -> dict[Value, Splat]:
    table: dict[Value, Splat] = {}
    if not op.is_elementwise or op.library_call is not None:
        return table
    for value, init, ref in zip(op.results, op.inits, op.payload.results, strict=True):
        position = ref - op.payload.num_arguments
        if position < 0 or op.payload.instrs[position].op != "const":
            continue
        instr = op.payload.instrs[position]
        whole = writes_every_element(init, op.domain, value.type)
        if whole and init.combiner is None and instr.dtype == value.type.dtype:
            table[value] = Splat(instr.attr, instr.dtype)
    return table


def fold_constants(graph: Graph) -> Graph:
    """Replace operands that are constants by constants of the payload (not for library calls)."""
    splats = splat_values(graph)
    return rewrite_generics(graph, lambda op: _fold(op, splats)) if splats else graph


def _fold(op: GenericOp, splats: dict[Value, Splat]) -> GenericOp:
    gathered = op.payload.gathered()
    constant = {
        k: splats[o.value]
        for k, o in enumerate(op.inputs)
        if o.value in splats and k not in gathered
    }
    if not constant:
        return op
    payload = op.payload
    kept = [k for k in range(len(op.inputs)) if k not in constant]
    place = {old: new for new, old in enumerate(kept)}
    builder = PayloadBuilder([payload.arguments[k] for k in kept], payload.inits)
    arguments: list[int | None] = []
    for k in range(payload.num_inputs):
        splat = constant.get(k)
        arguments.append(place[k] if splat is None else builder.const(splat.number, splat.dtype))
    arguments += range(len(kept), len(kept) + len(op.inits))
    results = builder.inline(payload, arguments)
    inputs = tuple(op.inputs[k] for k in kept)
    return replace(op, inputs=inputs, payload=builder.finish(results))


def detach_starts(graph: Graph) -> Graph:
    """An elementwise op that overwrites its start fully reads it as an input, or not at all.

    ``outs(%o = %start)`` that is only a shape is cut loose; one whose payload reads ``out0``
    becomes an input with the same map. The start is a value, so a consumer may read it as often
    as it likes (linalg's fusion re-reads what it has overwritten there).
    """
    return rewrite_generics(graph, _detach)


def _detach(op: GenericOp) -> GenericOp:
    started = [k for k, init in enumerate(op.inits) if init.start is not None]
    if not started or not op.is_elementwise:
        return op
    if not all(writes_every_element(op.inits[k], op.domain, op.results[k].type) for k in started):
        return op
    return replace(read_starts_as_inputs(op), inits=tuple(Init(init.map) for init in op.inits))
