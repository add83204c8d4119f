"""The trace: the graph under construction and everything read from outside it."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fusejit.budget import check_budget
from fusejit.identity import own_signature
from fusejit.ir.access import Access
from fusejit.ir.affine import AffineExpr, Atom
from fusejit.ir.graph import (
    Block,
    Buffer,
    GenericOp,
    Graph,
    HostScalar,
    HostSymbol,
    Load,
    Op,
    Operand,
    Scatter,
    Store,
    Value,
    View,
)
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.traced import ArrayClass, CheckKind, LibraryRead, PathCheck
from fusejit.ir.types import DTYPES, Kind, TensorType, canonical_dtype, dtype_name, is_supported
from fusejit.tracer.capture.callables import is_named_tuple
from fusejit.tracer.capture.carriers import is_carrier
from fusejit.tracer.control_flow.unrolling import is_large
from fusejit.tracer.graph_breaks.declined import Declined
from fusejit.tracer.graph_breaks.foreign import why_foreign
from fusejit.tracer.indexing.masked import MaskedElements
from fusejit.tracer.runtime.context import ACTIVE
from fusejit.tracer.runtime.dispatch import HANDLERS
from fusejit.tracer.runtime.layout import classify
from fusejit.tracer.runtime.locations import (
    Place,
    current_location,
    needs_python,
    unsupported,
    user_frames,
)
from fusejit.tracer.values.array import MAX_RANK, TracedArray, too_many_axes
from fusejit.tracer.values.either import Either, MaybeTuple, TypeTest
from fusejit.tracer.values.number import TracedNumber
from fusejit.tracer.values.shapes import MAX_SIZE, Decisions, host_of
from fusejit.tracer.values.storage import Storage

MAX_OPS = 2000
_STATIC_EQUAL = (bool, str, bytes, slice, range, complex, np.dtype)
_STATIC_IS = (
    type(None),
    type(Ellipsis),
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    np.ufunc,
    type(np.sum),
)
_INT64 = np.iinfo(np.int64)


class Trace:
    """One run of the user's function on traced arguments.

    Attributes
    ----------
    location : Location
        The ``def`` of the user's function.
    decisions : Decisions
        Symbols, what is known of them, and the guards.
    checks : list of PathCheck
        What each call must check before the variant serves it.
    constants : dict
        Arrays captured at trace time, by the name of their path ``const:k0``.
    table : dict
        Decisions that survive a restart of the trace.
    """

    def __init__(
        self, name: str, table: dict[Any, Any] | None = None, location: Location = UNKNOWN
    ) -> None:
        self.graph = Graph(name)
        self.location = location
        self.is_part = False
        self.texts_are_pythons = False  # whether Python makes all text of numbers
        self.shows_numbers = False  # whether some text shows what is exact for its sake
        self.library_reads: dict[tuple[int, str], LibraryRead] = {}  # set by the hooks
        self.is_bounded = False  # whether long loops that are no loops of the kernel end the trace
        self.undoes = False  # whether stores are undone where a check fails behind them
        self.decisions = Decisions()
        self.decisions.emit_check = self._check_equal
        self.decisions.emit_some = lambda *args: HANDLERS["check_some"](self, *args)
        self.decisions.emit_assumption = lambda *args: HANDLERS["assume"](self, *args)
        self.graph.guards = self.decisions.guards
        self.checks: list[PathCheck] = []
        self.constants: dict[str, np.ndarray] = {}
        self.notes: list[str] = []
        self.writeable: set[Path] = set()  # of arrays that have to be, if not for a store
        self.written: list[Any] = []  # outside objects to which effects have written
        self.computes_everywhere = False  # of elements that a mask does not select, too
        self.imaginary: dict[Storage, TracedNumber] = {}  # n * 1j, of integers n of the call
        self.is_plain = False  # some function is traced without hooks
        self.inlined: Callable[..., Any]  # stages a function of fusejit's own; set by the hooks
        self.table = {} if table is None else table
        self.versions: dict[int, int] = {}
        self.checked: dict[Value, list[Any]] = {}  # what has been checked of integers
        self.nonnegative: set[Value] = set()  # scalars that a guard keeps from being negative
        self.originals: dict[Path, np.ndarray] = {}
        self.containers: list[tuple[Any, Any, Path]] = []
        self._paths: dict[Path, Any] = {}
        self._constant_ids: dict[int, tuple[np.ndarray, TracedArray, np.ndarray]] = {}
        self._scalars: dict[str, Value] = {}
        self._derived: dict[str, AffineExpr] = {}
        self.products: dict[str, tuple[Atom, ...]] = {}  # symbols that are products of atoms
        self._names: set[str] = set()
        self._num_values = 0
        self._num_ops = 0
        self._num_locals = 0
        self.assumes_sizes = False  # the kernel checks some that only the call knows
        self.known_progressions: dict[Any, TracedArray] = {}  # of slices with a kernel's step
        self.made_within: set[Value] = set()  # integers that are no indices from the end
        self.progressions: set[Value] = set()  # integers of rank 1 of which no two are equal
        self.row_counts: set[str] = set()  # symbols that elements decide: how many rows are left
        self.copies_read_in_loops: list[Storage] = []
        self.effects: dict[Op, Place] = {}  # where the program makes them
        self.places: list[tuple[Value, TracedArray]] = []  # where masks are true, inside loops
        self._home_of_local: dict[str, Block] = {}
        self._bound_symbols: dict[tuple[Any, ...], AffineExpr] = {}
        self.blocks: list[Block] = [self.graph.block]  # from the outermost to the current one
        self.regions: list[Any] = []  # loops and conditionals that are being traced
        self.tries = False  # whether a `try` was met
        self.defined: dict[Value, Op] = {}
        self.chosen_from: dict[Value, tuple[Any, ...]] = {}  # ints that each call knows before
        self.type_tests: dict[Value, TypeTest] = {}  # bools that ask for the type of a number
        self._visits: dict[Any, int] = {}

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """What is traced within is computed of all elements, though a mask selects some."""
        before, self.computes_everywhere = self.computes_everywhere, True
        try:
            yield
        finally:
            self.computes_everywhere = before

    def visit(self, place: tuple[Any, ...]) -> tuple[Any, ...]:
        """A place of the program with the number of times that this run of it has been there."""
        self._visits[place] = self._visits.get(place, 0) + 1
        return (*place, self._visits[place])

    @contextmanager
    def active(self) -> Iterator[Trace]:
        """Make this the trace of the current context."""
        token = ACTIVE.set(self)
        try:
            yield self
        finally:
            ACTIVE.reset(token)

    # -- interface of the staged front end --------------------------------------------------------
    def is_traced(self, obj: Any) -> bool:
        """Whether ``obj`` stands for something that is known only when the kernel runs."""
        return isinstance(obj, TracedArray | TracedNumber | MaskedElements | Either | MaybeTuple)

    def handler(self, fn: Any) -> Callable[..., Any] | None:
        """What to call instead of ``fn`` while tracing, or None."""
        try:
            found = HANDLERS.get(fn)
        except TypeError:  # unhashable callables
            return None
        return None if found is None else HANDLERS["numpy form"](fn, found)

    def check(self, check: PathCheck) -> None:
        """Note something that each call must check."""
        self.checks.append(check)

    def read(self, path: Path, obj: Any) -> Any:
        """What the traced program sees in place of the outside object ``obj`` found at ``path``."""
        try:
            if path in self._paths:
                return self._paths[path]
        except TypeError as error:
            what = f"{path.user_text()} has a key that is not hashable"
            raise unsupported(what, "pass the item itself as an argument") from error
        seen = self._paths[path] = self._read(path, obj)
        return seen

    def path_of(self, obj: Any) -> Path | None:
        """Where an outside object was found."""
        return next((path for path, seen in self._paths.items() if seen is obj), None)

    def overwrite(self, owner: Any, path: Path, seen: Any) -> None:
        """An effect has written to an outside object: what the program sees there from now on."""
        self.written.append(owner)
        self._paths[path] = seen

    def paths_to(self, obj: Any) -> list[Path]:
        """All places where an outside object was found."""
        return [path for path, seen in self._paths.items() if seen is obj]

    def paths_to_type(self, kind: type) -> list[Path]:
        """All places where an outside object of a type was found."""
        return [path for path, seen in self._paths.items() if type(seen) is kind]

    def constant(self, array: np.ndarray) -> TracedArray:
        """An array that the program made from static data while it was traced.

        Each call of the traced function has its own: the result is a copy of the captured one.
        """
        if type(array) is not np.ndarray:
            what = f"an array of class {type(array).__name__} is not traced"
            raise needs_python(what, "make it with np.array, or outside the decorated function")
        known = self._constant_ids.get(id(array))
        if known is not None and known[2].tobytes() == array.tobytes():
            return known[1]
        path = Path("const", f"k{len(self.constants)}")
        captured = np.array(array, order="K", copy=True)
        if any(
            n > 1 and captured.size and a != b
            for n, a, b in zip(array.shape, array.strides, captured.strides, strict=True)
        ):
            what = "an array with gaps in memory, made of constants, is not made anew by a kernel"
            raise needs_python(what, "copy it")
        source = self._read_array(path, captured)
        fresh: TracedArray = HANDLERS["copy"](source, "K")
        if array.base is not None:
            fresh = fresh.as_view()
            fresh.access = Access.of(array)
        self.checks = [c for c in self.checks if c.path != path]
        self.constants[path.name] = captured
        self._constant_ids[id(array)] = (array, fresh, captured)  # kept alive for its id
        return fresh

    def unfollowed(self, array: np.ndarray) -> TracedArray:
        """An array that no hook has seen: made here only if a function is traced plainly.

        Otherwise it was reached from outside behind the trace's back, and the next call would have
        another one.
        """
        if not self.is_plain:
            what = "an array was reached in a way that cannot be followed"
            raise unsupported(what, "pass it as an argument, or make it with np.array")
        return self.constant(array)

    # -- reading ----------------------------------------------------------------------------------
    def _read(self, path: Path, obj: Any) -> Any:
        kind = type(obj)
        for owner in self.written:
            if kind is type(owner) or obj is getattr(owner, "__dict__", None):
                what = f"reads {path.user_text()}, which may be an object that was written to above"
                raise unsupported(what, "read it before the attribute is written")
        if kind is np.ndarray:
            return self._read_array(path, obj)
        if kind is int:
            if not _INT64.min // 2 < obj < _INT64.max // 2:
                raise Declined(f"{path.user_text()} is an integer beyond 62 bits")
            self.check(PathCheck(path, CheckKind.TYPE, int))
            return TracedNumber.of_affine(self, self.symbol(HostExpr.path(path), obj))
        if kind is float:
            self.check(PathCheck(path, CheckKind.TYPE, float))
            return TracedNumber(self, obj, HostExpr.path(path))
        if kind in (complex, np.complex128, np.complex64):
            self.check(PathCheck(path, CheckKind.TYPE, kind))
            return self._read_complex(path, obj)
        if isinstance(obj, np.generic):
            self._refuse_foreign(path, obj)
            self.check(PathCheck(path, CheckKind.TYPE, kind))
            return TracedNumber(self, obj, HostExpr.path(path))
        if kind in (list, tuple, dict) or is_named_tuple(obj):
            return self._read_container(path, obj)
        if isinstance(obj, _STATIC_EQUAL):
            self.check(PathCheck(path, CheckKind.EQUAL, obj))
            if isinstance(obj, slice):
                self._check_parts_of_slice(path, obj)
            return obj
        if is_carrier(obj):  # its code changes
            self.check(PathCheck(path, CheckKind.IS, obj))
            return obj
        if isinstance(obj, types.FunctionType):
            self.check(PathCheck(path, CheckKind.CODE, obj.__code__))
            return obj
        if isinstance(obj, _STATIC_IS):
            self.check(PathCheck(path, CheckKind.IS, obj))
            return obj
        self._refuse_foreign(path, obj)
        if path.root == "arg":
            self.check(PathCheck(path, CheckKind.TYPE, kind))
        else:
            self.check(PathCheck(path, CheckKind.IS, obj))
        return obj

    def _refuse_foreign(self, path: Path, obj: Any) -> None:
        """Leave an object to Python that no kernel is given: the statement, if it was met there."""
        why = why_foreign(path.user_text(), obj)
        if why is None:
            return
        if path.root != "arg" and user_frames():
            error = needs_python(why, "pass what is read of it as an argument")
            error.may_change = True
            raise error
        raise Declined(why)

    def _check_parts_of_slice(self, path: Path, obj: slice) -> None:
        """Slices are equal whose numbers are: ``slice(0.5)`` and ``slice(np.float32(0.5))``."""
        for name in ("start", "stop", "step"):
            part = getattr(obj, name)
            if part is not None:
                kind = CheckKind.EQUAL if isinstance(part, float) else CheckKind.TYPE
                expected = part if isinstance(part, float) else type(part)
                self.check(PathCheck(path.attribute(name), kind, expected))

    def _read_complex(self, path: Path, obj: Any) -> Any:
        """A complex number: its two parts are the inputs of the graph."""
        parts = [
            TracedNumber(self, getattr(obj, part), HostExpr.path(path.attribute(part)))
            for part in ("real", "imag")
        ]
        return HANDLERS["complex of parts"](*parts)

    def _read_container(self, path: Path, obj: Any) -> Any:
        if self.is_bounded and not path.steps and is_large(obj, is_part=self.is_part):
            what = f"{path.user_text()} is a {type(obj).__name__} of many items"
            raise needs_python(what, "pass an array")
        self.check(PathCheck(path, CheckKind.TYPE, type(obj)))
        copy: Any
        if type(obj) is dict:
            self.check(PathCheck(path, CheckKind.KEYS, tuple(obj)))
            copy = {key: self.read(path.item(key), item) for key, item in obj.items()}
            self.containers.append((copy, dict(copy), path))
            return copy
        self.check(PathCheck(path, CheckKind.KEYS, len(obj)))
        items = [self.read(path.item(i), item) for i, item in enumerate(obj)]
        if isinstance(obj, tuple):
            made = tuple(items) if type(obj) is tuple else type(obj)._make(items)  # type: ignore[attr-defined]
            if made:  # () is a singleton
                self.containers.append((made, items, path))
            return made
        self.containers.append((items, list(items), path))
        return items

    def _read_array(self, path: Path, array: np.ndarray) -> TracedArray:
        self._refuse_foreign(path, array)
        if not array.flags.aligned:
            raise Declined(f"{path.user_text()} is not aligned")
        order, layout = classify(array)
        extents: list[AffineExpr] = []
        for axis, size in enumerate(array.shape):
            expr = HostExpr.size(path, axis)
            if path.root == "const":
                extents.append(AffineExpr.const(size))
            elif size == 1:
                one = HostExpr("eq", (expr, HostExpr.const(1)))
                self.decisions.condition(one, True, "an axis of length 1 may be broadcast")
                extents.append(AffineExpr.const(1))
            else:
                extents.append(self.symbol(expr, size, 0, MAX_SIZE))
        dtype = canonical_dtype(array.dtype)
        self.check(
            PathCheck(path, CheckKind.ARRAY, ArrayClass(dtype, array.ndim, order, layout, False))
        )
        buffer = Buffer(
            self.unique_name("_".join([path.name, *(str(k) for _, k in path.steps)])),
            TensorType(dtype, tuple(extents)),
            self.new_alias_class(),
            HostExpr.path(path),
            None if list(order) == sorted(order) else order,
            layout,
            writeable=False,
        )
        self.graph.buffers.append(buffer)
        self.originals[path] = array
        storage = Storage.of_buffer(self, buffer, path, array)
        return TracedArray.whole(storage, Kind.ARRAY, path)

    # -- symbols and scalars ----------------------------------------------------------------------
    def symbol(
        self, expr: HostExpr, hint: int, low: int | None = None, high: int | None = None
    ) -> AffineExpr:
        """The symbol that names a host integer; one symbol for equal expressions."""
        key = str(expr)
        if key not in self._derived:
            name = f"s{len(self.graph.symbols)}"
            self.graph.symbols.append(HostSymbol(name, expr))
            self._derived[key] = self.decisions.add_symbol(name, hint, low, high)
        return self._derived[key]

    def number(self, expr: AffineExpr) -> TracedNumber | int:
        """An extent as the program sees it: a number, or the int it always is."""
        expr = self.decisions.canonical(expr)
        known = expr.as_constant()
        return known if known is not None else TracedNumber.of_affine(self, expr)

    def scalar(self, number: TracedNumber) -> Value:
        """A host number as a scalar value of the graph."""
        if number.is_local:
            made: Value = HANDLERS["kernel_number"](number).value()
            return made
        value = number.value
        if type(value) is int and not _INT64.min <= value <= _INT64.max:
            raise Declined("an integer beyond int64")
        expr = host_of(number.affine) if number.affine is not None else number.expr
        key = f"{type(value).__name__} {expr}"
        if key not in self._scalars:
            dtype = np.asarray(value).dtype if isinstance(value, np.generic | bool) else None
            if dtype is None:
                dtype = np.dtype(np.int64 if isinstance(value, int) else np.float64)
            if not is_supported(dtype):
                raise Declined(f"dtype {dtype}")
            base = expr.attr.name if expr.op == "path" else "c"
            kind = Kind.SCALAR if number.is_strong else Kind.PYTHON
            scalar = Value(self.unique_name(base), TensorType(DTYPES[dtype_name(dtype)]), kind)
            self.graph.scalars.append(HostScalar(scalar, expr))
            self._scalars[key] = scalar
        return self._scalars[key]

    # -- building the graph -----------------------------------------------------------------------
    def new_value(
        self,
        dtype: np.dtype,
        extents: tuple[AffineExpr, ...],
        kind: Kind = Kind.ARRAY,
        order: tuple[int, ...] | None = None,
    ) -> Value:
        """A value with a fresh name."""
        self._num_values += 1
        canonical = tuple(map(self.decisions.canonical, extents))
        name = self.unique_name(f"v{self._num_values - 1}")
        return Value(name, TensorType(dtype, canonical), kind, order)

    def emit(self, op: Op) -> None:
        """Append an op at this place of the program."""
        if self._num_ops >= MAX_OPS:
            what = f"more than {MAX_OPS} array operations (loops are unrolled while tracing)"
            raise unsupported(what, "move the loop outside the decorated function")
        self._num_ops += 1
        check_budget()
        if isinstance(op, GenericOp) and len(op.domain) > MAX_RANK:
            raise Declined(too_many_axes(f"{op.name} over {len(op.domain)} axes"))
        op.location = current_location()
        self.append(op, self.block)

    def num_traced(self) -> int:
        """How much the trace has made so far: ops, numbers that are inputs, and checks."""
        return self._num_ops + len(self.graph.scalars) + len(self.checks)

    def append(self, op: Op, block: Block) -> None:
        """Put an op at the end of an open block."""
        block.ops.append(op)
        for result in op.results:
            self.defined[result] = op

    @property
    def block(self) -> Block:
        """The block to which ops are appended."""
        return self.blocks[-1]

    def is_repeated_since(self, home: Block) -> bool:
        """Whether a loop that was begun behind ``home`` runs what is traced now."""
        depth = next((k for k, block in enumerate(self.blocks) if block is home), 0)
        return any(region.repeats for region in self.regions[depth:])

    def is_open(self, block: Block) -> bool:
        """Whether what a block defines is visible here."""
        return any(block is one for one in self.blocks)

    def is_visible(self, expr: AffineExpr) -> bool:
        """Whether all symbols of an expression exist in the current block."""
        homes = [self._home_of_local.get(s) for s in expr.symbols()]
        return all(home is None or self.is_open(home) for home in homes)

    def local_symbol(self, hint: int, low: AffineExpr | None, high: AffineExpr | None) -> str:
        """A symbol of the current block: an induction variable, a bound integer."""
        name = f"at{self._num_locals}"  # not i8, i16: those are dtypes in generated code
        self._num_locals += 1
        self._home_of_local[name] = self.block
        self.decisions.add_local(name, hint, low, high)
        return name

    def move_symbol(self, name: str, low: AffineExpr, high: AffineExpr) -> None:
        """A symbol of a block that has ended becomes one of the current block."""
        self._home_of_local[name] = self.block
        self.decisions.add_local(name, 0, low, high)

    def forget_symbols_of(self, block: Block) -> None:
        """A block has ended, which may not run: what its symbols say of others need not hold."""
        for name, home in self._home_of_local.items():
            if home is block:
                self.decisions.forget_local(name)

    def bind(self, number: TracedArray) -> AffineExpr:
        """An integer of the kernel as a symbol of the current block."""
        symbol: AffineExpr = HANDLERS["symbol_of"](self, number)
        return symbol

    def _check_equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> None:
        """A `Check` that two integers are one; the newest of them is replaced behind it.

        That must be an integer of the current block: what is made further out must not know it.
        """
        HANDLERS["check_equal"](self, left, right, reason)
        zero = self.decisions.canonical(left - right)
        newest = max(zero.symbols(), key=self.decisions.age_of, default="")  # "": always unequal
        if self._home_of_local.get(newest) is self.block:
            self.decisions.note_checked(zero, newest)

    def find_bound(self, key: tuple[Any, ...]) -> AffineExpr | None:
        """The symbol that an integer of the kernel has been bound to, if it exists here."""
        known = self._bound_symbols.get(key)
        return known if known is not None and self.is_visible(known) else None

    def note_bound(self, key: tuple[Any, ...], symbol: AffineExpr) -> None:
        """Remember what an integer of the kernel is bound to."""
        self._bound_symbols[key] = symbol

    def load(self, buffer: Buffer) -> Value:
        """The contents of a whole buffer at this place."""
        result = self.new_value(buffer.type.dtype, buffer.type.extents, Kind.ARRAY, buffer.order)
        version = self.versions[buffer.alias_class]
        extents = result.type.extents  # as they are known here: sizes may have been checked equal
        view = View(buffer, IndexingMap.identity(buffer.type.rank), extents)
        self.emit(Load(results=(result,), view=view, version=version))
        return result

    def store(self, view: View, value: Value, mask: Value | None = None) -> None:
        """Store a value; advances the version of the buffer's alias class."""
        buffer = view.buffer
        buffer.writeable = buffer.root.writeable = True
        self.versions[buffer.alias_class] += 1
        version = self.versions[buffer.alias_class]
        self.emit(Store(view=view, value=value, version=version, mask=mask))

    def scatter(
        self,
        view: View,
        value: Value,
        subscripts: tuple[Operand | AffineExpr, ...],
        combine: str | None,
        from_start: bool = False,
        distinct: bool = False,
    ) -> None:
        """Store a value element by element; advances the version of the buffer's alias class."""
        buffer = view.buffer
        buffer.writeable = buffer.root.writeable = True
        self.versions[buffer.alias_class] += 1
        version = self.versions[buffer.alias_class]
        self.emit(
            Scatter(
                view=view,
                value=value,
                version=version,
                subscripts=subscripts,
                combine=combine,
                from_start=from_start,
                distinct=distinct,
            )
        )

    def new_alias_class(self) -> int:
        """A class of memory that nothing else overlaps."""
        self.versions[len(self.versions)] = 0
        return len(self.versions) - 1

    def unique_name(self, base: str) -> str:
        """``base`` as an identifier that no other value or buffer has."""
        base = re.sub(r"\W", "_", base)
        if not base.isidentifier() or re.fullmatch(r"([sdi]|at)\d+", base):
            base = "_" + base
        name, k = base, 1
        while name in self._names:
            name, k = f"{base}_{k}", k + 1
        self._names.add(name)
        return name


def bind(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments by parameter name, defaults applied; declines where the call is an error."""
    try:
        bound = own_signature(fn).bind(*args, **kwargs)
    except TypeError as error:
        raise Declined(f"the call itself fails: {error}") from error
    bound.apply_defaults()
    return bound
