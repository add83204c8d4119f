"""IR as text: deterministic, one line per op, read back by `fusejit.ir.text.parser`.

The grammar is in the docstring of `fusejit.ir`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Block,
    CheckedIndex,
    Cond,
    ConstantOp,
    GenericOp,
    HostCall,
    Init,
    Load,
    Loop,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
)
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.text.unique_names import Names
from fusejit.ir.types import IteratorType, Kind
from fusejit.ir.values import Buffer, Layout, Value, View

INDENT = "  "


def print_graph(graph: Graph, *, locations: bool = False) -> str:
    """The text of a graph, without a newline at its end.

    Parameters
    ----------
    graph : Graph
        Any graph, even one the verifier refuses.
    locations : bool
        Whether ops and guards say which line of the user's program they come from.
    """
    return "\n".join(Printer(Names.of_graph(graph), locations).graph(graph))


def print_op(op: Op, *, names: Names | None = None, locations: bool = False) -> str:
    """The text of one op with the blocks it owns.

    ``names`` are those of the graph it stands in; without them, values are called by their hints.
    """
    return "\n".join(Printer(names or Names(), locations).op(op))


class Printer:
    """Prints with one set of names. Methods with several lines give them one by one."""

    def __init__(self, names: Names, locations: bool = False) -> None:
        self.names = names
        self.locations = locations

    # -- graph and blocks -----------------------------------------------------------------------
    def graph(self, graph: Graph) -> Iterator[str]:
        """The lines of a graph."""
        name = graph.name if graph.name.isidentifier() else json.dumps(graph.name)
        yield f"graph @{name}"
        for symbol in graph.symbols:
            yield f"{INDENT}symbol {symbol.name} = {symbol.expr}"
        for guard in graph.guards:
            reason = f" {json.dumps(guard.reason)}" if guard.reason else ""
            truth = "true" if guard.expected else "false"
            where = self.location(guard.location)
            yield f"{INDENT}guard {guard.expr} is {truth}{reason}{where}"
        for buffer in graph.buffers:
            if buffer.origin is not None:
                yield f"{INDENT}buffer {self.buffer_definition(buffer)}"
        for scalar in graph.scalars:
            name, type_ = self.value(scalar.value), self.value_type(scalar.value)
            yield f"{INDENT}scalar {name} : {type_} = {scalar.expr}"
        yield "{"
        yield from self.block_lines(graph.block)
        results = [self.view(r) if isinstance(r, View) else self.value(r) for r in graph.results]
        yield INDENT + f"return {', '.join(results)}".rstrip()
        yield "}"

    def block_lines(self, block: Block) -> Iterator[str]:
        """The lines of a block, indented, with its yield."""
        for op in block.ops:
            for line in self.op(op):
                yield INDENT + line
        if block.yields:
            yield INDENT + f"yield {self.value_list(block.yields)}"

    # -- ops ------------------------------------------------------------------------------------
    def op(self, op: Op) -> Iterator[str]:
        """The lines of an op."""
        head = f"{self.value_list(op.results)} = " if op.results else ""
        types = f" : {', '.join(map(self.value_type, op.results))}" if op.results else ""
        tail = types + self.location(op.location)
        match op:
            case Loop():
                yield from self.loop(op, head, tail)
            case Cond():
                yield f"{head}if {self.value(op.predicate)} {{"
                yield from self.block_lines(op.then_block)
                yield "} else {"
                yield from self.block_lines(op.else_block)
                yield "}" + tail
            case _:
                yield head + self.body_of(op) + tail

    def body_of(self, op: Op) -> str:
        """What stands between the results of an op without blocks and their types."""
        match op:
            case GenericOp():
                return self.generic(op)
            case ConstantOp():
                return f"constant {number_text(op.number)}"
            case ViewOp():
                return f"view {self.value(op.source)} [{op.map}]"
            case ReshapeOp():
                return f"reshape {self.value(op.source)} {op.reassociation}"
            case Load():
                where = "" if _is_whole(op.view) else f" [{op.view.map}]"
                return f"load @{self.names.buffer(op.view.buffer)} v{op.version}{where}"
            case Scatter():
                target = self.view(op.view, op.version)
                at = ", ".join(
                    self.operand(s) if isinstance(s, Operand) else f"({s})" for s in op.subscripts
                )
                combine = "" if op.combine is None else f" {op.combine}"
                marks = "distinct " * op.distinct + "from_start " * op.from_start
                return f"scatter{combine} {target} at {marks}({at}) = {self.value(op.value)}"
            case Assert():
                raises = "" if op.error == "IndexError" else f" raises {json.dumps(op.error)}"
                deferred = " deferred" if op.is_deferred else ""
                reason = json.dumps(op.reason)
                shown = "" if op.shown is None else self.checked_index(op.shown)
                named = "" if op.integer is None else f" integer {self.value(op.integer)}"
                return f"assert {self.value(op.condition)} {reason}{raises}{deferred}{shown}{named}"
            case Store():
                mask = "" if op.mask is None else f" mask {self.value(op.mask)}"
                return f"store {self.view(op.view, op.version)} = {self.value(op.value)}{mask}"
            case Alloc():
                return f"alloc {self.buffer_definition(op.buffer)}"
            case Alias():
                return f"alias {self.buffer_definition(op.buffer)}"
            case Bind():
                local = " local" * op.is_local
                return f"bind {op.symbol} = {self.value(op.value)}{local}"
            case HostCall():
                effect = "" if op.pure else " effect"
                name = json.dumps(op.function)
                call = f" as {json.dumps(op.call)}" if op.call else ""
                sizes = f" sizes ({', '.join(op.sizes)})" if op.sizes else ""
                objects = f" with ({', '.join(map(str, op.objects))})" if op.objects else ""
                given = f"({self.value_list(op.arguments)}){call}{objects}"
                inline = " inline" if op.inline else ""
                state = f" errstate {json.dumps(op.errstate)}" if op.errstate else ""
                return f"host_call {name}{given}{sizes}{state}{inline}{effect}"
        raise TypeError(f"no printed form for {type(op).__name__}")

    def checked_index(self, shown: CheckedIndex) -> str:
        """`` index (i0 + 1) axis 0 size (s0)``, or `` index %v ..``."""
        index = shown.index
        text = self.value(index) if isinstance(index, Value) else f"({index})"
        return f" index {text} axis {shown.axis} size ({shown.size})"

    def generic(self, op: GenericOp) -> str:
        """A generic op: domain, iterators, inputs, inits, payload."""
        parts = [f"generic {json.dumps(op.name)} domain ({', '.join(map(str, op.domain))})"]
        if any(i is not IteratorType.PARALLEL for i in op.iterators):
            parts.append(f"iterators ({', '.join(i.value for i in op.iterators)})")
        parts.append(f"ins ({', '.join(self.operand(o) for o in op.inputs)})")
        parts.append(f"outs ({', '.join(self.init(i) for i in op.inits)})")
        if op.library_call is not None:
            parts.append(f"library_call {json.dumps(op.library_call)}")
        parts += ["unfused"] * op.is_unfused
        parts += ["materialized"] * op.is_materialized
        if op.register_tile is not None:
            parts.append(str(op.register_tile))
        return f"{' '.join(parts)} {op.payload}"

    def operand(self, operand: Operand) -> str:
        """An input: ``%x``, or ``%x [map]`` where the map is not the identity."""
        return self.value(operand.value) + _map_text(operand.map)

    def init(self, init: Init) -> str:
        """An init: ``write``, ``write [map]``, ``add [map] from %x``."""
        start = "" if init.start is None else f" from {self.value(init.start)}"
        return f"{init.combiner or 'write'}{_map_text(init.map)}{start}"

    def loop(self, op: Loop, head: str, tail: str) -> Iterator[str]:
        """A counted or a conditional loop."""
        pairs = [
            f"{self.value(argument)} = {self.value(carried)} : {self.value_type(argument)}"
            for argument, carried in zip(op.body.arguments, op.carried, strict=False)
        ]
        carry = f" carry ({', '.join(pairs)})" if pairs else ""
        if op.condition is None:
            bounds = f"{op.induction} = {op.lower} to {op.upper} step {op.step}"
            flags = " parallel" * op.is_parallel + " split" * op.is_split
            if op.tiles:
                flags += f" tiles ({', '.join(map(str, op.tiles))})"
            yield f"{head}for {bounds}{flags}{carry} {{"
        else:
            yield f"{head}while{carry} {{"
            yield from self.block_lines(op.condition)
            yield "} do {"
        yield from self.block_lines(op.body)
        yield "}" + tail

    # -- values, memory, types ------------------------------------------------------------------
    def value(self, value: Value) -> str:
        """``%x``."""
        return f"%{self.names.value(value)}"

    def value_list(self, values: Sequence[Value]) -> str:
        """``%x, %y``."""
        return ", ".join(map(self.value, values))

    def value_type(self, value: Value) -> str:
        """``s0 x f64 scalar order(1, 0)``: type, kind if not an array, order if not C."""
        kind = "" if value.kind is Kind.ARRAY else f" {value.kind.value}"
        return f"{value.type}{kind}{_order_text(value.order)}"

    def view(self, view: View, version: int | None = None) -> str:
        """``@a``, or ``@a [map] (extents)`` for a part of it; with the version if there is one."""
        text = f"@{self.names.buffer(view.buffer)}"
        if version is not None:
            text += f" v{version}"
        return text if _is_whole(view) else f"{text} [{view.map}] {extents_text(view.extents)}"

    def buffer_definition(self, buffer: Buffer) -> str:
        """``@a : s0 x f64 = arg:a layout unit class 0``."""
        text = f"@{self.names.buffer(buffer)} : {buffer.type}"
        if buffer.origin is not None:
            text += f" = {buffer.origin}"
        if buffer.base is not None:
            text += f" of @{self.names.buffer(buffer.base)} {buffer.part or buffer.reassociation}"
        text += _order_text(buffer.order)
        if buffer.layout is not Layout.CONTIGUOUS:
            text += f" layout {buffer.layout.value}"
        text += f" class {buffer.alias_class}"
        return text if buffer.writeable else text + " readonly"

    def location(self, location: Location) -> str:
        """`` loc "f.py":3 in "f" from "g.py":7``, if locations are wanted and it is known."""
        if not self.locations or location == UNKNOWN:
            return ""
        text = f" loc {_location_text(location)}"
        outer = location.inlined_from
        while outer is not None:
            text += f" from {_location_text(outer)}"
            outer = outer.inlined_from
        return text


def number_text(number: Any) -> str:
    """A number of the IR as Python writes it: ``1.5``, ``True``, ``-inf``, ``nan``."""
    return repr(number.item() if isinstance(number, np.generic) else number)


def extents_text(extents: Sequence[AffineExpr]) -> str:
    """``(s0, 3)``."""
    return f"({', '.join(map(str, extents))})"


def _is_whole(view: View) -> bool:
    return view.map.is_identity and view.extents == view.buffer.type.extents


def _map_text(indexing_map: IndexingMap) -> str:
    return "" if indexing_map.is_identity else f" [{indexing_map}]"


def _order_text(order: tuple[int, ...] | None) -> str:
    return "" if order is None else f" order({', '.join(map(str, order))})"


def _location_text(location: Location) -> str:
    function = f" in {json.dumps(location.function)}" if location.function else ""
    return f"{json.dumps(location.file)}:{location.line}{function}"
