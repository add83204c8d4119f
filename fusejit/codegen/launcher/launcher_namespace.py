"""What the text of a launcher names: outside objects, their checks, arrays, and views of them."""

from __future__ import annotations

import builtins
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from fusejit.codegen.launcher import runtime as launch_runtime
from fusejit.codegen.launcher.debuggers import is_debugged
from fusejit.codegen.launcher.identity_words import IdentityWords
from fusejit.codegen.launcher.library_state import HAVE_VERSIONS, LibraryState
from fusejit.codegen.launcher.made_containers import MAKERS
from fusejit.codegen.launcher.native_columns import native_reader
from fusejit.codegen.lower.deferred_errors import deferred_sites, rolled_back
from fusejit.codegen.printer.host_printer import host_text
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.columns.list_columns import ListColumn
from fusejit.ir.columns.number_reader import set_reader
from fusejit.ir.host import HOST_NAMES, HOST_OPS, HostExpr, Path
from fusejit.ir.host_calls import GLOBAL_RANDOM, NAMES, is_draw
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.program import (
    ArrayRef,
    HostStepCall,
    KernelCall,
    Program,
    Slot,
    memory_name,
    names_used,
    walk_steps,
)
from fusejit.ir.ops import HostCall, walk
from fusejit.ir.raw_reads import value_reader, with_text
from fusejit.ir.results import ResultLeaf
from fusejit.ir.traced import ArrayClass, CheckKind, LibraryRead, PathCheck, TracedFunction
from fusejit.ir.types import is_same_dtype
from fusejit.ir.write_access import ACCESS_BITS, WRITEABLE_BIT
from fusejit.outcome import MISS
from fusejit.support.identity import ServedCode, served_by, served_for
from fusejit.support.interrupts import is_from_handler

_RUNTIME = (
    "DEFAULT_ERROR_STATE ERRSTATE HOST_FAILED WARNS axis_slice error_state errors_raise "
    "host_array host_parts host_result kept locked make_room marked miss put_back raise_from "
    "require_shape strided_view view"
)
"""What launchers call of `fusejit.codegen.launcher.runtime`."""
RAISE_AGAIN = ["except NameError:", "    raise", "except Exception as error:"]
RAISE_AGAIN += ["    if is_from_handler(error):", "        raise"]
"""After a ``try``: a NameError is a fault of the launcher's text, which must show."""
_PLAIN = (bool, int, str, bytes)  # instances are equal exactly if they are one value
_FEW = 2  # builtins: to compare these costs less than to ask for the version of all

set_reader(native_reader)


