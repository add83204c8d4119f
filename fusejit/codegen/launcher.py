"""The launcher of a variant: generated Python that checks a call, allocates, and runs the steps.

It is the specification of a call. Checks of types, dtypes and ranks stand here; sizes, strides,
alignment, overlap and most guards are checked at the top of the first kernel, which writes nothing
when it refuses. A launcher returns a `Miss` when its variant does not serve the call.
"""

from __future__ import annotations

import inspect
import linecache
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from fusejit.codegen import launch_runtime
from fusejit.codegen.host_text import host_text
from fusejit.codegen.late_errors import DIFFERENT_EXTENTS, LATE_KINDS, has_late_extents, late_places
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.graph import Store, walk
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.host_blocks import launcher_symbols
from fusejit.ir.host_calls import NAMES, host_function, object_texts
from fusejit.ir.index_symbols import LARGEST_SYMBOL, index_symbols
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.polynomial import Polynomial
from fusejit.ir.program import (
    ArrayRef,
    HostArgument,
    HostBlock,
    HostCond,
    HostLoop,
    HostStepCall,
    KernelCall,
    LibraryCall,
    Program,
    ReadInteger,
    ScalarRef,
    Slot,
    Step,
    inner_blocks,
    walk_steps,
)
from fusejit.ir.traced import (
    ArrayClass,
    CheckKind,
    HostLeaf,
    PathCheck,
    PathLeaf,
    ResultLeaf,
    ResultMapping,
    ResultSequence,
    ResultStructure,
    StaticLeaf,
    TracedFunction,
)
from fusejit.ir.types import Kind

_Leaf = TypeVar("_Leaf", ResultLeaf, HostLeaf)


