"""The launcher of a variant: generated Python that checks a call, allocates, and runs the steps.

It is the specification of a call. Checks of types, dtypes and ranks stand here; sizes, strides,
alignment, overlap and most guards are checked at the top of the first kernel, which writes nothing
when it refuses. A launcher returns an `Outcome` when its variant does not serve the call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.codegen.launcher.identity_words import IdentityWords
from fusejit.codegen.launcher.launcher_namespace import RAISE_AGAIN, is_c_or_f
from fusejit.codegen.launcher.launcher_results import LauncherResults, leaves_of
from fusejit.dataclass import dataclass, field
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL, index_symbols
from fusejit.ir.host import HostExpr
from fusejit.ir.host_calls import is_effect
from fusejit.ir.loops.program import (
    ArrayRef,
    HostCond,
    HostLoop,
    HostStepCall,
    KernelCall,
    LibraryCall,
    Program,
    ReadInteger,
    ScalarRef,
    Step,
    inner_blocks,
    walk_steps,
)
from fusejit.ir.ops import walk
from fusejit.ir.results import HostLeaf
from fusejit.ir.traced import TracedFunction
from fusejit.ir.types import Kind
from fusejit.support.syntax import run_text


@dataclass(slots=True)
class LauncherSource:
    """The text of a launcher and the objects its names stand for.

    Attributes
    ----------
    text : str
    namespace : dict of str to object
    identity_words : IdentityWords
        What the first kernel compares before it does anything.
    first_effect : int or None
        The line from which on the caller may see something: a store to an argument, a draw. None
        if it never does.
    """

    text: str
    namespace: dict[str, Any] = field(default_factory=dict)
    first_effect: int | None = None
    identity_words: IdentityWords = field(default_factory=IdentityWords)

    def can_start_anew(self, line: int) -> bool:
        """Whether NumPy can run a call that has come to a line of the text."""
        return self.first_effect is None or line < self.first_effect


def launcher_source(
    traced: TracedFunction,
    program: Program,
    kernels: Sequence[Callable[..., int]],
    signature: inspect.Signature,
    globals_: Mapping[str, Any],
    closure: Mapping[str, Any],
    constants: Mapping[str, np.ndarray],
    *,
    entry_checks_arrays: bool = False,
    own: Callable[..., Any] | None = None,
) -> LauncherSource:
    """Write the launcher.

    Parameters
    ----------
    traced, program
        The traced function and its lowered form.
    kernels : sequence of callable
        One per `KernelCall`, in order.
    signature : inspect.Signature
        Of the user's function; the launcher takes every parameter by position.
    globals_, closure
        Where outside names are read again on each call: the function's module and its cells.
    constants
        Arrays made while tracing.
    entry_checks_arrays
        Whether the kernels' entry checks class, dtype and rank of arrays itself; then the launcher
        leaves that to the first kernel, which takes every argument array.
    own
        The user's function, whose code and default values may be replaced later.
    """
    emitter = _Emitter(traced, program, kernels, signature, globals_, closure, constants)
    emitter.entry_checks_arrays = entry_checks_arrays
    emitter.own = own
    return emitter.write()


class _Emitter(LauncherResults):
    """The whole text of a launcher."""

    def write(self) -> LauncherSource:
        graph = self.program.graph
        self.check_own_code()
        self.check_libraries()
        for check in self.traced.checks:
            self.check(check)
        for made, expr in self.traced.made.items():
            self.put(f"made_{made} = {self.host(expr)}")
        self.put("if error_state() is not DEFAULT_ERROR_STATE and errors_raise():")
        self.put("    return ERRSTATE")
        needed = self.needed_names()
        bounded = index_symbols(graph)
        for at, room in enumerate(self.traced.capacities):
            if room.size:
                self.put(f"capacity_{at} = CAPACITIES[{at}][0]")
        for symbol in graph.symbols:
            if symbol.name in needed:
                self.put(f"{symbol.name} = {self.host(symbol.expr)}")
                if symbol.name in bounded and symbol.expr.op != "size":
                    self.miss_if(f"not {-LARGEST_SYMBOL} <= {symbol.name} <= {LARGEST_SYMBOL}")
        by_name = self.name_of_scalar
        for scalar in graph.scalars:
            name = by_name[scalar.value.name]
            if name in needed:
                self.put(f"{name} = {self.host(scalar.expr)}")
                if scalar.value.name != name:
                    self.texts_of_scalars[scalar.value.name] = name
                if scalar.value.type.dtype.kind == "i" and scalar.value.kind is Kind.PYTHON:
                    self.miss_if(f"not -0x8000000000000000 <= {name} < 0x8000000000000000")
        for guard in self.program.host_guards:
            test = self.host(guard.expr)
            self.miss_if(f"{'not ' if guard.expected else ''}{test}")
        known = {s.name for s in graph.symbols} | set(self.program.scalars)
        for leaf in leaves_of(self.traced.structure, HostLeaf):
            if leaf.expr.may_raise and _expr_names(leaf.expr, by_name) <= known:
                text = self.host(leaf.expr)
                if text not in self.computed:
                    self.computed[text] = f"h{len(self.computed)}"
                    self.put(f"{self.computed[text]} = {text}")
        self.learn([])
        prepare, self.lines = self.lines, []
        self.puts_back = self.kept()
        if self.puts_back:
            self.put(f"saved = kept({', '.join(self.puts_back)})")
        behind = len(self.lines)  # what is allocated before the first step
        self.steps(self.program.steps)
        before_writes = len(self.lines)
        self.bind_repeated_results()
        made = self.structure(self.traced.structure)
        if self.traced.written:
            self.put(f"made = {made}")
            for place, (owner, name) in enumerate(self.traced.written, 1):
                target, value = self.path(owner), f"made[{place}]"
                write = f"{target}.{name} = {value}" if name else f"write_items({target}, {value})"
                self.put(write)
            made = "made[0]"
        self.put(f"return {made}")
        body = ["    try:", *(f"        {line}" for line in prepare or ["pass"])]
        body += [f"    {line}" for line in RAISE_AGAIN]
        body += ["        return WARNS if isinstance(error, Warning) else MISS"]
        has_effects = any(is_effect(op) for op in walk(graph.block))
        first = behind if has_effects else before_writes if self.traced.writes else None
        first_effect = None if first is None else 2 + len(body) + first
        body += [f"    {line}" for line in self.lines]
        text = "\n".join([f"def launch({', '.join(self.parameters)}):", *body]) + "\n"
        if self.identity_words.pairs:
            self.namespace["K0"] = self.identity_words.bind(self.namespace["K0"])
        return LauncherSource(text, self.namespace, first_effect, self.identity_words)

    def needed_names(self) -> set[str]:
        """Symbols and scalar parameters that the launcher itself must compute."""
        graph = self.program.graph
        by_name = self.name_of_scalar
        needed: set[str] = set()
        for step in walk_steps(self.program.steps):
            if isinstance(step, KernelCall):
                numbers = (p for p in step.kernel.parameters if p.ndim is None)
                needed |= {p.name for p in numbers if p.value is None}
                continue
            for ref in _references(step):
                needed |= {by_name[ref.name]} if isinstance(ref, ScalarRef) else _ref_symbols(ref)
            needed |= frozenset().union(*(e.symbols() for e in _extents(step)))
        inner = [b for step in walk_steps(self.program.steps) for b in inner_blocks(step)]
        for slot in [*self.program.slots, *(slot for block in inner for slot in block.slots)]:
            if self.like_argument(slot) is None or not is_c_or_f(slot):
                needed |= frozenset().union(*(e.symbols() for e in slot.extents))
        for result in self.program.results:
            if isinstance(result.ref, ScalarRef):
                needed.add(by_name[result.ref.name])
            else:
                needed |= _ref_symbols(result.ref)
        for guard in self.program.host_guards:
            needed |= _expr_names(guard.expr, by_name)
        for leaf in leaves_of(self.traced.structure, HostLeaf):
            needed |= _expr_names(leaf.expr, by_name)
        for scalar in reversed(graph.scalars):
            if by_name[scalar.value.name] in needed:
                needed |= _expr_names(scalar.expr, by_name)
        for symbol in reversed(graph.symbols):
            if symbol.name in needed:
                needed |= _expr_names(symbol.expr, by_name)
        return needed


# ------------------------------------------------------------------------------------- small text
def _references(step: Step) -> list[ArrayRef | ScalarRef]:
    """What the launcher itself reads or hands on in a step that is no kernel."""
    if isinstance(step, LibraryCall):
        return [*step.operands, step.out]
    if isinstance(step, HostStepCall):
        return [argument.ref for argument in step.operands]
    if isinstance(step, ReadInteger):
        return [step.source.ref]
    test = step.test if isinstance(step, HostLoop | HostCond) else None
    return [] if test is None else [test.ref]


def _extents(step: Step) -> list[AffineExpr]:
    """Extents and bounds that a step that is no kernel mentions."""
    if isinstance(step, HostStepCall):
        return [e for slot in step.outs for e in slot.extents]
    if isinstance(step, HostLoop):
        return [e for e in (step.lower, step.upper) if e is not None]
    return []


def _ref_symbols(ref: ArrayRef) -> frozenset[str]:
    found = frozenset().union(*(e.symbols() for e in (*ref.extents, *ref.shape)))
    if ref.source is not None:
        found |= _ref_symbols(ref.source)
    return found | (ref.map.symbols() if ref.map is not None else frozenset())


def _expr_names(expr: HostExpr, by_name: Mapping[str, str]) -> set[str]:
    if expr.op == "name":
        return {by_name.get(expr.attr, expr.attr)}
    return set().union(*(_expr_names(o, by_name) for o in expr.operands))


def compile_launcher(source: LauncherSource, place: str) -> Callable[..., Any]:
    """The launcher as a function; its text shows in tracebacks and debuggers."""
    namespace = dict(source.namespace)
    run_text(source.text, f"<fusejit launcher of {place}>", namespace)
    launch: Callable[..., Any] = namespace["launch"]
    return launch
