"""`loop_nests`: the loops of a graph as pseudo code, as its steps have left it.

Each op is a nest over its domain, in the order of its dims, that reads and writes arrays by the
names of the user's arguments. The kernel that is compiled (``s.lower().source``) is not shown here:
the automatic passes fuse before it is made, and it has vector lanes, threads and short rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from fusejit.dataclass import replace
from fusejit.fuse.rewrite_blocks import used_values
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Bind,
    Block,
    ConstantOp,
    GenericOp,
    Init,
    Load,
    Loop,
    Op,
    ReshapeOp,
    Store,
    ViewOp,
    base_name,
    walk,
)
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.text.expressions import INFIX, expressions
from fusejit.ir.text.printer import number_text, print_op
from fusejit.ir.text.unique_names import Names
from fusejit.ir.types import dtype_name
from fusejit.ir.values import Value, View
from fusejit.transform.core.base import ScheduleState

INDENT = "    "

Index = str | AffineExpr
"""The name of a dim, or the extent of a slice along it."""

DimNames = Callable[[GenericOp], Sequence[str]]


def loop_nests(schedule: ScheduleState, dims: DimNames) -> str:
    """The loops of a schedule as pseudo code."""
    graph = schedule.graph
    writer = _Writer(schedule, dims)
    buffers = [b for b in graph.buffers if b.origin is not None]
    sizes = {s.name: s.expr for s in graph.symbols}
    lines = [f"def {graph.name}({', '.join(b.name for b in buffers)}):"]
    lines += [f"{INDENT}{s.name} = {s.expr.user_text({})}" for s in graph.symbols]
    lines += [f"{INDENT}{s.value.name} = {s.expr.user_text(sizes)}" for s in graph.scalars]
    lines += [INDENT + line for line in writer.block(graph.block)]
    results = [writer.whole(r) for r in graph.results]
    return "\n".join([*lines, f"{INDENT}return {', '.join(results)}"])


class _Writer:
    def __init__(self, schedule: ScheduleState, dims: DimNames) -> None:
        graph = schedule.graph
        self.names = Names.of_graph(graph)
        self.dims = dims
        self.loops = {info.symbol: name for name, info in schedule.loops.items()}
        self.sources: dict[Value, tuple[str, IndexingMap]] = {}
        self.memory: dict[Value, View] = {}
        for op in walk(graph.block):
            if isinstance(op, Load):
                self.sources[op.results[0]] = (self.names.buffer(op.view.buffer), op.view.map)
                self.memory[op.results[0]] = op.view
            elif isinstance(op, ViewOp):
                name, map_ = self.source(op.source)
                self.sources[op.results[0]] = (name, map_.compose(op.map))
                if (view := self.memory.get(op.source)) is not None:
                    self.memory[op.results[0]] = replace(view, map=view.map.compose(op.map))
        self.used = Counter(v for op in walk(graph.block) for v in op.operand_values)
        self.used.update(r for r in graph.results if isinstance(r, Value))
        self.stores: dict[Value, Store] = {}

    def block(self, block: Block) -> Iterator[str]:
        made = {v: at for at, op in enumerate(block.ops) for v in op.results}
        for at, op in enumerate(block.ops):
            if isinstance(op, Store) and op.value in made:
                maker, *between = block.ops[made[op.value] : at]
                if isinstance(maker, GenericOp) and self.is_straight(maker, between, op):
                    self.stores[op.value] = op
        for op in block.ops:
            if isinstance(op, GenericOp):
                yield from self.generic(op)
            elif isinstance(op, Loop) and op.induction is not None:
                yield from self.loop(op)
            elif isinstance(op, Alloc):
                shape, dtype = _shape(op.buffer.type.extents), dtype_name(op.buffer.type.dtype)
                yield f"{self.names.buffer(op.buffer)} = empty({shape}, {dtype})"
            elif isinstance(op, Alias) and op.buffer.base is not None:
                what = op.buffer.part or f"reshape({_shape(op.buffer.type.extents)})"
                base = self.names.buffer(op.buffer.base)
                yield f"{self.names.buffer(op.buffer)} = {base}.{what}"
            elif isinstance(op, ReshapeOp):
                (value,) = op.results
                reshaped = f"{self.whole(op.source)}.reshape({_shape(value.type.extents)})"
                yield f"{self.names.value(value)} = {reshaped}"
            elif isinstance(op, Bind):
                if self.names.value(op.value) != op.symbol:
                    yield f"{op.symbol} = {self.names.value(op.value)}"
            elif isinstance(op, ConstantOp):
                yield f"{self.names.value(op.results[0])} = {number_text(op.number)}"
            elif isinstance(op, Store):
                if op.value not in self.stores:
                    every = IndexingMap.identity(len(op.view.extents))
                    where = self.view(op.view, every, op.view.extents)
                    stored = self.whole(op.value)
                    if op.mask is not None:
                        stored = f"where({self.whole(op.mask)}, {stored}, {where})"
                    yield f"{where} = {stored}"
            elif not isinstance(op, Load | ViewOp):
                yield from (f"# {line}" for line in print_op(op, names=self.names).splitlines())

    def is_straight(self, op: GenericOp, between: Sequence[Op], store: Store) -> bool:
        """Whether an op writes into the memory of a store, of which it reads no other element.

        Nor must what is computed before the store read it.
        """
        memory = store.view.buffer.alias_class
        read = {self.memory.get(v) for other in between for v in used_values(other)}
        is_read = any(view is not None and view.buffer.alias_class == memory for view in read)
        is_read |= any(isinstance(o, Alloc) and o.buffer is store.view.buffer for o in between)
        if store.mask is not None or self.used[store.value] > 1 or is_read:
            return False
        init = op.inits[op.results.index(store.value)]
        written = store.view.map.compose(init.map)
        reads = [(o.value, o.map) for o in op.inputs]
        reads += [(i.start, i.map) for i in op.inits if i.start is not None]
        return all(
            view.buffer.alias_class != memory
            or (view.buffer is store.view.buffer and view.map.compose(map_) == written)
            for value, map_ in reads
            if (view := self.memory.get(value)) is not None
        )

    def loop(self, op: Loop) -> Iterator[str]:
        induction, lower, upper = op.counted
        ends = [lower, upper] if lower.as_constant() != 0 else [upper]
        steps = [*map(_text, ends)] + [str(op.step)] * (op.step != 1)
        said = [f"loop {self.loops[induction]}"] if induction in self.loops else []
        said += ["on threads"] * op.is_parallel
        note = f"  # {', '.join(said)}" if said else ""
        yield f"for {induction} in range({', '.join(steps)}):{note}"
        yield from (INDENT + line for line in self.block(op.body))

    def generic(self, op: GenericOp) -> Iterator[str]:
        """A line with the name, starts of reductions, and the nest."""
        dims = [name.replace(".", "") for name in self.dims(op)]
        if op.domain:
            said = [base_name(op.name)]
            said += [f"by the routine {op.library_call}"] * (op.library_call is not None)
            said += [str(op.register_tile)] * (op.register_tile is not None)
            yield f"# {', '.join(said)}"
        targets = []
        for init, value in zip(op.inits, op.results, strict=True):
            targets.append(self.target(value, init.map, dims))
            if init.combiner is not None or init.start is not None:
                start, whole = self.start(init, value), self.target(value, None, dims)
                yield from [f"{whole} = {start}"] * (start != whole)
        arguments = [self.element(o.value, o.map, dims) for o in op.inputs] + targets
        arrays = [self.whole(o.value) for o in op.inputs]
        body: list[str] = []
        num_uses = Counter(r for i in op.payload.instrs for r in i.operands)
        num_uses.update(op.payload.results)
        num_arguments = op.payload.num_arguments

        def named(position: int, text: str) -> str:
            if num_uses[position + num_arguments] < 2 or op.payload.instrs[position].op == "const":
                return text
            body.append(f"t{position} = {_bare(text)}")
            return f"t{position}"

        texts = expressions(op.payload, arguments, arrays, lambda e: _index(e, dims), named)
        for init, target, result in zip(op.inits, targets, op.payload.results, strict=True):
            body.append(_assigned(init, target, texts[result]))
        head = ""
        for name, extent in zip(dims, op.domain, strict=True):
            yield f"{head}for {name} in range({_text(extent)}):"
            head += INDENT
        yield from (head + line for line in body)

    # -- arrays ---------------------------------------------------------------------------------
    def source(self, value: Value) -> tuple[str, IndexingMap]:
        """The array in which a value lies, and where."""
        default = (self.names.value(value), IndexingMap.identity(value.type.rank))
        return self.sources.get(value, default)

    def element(self, value: Value, map_: IndexingMap, dims: Sequence[str]) -> str:
        """``a[i, j + 1]``."""
        name, where = self.source(value)
        return _subscripted(name, where.compose(map_), dims)

    def target(self, value: Value, map_: IndexingMap | None, dims: Sequence[str]) -> str:
        """The element that a result writes; the slice of all of them without a map."""
        store = self.stores.get(value)
        rank = value.type.rank
        index: Sequence[Index] = dims if map_ else value.type.extents
        map_ = map_ or IndexingMap.identity(rank)
        if store is None:
            return _subscripted(self.names.value(value), map_, index)
        return self.view(store.view, map_, index)

    def view(self, view: View, map_: IndexingMap, dims: Sequence[Index]) -> str:
        return _subscripted(self.names.buffer(view.buffer), view.map.compose(map_), dims)

    def start(self, init: Init, value: Value) -> str:
        if init.start is not None:
            return _subscripted(*self.source(init.start), init.start.type.extents)
        assert init.combiner is not None
        return number_text(COMBINERS[init.combiner].identity(value.type.dtype))

    def whole(self, value: Value | View) -> str:
        """An array, or the part of it that is read."""
        if isinstance(value, View):
            extents = value.extents
            name, map_ = self.names.buffer(value.buffer), value.map
            view: View | None = value
        else:
            extents = value.type.extents
            name, map_ = self.source(value)
            view = self.memory.get(value)
        if map_.is_identity and (view is None or view.buffer.type.extents == extents):
            return name
        text = _subscripted(name, map_, extents)
        axes = [d for r in map_.results for d in sorted(r.dims())]
        is_view = not text.startswith(f"{name}[")
        return text if is_view or axes == sorted(axes) else f"transpose({text}, {axes})"


def _assigned(init: Init, target: str, text: str) -> str:
    if init.combiner is None:
        return f"{target} = {_bare(text)}"
    scalar_op = COMBINERS[init.combiner].scalar_op
    if scalar_op in INFIX:
        return f"{target} {INFIX[scalar_op]}= {_bare(text)}"
    return f"{target} = {scalar_op}({target}, {_bare(text)})"


def _bare(text: str) -> str:
    """Without parentheses around all of it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def _subscripted(name: str, map_: IndexingMap, dims: Sequence[Index]) -> str:
    if not map_.results and not dims:
        return name
    has_slices = any(isinstance(d, AffineExpr) for d in dims)
    axes = [d for r in map_.results for d in r.dims()]
    is_simple = sorted(axes) == [*range(len(dims))] and all(
        r.is_linear and all(r.coefficient(Dim(d)) > 0 for d in r.dims()) for r in map_.results
    )
    if has_slices and (not is_simple or any(len(r.dims()) > 1 for r in map_.results)):
        return f"view({name}, {map_})"
    return f"{name}[{', '.join(_text(r, dims) for r in map_.results)}]"


def _shape(extents: Sequence[AffineExpr]) -> str:
    return f"({', '.join(map(_text, extents))}{',' * (len(extents) == 1)})"


def _index(expr: AffineExpr, dims: Sequence[Index]) -> str:
    """An affine expression as an operand."""
    text = _text(expr, dims)
    return text if expr.is_linear else f"({text})"


def _text(expr: AffineExpr, dims: Sequence[Index] = ()) -> str:
    """An affine expression in Python; a slice where a dim is an extent."""
    names: dict[int, AffineExpr] = {}
    for d in expr.dims():
        dim = dims[d]
        if isinstance(dim, AffineExpr):
            step = expr.coefficient(Dim(d))
            start = expr - AffineExpr.dim(d) * step
            begin = "" if start.as_constant() == 0 else f"{_text(start)} "
            space = " " if begin else ""
            by = "" if step == 1 else f"{space}:{space}{step}"
            return f"{begin}:{space}{_text(start + dim * step)}{by}"
        names[d] = AffineExpr.symbol(dim)
    return str(expr.substitute(dims=names)).replace(" floordiv ", " // ").replace(" mod ", " % ")
