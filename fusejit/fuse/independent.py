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

What other iterations must not have begun when one ends the call (errors behind stores to the
caller's memory), what Python sees in order (host calls), and products that BLAS computes with
threads of its own keep a loop serial. So bits, errors and effects are those of the serial loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fusejit.fuse.accesses import Access, accesses
from fusejit.fuse.rewrite import definitions
from fusejit.ir.affine import AffineExpr, Dim, Sym
from fusejit.ir.graph import (
    Alloc,
    Bind,
    Block,
    Buffer,
    Check,
    Cond,
    GenericOp,
    Graph,
    HostCall,
    Loop,
    Op,
    Value,
    walk,
)
from fusejit.ir.schedule import FusionReport, LoopNote
from fusejit.ir.source import UNKNOWN, Location

INDEPENDENT = LoopNote("", "independent", "no iteration touches what another one writes", UNKNOWN)


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

    def mark(block: Block) -> Block:
        ops = [marked(op) for op in block.ops]
        same = all(new is old for new, old in zip(ops, block.ops, strict=True))
        return block if same else replace(block, ops=ops)

    def marked(op: Op) -> Op:
        if isinstance(op, Loop) and op.condition is None:
            found = dependence(op, defined)
            name = op.induction or ""
            if found is None:
                report.loops.append(replace(INDEPENDENT, loop=name, location=op.location))
                return replace(op, is_parallel=True)
            report.loops.append(
                LoopNote(name, found.rule, found.reason, op.location, found.location)
            )
            body = mark(op.body)
            return op if body is op.body else replace(op, body=body)
        if isinstance(op, Loop):
            body = mark(op.body)
            return op if body is op.body else replace(op, body=body)
        if isinstance(op, Cond):
            then, other = mark(op.then_block), mark(op.else_block)
            if then is op.then_block and other is op.else_block:
                return op
            return replace(op, then_block=then, else_block=other)
        return op

    block = mark(graph.block)
    return graph if block is graph.block else replace(graph, block=block)


def dependence(loop: Loop, defined: Mapping[Value, Op]) -> Dependence | None:
    """What orders the iterations of a counted loop; None if nothing does."""
    assert loop.induction is not None
    if loop.carried:
        names = ", ".join(f"`{_plain(v.name)}`" for v in loop.body.arguments)
        which = "goes" if len(loop.carried) == 1 else "go"
        return Dependence("carried", f"{names} {which} from one iteration to the next", UNKNOWN)
    ops = list(walk(loop.body))
    return _effect(ops) or _shared_memory(loop, loop.induction, ops, defined)


def _plain(name: str) -> str:
    head, _, number = name.rpartition("_")
    return head if head and number.isdigit() else name


def _effect(ops: Sequence[Op]) -> Dependence | None:
    """The first op that later iterations must not overtake."""
    endless = [op for op in ops if isinstance(op, Loop) and op.condition is not None]
    for op in ops:
        if isinstance(op, HostCall):
            name = op.function.removeprefix("builtins.")
            return Dependence("host call", f"{name} runs in Python", op.location)
        if isinstance(op, Check) and (op.is_late or endless):
            why = f"{op.reason}: the iterations behind must not run then"
            return Dependence("may raise", why, op.location)
        if isinstance(op, GenericOp) and op.library_call is not None:
            return Dependence("BLAS", "a matrix product has threads of its own", op.location)
    return None


def _shared_memory(
    loop: Loop, induction: str, ops: Sequence[Op], defined: Mapping[Value, Op]
) -> Dependence | None:
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
        if any(_is_apart(touched, axis, induction, loop.step, varying) for axis in range(rank)):
            continue
        return _named(touched, stores[0], induction, varying)
    return None


def _is_apart(
    touched: Sequence[Access], axis: int, induction: str, step: int, varying: set[str]
) -> bool:
    """Whether accesses of different iterations differ along an axis."""
    symbol = Sym(induction)
    coefficient = 0
    base: AffineExpr | None = None
    low = high = 0
    for access in touched:
        subscript = access.subscripts[axis]
        if subscript is None:
            return False
        own = subscript.coefficient(symbol)
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
    return high - low < abs(coefficient * step)


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


def _named(
    touched: Sequence[Access], store: Access, induction: str, varying: set[str]
) -> Dependence:
    """The access that is not at the iteration's own place, in words."""
    name = _name(store.buffer)
    for access in [store, *touched]:
        axes = range(len(access.subscripts))
        if not any(_is_apart([access], axis, induction, 1, varying) for axis in axes):
            how = "written" if access.is_store else "read"
            why = f"{name} is {how} at elements that are not the iteration's own"
            return Dependence("not its own elements", why, access.location)
    why = f"{name} is {'written' if store.is_store else 'read'} and read at different distances"
    other = next((a for a in touched if a.subscripts != store.subscripts), store)
    return Dependence("neighbouring elements", why, other.location)
