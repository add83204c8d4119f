"""The stages of a program, each an object that prints itself.

    trace -> Traced -> fuse -> Fused -> lower -> Lowered -> compile -> Compiled

`f.trace(x).fuse().lower().source` goes step by step. When a stage fails, the IR before it is
saved with the names of what was still to come.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.codegen.analysis.function_forms import module_form
from fusejit.codegen.backend.compile import (
    RELEASE_GIL_FROM,
    ArgType,
    Kernel,
    compile_kernel,
    python_kernel,
)
from fusejit.codegen.intrinsics.intrinsic_table import load_providers
from fusejit.codegen.launcher.generate import LauncherSource, compile_launcher, launcher_source
from fusejit.codegen.loop_passes.function_sharing import share_functions, share_kernels
from fusejit.codegen.lower.lower_graph import lower
from fusejit.codegen.machine.target import host_target
from fusejit.codegen.printer.outlining import outlined
from fusejit.codegen.printer.statement_printer import emit_kernel
from fusejit.dataclass import dataclass, field, replace
from fusejit.dot import graph_dot, plan_dot
from fusejit.errors import UnsupportedError
from fusejit.failures import Watched
from fusejit.fuse.grouping.form_steps import make_plan
from fusejit.fuse.grouping.policy import PolicyFailed, policy
from fusejit.ir.execution_plan import ExecutionPlan, FusionReport
from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import FIRST_ITEMS
from fusejit.ir.loops.nodes import KernelParameter, LoopModule
from fusejit.ir.loops.program import KernelCall, Program, walk_steps
from fusejit.ir.ops import GenericOp, HostCall, Op, walk
from fusejit.ir.pass_log import PassLog
from fusejit.ir.target_facts import Target
from fusejit.ir.text.printer import print_graph
from fusejit.ir.text.step_printer import describe_plan, describe_program
from fusejit.ir.traced import TracedFunction
from fusejit.ir.verifier.verify import verify
from fusejit.mlir.export.module_printer import mlir_text
from fusejit.options import Options
from fusejit.path_resolver import closure_cells, resolver
from fusejit.pipeline import PassContext, group, run_passes, tile_groups
from fusejit.support.identity import own_signature
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback

MERGING = ("auto", "aggressive")  # a policy of the user's is not asked about nests


@dataclass(eq=False)
class Traced:
    """A traced function: print it to see the graph; `fuse` goes on."""

    function: Callable[..., Any]
    traced: TracedFunction
    options: Options
    target: Target
    seconds: dict[str, float] = field(default_factory=dict)
    log: PassLog = field(default_factory=PassLog)

    @property
    def graph(self) -> Graph:
        """The graph as it was traced."""
        return self.traced.graph

    def fuse(self) -> Fused:
        """Run the passes of `PASSES` and cut the result into steps."""
        try:
            return self._fused()
        except PolicyFailed as failure:
            raise failure.error from failure.error.__cause__

    def _fused(self) -> Fused:
        report = FusionReport()
        context = PassContext(self.target, policy(self.options.fusion), report)
        verified: set[Op] = set()
        with self.watched() as watched:
            start = time.perf_counter()
            recipe = self.options.schedule
            graph = self.graph if recipe is None or self.options.is_segment else recipe(self)
            graph = run_passes(graph, context, self.log, watched, verified)
            self.seconds["fuse"] = time.perf_counter() - start
            watched.enter(["group", "schedule"], partial(print_graph, graph))
            _dump(self.options, "fused", lambda: print_graph(graph))
            start = time.perf_counter()
            graph = group(graph, context)
            verify(graph, verified)
            self.seconds["group"] = time.perf_counter() - start
            schedule = make_plan(graph, self.graph, report)
            _dump(self.options, "schedule", lambda: describe_plan(schedule))
        return Fused(self, schedule)

    def watched(self) -> Watched:
        """A stage of this function that turns faults of fusejit into `InternalError`."""
        return Watched(self.function.__name__, self.options, (PolicyFailed,))

    def mlir(self) -> str:
        """The graph as text that ``mlir-opt`` accepts."""
        return mlir_text(self.graph)

    def dot(self) -> str:
        """The graph as DOT text, which Graphviz draws."""
        return graph_dot(self.graph)

    def __str__(self) -> str:
        return print_graph(self.graph)


@dataclass(eq=False)
class Fused:
    """A fused graph cut into steps: print it to see both; `lower` goes on."""

    before: Traced
    schedule: ExecutionPlan

    @property
    def graph(self) -> Graph:
        """The fused graph."""
        return self.schedule.graph

    @property
    def report(self) -> FusionReport:
        """What was folded, and what was not and why."""
        return self.schedule.report

    def lower(self) -> Lowered:
        """Loop nests for every step, and their source."""
        start = time.perf_counter()
        with self.before.watched() as watched:
            watched.enter(["lower", "emit"], partial(print_graph, self.graph))
            ops = walk(self.graph.block)
            is_free = not any(isinstance(op, GenericOp) and op.is_unfused for op in ops)
            merge = is_free and self.before.options.fusion in MERGING
            log = self.before.log
            graph = tile_groups(self.schedule, log)
            program = lower(graph, merge, log)
            load_providers()
            calls = [s for s in walk_steps(program.steps) if isinstance(s, KernelCall)]
            modules = [share_functions(outlined(call.kernel)) for call in calls]
            kernels = share_kernels(modules, [_signature(c) for c in calls])
            for call, shared in zip(calls, kernels, strict=True):
                given = tuple(
                    KernelParameter(name, np.dtype(np.int64), None, value)
                    for name, value in shared.numbers
                )
                call.kernel = replace(call.kernel, parameters=(*call.kernel.parameters, *given))
            self.before.seconds["lower"] = time.perf_counter() - start
            modules = [shared.module for shared in kernels]
            lowered = Lowered(self, program, modules, [*map(emit_kernel, modules)])
            _dump(self.before.options, "loops", lambda: str(lowered))
            _dump(self.before.options, "source", lambda: lowered.source)
        return lowered

    def mlir(self) -> str:
        """The fused graph as text that ``mlir-opt`` accepts."""
        return mlir_text(self.graph)

    def dot(self) -> str:
        """The fused graph as DOT text: kernels are clusters, groups are clusters inside."""
        return plan_dot(self.schedule)

    def __str__(self) -> str:
        return print_graph(self.graph) + "\n" + describe_plan(self.schedule)


@dataclass(eq=False)
class Lowered:
    """A program of kernels and library calls; `source` is the text of its kernels."""

    before: Fused
    program: Program
    modules: list[LoopModule]
    sources: list[str]

    @property
    def source(self) -> str:
        """The generated Python source of all kernels."""
        parts = [f"# kernel {at}\n{text}" for at, text in enumerate(self.sources)]
        return "\n\n".join(parts)

    def sizes_of_call(self, arguments: Mapping[str, Any]) -> dict[str, int]:
        """The value of each symbol in the call with these bound arguments."""
        traced, plan = self.before.before, self.before.schedule
        find = resolver(traced.function, arguments, traced.traced)
        sizes: dict[str, int] = {}
        for symbol in (*plan.unfused.symbols, *plan.graph.symbols):  # a schedule may add symbols
            sizes[symbol.name] = int(symbol.expr.evaluate(find, sizes))
        return sizes

    def compile(self) -> Compiled:
        """Compile each kernel (or find it on disk) and write the launcher."""
        with self.before.before.watched() as watched:
            watched.enter(["compile"], partial(print_graph, self.before.graph))
            return self._compile()

    def _compile(self) -> Compiled:
        options = self.before.before.options
        start = time.perf_counter()
        kernels: list[Kernel] = []
        alike: dict[Any, Kernel] = {}  # the steps of a loop that was unrolled are kernels alike
        calls: list[Callable[..., int]] = []
        texts, modules = iter(self.sources), iter(self.modules)
        function = self.before.before.function
        place = place_of(function)
        if options.jit:
            from fusejit.codegen.backend.native_loader import named  # loads llvmlite
        scalars = enumerate(self.program.graph.scalars)
        twisters = {f"x{at}" for at, scalar in scalars if scalar.expr.op == "twister"}
        for step in walk_steps(self.program.steps):
            if not isinstance(step, KernelCall):
                continue
            signature = _signature(step)
            needs_gil = any(p.name in twisters for p in step.kernel.parameters)
            if options.jit:
                text, loops = next(texts), next(modules)
                form = (module_form(loops), signature)
                if form in alike:
                    kernel = replace(alike[form], source=text, loops=loops, compile_seconds=0.0)
                else:
                    kernel = compile_kernel(
                        text,
                        signature,
                        loops,
                        cache_enabled=options.cache,
                        cache_dir=options.cache_dir,
                        cache_bytes=options.cache_bytes,
                        num_threads=options.num_threads,
                        keep_gil_below=sys.maxsize if needs_gil else RELEASE_GIL_FROM,
                    )
                    alike[form] = kernel
                kernels.append(kernel)
                calls.append(named(kernel.call, f"{place}, compiled"))
            else:
                calls.append(python_kernel(next(texts), signature))
        traced = self.before.before.traced
        source = launcher_source(
            traced,
            self.program,
            calls,
            own_signature(function),
            function.__globals__,
            closure_cells(function),
            traced.constants,
            entry_checks_arrays=bool(kernels) and all(k.checks_arrays for k in kernels),
            own=function,
        )
        launch = compile_launcher(source, place)
        self.before.before.seconds["compile"] = time.perf_counter() - start
        return Compiled(self, kernels, source, launch)

    def __str__(self) -> str:
        lines = describe_program(self.program.steps)
        return "\n".join([*lines, "", self.source])


def place_of(function: Any) -> str:
    """The name, file and line of a function, for profilers and tracebacks."""
    code = function.__code__
    return f"{function.__name__} ({Path(code.co_filename).name}:{code.co_firstlineno})"


def _signature(call: KernelCall) -> tuple[ArgType, ...]:
    """What a kernel takes."""
    return tuple(
        ArgType("scalar", p.dtype) if p.ndim is None else ArgType("array", p.dtype, p.ndim)
        for p in call.kernel.parameters
    )


@dataclass(eq=False)
class Compiled:
    """One variant: its stages, its kernels and the launcher that calls them."""

    before: Lowered
    kernels: list[Kernel]
    launcher: LauncherSource
    launch: Callable[..., Any]

    def renew(self) -> None:
        """Have it serve calls again if libraries changed without changing what it has read."""
        self.launcher.identity_words.renew()

    @property
    def traced(self) -> TracedFunction:
        """The traced function of this variant."""
        return self.before.before.before.traced

    @property
    def schedule(self) -> ExecutionPlan:
        """The fused graph in steps."""
        return self.before.before.schedule

    @property
    def seconds(self) -> dict[str, float]:
        """Time each stage took."""
        return self.before.before.before.seconds

    @property
    def from_cache(self) -> bool:
        """Whether every kernel's machine code came from disk."""
        return bool(self.kernels) and all(kernel.from_cache for kernel in self.kernels)


