"""Where each value of a graph lives: a slot, kernel memory, a scalar variable, or a store's view.

Decided before anything is lowered, from the uses of each value and the versions of memory:

- results and values that several steps need are *slots*, arrays that the launcher allocates;
- a value that one store alone reads is written *straight* into the store's view, in the order that
  `fusejit.codegen.bufferize.hazards` finds if the store overlaps what it reads;
- a load that is read after its memory was overwritten is a *snapshot*: a copy made at the load;
- everything else is memory of the kernel, or a variable if it has rank 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from fusejit.codegen.bufferize.hazards import FREE, Overlap, may_reduce_into, overlap_of
from fusejit.codegen.bufferize.homes import homes_of
from fusejit.codegen.bufferize.rotations import Rotation, rotations_of
from fusejit.codegen.bufferize.scatter_operands import reads_allow_scatter
from fusejit.dataclass import dataclass, field
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.analysis.host_blocks import host_blocks, launcher_binds, runs_on_host
from fusejit.ir.analysis.writes import store_that_takes
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import is_host_call
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.memory_versions import walk_versions
from fusejit.ir.ops import (
    Alloc,
    Block,
    GenericOp,
    Load,
    Loop,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.payload import identity_payload
from fusejit.ir.values import Buffer, Value, View


@dataclass(slots=True)
class BufferAssignment:
    """The decisions; values and ops are compared by identity."""

    defining: dict[Value, Op] = field(default_factory=dict)
    step_of: dict[int, int] = field(default_factory=dict)  # id(op) -> step, top-level ops
    end_of: dict[int, int] = field(default_factory=dict)  # id(block) -> its last step
    versions_at: dict[int, dict[int, int]] = field(default_factory=dict)  # id(op) -> class -> v
    slot_values: set[Value] = field(default_factory=set)
    slot_buffers: set[Buffer] = field(default_factory=set)
    snapshots: set[Value] = field(default_factory=set)
    straight: dict[Value, Store] = field(default_factory=dict)
    homes: dict[Value, Store] = field(default_factory=dict)  # computed in memory written once
    overlaps: dict[Store, Overlap] = field(default_factory=dict)  # in place, in this order
    moves: dict[Store, GenericOp] = field(default_factory=dict)  # of elements of one buffer
    whole_copies: dict[Store, str] = field(default_factory=dict)  # not written straight, and why
    rotations: dict[Loop, list[Rotation]] = field(default_factory=dict)
    rotated: dict[Store, Rotation] = field(default_factory=dict)
    over_cells: set[Value] = field(default_factory=set)  # computed where their rotation begins
    scattered: dict[Value, GenericOp] = field(default_factory=dict)  # computed where they are read

    def root(self, value: Value) -> Value:
        """The value behind a chain of views."""
        op = self.defining.get(value)
        while isinstance(op, ViewOp | ReshapeOp):
            value = op.source
            op = self.defining.get(value)
        return value

    def is_computed_at_use(self, op: GenericOp) -> bool:
        """Whether an op is written where its results are read: at a store, over a loop buffer."""
        at_use = self.straight, self.scattered, self.over_cells
        return any(result in values for result in op.results for values in at_use)


def assign_buffers(graph: Graph) -> BufferAssignment:
    """Decide where each value of a graph lives."""
    assignment = BufferAssignment()
    for op in walk(graph.block):
        for result in op.results:
            assignment.defining[result] = op
    _number_steps(graph, assignment)
    record_versions(graph.block, {}, assignment.versions_at)
    _find_straight_stores(graph, assignment)
    _find_moves(graph, assignment)
    _find_rotations(graph, assignment)
    _find_snapshots(graph, assignment)
    _find_slots(graph, assignment)
    rotated = {rotation.value for rotation in assignment.rotated.values()}
    elsewhere = {*assignment.straight, *assignment.slot_values, *rotated}
    assignment.homes = homes_of(graph, elsewhere)
    return assignment


def _number_steps(graph: Graph, assignment: BufferAssignment) -> None:
    """Number the steps in program order: those of a loop of the launcher after its own number.

    What is inside a loop or conditional of a kernel has the number of that kernel.
    """
    binds = launcher_binds(graph)
    step = 0

    def number(block: Block) -> None:
        nonlocal step
        for op in block.ops:
            if _is_host_step(op, binds):
                step += 1
                assignment.step_of[id(op)] = step
                step += 1
                for inner in op.blocks:
                    number(inner)
                    assignment.end_of[id(inner)] = step
                    step += 1
            else:
                assignment.step_of[id(op)] = step
                for inner_op in (o for inner in op.blocks for o in walk(inner)):
                    assignment.step_of[id(inner_op)] = step

    number(graph.block)


def _is_host_step(op: Op, binds: Container[Op]) -> bool:
    """Whether an op is a step of the launcher by itself."""
    is_library = isinstance(op, GenericOp) and op.library_call is not None
    return is_library or runs_on_host(op) or is_host_call(op) or op in binds


def record_versions(block: Block, state: dict[int, int], at: dict[int, dict[int, int]]) -> None:
    """Note for each op the version of every class before it (see `Load.version`)."""
    for op, counters in walk_versions(block, state):
        at[id(op)] = here = dict(counters)
        if isinstance(op, Write):
            here[op.view.buffer.alias_class] -= 1


def _uses(block: Block) -> Iterator[tuple[Value, Op | None, Block]]:
    """Every use of a value: by an op, or (None) by the end of a block."""
    for op in block.ops:
        for value in op.operand_values:
            yield value, op, block
        for inner in op.blocks:
            yield from _uses(inner)
    for value in block.yields:
        yield value, None, block


def _find_straight_stores(graph: Graph, assignment: BufferAssignment) -> None:
    uses: dict[Value, list[Op | None]] = {}
    block_of = {id(op): block for block in _blocks(graph.block) for op in block.ops}
    for value, op, _ in _uses(graph.block):
        uses.setdefault(value, []).append(op)
    for result in graph.results:
        if isinstance(result, Value):
            uses.setdefault(result, []).append(None)
    for value, users in uses.items():
        producer = assignment.defining.get(value)
        store = store_that_takes(value, users)
        if store is None:
            continue
        if (
            isinstance(producer, GenericOp)
            and producer.library_call is None
            and len(producer.results) == 1
            and block_of[id(producer)] is block_of[id(store)]
            and assignment.step_of.get(id(producer)) == assignment.step_of.get(id(store))
        ):
            here = assignment.versions_at[id(store)]
            if not producer.is_elementwise:
                if may_reduce_into(producer, store, assignment.defining, here):
                    assignment.straight[value] = store
                continue
            init = producer.inits[0]
            if not init.map.is_padded_permutation or init.start is not None:
                continue
            overlap = overlap_of(producer, store, assignment.defining, here)
            if isinstance(overlap, str):
                assignment.whole_copies[store] = overlap
                continue
            assignment.straight[value] = store
            if overlap != FREE:
                assignment.overlaps[store] = overlap
    for op in walk(graph.block):
        if isinstance(op, Scatter):
            _find_scattered(op, uses, assignment, block_of)


def _find_scattered(
    scatter: Scatter,
    uses: Mapping[Value, Sequence[Op | None]],
    assignment: BufferAssignment,
    block_of: Mapping[int, Block],
) -> None:
    """Operands of a scatter that are computed point by point as it is written."""
    for value in scatter.operand_values:
        producer = assignment.defining.get(value)
        if (
            isinstance(producer, GenericOp)
            and producer.library_call is None
            and producer.is_elementwise
            and all(uses.get(result, [scatter]) == [scatter] for result in producer.results)
            and block_of[id(producer)] is block_of[id(scatter)]
            and all(i.map.is_identity and i.start is None for i in producer.inits)
            and assignment.step_of.get(id(producer)) == assignment.step_of.get(id(scatter))
            and reads_allow_scatter(
                scatter,
                producer,
                assignment.defining,
                assignment.root,
                assignment.versions_at[id(scatter)],
            )
        ):
            assignment.scattered[value] = producer


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for inner in (b for op in block.ops for b in op.blocks):
        yield from _blocks(inner)


def _find_moves(graph: Graph, assignment: BufferAssignment) -> None:
    """Stores of a part of a buffer into another part of it, as copies that overlap."""
    for store in walk(graph.block):
        if not isinstance(store, Store):
            continue
        load = assignment.defining.get(assignment.root(store.value))
        if not isinstance(load, Load):
            continue
        if load.view.buffer.alias_class != store.view.buffer.alias_class:
            continue
        move = copy_op(store.value, store.value, "store")
        here = assignment.versions_at[id(store)]
        overlap = overlap_of(move, store, assignment.defining, here)
        if isinstance(overlap, str):
            assignment.whole_copies[store] = overlap
        else:
            assignment.moves[store] = move
            if overlap != FREE:
                assignment.overlaps[store] = overlap


def _find_rotations(graph: Graph, assignment: BufferAssignment) -> None:
    uses = Counter(value for value, _, _ in _uses(graph.block))
    bases = {b.base for b in graph.buffers}
    outer_loops = {op for op in graph.block.ops if isinstance(op, Loop)}
    returned = {r.buffer for r in graph.results if isinstance(r, View)}  # copied at each loop
    for loop in walk(graph.block):
        if not isinstance(loop, Loop) or runs_on_host(loop):  # the launcher moves no pointers
            continue
        found = rotations_of(
            loop, assignment.defining, assignment.versions_at, uses, assignment.straight
        )
        is_inner = loop not in outer_loops
        kept = [
            r
            for r in found
            if bases.isdisjoint(r.loop_buffers)
            and not (is_inner and returned.intersection(r.loop_buffers))
        ]
        assignment.rotations[loop] = kept
        for rotation in kept:
            assignment.straight.pop(rotation.value, None)
            if not rotation.has_spare:
                assignment.over_cells.add(rotation.value)
            for store in rotation.stores:
                assignment.rotated[store] = rotation
                assignment.moves.pop(store, None)
                assignment.overlaps.pop(store, None)
                assignment.whole_copies.pop(store, None)


def copy_op(value: Value, source: Value, name: str) -> GenericOp:
    """An op that copies ``source`` elementwise; ``value`` gives type and extents."""
    identity = IndexingMap.identity(value.type.rank)
    copy, payload = Value(f"{value.name}_copy", value.type), identity_payload(value.type.dtype)
    return elementwise(copy, [Operand(source, identity)], payload, name)


def _find_snapshots(graph: Graph, assignment: BufferAssignment) -> None:
    end = _versions_after(graph.block, {})

    def check(value: Value, here: dict[int, int]) -> None:
        load = assignment.defining.get(assignment.root(value))
        if isinstance(load, Load) and here.get(load.view.buffer.alias_class, 0) != load.version:
            assignment.snapshots.add(load.results[0])

    for value, user, block in _uses(graph.block):
        if isinstance(user, ViewOp | ReshapeOp) or user in assignment.rotated:
            continue
        if user is None:
            before = assignment.versions_at[id(block.ops[0])] if block.ops else {}
            check(value, _versions_after(block, before))
        elif isinstance(user, GenericOp) and assignment.is_computed_at_use(user):
            continue
        else:
            check(value, assignment.versions_at[id(user)])
    for result in graph.results:
        if isinstance(result, Value):
            check(result, end)


def _versions_after(block: Block, before: Mapping[int, int]) -> dict[int, int]:
    state = dict(before)
    record_versions(block, state, {})
    return state


def _find_slots(graph: Graph, assignment: BufferAssignment) -> None:
    last = max(assignment.step_of.values(), default=0)
    for result in graph.results:
        if isinstance(result, View):
            if result.buffer.root.origin is None:
                assignment.slot_buffers.add(result.buffer.root)
        else:
            root = assignment.root(result)
            if root in assignment.defining:  # not a number of the caller
                assignment.slot_values.add(root)
                _keep_if_read_at(last, root, assignment)
    binds = launcher_binds(graph)
    blocks = list(host_blocks(graph))
    made = [(op, block) for block in blocks for op in block.ops if isinstance(op, Alloc)]
    home = {op.buffer: block for op, block in made}
    for block in blocks:
        for op in block.ops:
            inner = () if runs_on_host(op) else op.blocks
            read = [*op.operand_values, *(v for b in inner for v, _, _ in _uses(b))]
            for value in read:
                _keep_if_read_at(assignment.step_of[id(op)], value, assignment)
            if _is_host_step(op, binds):
                _find_slots_of_call(op.operand_values, assignment)
                assignment.slot_values.update(op.results)
            if isinstance(op, Loop) and op.condition is not None and runs_on_host(op):
                _find_slots_of_call(op.condition.yields, assignment)
        if block is not graph.block:
            for value in block.yields:  # copied by the last kernel
                _keep_if_read_at(assignment.end_of[id(block)], value, assignment)
    first_step = {op.buffer: assignment.step_of[id(op)] for op, _ in made}
    for block in blocks:
        for op in block.ops:
            here = assignment.step_of[id(op)]
            for buffer in () if runs_on_host(op) else _buffers(op):
                if buffer.origin is not None:
                    continue
                is_mine = home.get(buffer, block) is block  # or made inside a kernel
                if first_step.setdefault(buffer, here) != here or not is_mine:
                    assignment.slot_buffers.add(buffer)


def _find_slots_of_call(values: Sequence[Value], assignment: BufferAssignment) -> None:
    """What the launcher itself reads is an array of its own."""
    for value in values:
        root = assignment.root(value)
        load = assignment.defining.get(root)
        if isinstance(load, Load) and root not in assignment.snapshots:
            if load.view.buffer.root.origin is None:
                assignment.slot_buffers.add(load.view.buffer.root)
        elif root in assignment.defining:  # a number is the launcher's own
            assignment.slot_values.add(root)


def _keep_if_read_at(step: int, value: Value, assignment: BufferAssignment) -> None:
    """Make what another step has computed, or the buffer that it has loaded, a slot."""
    root = assignment.root(value)
    producer = assignment.defining.get(root)
    if producer is None or assignment.step_of.get(id(producer), step) == step:
        return
    if not isinstance(producer, Load) or root in assignment.snapshots:
        assignment.slot_values.add(root)
    elif producer.view.buffer.root.origin is None:
        assignment.slot_buffers.add(producer.view.buffer.root)


def _buffers(op: Op) -> Iterator[Buffer]:
    ops = [op, *(inner for block in op.blocks for inner in walk(block))]
    for each in ops:
        if isinstance(each, Load | Write):
            yield each.view.buffer.root
