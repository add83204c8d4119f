"""What the loop nests of a kernel compute, in the user's lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.codegen.bufferize.bufferization import BufferAssignment
from fusejit.dataclass import dataclass
from fusejit.explain.moved import iterations, size_of
from fusejit.ir.execution_plan import Group, KernelStep
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Cond, GenericOp, Load, Loop, Op, Origin, Scatter, Store, Write, walk
from fusejit.ir.source import UNKNOWN
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


@dataclass(eq=False, slots=True)
class NestReport:
    """One loop nest: an op, or a group of ops that share a loop over tiles.

    ``members`` holds, for each op in program order, what it was made of.
    """

    ops: tuple[Op, ...]
    group: Group | None
    members: list[list[Origin]]

    @property
    def is_loop(self) -> bool:
        """Whether it loops: an op on numbers does not."""
        (op, *others) = self.ops
        if isinstance(op, Cond):
            return any(isinstance(o, Loop) for block in op.blocks for o in walk(block))
        return bool(others) or not isinstance(op, GenericOp) or bool(op.domain)


def nests_of(step: KernelStep, unfused: Graph, assignment: BufferAssignment) -> list[NestReport]:
    """The nests of a kernel in program order.

    A store that its only producer writes straight into has no nest of its own: it is a member of
    the producer's.
    """
    order = {value: at for at, op in enumerate(walk(unfused.block)) for value in op.results}
    grouped: dict[Op, Group] = {op: group for group in step.groups for op in group.ops}
    nests: list[NestReport] = []
    for op in step.ops:
        group = grouped.get(op)
        if group is not None:
            if op is group.ops[0]:
                members = [_origins(o, order, assignment) for o in group.ops]
                nests.append(NestReport(group.ops, group, members))
        elif _is_work(op, assignment):
            nests.append(NestReport((op,), None, [_origins(op, order, assignment)]))
    return nests


def _is_work(op: Op, assignment: BufferAssignment) -> bool:
    if isinstance(op, Write):
        return op.value not in assignment.straight and op not in assignment.rotated
    if isinstance(op, Load):
        return op.results[0] in assignment.snapshots
    if isinstance(op, GenericOp):
        return not any(r in assignment.scattered for r in op.results)
    return bool(op.blocks)


def _origins(op: Op, order: Mapping[Value, int], assignment: BufferAssignment) -> list[Origin]:
    """What an op computes as it was traced, in program order; stores last.

    The first store to a local array only gives its contents a place.
    """
    if op.blocks:
        ops = [i for block in op.blocks for i in block.ops]
        apart = [i for i in ops if not isinstance(i, Write) or _is_work(i, assignment)]
        return [o for i in apart for o in _origins(i, order, assignment)]
    if isinstance(op, Scatter):
        made = dict.fromkeys(
            assignment.scattered[v] for v in op.operand_values if v in assignment.scattered
        )
        computed = [o for producer in made for o in _origins(producer, order, assignment)]
        return [*computed, Origin("scatter", op.location, op.value)]
    if isinstance(op, Store):
        return [Origin("store", op.location, op.value)]
    if isinstance(op, GenericOp) and op.location is UNKNOWN:  # the length of a tile
        return []
    if not isinstance(op, GenericOp):
        return [Origin("copy", op.location, v) for v in op.results if v in assignment.snapshots]
    origins = sorted(op.origins, key=lambda origin: order.get(origin.value, len(order)))
    stores = [assignment.straight[v] for v in op.results if v in assignment.straight]
    seen = [s for s in stores if s.view.buffer.origin is not None or s.version > 1]
    return [*origins, *(Origin("store", s.location, s.value) for s in seen)]


def domain_text(op: Op, symbols: Mapping[str, int], only: Sequence[int] | None = None) -> str:
    """``d0 < 300, d1 < 200``, what is reduced marked; of the dims in ``only``, if given."""
    if isinstance(op, Scatter):
        extents = op.value.type.extents
        iterators = (IteratorType.SEQUENTIAL,) * len(extents)
    elif isinstance(op, Store):
        extents, iterators = op.view.extents, (IteratorType.PARALLEL,) * len(op.view.extents)
    elif isinstance(op, GenericOp):
        extents, iterators = op.domain, op.iterators
    elif isinstance(op, Loop):
        trips = iterations(op, symbols)
        return "iterations" if trips is None else f"{trips} iterations"
    else:
        return "under a condition"
    marks = {IteratorType.REDUCTION: " reduced", IteratorType.SEQUENTIAL: " in sequence"}
    dims = [
        f"d{d} < {size_of(extent, symbols)}{marks.get(kind, '')}"
        for d, (extent, kind) in enumerate(zip(extents, iterators, strict=True))
        if only is None or d in only
    ]
    return ", ".join(dims) or "one number"