def trace(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], options: Options
) -> Traced:
    """Trace a call; nothing runs and nothing is modified.

    Raises
    ------
    UnsupportedError
        Also for a host call or an effect, if the options ask for ``fullgraph``.
    """
    start = time.perf_counter()
    with Watched(function.__name__, options, (Fallback,)) as watched:
        watched.enter(["trace"])
        traced = trace_function(
            function,
            args,
            dict(kwargs),
            is_segment=options.is_segment,
            undoes=options.on_error == "undo",
            formats_in_python=options.formats_in_python,
            varying=options.varying,
            is_bounded=not options.fullgraph,
            is_general=options.is_general,
        )
        log = PassLog(is_detailed="passes" in options.dump, show=_show)
        stage = Traced(function, traced, options, host_target(), log=log)
        stage.seconds["trace"] = time.perf_counter() - start
        if options.fullgraph:
            _require_no_boundary(traced.graph)
        _dump(options, "graph", lambda: print_graph(traced.graph))
    return stage


def _require_no_boundary(graph: Graph) -> None:
    """Under ``fullgraph=True`` nothing runs in Python between kernels."""
    for op in walk(graph.block):
        if isinstance(op, HostCall) and not op.inline and op.function != FIRST_ITEMS:
            if op.refusal:
                raise UnsupportedError(op.refusal)
            name = op.function.removeprefix("builtins.")
            name = "the assignment of an attribute" if name == "setattr" else name
            why = "is an effect" if not op.pure else "is not a loop over elements"
            what = f"{name} {why}: with fullgraph=True Python may run nothing between loops"
            remedy = "move it outside the decorated function, or leave fullgraph out"
            raise UnsupportedError.at(op.location, what, remedy)


def traced_stage(function: Callable[..., Any], traced: TracedFunction, options: Options) -> Traced:
    """The first stage of a graph that was not traced here; ``function`` has its parameters.

    ``traced_stage(...).fuse().lower().compile().launch`` is the callable.
    """
    verify(traced.graph)
    stage = Traced(function, traced, options, host_target())
    _dump(options, "graph", lambda: print_graph(traced.graph))
    return stage


def _dump(options: Options, stage: str, text: Callable[[], str]) -> None:
    if stage in options.dump or "all" in options.dump:
        print(f"-- {stage} --\n{text()}", file=sys.stderr)


def _show(of: str, name: str, text: str) -> None:
    print(f"-- {of}: {name} --\n{text}", file=sys.stderr)
