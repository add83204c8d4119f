"""Loops of the program whose iterations do not depend on each other.

Before and after::

    for i0 = 0 to s0 step 1 {                  for i0 = 0 to s0 step 1 parallel {
      %r = generic ins(%a [() -> (i0)]) ..       ..
      store @b v1 [() -> (i0)] () = %r
    }                                          }

An iteration may run beside the others if nothing is carried from one to the next and no element
that it writes is read or written by another one. That is proved axis by axis: memory that the loop
writes has an axis along which *every* access of the body, read or write, stands at ``c * i0 + r``
with one ``c`` and a remainder ``r`` of less than ``c`` different values, none of which the body
computes. Memory that the body makes belongs to its iteration.

What other iterations must not have begun when one ends the call (errors after stores to the
caller's memory), what Python sees in order (host calls), and products that BLAS computes with
threads of its own keep a loop serial. So bits, errors and effects are those of the serial loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.folding.accesses import Access, accesses
from fusejit.fuse.rewrite_blocks import definitions, map_blocks, map_ops
from fusejit.ir.affine import AffineExpr, Dim, Sym
from fusejit.ir.execution_plan import INDEPENDENT, FusionReport, LoopNote
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Alloc, Assert, Bind, Block, GenericOp, HostCall, Loop, Op, walk
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.values import Buffer, Value

WHY = "no iteration touches what another one writes"


@dataclass(frozen=True, slots=True)
class Dependence:
    """Why iterations must run one after the other: a named rule, in words, and where."""

    rule: str
    reason: str
    location: Location


def mark_independent_loops(graph: Graph, report: FusionReport | None = None) -> Graph:
    """Mark the outermost loops whose iterations are independent as parallel.

    Parameters
    ----------
    graph : Graph
        The graph as it is lowered: later passes would have to ask again.
    report : FusionReport, optional
        Gets a row for each counted loop, up to the parallel one.

    Returns
    -------
    Graph
        The same object if there is no such loop.
    """
    defined = definitions(graph.block)
    report = FusionReport() if report is None else report

    def mark(block: Block, is_inside: bool) -> Block:
        return map_ops(block, lambda op: marked(op, is_inside))

    def marked(op: Op, is_inside: bool) -> Op:
        if isinstance(op, Loop) and op.is_parallel:
            return op
        if isinstance(op, Loop) and op.condition is None:
            found = dependence(op, defined)
            if found is None and is_inside:
                found = _too_short(op)
            note = LoopNote(INDEPENDENT, WHY, op.location)
            if found is not None:
                note = LoopNote(found.rule, found.reason, op.location, found.location)
            if op.location != UNKNOWN:  # half of a loop that was split says nothing of its own
                report.loops.append(note)
            if found is None:
                return replace(op, is_parallel=True)
        is_inside = is_inside or (isinstance(op, Loop) and op.location != UNKNOWN)
        return map_blocks(op, lambda block: mark(block, is_inside)) if op.blocks else op

    block = mark(graph.block, False)
    return graph if block is graph.block else replace(graph, block=block)


def _too_short(loop: Loop) -> Dependence | None:
    """A loop that runs again and again must have more to do than a launch costs."""
    ops = list(walk(loop.body))
    if any(isinstance(op, Loop) or (isinstance(op, GenericOp) and op.domain) for op in ops):
        return None
    why = (
        "an iteration computes only a few numbers, which takes less time than starting threads in "
        "each iteration of the enclosing loop"
    )
    return Dependence("small body", why, loop.location)


def dependence(loop: Loop, defined: Mapping[Value, Op]) -> Dependence | None:
    """What orders the iterations of a counted loop; None if nothing does."""
    if loop.carried:
        names, several = carried_names(loop)
        which = "go" if several else "goes"
        return Dependence("carried", f"{names} {which} from one iteration to the next", UNKNOWN)
    ops = list(walk(loop.body))
    return _effect(ops) or _shared_memory(loop, ops, defined)


def carried_names(loop: Loop) -> tuple[str, bool]:
    """What a loop carries, in the user's names, and whether it is more than one."""
    names = dict.fromkeys(f"`{_source_name(v.name)}`" for v in loop.body.arguments)
    return ", ".join(names), len(names) > 1


def _source_name(name: str) -> str:
    head, _, number = name.rpartition("_")
    return head if head and number.isdigit() else name


