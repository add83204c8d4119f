"""The details of one variant: each kernel in the user's lines, what stays apart, each fusion."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from fusejit.codegen.bufferize.bufferization import assign_buffers
from fusejit.explain.loop_nests import NestReport, domain_text, nests_of
from fusejit.explain.moved import moved_bytes, size_text
from fusejit.explain.remedies import REMEDIES
from fusejit.explain.user_lines import MAX_SOURCE
from fusejit.ir.analysis.lines import by_line, shortened
from fusejit.ir.analysis.writes import store_that_takes
from fusejit.ir.execution_plan import (
    INDEPENDENT,
    SPLIT,
    BindStep,
    Folded,
    Group,
    HostStep,
    KernelStep,
    LibraryStep,
    LoopNote,
    Refusal,
    RegionStep,
    Step,
    walk_steps,
)
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr
from fusejit.ir.ops import Bind, Cond, GenericOp, HostCall, Loop, Op, Store, base_name, walk
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.source import Location
from fusejit.ir.types import dtype_name
from fusejit.ir.values import Value
from fusejit.stages import Lowered

if TYPE_CHECKING:
    from fusejit.variants import Variants

WORDS_JOINED = {"fold": "into", "merge": "beside", "hoist": "before"}
WORDS_APART = {"fold": "and", "merge": "beside", "group": "in one loop with"}


class VariantReport:
    """Describe one variant.

    Parameters
    ----------
    lowered : Lowered
        The stages of the call.
    sizes : dict of str to int
        Those of the call: `Lowered.sizes_of_call`.
    """

    def __init__(self, lowered: Lowered, sizes: dict[str, int]) -> None:
        self.traced = lowered.before.before
        self.schedule = lowered.before.schedule
        self.report = self.schedule.report
        self.nest_notes = lowered.program.nest_notes
        self.assignment = assign_buffers(self.schedule.graph)
        self.symbols = sizes
        self.nests = {
            step: nests_of(step, self.schedule.unfused, self.assignment)
            for step in walk_steps(self.schedule.steps)
            if isinstance(step, KernelStep)
        }
        self.nest_of: dict[Value, NestReport] = {
            value: nest
            for nests in self.nests.values()
            for nest in nests
            for op in nest.ops
            for value in op.results
        }

    def details(self, variants: Variants) -> Iterator[str]:
        """All that the passes did; ``variants`` are the compiled ones and fallback calls so far."""
        yield from self.summary()
        yield from self.steps(self.schedule.steps, itertools.count(), "  ")
        yield from self.overlapping()
        yield from self.loops()
        yield from self.kept_apart()
        yield from self.fusions()
        yield from self.conditions()
        yield f"  variants compiled so far: {len(variants)}"
        for cause, n in variants.fallbacks.items():
            yield f"  fallback, {plural(n, 'call')}: {cause}"

    # -- what came out --------------------------------------------------------------------------
    @property
    def num_loops(self) -> int:
        """The loop nests of all kernels."""
        return sum(nest.is_loop for nests in self.nests.values() for nest in nests)

    @property
    def num_calls(self) -> int:
        """The calls of BLAS and NumPy between kernels."""
        steps = walk_steps(self.schedule.steps)
        return sum(isinstance(s, LibraryStep | HostStep) for s in steps)

    @property
    def bytes_moved(self) -> tuple[int, int]:
        """What the operations read and write, before fusion and after it."""
        unfused = self.schedule.unfused
        before = moved_bytes(unfused, self.symbols, _stored_straight(unfused))
        return before, self.moved(self.report.grouped)

    def summary(self) -> Iterator[str]:
        loops, calls = self.num_loops, self.num_calls
        yield (
            f"{self.traced.function.__name__}: {plural(self.report.ops_before, 'op')} -> "
            f"{plural(loops, 'loop nest')} in {plural(len(self.nests), 'kernel')}"
            + (f" and {plural(calls, 'library call')}" if calls else "")
        )
        before, after = self.bytes_moved
        less = f" ({before / after:.1f}x less)" if 0 < after < before else ""
        yield f"  bytes moved: {size_text(before)} -> {size_text(after)}{less}"
        policy = self.traced.options.fusion
        if policy != "auto":
            name = policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
            yield f"  fusion policy: {name}"

    def steps(self, steps: Sequence[Step], numbers: Iterator[int], indent: str) -> Iterator[str]:
        """Kernels and the boundaries between them, those inside loops of the launcher indented."""
        for step in steps:
            if isinstance(step, KernelStep):
                yield f"{indent}kernel {next(numbers)}:"
                for nest in self.nests[step]:
                    yield from (f"{indent[2:]}{line}" for line in self.nest(nest))
                continue
            yield f"{indent}{_boundary(step)}"
            where, name = step.op.location, _called(step)
            text = shortened(where.text, MAX_SOURCE)
            yield f"{indent}  {where.short}  {name}  {text}".rstrip()
            for block in step.blocks if isinstance(step, RegionStep) else ():
                yield from self.steps(block, numbers, f"{indent}  ")

    def nest(self, nest: NestReport) -> Iterator[str]:
        if nest.group is None:
            dims = domain_text(nest.ops[0], self.symbols)
            loops = nest.is_loop and not isinstance(nest.ops[0], Cond)
            yield f"    {'loop over ' if loops else ''}{dims}{_registers(nest.ops[0])}"
        else:
            dims = domain_text(nest.ops[0], self.symbols, nest.group.shared_dims[0])
            kept = len(nest.group.local)
            rest = f"; {plural(kept, 'result')} in cache, never in memory" if kept else ""
            yield f"    one loop over tiles of {dims}{rest}"
        rows = [row for origins in nest.members for row in by_line(origins)]
        place_width = max((len(location.short) for location, _ in rows), default=0)
        width = min(max((len(names) for _, names in rows), default=0), 44)
        shown: Location | None = None
        for location, names in rows:
            text = shortened(location.text, MAX_SOURCE) if location != shown else ""
            yield f"      {location.short:{place_width}}  {names:{width}}  {text}".rstrip()
            shown = location
        yield from _called_inside(nest)

    def overlapping(self) -> Iterator[str]:
        """Stores that overlap what they read, and how each is kept right."""
        how: list[str] = []
        for store in walk(self.schedule.graph.block):
            if not isinstance(store, Store):
                continue
            if store in self.assignment.rotated:
                how.append(f"arrays exchange their memory, no copy{_where(store.location)}")
            elif store in self.assignment.overlaps:
                how.append(f"{self.assignment.overlaps[store]}{_where(store.location)}")
            elif store in self.assignment.whole_copies:
                why = self.assignment.whole_copies[store]
                how.append(f"a copy of the whole value: {why}{_where(store.location)}")
        if how:
            yield "  stores that overlap what they read:"
            yield from _each_once(how)

    def loops(self) -> Iterator[str]:
        """Counted loops of the program: which run on several threads, and why others do not."""
        if self.report.loops:
            yield "  loops of the program:"
        for note in dict.fromkeys(self.report.loops):
            yield from _loop_lines(note)

    # -- what did not, and why ------------------------------------------------------------------
    def kept_apart(self) -> Iterator[str]:
        inside = [r for r in self.report.refused if self.shares_a_loop(r)]
        apart = [r for r in self.report.refused if r not in inside]
        if inside:
            yield "  in one loop, but not one op:"
            yield from self.refusals(inside)
        if apart:
            yield "  not fused; the values between these operations are stored in memory:"
            yield from self.refusals(apart)
        remedies = {r.rule: REMEDIES[r.rule] for r in apart if r.rule in REMEDIES}
        if remedies:
            yield "  how to fuse them:"
            yield from (f"    [{rule}] {remedy}" for rule, remedy in remedies.items())

    def shares_a_loop(self, refusal: Refusal) -> bool:
        """Whether two ops that are not one op are computed in one loop all the same."""
        if refusal.value is None or refusal.result is None:
            return False
        nest = self.nest_of.get(self.assignment.root(refusal.value))
        return nest is not None and nest is self.nest_of.get(refusal.result)

    def producer_name(self, refusal: Refusal) -> str:
        """What made the value that is read: of an op with several results, the one that did."""
        op = None if refusal.value is None else self.assignment.defining.get(refusal.value)
        origins = op.origins if isinstance(op, GenericOp) else ()
        names = [origin.name for origin in origins if origin.value is refusal.value]
        return names[0] if names else base_name(refusal.producer)

    def refusals(self, refusals: Sequence[Refusal]) -> Iterator[str]:
        yield from _each_once(
            f"{self.producer_name(r)} {WORDS_APART[r.how]} {base_name(r.consumer)}: "
            f"{_reason(r)} [{r.rule}]{_where(r.location)}"
            for r in refusals
        )

    # -- the details ----------------------------------------------------------------------------
    def fusions(self) -> Iterator[str]:
        if self.report.folded:
            yield "  fused, one by one:"
        yield from _each_once(
            f"{base_name(f.producer)} {WORDS_JOINED[f.how]} "
            f"{base_name(f.consumer)}: {_reason(f)} [{f.rule}]{_where(f.location)}"
            for f in self.report.folded
        )
        if self.report.grouped:
            yield "  in one loop over tiles:"
        yield from _each_once(self.groups())
        if self.nest_notes:
            yield "  nests written as one loop:"
            yield from _each_once(
                f"{' with '.join(map(_nest_name, note.nests))}: {note.reason} [{note.rule}]"
                for note in self.nest_notes
            )
        again = self.computed_again()
        if again:
            yield "  computed where it is read, instead of kept:"
            yield from again

    def groups(self) -> Iterator[str]:
        """Why each group is one, and what it saves of all that is moved without it."""
        groups = self.report.grouped
        after = self.moved(groups)
        for group in groups:
            names = [base_name(op.name) for op in group.ops]
            apart = self.moved([g for g in groups if g is not group])
            saved = f", saves {size_text(apart - after)} of {size_text(apart)}"
            yield (
                f"{', '.join(names[:-1])} and {names[-1]}: {group.reason}"
                f"{saved if apart > after else ''} [{group.rule}]{_where(group.ops[0].location)}"
            )

    def moved(self, groups: Sequence[Group]) -> int:
        """Bytes that the fused graph moves with these groups."""
        at_store = {*self.assignment.straight, *self.assignment.scattered}
        return moved_bytes(self.schedule.graph, self.symbols, at_store, groups)

    def computed_again(self) -> list[str]:
        ops = (op for op in walk(self.schedule.graph.block) if isinstance(op, GenericOp))
        times = Counter(origin for op in ops for origin in op.origins)
        return [
            f"    {origin.name}: in {n} loops{_where(origin.location)}"
            for origin, n in times.items()
            if n > 1
        ]

    def scalar_functions(self) -> list[tuple[str, Location]]:
        """Functions that have no vector form on this machine, and where they are called."""
        return _scalar_functions(self.schedule.graph, self.traced.target.vector_functions)

    def conditions(self) -> Iterator[str]:
        slow = self.scalar_functions()
        if slow:
            yield "  no vector form on this machine:"
            yield from (f"    {name}{_where(location)}" for name, location in slow)
        yield from (f"  note: {note}" for note in self.traced.traced.notes)
        graph = self.traced.graph
        names = {symbol.name: symbol.expr for symbol in graph.symbols}
        names |= {scalar.value.name: scalar.expr for scalar in graph.scalars}
        if graph.guards:
            yield "  serves calls where:"
        for guard in graph.guards:
            expr = guard.expr if guard.expected else HostExpr("not", (guard.expr,))
            yield f"    {expr.user_text(names)}{_where(guard.location)}"


def _stored_straight(graph: Graph) -> set[Value]:
    """Values that a store alone reads."""
    users: dict[Value, list[Op]] = {}
    for op in walk(graph.block):
        for value in op.operand_values:
            users.setdefault(value, []).append(op)
    results = set(graph.results)
    return {
        value
        for value, ops in users.items()
        if value not in results and store_that_takes(value, ops) is not None
    }


def _scalar_functions(graph: Graph, vector: frozenset[str]) -> list[tuple[str, Location]]:
    found: dict[str, Location] = {}
    for op in walk(graph.block):
        if isinstance(op, GenericOp):
            for instr in op.payload.instrs:
                row = SCALAR_OPS.get(instr.op)
                if row is not None and row.math is not None:
                    name = f"{row.name}.{dtype_name(instr.dtype)}"
                    if name not in vector:
                        found.setdefault(name, op.location)
    return sorted(found.items(), key=lambda item: item[0])


def _called_inside(nest: NestReport) -> Iterator[str]:
    """Calls of BLAS and LAPACK and draws in a loop of the program."""
    inner = [o for op in nest.ops for block in op.blocks for o in walk(block)]
    calls = [op for op in inner if isinstance(op, GenericOp) and op.library_call is not None]
    if calls:
        names = dict.fromkeys(f"{base_name(op.name)} {op.location.short}" for op in calls)
        yield f"      calls BLAS from inside: {', '.join(names)}"
    for made, is_pure in (("calls LAPACK from inside", True), ("draws numbers inside", False)):
        made_inside = [o for o in inner if isinstance(o, HostCall) and o.inline]
        names = dict.fromkeys(
            f"{op.function.rpartition('.')[2]} {op.location.short}"
            for op in made_inside
            if op.pure is is_pure
        )
        if names:
            yield f"      {made}: {', '.join(names)}"


def _registers(loop: Op) -> str:
    """What a loop over tiles keeps in registers."""
    inner = (op for block in loop.blocks for op in walk(block) if isinstance(op, GenericOp))
    tiles = [op.register_tile for op in inner if op.register_tile is not None]
    sizes = [" x ".join(str(n) for n in tile.sizes if n is not None) for tile in tiles]
    return f"; sums of tiles of {', '.join(sizes)} points in vector registers" if sizes else ""


def _loop_lines(note: LoopNote) -> Iterator[str]:
    yield f"    {note.location.short}  {shortened(note.location.text, MAX_SOURCE)}".rstrip()
    order = "in parallel" if note.rule in (INDEPENDENT, SPLIT) else "one after the other"
    why = "" if note.because is None else _where(note.because)
    yield f"      iterations {order}: {note.reason} [{note.rule}]{why}"


def _nest_name(comment: str) -> str:
    """What the ops of a nest are called: ``multiply, store``."""
    return ", ".join(dict.fromkeys(base_name(name) for name in comment.split("; ")))


def _called(step: Step) -> str:
    """What a step that is no kernel calls, or does."""
    assert not isinstance(step, KernelStep)
    match step.op:
        case HostCall() as op:
            return op.function
        case Bind():
            return "integer"
        case Loop() as op:
            return "while" if op.condition is not None else "for"
        case Cond():
            return "if"
        case GenericOp() as op:
            return op.name
    raise AssertionError("a kernel is not a boundary")


def _boundary(step: Step) -> str:
    """What stands between two kernels, and why."""
    if isinstance(step, LibraryStep):
        return f"library call {getattr(step.op, 'library_call', '?')}:"
    if isinstance(step, HostStep):
        return f"host call {step.op.function}: {_why(step.op)}"
    if isinstance(step, BindStep):
        return "Python reads an integer that a kernel computed, because later steps need it"
    return (
        "Python runs this loop or condition and calls its kernels, because it contains a host call"
    )


def _why(op: HostCall) -> str:
    """Why Python runs it, and what of its result only the call knows."""
    why = "an effect: it happens once, in program order"
    if op.pure:
        why = "NumPy runs it between kernels, because it is not a loop over elements"
    return f"{why}; the length of its result is known only after it ran" if op.sizes else why


def _reason(told: Refusal | Folded) -> str:
    """The reason in the names that the report uses."""
    text = told.reason
    for name in (told.producer, told.consumer):
        text = text.replace(name, base_name(name))
    if isinstance(told, Folded) or told.value is None:
        return text
    return text.replace(f"%{told.value.name} ", "it ")


def _each_once(lines: Iterable[str]) -> Iterator[str]:
    """Indented, repetitions counted."""
    for line, times in Counter(lines).items():
        yield f"    {line}" + (f", {times} times" if times > 1 else "")


def _where(location: Location) -> str:
    return f"  ({location.short})" if location.line else ""


def plural(n: int, noun: str) -> str:
    """``1 loop``, ``2 loops``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