@dataclass(slots=True)
class LauncherSource:
    """The text of a launcher and the objects its names stand for."""

    text: str
    namespace: dict[str, Any] = field(default_factory=dict)


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
    """
    writer = _Writer(traced, program, kernels, signature, globals_, closure, constants)
    writer.entry_checks_arrays = entry_checks_arrays
    return writer.write()


class _Writer:
    def __init__(
        self,
        traced: TracedFunction,
        program: Program,
        kernels: Sequence[Callable[..., int]],
        signature: inspect.Signature,
        globals_: Mapping[str, Any],
        closure: Mapping[str, Any],
        constants: Mapping[str, np.ndarray],
    ) -> None:
        self.traced = traced
        self.program = program
        self.kernels = kernels
        self.parameters = [f"arg_{name}" for name in signature.parameters]
        self.globals = globals_
        self.closure = closure
        self.namespace: dict[str, Any] = {
            "np": np,
            "ndarray": np.ndarray,
            "empty": np.empty,
            "math": math,
            "matmul": np.matmul,
            "G": globals_,
            "PLACES": late_places(program.graph),
            **{
                name: getattr(launch_runtime, name)
                for name in (
                    "MISS",
                    "ERRSTATE",
                    "miss",
                    "keep",
                    "put_back",
                    "errors_raise",
                    "error_state",
                    "HOST_FAILED",
                    "raise_from",
                    "host_result",
                    "require_shape",
                    "axis_slice",
                    "strided_view",
                    "view",
                )
            },
            **{name: value for name, value in NAMES.items() if name != "np"},
            "DEFAULT_ERROR_STATE": launch_runtime.DEFAULT_ERROR_STATE,
            **{f"const_{name}": array for name, array in constants.items()},
        }
        self.lines: list[str] = []
        self.texts: dict[Path, str] = {}
        self.texts_of_scalars: dict[str, str] = {}
        self.entry_checks_arrays = False
        self.repeated: dict[int, str] = {}
        self.handed_out: set[str] = set()
        self.may_undo = has_late_extents(program.graph)
        self.known_sizes: set[str] = set()
        self.allocated: set[str] = set()
        host_steps = [s for s in walk_steps(program.steps) if isinstance(s, HostStepCall)]
        self.open_slots = program.slots  # of the block that is being written
        self.next_kernel = iter([(kernel, f"K{at}") for at, kernel in enumerate(kernels)])
        self.made_by_host = {slot.name for step in host_steps for slot in step.outs}

    # -- the whole ------------------------------------------------------------------------------
    def write(self) -> LauncherSource:
        graph = self.program.graph
        for check in self.traced.checks:
            self.check(check)
        self.put("if error_state() is not DEFAULT_ERROR_STATE and errors_raise():")
        self.put("    return ERRSTATE")
        needed = self.needed_names()
        bounded = index_symbols(graph)
        for symbol in graph.symbols:
            if symbol.name in needed:
                self.put(f"{symbol.name} = {self.host(symbol.expr)}")
                if symbol.name in bounded and symbol.expr.op != "size":
                    self.put(f"if not {-LARGEST_SYMBOL} <= {symbol.name} <= {LARGEST_SYMBOL}:")
                    self.put("    return MISS")
        by_name = {v: k for k, v in self.program.scalars.items()}
        for scalar in graph.scalars:
            name = by_name[scalar.value.name]
            if name in needed:
                self.put(f"{name} = {self.host(scalar.expr)}")
                if scalar.value.name != name:
                    self.texts_of_scalars[scalar.value.name] = name
                if scalar.value.type.dtype.kind == "i" and scalar.value.kind is Kind.PYTHON:
                    self.put(f"if not -0x8000000000000000 <= {name} < 0x8000000000000000:")
                    self.put("    return MISS")
        for guard in self.program.host_guards:
            test = self.host(guard.expr)
            self.put(f"if {'not ' if guard.expected else ''}{test}:")
            self.put("    return MISS")
        self.learn([])
        prepare, self.lines = self.lines, []
        if self.may_undo:
            self.put(f"saved = keep({', '.join(map(self.array, self.written()))})")
        self.steps(self.program.steps)
        self.bind_repeated_results()
        self.put(f"return {self.structure(self.traced.structure)}")
        body = ["    try:", *(f"        {line}" for line in prepare or ["pass"])]
        body += ["    except NameError:", "        raise"]  # of this text: a fault that must show
        body += ["    except Exception:", "        return MISS"]
        body += [f"    {line}" for line in self.lines]
        text = "\n".join([f"def launch({', '.join(self.parameters)}):", *body]) + "\n"
        return LauncherSource(text, self.namespace)

    def put(self, line: str) -> None:
        self.lines.append(line)

    def bind(self, prefix: str, value: Any) -> str:
        """A name of the launcher's namespace for an object."""
        for name, known in self.namespace.items():
            if known is value and name.startswith(prefix):
                return name
        name = f"{prefix}{sum(n.startswith(prefix) for n in self.namespace)}"
        self.namespace[name] = value
        return name

    # -- outside objects ------------------------------------------------------------------------
    def path(self, path: Path) -> str:
        """Text that reads an outside object; objects that were checked have a variable."""
        if path in self.texts:
            return self.texts[path]
        if path.steps:
            kind, key = path.steps[-1]
            parent = self.path(Path(path.root, path.name, path.steps[:-1]))
            if kind == ".":
                return f"{parent}.{key}"
            plain = isinstance(key, str | int) and not isinstance(key, bool)
            return f"{parent}[{key!r}]" if plain else f"{parent}[{self.bind('key', key)}]"
        if path.root == "arg":
            return f"arg_{path.name}"
        if path.root == "const":
            return f"const_{path.name}"
        if path.root == "closure":
            return f"{self.bind('cell', self.closure[path.name])}.cell_contents"
        if path.name in self.globals:
            return f"G[{path.name!r}]"
        return f"G.get({path.name!r}, {self.bind('builtin', self.builtin(path.name))})"

    def builtin(self, name: str) -> Any:
        builtins = self.globals.get("__builtins__", {})
        table = builtins if isinstance(builtins, dict) else vars(builtins)
        return table.get(name)

    def host(self, expr: HostExpr) -> str:
        text = host_text(_renamed(expr, self.texts_of_scalars), self.path)
        return text[1:-1] if text.startswith("(") and _balanced(text[1:-1]) else text

    # -- checks ---------------------------------------------------------------------------------
    def check(self, check: PathCheck) -> None:
        text = self.path(check.path)
        if not text.isidentifier():
            name = f"v{len(self.texts)}"
            if check.kind is not CheckKind.ABSENT:
                self.put(f"{name} = {text}")
                self.texts[check.path] = text = name
        refusal = self.refusal(check, text)
        if refusal:
            self.put(f"if {refusal}:")
            self.put("    return MISS")

    def refusal(self, check: PathCheck, text: str) -> str:
        expected = check.expected
        if check.kind is CheckKind.ARRAY:
            assert isinstance(expected, ArrayClass)
            if self.entry_checks_arrays:
                return f"not {text}.flags.writeable" if expected.writeable else ""
            dtype = self.bind("dtype", expected.dtype)
            test = (
                f"type({text}) is not ndarray or ({text}.dtype is not {dtype} and "
                f"{text}.dtype != {dtype}) or {text}.ndim != {expected.ndim}"
            )
            return f"{test} or not {text}.flags.writeable" if expected.writeable else test
        if check.kind is CheckKind.TYPE:
            return f"type({text}) is not {self.bind('type', expected)}"
        if check.kind is CheckKind.IS:
            if expected is None or isinstance(expected, bool):
                return f"{text} is not {expected!r}"
            return f"{text} is not {self.bind('obj', expected)}"
        if check.kind is CheckKind.EQUAL:
            kind = self.bind("type", type(expected))
            if isinstance(expected, float):
                return f"type({text}) is not {kind} or {text}.hex() != {expected.hex()!r}"
            return f"type({text}) is not {kind} or {text} != {self.bind('equal', expected)}"
        if check.kind is CheckKind.CODE:
            return f"getattr({text}, '__code__', None) is not {self.bind('code', expected)}"
        if check.kind is CheckKind.KEYS:
            if isinstance(expected, int):
                return f"len({text}) != {expected}"
            return f"tuple({text}) != {self.bind('keys', expected)}"
        assert check.kind is CheckKind.ABSENT
        if check.path.steps:
            kind, key = check.path.steps[-1]
            parent = self.path(Path(check.path.root, check.path.name, check.path.steps[:-1]))
            return f"hasattr({parent}, {key!r})" if kind == "." else f"{key!r} in {parent}"
        return f"{check.path.name!r} in G"

    # -- names, sizes, slots --------------------------------------------------------------------
    def needed_names(self) -> set[str]:
        """Symbols and scalar parameters that the launcher itself must compute."""
        graph = self.program.graph
        scalar_of = {v: k for k, v in self.program.scalars.items()}
        needed: set[str] = set()
        for step in walk_steps(self.program.steps):
            if isinstance(step, KernelCall):
                needed |= {p.name for p in step.kernel.parameters if p.ndim is None}
                continue
            for ref in _references(step):
                needed |= {scalar_of[ref.name]} if isinstance(ref, ScalarRef) else _ref_symbols(ref)
            needed |= frozenset().union(*(e.symbols() for e in _extents(step)))
        inner = [b for step in walk_steps(self.program.steps) for b in inner_blocks(step)]
        for slot in [*self.program.slots, *(slot for block in inner for slot in block.slots)]:
            if self.like_argument(slot) is None or not _is_c_or_f(slot):
                needed |= frozenset().union(*(e.symbols() for e in slot.extents))
        by_name = {v: k for k, v in self.program.scalars.items()}
        for result in self.program.results:
            if isinstance(result.ref, ScalarRef):
                needed.add(by_name[result.ref.name])
            else:
                needed |= _ref_symbols(result.ref)
        for guard in self.program.host_guards:
            needed |= _expr_names(guard.expr, by_name)
        for leaf in _leaves(self.traced.structure, HostLeaf):
            needed |= _expr_names(leaf.expr, by_name)
        scalar_exprs = {by_name[s.value.name]: s.expr for s in graph.scalars}
        for name in list(needed):
            if name in scalar_exprs:
                needed |= _expr_names(scalar_exprs[name], by_name)
        for scalar in reversed(graph.scalars):
            if by_name[scalar.value.name] in needed:
                needed |= _expr_names(scalar.expr, by_name)
        for symbol in reversed(graph.symbols):
            if symbol.name in needed:
                needed |= _expr_names(symbol.expr, by_name)
        return needed

    def like_argument(self, slot: Slot) -> str | None:
        """An argument with the slot's very shape."""
        for name, buffer in self.program.arguments.items():
            if buffer.type.extents == slot.extents and slot.extents:
                return name
        return None

    def allocation(self, slot: Slot) -> str:
        dtype = self.bind("dtype", slot.dtype)
        like = self.like_argument(slot)
        rank = len(slot.extents)
        order = slot.order or tuple(range(rank))
        if order == tuple(range(rank)):
            shape = f"{self.array(like)}.shape" if like else _shape(slot.extents)
            return f"empty({shape}, {dtype})"
        if order == tuple(reversed(range(rank))):
            shape = f"{self.array(like)}.shape" if like else _shape(slot.extents)
            return f"empty({shape}, {dtype}, 'F')"
        inverse = tuple(order.index(axis) for axis in range(rank))
        permuted = _shape([slot.extents[axis] for axis in order])
        return f"empty({permuted}, {dtype}).transpose({inverse})"

    # -- steps and results ----------------------------------------------------------------------
    def written(self) -> list[str]:
        """The arguments that the program writes."""
        stores = [op for op in walk(self.program.graph.block) if isinstance(op, Store)]
        roots = {store.view.buffer.root for store in stores}
        return [n for n, buffer in self.program.arguments.items() if buffer in roots]

    def array(self, name: str) -> str:
        """Text of an array of the program: an argument's own text, or the slot's name."""
        if name in self.program.arguments:
            origin = self.program.arguments[name].origin
            assert origin is not None
            return self.path(origin.attr)
        return name

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, KernelCall):
                kernel, name = next(self.next_kernel)
                self.namespace[name] = kernel
                arguments = ", ".join(
                    self.array(p.name) if p.ndim is not None else p.name
                    for p in step.kernel.parameters
                )
                self.put(f"status = {name}({arguments})")
                self.put("if status:")
                if self.may_undo:
                    self.put(f"    if status & {LATE_KINDS} == {DIFFERENT_EXTENTS}:")
                    self.put("        return put_back(saved)")
                self.put("    return miss(status, PLACES)")
            elif isinstance(step, HostStepCall):
                self.host_step(step)
            elif isinstance(step, ReadInteger):
                self.put(f"{step.symbol} = int({self.argument(step.source)})")
                self.learn([step.symbol])
            elif isinstance(step, HostLoop):
                self.loop(step)
            elif isinstance(step, HostCond):
                self.put(f"if {self.argument(step.test)}:")
                self.block(step.then_block)
                self.put("else:")
                self.block(step.else_block)
            else:
                operands = ", ".join(self.reference(ref) for ref in step.operands)
                out = self.reference(step.out)
                self.put(f"{step.function}({operands}, out={out})")

    def loop(self, step: HostLoop) -> None:
        """A loop of the launcher, whose kernels were compiled once."""
        if step.condition is None:
            assert step.lower is not None
            assert step.upper is not None
            bounds = f"{_affine(step.lower)}, {_affine(step.upper)}, {step.step}"
            self.put(f"for {step.induction} in range({bounds}):")
            self.block(step.body, [step.induction] if step.induction else [])
            return
        assert step.test is not None
        self.put("while True:")
        self.block(step.condition)
        self.put(f"    if not {self.argument(step.test)}:")
        self.put("        break")
        self.block(step.body)

    def block(self, block: HostBlock, symbols: Sequence[str] = ()) -> None:
        """The steps of a block, indented; its slots are new each time."""
        outer, self.lines = self.lines, []
        open_slots, self.open_slots = self.open_slots, block.slots
        self.learn(symbols)
        self.steps(block.steps)
        if block.moves:
            targets, sources = (", ".join(names) for names in zip(*block.moves, strict=True))
            self.put(f"{targets} = {sources}")
        self.open_slots = open_slots
        inner, self.lines = self.lines, outer
        self.lines += [f"    {line}" for line in inner or ["pass"]]

    def argument(self, argument: HostArgument) -> str:
        """Text of what a host call is given."""
        if isinstance(argument.ref, ScalarRef):
            by_name = {v: k for k, v in self.program.scalars.items()}
            return by_name[argument.ref.name]
        ending = {Kind.ARRAY: "", Kind.SCALAR: "[()]", Kind.PYTHON: ".item()"}[argument.kind]
        return self.reference(argument.ref) + ending

    def host_step(self, step: HostStepCall) -> None:
        """A call between kernels, the sizes it defines, and the slots that have such extents.

        As long as nothing of the caller's was modified, NumPy runs the call from the start if the
        function fails: then errors have the user's lines, and other results are right.
        """
        arguments = [self.argument(operand) for operand in step.operands]
        function = self.bind("host", host_function(step.function))
        objects = object_texts([self.host(o) for o in step.objects])
        lines = [f"made = {function}({step.call.format(*arguments, **objects)})"]
        if not step.outs:
            lines = [lines[0].removeprefix("made = ")]
        else:
            lines.append("made = made if isinstance(made, tuple) else (made,)")
        for at, slot in enumerate(step.outs):
            part = f"made[{at}]"
            dtype = self.bind("dtype", slot.dtype)
            lines.append(
                f"{slot.name} = host_result({part}, {dtype}, {len(slot.extents)}, {slot.order})"
            )
        lines += [f"{name} = {step.outs[at].name}.shape[{axis}]" for name, at, axis in step.sizes]
        lines += [f"require_shape({s.name}, {_shape(s.extents)})" for s in step.outs if s.extents]
        self.put("try:")
        self.lines += [f"    {line}" for line in lines]
        if step.is_late:
            self.put("except Exception as error:")
            self.put(f"    raise_from(error, {self.bind('place', step.location)})")
        else:
            self.put("except NameError:")
            self.put("    raise")
            self.put("except Exception:")
            self.put("    return HOST_FAILED")
        self.learn([name for name, _, _ in step.sizes])

    def learn(self, symbols: Sequence[str]) -> None:
        """Symbols are known from here on: allocate the slots that waited for them."""
        self.known_sizes |= set(symbols)
        unknown = set(launcher_symbols(self.program.graph)) - self.known_sizes
        for slot in self.open_slots:
            if slot.name in self.allocated or slot.name in self.made_by_host:
                continue
            if not any(unknown & e.symbols() for e in slot.extents):
                self.put(f"{slot.name} = {self.allocation(slot)}")
                self.allocated.add(slot.name)

    def reference(self, ref: ArrayRef) -> str:
        """Text of an array or of a view of it."""
        if ref.source is not None:
            seen = f"reshape({_shape(ref.shape)})" if ref.part is None else ref.part
            text = f"{self.reference(ref.source)}.{seen}"
            if ref.map is None or (ref.map.is_identity and ref.extents == ref.shape):
                return text
        else:
            text = self.array(ref.name)
        if ref.map is None:
            return text
        dims_of = [result.dims() for result in ref.map.results]
        if any(len(d) > 1 for d in dims_of) or sum(map(len, dims_of)) > len(set().union(*dims_of)):
            return self.strided(text, ref.map, ref.extents)
        index: list[str] = []
        axis_dims: list[int] = []
        for result in ref.map.results:
            dims = sorted(result.dims())
            if not dims:
                index.append(_affine(result))
                continue
            (dim,) = dims
            step = {str(a): c for a, c in result.terms}[f"d{dim}"]
            start = result - AffineExpr.dim(dim) * step
            index.append(f"axis_slice({_affine(start)}, {step}, {_affine(ref.extents[dim])})")
            axis_dims.append(dim)
        rank = ref.map.num_dims
        axes = tuple(sorted(range(len(axis_dims)), key=axis_dims.__getitem__))
        added = tuple(slice(None) if d in axis_dims else None for d in range(rank))
        lengths = {d: ref.extents[d].as_constant() for d in range(rank) if d not in axis_dims}
        broadcast = any(length != 1 for length in lengths.values())
        shape = _shape(ref.extents) if broadcast else "None"
        added_text = ", ".join("None" if a is None else "slice(None)" for a in added)
        return (
            f"view({text}, ({', '.join(['...', *index])},), {axes}, (..., {added_text}), {shape})"
            if rank
            else f"view({text}, ({', '.join(['...', *index])},), (), (...,), None)"
        )

    def strided(self, text: str, map: IndexingMap, extents: Sequence[AffineExpr]) -> str:
        """Text of a view in which several axes move along one axis of the array, or one along
        several (a diagonal)."""
        zero = [AffineExpr.const(0)] * map.num_dims
        corner = "".join(f"{_affine(r.substitute(dims=zero))}, " for r in map.results)
        steps = [[r.coefficient(Dim(d)) for r in map.results] for d in range(map.num_dims)]
        return f"strided_view({text}, ({corner}), {steps}, {_shape(extents)})"

    def bind_repeated_results(self) -> None:
        """An object that stands in the result several times is made once: ``v, v``."""
        counts = Counter(leaf.index for leaf in _leaves(self.traced.structure, ResultLeaf))
        names: dict[int, str] = {}
        for index, count in counts.items():
            if count > 1:
                names[index] = f"leaf{index}"
                self.put(f"{names[index]} = {self.structure(ResultLeaf(index))}")
        self.repeated = names

    def structure(self, structure: ResultStructure) -> str:
        if isinstance(structure, ResultLeaf):
            if structure.index in self.repeated:
                return self.repeated[structure.index]
            result = self.program.results[structure.index]
            if isinstance(result.ref, ScalarRef):
                by_name = {v: k for k, v in self.program.scalars.items()}
                return by_name[result.ref.name]
            text = self.reference(result.ref)
            if result.ref.map is None:
                if result.ref.name in self.handed_out or result.ref.name in self.program.arguments:
                    text += "[...]"  # a view of all of it is another object
                self.handed_out.add(result.ref.name)
            if result.kind is Kind.SCALAR:
                return f"{text}[()]"
            return text if result.kind is Kind.ARRAY else f"{text}.item()"
        if isinstance(structure, PathLeaf):
            return self.path(structure.path)
        if isinstance(structure, HostLeaf):
            return self.host(structure.expr)
        if isinstance(structure, StaticLeaf):
            return self.bind("static", structure.value)
        if isinstance(structure, ResultSequence):
            items = [self.structure(item) for item in structure.items]
            if structure.type is list:
                return f"[{', '.join(items)}]"
            text = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
            return (
                text if structure.type is tuple else f"{self.bind('type', structure.type)}(*{text})"
            )
        assert isinstance(structure, ResultMapping)
        pairs = zip(structure.keys, structure.items, strict=True)
        return (
            "{" + ", ".join(f"{self.bind('key', k)}: {self.structure(v)}" for k, v in pairs) + "}"
        )