class LauncherNames:
    """Lines of a launcher, and the objects its names stand for."""

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
        self.name_of_scalar = {value: name for name, value in program.scalars.items()}
        self.names_used = names_used(program)
        self.kernels = kernels
        self.parameters = [f"arg_{name}" for name in signature.parameters]
        self.globals = globals_
        self.closure = closure
        self.namespace: dict[str, Any] = {
            "np": np,
            "ndarray": np.ndarray,
            "empty": np.empty,
            "empty_like": np.empty_like,
            "math": math,
            "HOST_OPS": HOST_OPS,
            "is_from_handler": is_from_handler,
            **HOST_NAMES,
            "matmul": np.matmul,
            "GLOBAL_RANDOM": GLOBAL_RANDOM,
            "G": globals_,
            "MISS": MISS,
            "CAPACITIES": traced.capacities,
            "PLACES": deferred_sites(program.graph),
            **{name: getattr(launch_runtime, name) for name in _RUNTIME.split()},
            **{made.__name__: made for made in MAKERS},
            **{name: value for name, value in NAMES.items() if name != "np"},
            **{f"const_{name}": array for name, array in constants.items()},
        }
        self.lines: list[str] = []
        self.texts: dict[Path, str] = {}
        self.ndarrays: dict[Path, str] = {}  # of memmaps: ndarrays of their memory
        self.texts_of_scalars: dict[str, str] = {}
        self.entry_checks_arrays = False
        self.own: Callable[..., Any] | None = None
        self.identity_words = IdentityWords()
        self.repeated: dict[ResultLeaf, str] = {}
        self.shared: dict[int | None, str] = {}
        self.handed_out: set[str] = set()
        self.computed: dict[str, str] = {}  # results that are computed in front
        self.undone = frozenset(rolled_back(program.graph).values())  # statuses
        self.puts_back: list[str] = []
        self.known_sizes: set[str] = set()
        self.allocated: set[str] = set()
        host_steps = [s for s in walk_steps(program.steps) if isinstance(s, HostStepCall)]
        self.open_slots = program.slots  # of the block that is being written
        self.next_kernel = iter([(kernel, f"K{at}") for at, kernel in enumerate(kernels)])
        self.made_by_host = {slot.name for step in host_steps for slot in step.outs}
        self.as_made = _handed_out_as_made(program, self.made_by_host)

    @property
    def entry_checks_state(self) -> bool:
        """Whether the first thing that runs is a kernel, which can see that something changed."""
        steps = self.program.steps
        return self.entry_checks_arrays and bool(steps) and isinstance(steps[0], KernelCall)

    # -- the whole ------------------------------------------------------------------------------
    def put(self, line: str) -> None:
        self.lines.append(line)

    def miss_if(self, test: str) -> None:
        self.lines += [f"if {test}:", "    return MISS"]

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
        if path.root in ("const", "made"):
            return f"{path.root}_{path.name}"
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
        return host_text(_renamed(expr, self.texts_of_scalars), self.path, is_operand=False)

    # -- checks ---------------------------------------------------------------------------------
    def check_own_code(self) -> None:
        """The user's function is still the one that was traced, with the same default values."""
        if self.own is None:
            return
        if not (self.entry_checks_state and self.identity_words.add_debugger()):
            traced, debugged = self.bind("traced", sys.gettrace), self.bind("debugged", is_debugged)
            self.miss_if(f"{traced}() is not None and {debugged}()")
        self.check_entry_stubs()
        if self.entry_checks_state and self.identity_words.add_function(cast(Any, self.own)):
            return
        own = self.bind("own", self.own)
        tests = []
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            now = getattr(self.own, name)
            if now is not None:
                tests.append(f"{own}.{name} is not {self.bind('its', now)}")
        for served in served_for(cast(Any, self.own)):
            tests.append(self.is_replaced(served))
        self.miss_if(" or ".join(tests))

    def check_entry_stubs(self) -> None:
        """What stands for decorated functions that are called has not been replaced."""
        for entry_stub in self.traced.entry_stubs:
            served = served_by(entry_stub)
            if served is None or (
                self.entry_checks_state and self.identity_words.add_entry_stub(entry_stub, served)
            ):
                continue
            stub = self.bind("stub", entry_stub)
            code = self.bind("its", entry_stub.__code__)
            is_copy = served.entry_stub is not entry_stub
            tests = [f"{stub}.__code__ is not {code}" if is_copy else self.is_replaced(served)]
            for name in ("__defaults__", "__kwdefaults__"):
                now = self.bind("its", getattr(entry_stub, name))
                tests.append(f"{stub}.{name} is not {now}")
            self.miss_if(" or ".join(tests))

    def is_replaced(self, served: ServedCode) -> str:
        """A test whether somebody has assigned other code to an entry stub."""
        stub = self.bind("stub", served.entry_stub)
        return f"{stub}.__code__ is not {self.bind('served', served)}.code"

    def check_libraries(self) -> None:
        """Modules of libraries hold what they held."""
        reads: dict[int, list[LibraryRead]] = {}
        for read in self.traced.library_reads:
            reads.setdefault(id(read.namespace), []).append(read)
        for of_one in reads.values():
            if of_one[0].namespace is vars(builtins) and len(of_one) <= _FEW:
                text = self.bind("builtins", builtins)
                tests = (f"{text}.{r.name} is not {self.bind('its', r.value)}" for r in of_one)
                self.miss_if(" or ".join(tests))
                continue
            state = LibraryState(of_one)
            if self.entry_checks_state and HAVE_VERSIONS:
                self.identity_words.add_library(state)
                continue
            changed = self.bind("changed", state.changed)
            test = f"{changed}()"
            if HAVE_VERSIONS:
                version, seen = self.bind("version", state.version), self.bind("seen", state.seen)
                test = f"{version}[0] != {seen}[0] and {test}"
            self.miss_if(test)

    def check(self, check: PathCheck) -> None:
        text = self.path(check.path)
        if not text.isidentifier():
            name = f"v{len(self.texts)}"
            if check.kind is not CheckKind.ABSENT:
                self.put(f"{name} = {text}")
                self.texts[check.path] = text = name
        if check.kind is CheckKind.LIST:
            self.check_list(check, text)
            return
        refusal = self.refusal(check, text)
        if refusal:
            self.miss_if(refusal)
        if check.kind is CheckKind.ARRAY and check.expected.kind is not np.ndarray:
            name = self.ndarrays[check.path] = f"of_memmap{len(self.ndarrays)}"
            self.put(f"{name} = {text}.view(ndarray)")

    def check_list(self, check: PathCheck, text: str) -> None:
        """A list or a string whose items kernels read in columns."""
        self.miss_if(f"type({text}) is not {check.expected.type.__name__}")
        name = f"columns{len(self.texts)}"
        self.put(f"{name} = {self.bind('list_class', check.expected)}.columns({text})")
        if check.expected.type is not str:
            self.miss_if(f"{name} is None")
        for place in range(1 + sum(map(len, check.expected.levels))):  # perhaps objects behind them
            path = check.path.column(ListColumn(check.expected, place))
            self.texts[path] = f"{name}[{place}]"

    def refusal(self, check: PathCheck, text: str) -> str:
        expected = check.expected
        if check.kind is CheckKind.ARRAY:
            assert isinstance(expected, ArrayClass)
            refuses = f"{text}.flags.num & {ACCESS_BITS} != {WRITEABLE_BIT}"
            kind = f"type({text}) is not {self.bind('ndarray', expected.kind)}"
            if self.entry_checks_arrays:
                tests = [kind] * (expected.kind is not np.ndarray) + [refuses] * expected.writeable
                return " or ".join(tests)
            dtype = self.bind("dtype", expected.dtype)
            test = (
                f"{kind} or ({text}.dtype is not {dtype} and "
                f"({text}.dtype != {dtype} or {text}.dtype.char != {expected.dtype.char!r} or "
                f"{text}.dtype.metadata is not None)) or "
                f"{text}.ndim != {expected.ndim}"
            )
            return f"{test} or {refuses}" if expected.writeable else test
        if check.kind is CheckKind.TYPE:
            return f"type({text}) is not {self.bind('type', expected)}"
        if check.kind is CheckKind.IS:
            if expected is None or isinstance(expected, bool):
                return f"{text} is not {expected!r}"
            return f"{text} is not {self.bind('obj', expected)}"
        if check.kind is CheckKind.EQUAL:
            kind = self.bind("type", type(expected))
            if isinstance(expected, np.dtype):
                known, same = self.bind("obj", expected), self.bind("same", is_same_dtype)
                return f"{text} is not {known} and not {same}({text}, {known})"
            if type(expected) is float:
                return f"type({text}) is not {kind} or {text}.hex() != {expected.hex()!r}"
            read = value_reader(type(expected))
            if read is None and type(expected) not in _PLAIN:
                read = with_text
            if read is not None:
                value = f"{self.bind('value', read)}({text})"
                equal = self.bind("equal", read(expected))
                return f"type({text}) is not {kind} or {value} != {equal}"
            return f"type({text}) is not {kind} or {text} != {self.bind('equal', expected)}"
        if check.kind is CheckKind.CODE:
            code, namespace = self.bind("code", expected.code), self.bind("ns", expected.namespace)
            is_other = f"getattr({text}, '__code__', None) is not {code}"
            is_other = f"({is_other} or {text}.__globals__ is not {namespace})"
            return f"{is_other} and {self.bind('differs', expected.differs)}({text})"
        if check.kind is CheckKind.SAME:
            return f"{text} is not {self.path(expected)}"
        if check.kind is CheckKind.KEYS:
            if isinstance(expected, int):
                return f"len({text}) != {expected}"
            test = f"tuple({text}) != {self.bind('keys', expected)}"
            if all(type(key) is str for key in expected):
                return test
            kinds = self.bind("types", tuple(map(type, expected)))  # 1 and True are equal keys
            return f"{test} or tuple(map(type, {text})) != {kinds}"
        if check.kind is CheckKind.MEMBERS:
            return f"len({text}.__dict__) != {expected}"
        assert check.kind is CheckKind.ABSENT
        if check.path.steps:
            kind, key = check.path.steps[-1]
            parent = self.path(Path(check.path.root, check.path.name, check.path.steps[:-1]))
            return f"hasattr({parent}, {key!r})" if kind == "." else f"{key!r} in {parent}"
        return f"{check.path.name!r} in G"

    # -- arrays ----------------------------------------------------------------------------------
    def like_argument(self, slot: Slot) -> str | None:
        """An argument with the slot's very shape."""
        for name, buffer in self.program.arguments.items():
            if buffer.type.extents == slot.extents and slot.extents:
                return name
        return None

    def allocation(self, slot: Slot, are_checked: bool) -> str:
        """The call that allocates; ``are_checked``: the launcher knows that no size is negative."""
        dtype = self.bind("dtype", slot.dtype)
        like = self.like_argument(slot)
        sizes = shape_text(slot.extents, not are_checked)
        rank = len(slot.extents)
        order = slot.order or tuple(range(rank))
        shape = f"{self.array(like)}.shape" if like else sizes
        if order == tuple(range(rank)):
            return f"empty({shape}, {dtype})"
        if order == tuple(reversed(range(rank))):
            return f"empty({shape}, {dtype}, 'F')"
        # in that order of memory, and owning it, which the transpose of another array would not
        like_order = self.bind("ordered", ordered(slot.dtype, order))
        return f"empty_like({like_order}, {dtype}, 'K', False, {sizes})"

    def kept(self) -> list[str]:
        """What the launcher itself has to put back where a kernel undoes its stores.

        That is what other steps have written, and the generators that numbers are drawn from.
        """
        if not self.undone:
            return []
        drawn = [op for op in walk(self.program.graph.block) if is_draw(op)]
        texts = [self.host(op.objects[0]) if op.objects else "GLOBAL_RANDOM" for op in drawn]
        return [*map(self.array, self.program.kept), *dict.fromkeys(texts)]

    def array(self, name: str) -> str:
        """Text of an array of the program: an argument's own text, or the slot's name."""
        if name in self.program.arguments:
            origin = self.program.arguments[name].origin
            assert origin is not None
            return self.ndarrays.get(origin.attr) or self.path(origin.attr)
        return name

    def reference(self, ref: ArrayRef) -> str:
        """Text of an array or of a view of it."""
        if ref.source is not None:
            seen = f"reshape({shape_text(ref.shape)})" if ref.part is None else ref.part
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
                index.append(affine_text(result))
                continue
            (dim,) = dims
            step = {str(a): c for a, c in result.terms}[f"d{dim}"]
            start = result - AffineExpr.dim(dim) * step
            index.append(
                f"axis_slice({affine_text(start)}, {step}, {affine_text(ref.extents[dim])})"
            )
            axis_dims.append(dim)
        rank = ref.map.num_dims
        cut = f"({', '.join(['...', *index])},)"
        if not rank:
            return f"view({text}, {cut}, (), (...,), None)"
        axes = tuple(sorted(range(len(axis_dims)), key=axis_dims.__getitem__))
        added = tuple(slice(None) if d in axis_dims else None for d in range(rank))
        lengths = {d: ref.extents[d].as_constant() for d in range(rank) if d not in axis_dims}
        broadcast = any(length != 1 for length in lengths.values())
        shape = shape_text(ref.extents) if broadcast else "None"
        added_text = ", ".join("None" if a is None else "slice(None)" for a in added)
        return f"view({text}, {cut}, {axes}, (..., {added_text}), {shape})"

    def strided(self, text: str, map: IndexingMap, extents: Sequence[AffineExpr]) -> str:
        """Text of a view in which several axes move along one axis of the array, or one along
        several (a diagonal)."""
        zero = [AffineExpr.const(0)] * map.num_dims
        corner = "".join(f"{affine_text(r.substitute(dims=zero))}, " for r in map.results)
        steps = [[r.coefficient(Dim(d)) for r in map.results] for d in range(map.num_dims)]
        return f"strided_view({text}, ({corner}), {steps}, {shape_text(extents)})"


