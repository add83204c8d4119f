"""Loops that carry numbers are split: what each iteration computes for itself, then the rest.

Before and after::

    for i0 = 0 to s0 step 1                   for i1 = 0 to (s0 + 8191) floordiv 8192 step 1 {
        carry (%total = %zero) {                bind e = min(8192 * i1 + 8192, s0)
      %x = ..                  (a loop)         for i0 = 8192 * i1 to e step 1 {
      %t = add %total, %x                         %x = ..
      yield %t                                    store @kept [() -> (i0 - 8192 * i1)] () = %x
    }                                           }
                                                for i2 = 8192 * i1 to e step 1 carry (..) {
                                                  %y = load @kept ..
                                                  %t = add %total, %y
                                                  yield %t
                                                }
                                              }

The first loop may be parallel. The second takes the numbers in the order of the program: sums keep
their order, bits do not change. It goes in blocks, so that what is kept in between stays small. It
pays where iterations do a lot for themselves: a loop, a reduction, several functions. A `Cond` asks
whether the loop takes as long as makes threads pay; otherwise it runs as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.dataclass import replace
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.clone import Clone
from fusejit.fuse.folding.cost import payload_cost_ns
from fusejit.fuse.loops.independent import carried_names, dependence
from fusejit.fuse.rewrite_blocks import (
    all_same,
    definitions,
    map_blocks,
    substitute_in_block,
    used_values,
)
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.analysis.estimated_work import ASSUMED, loop_ps
from fusejit.ir.analysis.integers import Integers
from fusejit.ir.execution_plan import SPLIT, FusionReport, LoopNote
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Bind,
    Block,
    Cond,
    ConstantOp,
    GenericOp,
    Load,
    Loop,
    Op,
    Operand,
    Store,
    ViewOp,
    Write,
    walk,
    written_classes,
)
from fusejit.ir.payload import PayloadBuilder, identity_payload
from fusejit.ir.source import UNKNOWN
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.ir.verifier.scope_rules import symbols_of

BLOCK = 8192  # iterations whose numbers are kept at a time
WORTH_NS = 2.5  # of an iteration's own functions in vector form, if it has no loop or nest
FEW = 8  # points of a loop that does not count as one
LAUNCH_NS = 50_000  # of a loop that is worth threads
CHEAP_NS = 1.0  # of a number that both loops compute

_F64, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)
_POINT = IndexingMap.identity(0)


def split_loops(
    graph: Graph, target: Target = GENERIC, report: FusionReport | None = None
) -> Graph:
    """Split counted loops that carry numbers, where the first half is independent and pays.

    Parameters
    ----------
    graph : Graph
        A canonical graph in which nothing was folded yet: folding would take what an iteration
        computes for itself into what it carries.
    target : Target
        The machine, for the cost of functions.
    report : FusionReport, optional
        Gets a row for each loop that was split.

    Returns
    -------
    Graph
        The same object if no loop was split.
    """
    if target.num_cores < 2:
        return graph
    splitting = _Splitting(graph, target, FusionReport() if report is None else report)
    block = splitting.block(graph.block)
    if block is graph.block:
        return graph
    buffers = [*graph.buffers, *splitting.buffers]
    return with_versions(replace(graph, block=block, buffers=buffers))


class _Splitting:
    def __init__(self, graph: Graph, target: Target, report: FusionReport) -> None:
        self.target = target
        self.report = report
        self.defined = definitions(graph.block)
        self.buffers: list[Buffer] = []
        self.last_class = max((b.alias_class for b in graph.buffers), default=-1)
        self.count = 0

    def block(self, block: Block) -> Block:
        """A block with its loops split, but not those inside, which would wait too often."""
        ops: list[Op] = []
        for op in block.ops:
            made = self.split(op) if isinstance(op, Loop) else None
            if made is None and isinstance(op, Cond):
                op = map_blocks(op, self.block)
            ops += [op] if made is None else made
        return block if all_same(ops, block.ops) else replace(block, ops=ops)

    def split(self, loop: Loop) -> list[Op] | None:
        """What stands for the loop, or None if it stays as it is."""
        if loop.condition is not None or not loop.carried or loop.step != 1:
            return None
        if loop.is_split:
            return None
        if any(value.type.rank for value in loop.carried):
            return None
        parts = _parted(loop)
        if parts is None or not self.is_worth(parts[0]):
            return None
        own, behind = parts
        copied = self.copied(loop, own)
        own, behind = _with_elements(own, behind, copied)
        needed = {v for op in behind for v in used_values(op)} | {*loop.body.yields}
        made = {v: op for op in own for v in op.results}
        kept = [v for op in own for v in op.results if v in needed and op not in copied]
        if any(v.type.rank for v in kept) or _bound(own) & _symbols(behind):
            return None
        if _reads_memory_of(behind, own):
            return None
        has_stores = any(isinstance(op, Write) for op in walk(Block((), own)))
        if not kept and not has_stores:
            return None
        wanted = _needed_again(needed, made, copied)
        again = [op for op in own if op in copied and op in wanted]
        return self.halves(loop, own, behind, kept, again)

    def is_worth(self, own: Sequence[Op]) -> bool:
        ops = list(walk(Block((), list(own))))
        if any(_is_long(op) for op in ops):
            return True
        generic = [op for op in ops if isinstance(op, GenericOp)]
        return sum(payload_cost_ns(op.payload, self.target) for op in generic) >= WORTH_NS

    def copied(self, loop: Loop, own: Sequence[Op]) -> set[Op]:
        """Ops that both halves may compute: they cost next to nothing, and memory stays."""
        written = written_classes(loop.body)
        made = {v: op for op in own for v in op.results}
        bound = _bound(own)
        copied: set[Op] = set()
        for op in own:
            if _reads_memory_of([op], own):
                continue
            operands_too = all(made[v] in copied for v in op.operand_values if v in made)
            if operands_too and not _symbols([op]) & bound and self.is_cheap(op, written):
                copied.add(op)
        return copied

    def is_cheap(self, op: Op, written: frozenset[int]) -> bool:
        if isinstance(op, Load):
            return op.view.buffer.alias_class not in written
        if isinstance(op, GenericOp):
            is_number = not op.domain and not op.payload.has_extract()
            return is_number and payload_cost_ns(op.payload, self.target) < CHEAP_NS
        return isinstance(op, ConstantOp | ViewOp)

    def halves(
        self,
        loop: Loop,
        own: Sequence[Op],
        behind: Sequence[Op],
        kept: Sequence[Value],
        again: Sequence[Op],
    ) -> list[Op] | None:
        """Memory for what is kept, and the loop over blocks with both loops in it."""
        induction, lower, upper = loop.counted
        tag = f"{induction}_b{self.count}"
        number, end = AffineExpr.symbol(tag), AffineExpr.symbol(f"{tag}e")
        first = lower + number * BLOCK
        place = IndexingMap(0, (AffineExpr.symbol(induction) - first,))
        buffers = [
            Buffer(
                f"{tag}_{value.name}",
                TensorType(value.type.dtype, (AffineExpr.const(BLOCK),)),
                self.last_class + 1 + at,
            )
            for at, value in enumerate(kept)
        ]
        stores: list[Op] = [
            Store(view=View(buffer, place, ()), value=value, version=0)
            for buffer, value in zip(buffers, kept, strict=True)
        ]
        body = Block((), [*own, *stores])
        in_block = replace(loop, lower=first, upper=end, location=UNKNOWN)
        first_half = replace(in_block, results=(), carried=(), body=body)
        if dependence(first_half, self.defined) is not None:
            return None
        renamed: dict[Value, Value] = {}
        ops: list[Op] = []
        for op in again:
            results = tuple(replace(v) for v in op.results)
            renamed.update(zip(op.results, results, strict=True))
            ops.append(replace(op, results=results))
        for buffer, value in zip(buffers, kept, strict=True):
            loaded = Value(buffer.name, buffer.type)
            renamed[value] = replace(value)
            ops.append(Load(results=(loaded,), view=View.whole(buffer), version=0))
            ops.append(_number(renamed[value], loaded, place))
        in_order = Block(loop.body.arguments, [*ops, *behind], loop.body.yields)
        in_order = substitute_in_block(in_order, renamed)
        arguments = tuple(replace(v) for v in loop.body.arguments)
        yields, results = (tuple(map(replace, loop.results)) for _ in range(2))
        second_half = replace(in_block, results=yields, carried=arguments, body=in_order)
        integers = Integers(1)
        limit = integers.bound("end", {f"{tag}e": integers(first + BLOCK).minimum(upper)})
        blocks = replace(
            loop,
            results=results,
            body=Block(arguments, [*limit, first_half, second_half], yields),
            induction=tag,
            lower=AffineExpr.const(0),
            upper=(upper - lower + (BLOCK - 1)).floordiv(BLOCK),
            location=UNKNOWN,
            is_split=True,
        )
        self.count += 1
        self.buffers += buffers
        self.last_class += len(kept)
        split = Block((), [*(Alloc(buffer=buffer) for buffer in buffers), blocks], results)
        as_written = self.cloned(loop)
        names, several = carried_names(loop)
        verb = "are" if several else "is"
        parallel = "only the work that depends on no other iteration"
        why = f"{parallel}; {names} {verb} computed afterwards, in program order"
        self.report.loops.append(LoopNote(SPLIT, why, loop.location))
        question = _is_worth_threads(loop)
        choice = Cond(
            results=loop.results,
            predicate=question.results[0],
            then_block=split,
            else_block=Block((), [as_written], as_written.results),
            location=loop.location,
        )
        return [question, choice]

    def cloned(self, loop: Loop) -> Loop:
        """The loop with values and memory of its own: for sizes at which threads do not pay."""
        clone = Clone(self.last_class + 1)
        same = clone.op(loop)
        assert isinstance(same, Loop)
        self.buffers += clone.buffers.values()
        self.last_class = clone.next_class - 1
        return replace(same, location=UNKNOWN, is_split=True)


def _is_long(op: Op) -> bool:
    """Whether it is a loop or a nest, of more than a few known points."""
    extents: tuple[AffineExpr, ...] = ()
    if isinstance(op, Loop):
        if op.lower is None or op.upper is None:
            return True
        extents = (op.upper - op.lower,)
    elif isinstance(op, GenericOp):
        extents = op.domain
    sizes = [extent.as_constant() for extent in extents]
    return any(size is None or size > FEW for size in sizes)


def _parted(loop: Loop) -> tuple[list[Op], list[Op]] | None:
    """The ops that need nothing of what is carried, and those that do; None if these do more."""
    carried: set[Value] = set(loop.body.arguments)
    written = written_classes(loop.body)
    own: list[Op] = []
    behind: list[Op] = []
    for op in loop.body.ops:
        if not any(v in carried for v in used_values(op)):
            own.append(op)
            continue
        if not _is_pure_number(op, written):
            return None
        behind.append(op)
        carried.update(op.results)
    return own, behind


def _with_elements(
    own: Sequence[Op], behind: Sequence[Op], copied: set[Op]
) -> tuple[list[Op], list[Op]]:
    """Elements of arrays that only the first half has, as numbers of its own."""
    arrays = {v for op in own if op not in copied for v in op.results if v.type.rank}
    elements: dict[tuple[Value, IndexingMap], GenericOp] = {}

    def number(operand: Operand) -> Operand:
        if operand.value not in arrays:
            return operand
        key = operand.value, operand.map
        if key not in elements:
            result = Value("", TensorType(operand.value.type.dtype, ()), Kind.SCALAR)
            elements[key] = _number(result, *key)
        return Operand(elements[key].results[0], _POINT)

    after: list[Op] = []
    for op in behind:
        if isinstance(op, GenericOp):
            op = replace(op, inputs=tuple(map(number, op.inputs)))
        after.append(op)
    before: list[Op] = []
    for op in own:
        before.append(op)
        before += [e for (value, _), e in elements.items() if value in op.results]
    return before, after


def _is_pure_number(op: Op, written: frozenset[int]) -> bool:
    """Whether an op computes numbers and does nothing else, in its blocks neither."""
    if isinstance(op, GenericOp):
        return not op.domain and not op.payload.has_extract()
    if isinstance(op, Load):
        return op.view.buffer.alias_class not in written
    if isinstance(op, Cond):
        return all(_is_pure_number(inner, written) for block in op.blocks for inner in block.ops)
    return isinstance(op, ConstantOp | ViewOp)


def _bound(ops: Sequence[Op]) -> frozenset[str]:
    """Symbols that ops define for those after them."""
    return frozenset(op.symbol for op in ops if isinstance(op, Bind))


def _reads_memory_of(ops: Sequence[Op], own: Sequence[Op]) -> bool:
    """Whether some ops read a buffer that others make, which only the first half has."""
    memory = {op.buffer for op in own if isinstance(op, Alloc | Alias)}
    inside = walk(Block((), list(ops)))
    return any(isinstance(op, Load) and op.view.buffer in memory for op in inside)


def _symbols(ops: Sequence[Op]) -> frozenset[str]:
    return frozenset().union(*(symbols_of(op) for op in walk(Block((), list(ops)))))


def _needed_again(needed: set[Value], made: dict[Value, Op], copied: set[Op]) -> set[Op]:
    """The ops that the second half reads and computes again, and those that such ops read."""
    wanted = {made[v] for v in needed if v in made and made[v] in copied}
    todo = list(wanted)
    while todo:
        for value in todo.pop().operand_values:
            if value in made and made[value] not in wanted:
                wanted.add(made[value])
                todo.append(made[value])
    return wanted


def _number(result: Value, array: Value, place: IndexingMap) -> GenericOp:
    """One element of an array."""
    payload = identity_payload(array.type.dtype)
    return elementwise(result, [Operand(array, place)], payload, "number")


def _is_worth_threads(loop: Loop) -> GenericOp:
    """Whether the loop takes as long as makes threads pay, by its sizes."""
    payload = PayloadBuilder([], [_BOOL])
    total = payload.const(0.0, _F64)
    for names, picoseconds in loop_ps(loop).terms:
        term = payload.const(float(picoseconds), _F64)
        for name in names:
            size = payload.const(float(ASSUMED), _F64)
            if isinstance(name, str):
                size = payload.cast(payload.index(AffineExpr.symbol(name)), _F64)
            term = payload.op("multiply", [term, size], _F64)
        total = payload.op("add", [total, term], _F64)
    least = payload.const(1000.0 * LAUNCH_NS, _F64)
    answer = payload.op("greater_equal", [total, least], _BOOL)
    result = Value("", TensorType(_BOOL), Kind.PYTHON)
    return elementwise(result, (), payload.finish([answer]), "is worth threads")
