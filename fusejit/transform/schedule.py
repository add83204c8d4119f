"""`Schedule` and `Handle`: a traced function's ops by name, and the steps applied to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.grouping.policy import PolicyFailed
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Loop, base_name, walk
from fusejit.ir.text.printer import print_graph
from fusejit.ir.values import Value
from fusejit.ir.verifier.verify import verify
from fusejit.notices import warn
from fusejit.options import Options, options_from_environment
from fusejit.outcome import Outcome
from fusejit.stages import Traced, trace
from fusejit.transform.equivalence import check_equivalent
from fusejit.transform.errors import ScheduleError, illegal
from fusejit.transform.fuse import fuse
from fusejit.transform.library import generalize, to_library
from fusejit.transform.rematerialize import rematerialize
from fusejit.transform.rules import is_parallel, is_reduced, reassociates, replaced, unused
from fusejit.transform.threads import threads
from fusejit.transform.tile import tile

DIM_NAMES = {
    "matmul": "m n k",
    "batch_matmul": "b m n k",
    "matvec": "m k",
    "vecmat": "n k",
    "dot": "k",
}
"""The names of the dims of these ops; those of others are i, j, k, .."""

_LETTERS = "ijklpqrstuvwxyz"


@dataclass(frozen=True)
class Step:
    """One step of a schedule. ``num_checked`` small inputs gave the same before and after it.

    ``tag`` says what it keeps: ``bits``, or with ``reassoc`` the values but for the order in which
    floats are summed, as where BLAS computes another part of a product.
    """

    call: str
    op: str
    tag: str
    graph: Graph
    what: str
    num_checked: int = 0


class LoopInfo(NamedTuple):
    """The symbol of a loop over tiles, and whether each tile writes elements of its own."""

    symbol: str
    is_parallel: bool


@dataclass(frozen=True)
class Schedule:
    """A traced function and the steps that were applied to it. Nothing changes it.

    Attributes
    ----------
    stage : Traced
        The function as it was traced.
    graph : Graph
        The ops after the steps.
    steps : tuple of Step
    """

    stage: Traced
    args: tuple[Any, ...]
    graph: Graph
    steps: tuple[Step, ...] = ()
    names: Mapping[Value, tuple[str, ...]] = field(default_factory=dict)
    loops: Mapping[str, LoopInfo] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Handle:
        """The op of a name, or at ``file.py:line`` or a line number given as text.

        Raises
        ------
        ScheduleError
            If there is none, or more than one.
        """
        ops = [op for op in walk(self.graph.block) if isinstance(op, GenericOp)]
        found = [op for op in ops if name in (base_name(op.name), _place(op))]
        if len(found) == 1:
            return Handle(self, found[0].results[0])
        known = ", ".join(f"{base_name(op.name)} ({_place(op)})" for op in ops)
        how = "several ops are" if found else "no op is"
        raise ScheduleError(f"{how} named {name!r}; there are: {known}")

    @property
    def log(self) -> str:
        """A line for each step: what was called, what it keeps, what became of the op."""
        lines = [f"{self.graph.name}: {_count(self.stage.graph)}"]
        for number, step in enumerate(self.steps, 1):
            checked = f"checked on {step.num_checked} inputs" if step.num_checked else "not checked"
            what = f"{step.what}; {_count(step.graph)}; {checked}"
            lines.append(f"{number:2d} {step.call:32s} {step.tag:8s} {what}")
        return "\n".join(lines)

    def show(self, step: int | None = None) -> str:
        """The printed graph after a step; 0 is before the first one, None after the last one."""
        graphs = [self.stage.graph, *(s.graph for s in self.steps)]
        return print_graph(graphs[-1 if step is None else step])

    def compile(self) -> Callable[..., Any]:
        """A function for calls like the traced one, with the same types and any sizes.

        The passes of the automatic pipeline run on the graph as the steps have left it. The
        function raises a `ScheduleError` where guards of the trace do not hold; with
        ``fuse_jit(schedule=recipe)`` the recipe is applied to another trace then.
        """
        traced = replace(self.stage.traced, graph=self.graph)
        compiled = replace(self.stage, traced=traced).fuse().lower().compile()

        def run(*args: Any) -> Any:
            result = compiled.launch(*args)
            if isinstance(result, Outcome):  # perhaps a library has changed elsewhere
                compiled.renew()
                result = compiled.launch(*args)
            if isinstance(result, Outcome):
                raise ScheduleError(f"the call is not like the traced one: {result}")
            return result

        return run

    def time(self, *args: Any, rounds: int = 7) -> list[float]:
        """The median seconds of a call before the first step and after each step."""
        args = args or self.args
        functions = [
            replace(self, graph=graph).compile()
            for graph in (self.stage.graph, *(s.graph for s in self.steps))
        ]
        times: list[list[float]] = [[] for _ in functions]
        for _ in range(rounds):
            for function, found in zip(functions, times, strict=True):
                begin = time.perf_counter()
                function(*args)
                found.append(time.perf_counter() - begin)
        return [sorted(found)[rounds // 2] for found in times]

    def __str__(self) -> str:
        return f"{self.log}\n{self.show()}"


@dataclass(frozen=True)
class Handle:
    """An op of a schedule. Each method returns the op in a new schedule."""

    schedule: Schedule
    value: Value

    @property
    def op(self) -> GenericOp:
        """The op."""
        for op in walk(self.schedule.graph.block):
            if isinstance(op, GenericOp) and self.value in op.results:
                return op
        raise ScheduleError(f"%{self.value.name} is not computed any more")

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dims, in the order of the domain."""
        known = self.schedule.names.get(self.value)
        if known is not None:
            return known
        op = self.op
        named = DIM_NAMES.get(base_name(op.name), "").split()
        return tuple(named if len(named) == len(op.domain) else _LETTERS[: len(op.domain)])

    def tile(self, *, reassociate: bool = False, check: bool = True, **sizes: int) -> Handle:
        """The same op on slices, in loops over tiles; the first dim has the outermost loop.

        Parameters
        ----------
        reassociate : bool, optional
            True: tiles of a float sum may be summed one after the other.
        check : bool, optional
            False: do not compare with the op before on small arrays.
        **sizes
            The size of the tiles of a dim, at least 1. The last tile may be shorter.

        Raises
        ------
        ScheduleError
            If a dim is unknown or cannot be tiled, or nothing would change.
        """
        step = _call("tile", **sizes)
        numbers = {self._dim(name, step): size for name, size in sizes.items()}
        if not numbers:
            raise illegal(step, self.op.name, "no dim is given", [f"{n}=.." for n in self.dims])
        op = self.op
        tiled = tile(self.schedule.graph, op, numbers, self.dims, step, reassociate)
        taken = {*self.schedule.loops}
        loops = {
            unused(f"{self.dims[d]}.0", taken): LoopInfo(symbol, is_parallel(op, d))
            for d, symbol in tiled.loops.items()
        }
        what = f"loops {', '.join(loops)} around {base_name(op.name)}"
        is_split = any(is_reduced(op, d) for d in numbers)
        tag = "reassoc" if (is_split or op.library_call) and reassociates(op) else "bits"
        return self._after(step, tag, what, tiled.graph, tiled.op, check, loops)

    def fuse(self, *producers: str, check: bool = True) -> Handle:
        """Compute what the loops around the op read of producers inside these loops, in turn.

        Raises
        ------
        ScheduleError
            If no loop is around the op, nothing there reads a slice of a producer, or a producer
            does not write each element once.
        """
        handle = self
        for producer in producers:
            handle = handle._fuse(producer, check)
        if handle is self:
            raise illegal("fuse()", self.op.name, "no producer is given")
        return handle

    def _fuse(self, producer: str, check: bool) -> Handle:
        step, moved = _call("fuse", producer), self.schedule[producer].op
        fused = fuse(self.schedule.graph, self.op, moved, step)
        what = f"{producer} in the loops around {base_name(self.op.name)}"
        if fused.recomputed:
            names = {info.symbol: name for name, info in self.schedule.loops.items()}
            loops = ", ".join(names.get(symbol, symbol) for symbol in fused.recomputed)
            what += f", computed again for each {loops}"
        if fused.is_duplicated:
            what += ", and outside, where others read it"
        tag = "reassoc" if moved.library_call and reassociates(moved) else "bits"
        return self._after(step, tag, what, fused.graph, self.op, check)

    def rematerialize(self, producer: str, *, check: bool = True) -> Handle:
        """Compute an elementwise producer again at each point of the op.

        Raises
        ------
        ScheduleError
            If the op does not read it, or a rule of folds is broken.
        """
        step = _call("rematerialize", producer)
        old = self.schedule
        made = rematerialize(old.graph, self.op, old[producer].op, old.stage.target, step)
        what = f"{producer} at each point of {base_name(self.op.name)}"
        return self._after(step, "bits", what, *made, check)

    def threads(self, *loops: str) -> Handle:
        """Let several threads compute the tiles of loops.

        Raises
        ------
        ScheduleError
            If there is no such loop, or its tiles write the same elements.
        """
        step, graph = _call("threads", *loops), self.schedule.graph
        known = self.schedule.loops
        legal = [f'threads("{name}")' for name, info in known.items() if info.is_parallel]
        for name in loops:
            if name not in known:
                raise illegal(step, self.op.name, f"there is no loop {name}", legal)
            if not known[name].is_parallel:
                why = f"the tiles of {name} are combined into the same elements"
                raise illegal(step, self.op.name, why, legal)
            graph = threads(graph, known[name].symbol)
        if graph is self.schedule.graph:
            raise illegal(step, self.op.name, "nothing would change", legal)
        return self._after(step, "bits", f"threads share {', '.join(loops)}", graph, self.op, False)

    def generalize(self) -> Handle:
        """The op as loops, if it calls a routine; a `ScheduleError` if not."""
        return self._instead(generalize(self.op, "generalize()"), "generalize()")

    def to_library(self) -> Handle:
        """The op as a call of BLAS, if it is a matrix product; a `ScheduleError` if not."""
        return self._instead(to_library(self.op, "to_library()"), "to_library()")

    def _instead(self, op: GenericOp, step: str) -> Handle:
        """Another op that defines the same value."""
        graph = replaced(self.schedule.graph, self.op, [op])
        what = f"{op.name} calls {op.library_call or 'no routine'}"
        return self._after(step, "reassoc", what, graph, op, False)

    def _dim(self, name: str, step: str) -> int:
        if name not in self.dims:
            raise illegal(step, self.op.name, f"it has no dim {name}", self.dims)
        return self.dims.index(name)

    def _after(
        self,
        call: str,
        tag: str,
        what: str,
        graph: Graph,
        op: GenericOp,
        check: bool,
        loops: Mapping[str, LoopInfo] | None = None,
    ) -> Handle:
        """The op in the schedule with one more step."""
        verify(graph)
        old = self.schedule
        num_checked = 0
        if check and old.args:
            num_checked = check_equivalent(old.stage, old.args, old.graph, graph, tag, call)
        value = op.results[0]
        new = replace(
            old,
            graph=graph,
            steps=(*old.steps, Step(call, op.name, tag, graph, what, num_checked)),
            names={**old.names, value: self.dims},
            loops={**old.loops, **(loops or {})},
        )
        return Handle(new, value)