def affine_text(expr: AffineExpr) -> str:
    return str(Polynomial.from_affine(expr))


def shape_text(extents: Sequence[AffineExpr], bounds: bool = False) -> str:
    """A shape; ``bounds``: sizes that may be negative are 0 then, and kernels find them."""

    def text(extent: AffineExpr) -> str:
        size = affine_text(extent)
        return f"max({size}, 0)" if bounds and extent.terms else size

    return "(" + "".join(f"{text(e)}, " for e in extents).rstrip() + ")"


def is_c_or_f(slot: Slot) -> bool:
    axes = tuple(range(len(slot.extents)))
    return slot.order is None or slot.order in (axes, axes[::-1])


def _renamed(expr: HostExpr, names: Mapping[str, str]) -> HostExpr:
    if expr.op == "name" and expr.attr in names:
        return HostExpr("name", (), names[expr.attr])
    if not expr.operands:
        return expr
    return HostExpr(expr.op, tuple(_renamed(o, names) for o in expr.operands), expr.attr)


def ordered(dtype: np.dtype, order: tuple[int, ...]) -> np.ndarray:
    """A small array whose axes lie in memory in an order, from the outermost to the innermost."""
    inverse = tuple(order.index(axis) for axis in range(len(order)))
    return np.empty((2,) * len(order), dtype).transpose(inverse)


def _handed_out_as_made(program: Program, made: set[str]) -> set[str]:
    """Slots of host calls whose arrays are results as they are, though kernels read them too.

    What NumPy has made may have gaps between elements. Kernels read a copy without, but the program
    returns the array itself, unless it returns a view of it too.
    """
    values = {v for op in program.graph.block.ops if isinstance(op, HostCall) for v in op.results}
    whole: set[str] = set()
    others: set[str] = set()
    for value, result in zip(program.graph.results, program.results, strict=True):
        if isinstance(result.ref, ArrayRef):
            is_whole = value in values and result.ref.source is None and result.ref.map is None
            (whole if is_whole else others).add(memory_name(result.ref))
    return made & whole - others
