"""Graphs as DOT text, which Graphviz draws: ``dot -Tsvg``. Nothing but text is needed here.

Ops are boxes with their name, extents, payload and the user's line; arrows are values. Kernels are
clusters, and the groups of ops that share loops are clusters inside. A dashed arrow leads from a
store to what must come after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.ir.analysis.lines import by_line
from fusejit.ir.execution_plan import ExecutionPlan, Group, KernelStep
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alias,
    Alloc,
    ConstantOp,
    GenericOp,
    HostCall,
    Load,
    Op,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.payload import Payload
from fusejit.ir.text.expressions import expressions
from fusejit.ir.text.printer import extents_text, number_text
from fusejit.ir.text.unique_names import Names
from fusejit.ir.values import Value, View

MAX_TEXT = 48  # characters of a payload or of a source line in a label

_FILL = {"elementwise": "#dbe9f6", "reduction": "#fbe3c8", "library": "#e6dcf2", "store": "#f6d5d5"}


def graph_dot(graph: Graph) -> str:
    """The graph as it was traced, without clusters."""
    return _Drawing(graph).text([])


def plan_dot(schedule: ExecutionPlan) -> str:
    """The fused graph: kernels are clusters, groups are clusters inside."""
    return _Drawing(schedule.graph).text(
        [step for step in schedule.steps if isinstance(step, KernelStep)]
    )


class _Drawing:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = Names.of_graph(graph)
        self.ops = [op for op in graph.block.ops if not isinstance(op, Alloc | Alias)]
        self.node = {op: f"n{at}" for at, op in enumerate(self.ops)}
        self.source = {value: op for op in self.ops for value in op.results}

    def text(self, kernels: list[KernelStep]) -> str:
        lines = [
            f"digraph {_quoted(self.graph.name)} {{",
            '  node [shape=box, style="rounded,filled", fillcolor=white, fontname=monospace];',
            '  graph [fontname=monospace, style="rounded"];',
            "  edge [fontname=monospace, fontsize=10];",
        ]
        inside: set[Op] = set()
        for number, kernel in enumerate(kernels):
            lines += self._kernel(number, kernel, inside)
        lines += [self._op(op) for op in self.ops if op not in inside]
        for scalar in self.graph.scalars:
            name = self.names.value(scalar.value)
            label = _label(f"%{name} : {scalar.value.type}")
            lines.append(f"  {_scalar(name)} [label={label}, fillcolor={_quoted('#eeeeee')}];")
        lines += self._edges()
        lines += self._results()
        return "\n".join([*lines, "}", ""])

    def _kernel(self, number: int, kernel: KernelStep, inside: set[Op]) -> Iterator[str]:
        """A cluster. Loads and views stay outside: they may serve several kernels."""
        yield f"  subgraph cluster_kernel{number} {{"
        yield f"    label={_label(f'kernel {number}')}; color={_quoted('#606060')};"
        work = [op for op in kernel.ops if op in self.node and not _is_weightless(op)]
        for at, group in enumerate(kernel.groups):
            yield f"    subgraph cluster_kernel{number}_group{at} {{"
            text = _label(f"one loop over tiles: {_bands(group)}")
            yield f"      label={text}; color={_quoted('#3070b0')};"
            members: list[Op] = [*group.ops, *([group.store] if group.store else [])]
            for op in members:
                if op in self.node and op not in inside:
                    inside.add(op)
                    yield "    " + self._op(op)
            yield "    }"
        for op in work:
            if op not in inside:
                inside.add(op)
                yield "  " + self._op(op)
        yield "  }"

    def _op(self, op: Op) -> str:
        lines, fill = self._describe(op)
        lines += _user_lines(op)
        return f"  {self.node[op]} [label={_label(*lines)}, fillcolor={_quoted(fill)}];"

    def _describe(self, op: Op) -> tuple[list[str], str]:
        if isinstance(op, GenericOp):
            fill = "reduction" if op.reduction_dims else "elementwise"
            fill = "library" if op.library_call else fill
            return [f"{op.name} {extents_text(op.domain)}", _payload_text(op)], _FILL[fill]
        if isinstance(op, Store):
            masked = " where mask" if op.mask is not None else ""
            return [f"store {self._view(op.view)}{masked}"], _FILL["store"]
        if isinstance(op, Scatter):
            combine = "" if op.combine is None else f" {op.combine}"
            return [f"scatter{combine} {self._view(op.view)}"], _FILL["store"]
        if isinstance(op, Load):
            return [f"load {self._view(op.view)} : {op.results[0].type}"], "#eeeeee"
        if isinstance(op, ViewOp):
            return [f"view {_short(str(op.map))}"], "white"
        if isinstance(op, ReshapeOp):
            return [f"reshape {op.reassociation}", str(op.results[0].type)], "white"
        if isinstance(op, ConstantOp):
            return [f"constant {number_text(op.number)}"], "#eeeeee"
        if isinstance(op, HostCall):
            return [f"call {op.function}"], _FILL["library"]
        return [type(op).__name__.lower()], "white"

    def _view(self, view: View) -> str:
        name = f"@{self.names.buffer(view.buffer)}"
        is_whole = view.map.is_identity and view.extents == view.buffer.type.extents
        return name if is_whole else f"{name} {_short(str(view.map))}"

    # -- arrows ---------------------------------------------------------------------------------
    def _edges(self) -> Iterator[str]:
        last_store: dict[int, Op] = {}
        for op in self.ops:
            for value in _read_by(op):
                if (start := self._start(value)) is not None and start != self.node[op]:
                    yield f"  {start} -> {self.node[op]}{_operand_numbers(op, value)};"
            if isinstance(op, Load | Write):
                earlier = last_store.get(op.view.buffer.alias_class)
                if earlier is not None:
                    yield f"  {self.node[earlier]} -> {self.node[op]} [style=dashed];"
            for inner in (op, *(o for block in op.blocks for o in walk(block))):
                if isinstance(inner, Write):
                    last_store[inner.view.buffer.alias_class] = op
        self.last_store = last_store

    def _results(self) -> Iterator[str]:
        for at, result in enumerate(self.graph.results):
            if isinstance(result, View):
                earlier = self.last_store.get(result.buffer.alias_class)
                start = None if earlier is None else self.node[earlier]
                text, style = f"return {self._view(result)}", " [style=dashed]"
            else:
                start, style = self._start(result), ""
                text = f"return : {result.type}"
            yield f"  r{at} [label={_label(text)}, shape=ellipse, style=filled];"
            if start is not None:
                yield f"  {start} -> r{at}{style};"

    def _start(self, value: Value) -> str | None:
        """The node a value comes from; None inside loops, which are one node."""
        if value in self.source:
            return self.node[self.source[value]]
        is_scalar = any(scalar.value is value for scalar in self.graph.scalars)
        return _scalar(self.names.value(value)) if is_scalar else None


# ---------------------------------------------------------------------------------------- the texts
def _read_by(op: Op) -> list[Value]:
    """What an op and the ops inside it read, each value once."""
    ops = (op, *(o for block in op.blocks for o in walk(block)))
    return list(dict.fromkeys(v for o in ops for v in o.operand_values))


def _operand_numbers(op: Op, value: Value) -> str:
    """Which inputs of the payload an arrow brings, and through which map if not the identity."""
    if not isinstance(op, GenericOp):
        return ""
    maps = {k: operand.map for k, operand in enumerate(op.inputs) if operand.value is value}
    plain = all(m.is_identity or not m.rank for m in maps.values())
    if not maps or (plain and len(op.inputs) < 2):
        return ""
    texts = [
        f"in{k}" + (f"[{', '.join(map(str, m.results))}]" if not m.is_identity and m.rank else "")
        for k, m in maps.items()
    ]
    return f" [label={_quoted(', '.join(texts))}]"


def _is_weightless(op: Op) -> bool:
    return isinstance(op, Load | ViewOp | ReshapeOp | ConstantOp)


def _bands(group: Group) -> str:
    op = group.ops[0]
    return ", ".join(str(op.domain[dim]) for dim in group.shared_dims[0])


def _payload_text(op: GenericOp) -> str:
    """``sqrt(in0) * 2.0``; the combiner in front where there is one: ``add: in0``."""
    texts = _expressions(op.payload)
    parts = []
    for init, result in zip(op.inits, op.payload.results, strict=True):
        combiner = f"{init.combiner}: " if init.combiner else ""
        parts.append(combiner + texts[result])
    return _short("; ".join(parts))


def _expressions(payload: Payload) -> list[str]:
    """One text per ref; a long one is cut, so that shared parts do not grow without bound."""
    names = [payload.ref_name(ref) for ref in range(payload.num_arguments)]
    return expressions(payload, names, names, lambda e: f"index({e})", lambda _, text: _short(text))


def _user_lines(op: Op) -> list[str]:
    """Every line of the user's program that the op computes, with what it does there."""
    origins = op.origins if isinstance(op, GenericOp) else ()
    if len(origins) < 2:
        return [f"{op.location.short}  {_short(op.location.text)}".rstrip()] * bool(
            op.location.line
        )
    return [
        f"{location.short}  {names}: {_short(location.text)}"
        for location, names in sorted(by_line(origins), key=lambda row: row[0].line)
        if location.line
    ]


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _scalar(name: str) -> str:
    return _quoted(f"scalar {name}")


def _label(*lines: str) -> str:
    """Lines as one label, each flush left."""
    if len(lines) == 1:
        return _quoted(lines[0])
    return '"' + "".join(_escaped(line) + "\\l" for line in lines) + '"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