def _effect(ops: Sequence[Op]) -> Dependence | None:
    """The first op that later iterations must not overtake."""
    endless = [op for op in ops if isinstance(op, Loop) and op.condition is not None]
    for op in ops:
        if isinstance(op, HostCall):
            name = op.function.removeprefix("builtins.")
            if op.inline and op.pure:
                why = f"{name.rpartition('.')[2]} has threads of its own"
                return Dependence("BLAS", why, op.location)
            if op.inline:
                why = f"{name} draws in the order of the program"
                return Dependence("draw", why, op.location)
            return Dependence("host call", f"{name} runs in Python", op.location)
        if isinstance(op, Assert) and (op.is_deferred or endless):
            why = f"{op.reason}: if this check fails, later iterations must not run"
            return Dependence("may raise", why, op.location)
        if isinstance(op, GenericOp) and op.library_call is not None:
            return Dependence("BLAS", "a matrix product has threads of its own", op.location)
    return None


def _shared_memory(loop: Loop, ops: Sequence[Op], defined: Mapping[Value, Op]) -> Dependence | None:
    """An element that two iterations may touch, one of them writing."""
    own = {op.buffer for op in ops if isinstance(op, Alloc)}
    varying = {op.symbol for op in ops if isinstance(op, Bind)}
    varying |= {op.induction for op in ops if isinstance(op, Loop) and op.induction}
    of_class: dict[int, list[Access]] = defaultdict(list)
    for access in accesses(loop.body, defined):
        if access.buffer.root not in own:
            of_class[access.buffer.alias_class].append(access)
    for touched in of_class.values():
        stores = [a for a in touched if a.is_store]
        if not stores:
            continue
        others = [a for a in touched if a.buffer is not stores[0].buffer]
        if others:
            names = f"{_name(stores[0].buffer)} and {_name(others[0].buffer)}"
            return Dependence("one memory", f"{names} may be the same memory", others[0].location)
        rank = stores[0].buffer.type.rank
        if any(_is_apart(touched, axis, loop, varying) for axis in range(rank)):
            continue
        return _named(touched, stores[0], loop, varying)
    return None


def _is_apart(touched: Sequence[Access], axis: int, loop: Loop, varying: set[str]) -> bool:
    """Whether accesses of different iterations differ along an axis."""
    induction, first, last = loop.counted
    symbol, step = Sym(induction), loop.step
    fixed_reads: list[AffineExpr] = []
    coefficient = 0
    base: AffineExpr | None = None
    low = high = 0
    for access in touched:
        subscript = access.subscripts[axis]
        if subscript is None:
            return False
        own = subscript.coefficient(symbol)
        if not (access.is_store or subscript.dims() or subscript.symbols() & {induction, *varying}):
            fixed_reads.append(subscript)
            continue
        rest = subscript - AffineExpr.symbol(induction) * own
        if not own or (coefficient and own != coefficient) or induction in rest.symbols():
            return False
        coefficient = own
        if rest.symbols() & varying:
            return False
        spread = _spread(rest, access.extents)
        if spread is None:
            return False
        fixed, below, above = spread
        if base is None:
            base, low, high = fixed, below, above
            continue
        distance = (fixed - base).as_constant()
        if distance is None:
            return False
        low, high = min(low, below + distance), max(high, above + distance)
    if base is None or high - low >= abs(coefficient * step):
        return False
    if not fixed_reads or step < 0:
        return not fixed_reads
    ends = (first, last - 1) if coefficient > 0 else (last - 1, first)
    least, most = base + ends[0] * coefficient + low, base + ends[1] * coefficient + high
    return all(least.is_above(at) or at.is_above(most) for at in fixed_reads)


def _spread(rest: AffineExpr, extents: Sequence[AffineExpr]) -> tuple[AffineExpr, int, int] | None:
    """What all points have in common, and the least and the most that dims add to it."""
    low = high = 0
    fixed = rest
    for atom, coefficient in rest.terms:
        if not isinstance(atom, Dim):
            continue
        extent = extents[atom.index].as_constant()
        if extent is None:
            return None
        furthest = coefficient * max(extent - 1, 0)
        low, high = low + min(furthest, 0), high + max(furthest, 0)
        fixed = fixed - AffineExpr.dim(atom.index) * coefficient
    return None if fixed.dims() else (fixed, low, high)


def _name(buffer: Buffer) -> str:
    """The user's name of an argument, or that it is an array made on the way."""
    if buffer.origin is None:
        return "an array of the function"
    return f"`{str(buffer.origin).partition(':')[2]}`"


def _named(touched: Sequence[Access], store: Access, loop: Loop, varying: set[str]) -> Dependence:
    """The access that is not at the iteration's own place, in words."""
    name = _name(store.buffer)
    for access in [store, *touched]:
        axes = range(len(access.subscripts))
        if not any(_is_apart([access], axis, loop, varying) for axis in axes):
            how = "written" if access.is_store else "read"
            why = f"{name} is {how} at elements that are not the iteration's own"
            return Dependence("not its own elements", why, access.location)
    why = f"{name} is {'written' if store.is_store else 'read'} and read at different distances"
    other = next((a for a in touched if a.subscripts != store.subscripts), store)
    return Dependence("neighbouring elements", why, other.location)
