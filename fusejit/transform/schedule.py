"""`Schedule`: a traced function's ops by name, and the steps applied to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.grouping.policy import PolicyFailed
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Loop, base_name, walk
from fusejit.ir.text.printer import print_graph
from fusejit.ir.values import Value
from fusejit.notices import warn
from fusejit.options import Options, options_from_environment
from fusejit.outcome import Outcome
from fusejit.stages import Traced, trace
from fusejit.transform.base import LoopInfo, Step
from fusejit.transform.errors import ScheduleError
from fusejit.transform.handle import Handle


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


def _count(graph: Graph) -> str:
    ops = [*walk(graph.block)]
    num_ops = sum(isinstance(op, GenericOp) and bool(op.domain) for op in ops)
    num_loops = sum(isinstance(op, Loop) for op in ops)
    return f"{num_ops} ops, {num_loops} loops"
