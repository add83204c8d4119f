"""`CapturedReads`: what a trace reads from outside: arguments, globals, cells, attributes, items.

Each object is found at a `Path`; what each call must check of it is noted, so that a variant serves
the calls for which the program would read the same.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.raw_reads import is_a
from fusejit.ir.traced import ArrayClass, CheckKind, LibraryRead, PathCheck
from fusejit.ir.types import Kind, TensorType, canonical_dtype
from fusejit.ir.values import Buffer
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.layout import classify
from fusejit.tracer.builder.shapes import MAX_SIZE
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.fallback import Fallback, Retrace
from fusejit.tracer.program.guards import guards_of, runs_no_user_code
from fusejit.tracer.program.locations import needs_python, unsupported, user_frames
from fusejit.tracer.program.unrolling import is_large, is_large_attribute
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.foreign import why_foreign
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import NUMBER_OPS, SymbolicNumber

if TYPE_CHECKING:
    from fusejit.tracer.builder.trace import Trace

_INT64 = np.iinfo(np.int64)
_MAX_DEPTH = 32  # steps of a path to a container


class CapturedReads:
    """What one trace has read.

    Parameters
    ----------
    trace : Trace

    Attributes
    ----------
    checks : list of PathCheck
        What each call must check before the variant serves it.
    constants : dict
        Arrays captured at trace time, by the name of their path ``const:k0``.
    made : dict
        How each call makes objects before its kernels run, by the name of their path ``made:m0``.
    lists : dict of Path to list or dict
        Those of the traced call.
    originals : dict of Path to np.ndarray
        Arrays of the traced call.
    containers : list of (object, items, Path)
        Lists, tuples and dicts as the program sees them, and what was in them.
    writeable : set of Path
        Of arrays that have to be, if not for a store.
    written : list
        Captured objects to which effects have written.
    library_reads : dict
        What was read of modules of libraries; set by the callbacks.
    columns_at : callable
        Gives a list whose items kernels read in columns, or None: set by the entry.
    entry_stubs : list of FunctionType
        What stands for the decorated functions that were called; likewise.
    """

    def __init__(self, trace: Trace) -> None:
        self.checks: list[PathCheck] = []
        self.constants: dict[str, Any] = {}
        self.made: dict[str, HostExpr] = {}
        self.lists: dict[Path, Any] = {}
        self._parts: dict[int, tuple[str, str]] = {}
        self.originals: dict[Path, np.ndarray] = {}
        self.containers: list[tuple[Any, Any, Path]] = []
        self.writeable: set[Path] = set()
        self.written: list[Any] = []
        self.library_reads: dict[tuple[int, str], LibraryRead] = {}
        self.entry_stubs: list[FunctionType] = []
        self.columns_at: Callable[[Path, Any], Any] = lambda path, obj: None
        self._trace = trace
        self._paths: dict[Path, Any] = {}
        self._overwritten: set[Path] = set()
        self._constant_ids: dict[int, tuple[np.ndarray, TracedArray, np.ndarray]] = {}

    def check(self, check: PathCheck) -> None:
        """Note something that each call must check."""
        self.checks.append(check)

    def read(self, path: Path, obj: Any) -> Any:
        """What the traced program sees in place of the captured ``obj`` found at ``path``."""
        try:
            if path in self._paths:
                return self._paths[path]
        except TypeError as error:
            what = f"{path.user_text()} has a key that is not hashable"
            raise unsupported(what, "pass the item itself as an argument") from error
        seen = self._paths[path] = self._read(path, obj)
        return seen

    def seen(self, path: Path) -> Any:
        """What the program has seen at a path; None if it has not looked."""
        return self._paths.get(path)

    def path_of(self, obj: Any) -> Path | None:
        """Where a captured object was found; the launcher reads it before any effect."""
        found = (path for path, seen in self._paths.items() if seen is obj)
        return next((path for path in found if path not in self._overwritten), None)

    def overwrite(self, owner: Any, path: Path, seen: Any) -> None:
        """An effect has written to a captured object: what the program sees there from now on."""
        self.written.append(owner)
        self._overwritten.add(path)
        self._paths[path] = seen

    def paths_to(self, obj: Any) -> list[Path]:
        """All places where a captured object was found."""
        return [path for path, seen in self._paths.items() if seen is obj]

    def paths_to_type(self, kind: type) -> list[Path]:
        """All places where a captured object of a type was found."""
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
        captured = np.array(array, order="K", copy=True)
        if any(
            n > 1 and captured.size and a != b
            for n, a, b in zip(array.shape, array.strides, captured.strides, strict=True)
        ):
            what = "an array of constants has gaps in memory"
            raise needs_python(what, "copy it")
        source = self.table(captured)
        fresh: TracedArray = ARRAY_OPS.copy(source, "K")
        if array.base is not None:
            fresh = fresh.as_view()
            fresh.access = WriteAccess.of(array)
        self._constant_ids[id(array)] = (array, fresh, captured)  # kept alive for its id
        return fresh

    def note_part(self, part: str, text: str) -> None:
        """Note a part of a string: who asks for its characters asks for those of the string."""
        self._parts[id(part)] = (part, text)

    def ask_for_characters(self, text: str) -> None:
        """Start again with a string argument as characters that kernels read; once for each."""
        part = self._parts.get(id(text))
        paths = self.paths_to(text) if part is None else self.paths_to(part[1])
        for path in paths:
            if path.root == "arg" and not path.steps and text_key(path) not in self._trace.table:
                self._trace.table[text_key(path)] = True
                raise Retrace

    def table(self, array: np.ndarray) -> TracedArray:
        """A constant array that no program can write to: calls share it."""
        path = Path("const", f"k{len(self.constants)}")
        source: TracedArray = self._read_array(path, array)
        self.checks = [c for c in self.checks if c.path != path]
        self.constants[path.name] = array
        return source

    def outside(self, obj: Any) -> Path:
        """Where calls find an object that is the same one in all of them."""
        known = (name for name, held in self.constants.items() if held is obj)
        name = next(known, f"k{len(self.constants)}")
        self.constants[name] = obj
        path = Path("const", name)
        self._paths[path] = obj
        return path

    def make(self, sample: Any, expr: HostExpr) -> None:
        """Have each call make an object, for which ``sample`` stands in the program."""
        path = Path("made", f"m{len(self.made)}")
        self.made[path.name] = expr
        self._paths[path] = sample

    def unfollowed(self, array: np.ndarray) -> TracedArray:
        """An array that no callback has seen: made here only if a function is traced plainly.

        Otherwise it was reached from outside behind the trace's back, and the next call would have
        another one.
        """
        if not self._trace.has_untraced_callee:
            what = "an array was reached in a way that cannot be followed"
            raise unsupported(what, "pass it as an argument, or make it with np.array")
        return self.constant(array)

    # -- by kinds of objects ---------------------------------------------------------------------
    def _read(self, path: Path, obj: Any) -> Any:
        kind = type(obj)
        for owner in self.written:
            is_of_owner = kind is dict and obj is getattr(owner, "__dict__", None)
            if kind is type(owner) or is_of_owner:
                what = f"reads {path.user_text()}, which may be an object that was written to above"
                raise unsupported(what, "read it before the attribute is written")
        if kind in (np.ndarray, np.memmap):
            return self._read_array(path, obj)
        if kind in (list, dict):
            self.lists[path] = obj
        if kind in (list, str, dict, set) and (seen := self.columns_at(path, obj)) is not None:
            return seen
        if kind is int:
            if not _INT64.min // 2 < obj < _INT64.max // 2:
                raise Fallback(f"{path.user_text()} is an integer beyond 62 bits")
            self.check(PathCheck(path, CheckKind.TYPE, int))
            return SymbolicNumber.of_affine(
                self._trace, self._trace.symbol(HostExpr.path(path), obj)
            )
        if kind is float:
            self.check(PathCheck(path, CheckKind.TYPE, float))
            return SymbolicNumber(self._trace, obj, HostExpr.path(path))
        if kind in (complex, np.complex128, np.complex64):
            self.check(PathCheck(path, CheckKind.TYPE, kind))
            return self._read_complex(path, obj)
        if is_a(obj, np.generic):
            self._refuse_foreign(path, obj)
            self.check(PathCheck(path, CheckKind.TYPE, kind))
            return SymbolicNumber(self._trace, obj, HostExpr.path(path))
        if kind in (list, tuple, dict) or is_named_tuple(obj):
            return self._read_container(path, obj)
        self._refuse_foreign(path, obj)
        self.checks += guards_of(path, obj)
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
        raise Fallback(why)

    def _read_complex(self, path: Path, obj: Any) -> Any:
        """A complex number: its two parts are the inputs of the graph."""
        parts = [
            SymbolicNumber(self._trace, getattr(obj, part), HostExpr.path(path.attribute(part)))
            for part in ("real", "imag")
        ]
        with self._trace.before_regions():
            return NUMBER_OPS.complex_of_parts(*parts)

    def _read_container(self, path: Path, obj: Any) -> Any:
        if len(path.steps) > _MAX_DEPTH:
            what = f"a {type(obj).__name__} holds itself, or is nested deeper than {_MAX_DEPTH}"
            raise needs_python(what, "pass its items as arguments")
        is_refused = (
            is_large_attribute(obj)
            if path.steps
            else is_large(obj, is_segment=self._trace.is_segment)
        )
        if self._trace.is_bounded and is_refused:
            what = f"{path.user_text()} is a {type(obj).__name__} of many items"
            why = self._trace.table.get((("argument", str(path)), "list"))  # not in columns
            if type(why) is not tuple:
                raise needs_python(what, "pass an array")
            raise needs_python(f"{what}, and the function {why[0]}", why[1])
        self.check(PathCheck(path, CheckKind.TYPE, type(obj)))
        copy: Any
        if type(obj) is dict:
            if not all(map(runs_no_user_code, obj)):
                what = f"{path.user_text()} has keys whose class has special methods of its own"
                raise needs_python(what, "pass the items themselves as arguments")
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
            raise Fallback(f"{path.user_text()} is not aligned")
        order, layout = classify(array)
        extents: list[AffineExpr] = []
        for axis, size in enumerate(array.shape):
            expr = HostExpr.size(path, axis)
            if path.root == "const":
                extents.append(AffineExpr.const(size))
            elif size == 1 and not self._trace.is_general:
                one = HostExpr("eq", (expr, HostExpr.const(1)))
                self._trace.decisions.condition(one, True, "an axis of length 1 may be broadcast")
                extents.append(AffineExpr.const(1))
            else:
                extents.append(self._trace.symbol(expr, size, 0, MAX_SIZE))
        dtype = canonical_dtype(array.dtype)
        kind = type(array)
        expected = ArrayClass(dtype, array.ndim, order, layout, writeable=False, kind=kind)
        self.check(PathCheck(path, CheckKind.ARRAY, expected))
        buffer = Buffer(
            self._trace.unique_name("_".join([path.name, *(str(k) for _, k in path.steps)])),
            TensorType(dtype, tuple(extents)),
            self._trace.new_alias_class(),
            HostExpr.path(path),
            None if list(order) == sorted(order) else order,
            layout,
            writeable=False,
        )
        self._trace.graph.buffers.append(buffer)
        self.originals[path] = array
        storage = Storage.of_buffer(self._trace, buffer, path, array)
        storage.home = self._trace.graph.block  # it was there before the region that reads it first
        seen = TracedArray.whole(storage, Kind.ARRAY, path)
        seen.is_ndarray = kind is np.ndarray
        self._trace.has_memmaps |= not seen.is_ndarray
        return seen


LONG_TEXT = 32
"""Characters of a string argument of whose parts kernels read the characters."""


def text_key(path: Path) -> tuple[Any, ...]:
    """The key of the decision whether kernels read the characters of a string argument."""
    return ("argument", str(path)), "text"