# ------------------------------------------------------------------------------------- small text
def _affine(expr: AffineExpr) -> str:
    return str(Polynomial.from_affine(expr))


def _shape(extents: Sequence[AffineExpr]) -> str:
    return "(" + "".join(f"{_affine(e)}, " for e in extents).rstrip() + ")"


def _is_c_or_f(slot: Slot) -> bool:
    axes = tuple(range(len(slot.extents)))
    return slot.order is None or slot.order in (axes, axes[::-1])


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


def _renamed(expr: HostExpr, names: Mapping[str, str]) -> HostExpr:
    if expr.op == "name" and expr.attr in names:
        return HostExpr("name", (), names[expr.attr])
    if not expr.operands:
        return expr
    return HostExpr(expr.op, tuple(_renamed(o, names) for o in expr.operands), expr.attr)


def _leaves(structure: ResultStructure, kind: type[_Leaf]) -> list[_Leaf]:
    """The leaves of one kind, in order."""
    if isinstance(structure, kind):
        return [structure]
    if isinstance(structure, ResultSequence | ResultMapping):
        return [leaf for item in structure.items for leaf in _leaves(item, kind)]
    return []


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def compile_launcher(source: LauncherSource, name: str) -> Callable[..., Any]:
    """The launcher as a function; its text shows in tracebacks and debuggers."""
    filename = f"<fusejit launcher of {name}>"
    linecache.cache[filename] = (
        len(source.text),
        None,
        source.text.splitlines(keepends=True),
        filename,
    )
    namespace = dict(source.namespace)
    exec(compile(source.text, filename, "exec"), namespace)
    launch: Callable[..., Any] = namespace["launch"]
    return launch