def schedule(function: Callable[..., Any], *args: Any, options: Options | None = None) -> Schedule:
    """Trace a function, decorated or not, for arguments like these.

    Examples
    --------
    >>> import numpy as np
    >>> from fusejit.transform import schedule
    >>> a = np.ones((64, 64))
    >>> s = schedule(lambda a, b: a @ b, a, a)
    >>> h = s["matmul"].tile(m=16)
    >>> print(h.schedule.log.splitlines()[0])
    <lambda>: 1 ops, 0 loops
    """
    plain = getattr(function, "__wrapped__", function)
    stage = trace(plain, args, {}, options or options_from_environment(fullgraph=True))
    return Schedule(stage, args, stage.graph)


def scheduled(stage: Traced, recipe: Callable[[Schedule], Schedule | Handle]) -> Graph:
    """Return the graph of a stage after a recipe; as it was where a step is not legal.

    Raises
    ------
    ScheduleError
        Under ``fullgraph=True``, if a step is not legal.
    """
    try:
        result = recipe(Schedule(stage, (), stage.graph))
    except ScheduleError as error:
        if stage.options.fullgraph:
            raise
        if stage.options.warn:
            warn(f"{stage.function.__name__} runs without its schedule: {error}")
        return stage.graph
    except Exception as error:  # the recipe's own
        raise PolicyFailed(error) from error
    return (result.schedule if isinstance(result, Handle) else result).graph


def _place(op: GenericOp) -> str:
    return f"{op.location.file.rpartition('/')[2]}:{op.location.line}"


def _call(name: str, *arguments: str, **keywords: int) -> str:
    given = [*map(repr, arguments), *(f"{key}={value}" for key, value in keywords.items())]
    return f"{name}({', '.join(given)})"


def _count(graph: Graph) -> str:
    ops = [*walk(graph.block)]
    num_ops = sum(isinstance(op, GenericOp) and bool(op.domain) for op in ops)
    num_loops = sum(isinstance(op, Loop) for op in ops)
    return f"{num_ops} ops, {num_loops} loops"
