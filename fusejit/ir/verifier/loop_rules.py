"""Loops that were written well: names have values and types, operations the operands they want.

Types are dtypes of numbers, and those of memory: a `PointerTo` numbers of one dtype, an `Array`.
What a function returns is not known, but for those that return pointers, and fits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.errors import VerificationError
from fusejit.ir.loops.index_math import BOOL, I64, INDEX_OPS
from fusejit.ir.loops.mentioned_names import given_names, may_leave, memory_of
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Comment,
    Element,
    Exit,
    Expr,
    Field,
    For,
    Free,
    If,
    Integer,
    Let,
    LoopKernel,
    Number,
    ParallelFor,
    Pointer,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import CAST, CONVERT
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import part_dtype


@dataclass(frozen=True, slots=True)
class PointerTo:
    """Memory of numbers of one dtype."""

    dtype: np.dtype


@dataclass(frozen=True, slots=True)
class Array:
    """An argument or a result."""

    dtype: np.dtype


Type = np.dtype | PointerTo | Array | None
"""None where it is not known."""
_NOTHING = PointerTo(np.dtype(np.void))  # of a name without a value


def verify_kernel(kernel: LoopKernel) -> None:
    """Raise a `VerificationError` if a kernel is not written well."""
    names: dict[str, Type] = {
        p.name: p.dtype if p.ndim is None else Array(p.dtype) for p in kernel.parameters
    }
    _Verifier(kernel.name, names).block(kernel.body)


@dataclass(slots=True)
class _Verifier:
    """One function: what its names are at the statement at hand."""

    kernel: str
    names: dict[str, Type]
    fault: str | None = None  # None in a kernel itself, which returns its status
    heap: set[str] = field(default_factory=set)

    def fail(self, text: str) -> NoReturn:
        raise VerificationError(f"{self.kernel}: {text}")

    # -- statements ------------------------------------------------------------------------------
    def block(self, statements: Sequence[Stmt]) -> None:
        for s in statements:
            self.statement(s)

    def statement(self, s: Stmt) -> None:
        match s:
            case Let():
                self.give(s.name, self.type_of(s.value), is_new=not s.rebind)
            case StoreElement():
                into = self.pointer(s.pointer)
                self.integers(s.offset)
                self.same(into, self.type_of(s.value), f"what is stored into {s.pointer}")
            case Scratch():
                self.same(I64, self.type_of(s.size), f"the size of {s.name}")
                if s.on_stack:
                    known = isinstance(s.size, Integer) and s.size.value.is_constant
                    known or self.fail(f"the size of {s.name}, on the stack, is not known")
                else:
                    self.heap.add(s.name)
                if s.exit_status is not None and self.fault == "":
                    self.fail(f"{s.name} may end a chunk that has nowhere to say so")
                self.give(s.name, PointerTo(s.dtype), is_new=True)
            case Free():
                s.name in self.heap or self.fail(f"{s.name} is freed and was not taken")
            case For():
                for bound in (s.lower, s.upper):
                    self.same(I64, self.type_of(bound), f"a bound of {s.var}")
                self.inner(s.body, {s.var: I64})
            case While():
                self.block(s.head)
                self.condition(s.condition)
                self.inner(s.body, {})
            case If():
                self.condition(s.condition)
                self.branches(s)
            case ParallelFor():
                self.chunk(s)
            case Exit():
                self.fault != "" or self.fail("a chunk ends early and has nowhere to say so")
                for value in s.values or ():
                    self.same(I64, self.type_of(value), "what an error says")
            case _:
                assert isinstance(s, Comment)

    def give(self, name: str, given: Type, *, is_new: bool) -> None:
        """A name has a value from here on."""
        if name == "_":
            return
        if not is_new:
            name in self.names or self.fail(f"{name} has no value that could be another one")
            self.same(self.names[name], given, name)
            given = self.names[name] if given is None else given
        self.names[name] = given

    def inner(self, body: Sequence[Stmt], given: dict[str, Type]) -> None:
        """A body that may not run: what it gives is not known after it."""
        before = dict(self.names)
        self.names.update(given)
        self.block(body)
        self.names = before

    def branches(self, s: If) -> None:
        """Behind a conditional the names have values that both branches give."""
        before, ends = dict(self.names), []
        for body in (s.body, s.orelse):
            self.names = dict(before)
            self.block(body)
            if not (body and isinstance(body[-1], Exit)):
                ends.append(self.names)
        self.names = ends[0] if len(ends) == 1 else before
        for name in [*ends[0]] if len(ends) == 2 else ():
            kinds = {end.get(name, _NOTHING) for end in ends}
            self.names.pop(name, None)
            if _NOTHING not in kinds and len(kinds - {None}) <= 1:
                self.names[name] = next(iter(kinds - {None}), None)

    def chunk(self, s: ParallelFor) -> None:
        self.same(I64, self.type_of(s.extent), "the extent of a nest")
        self.type_of(s.work_ns)
        if may_leave(s.body):
            s.fault or self.fail(f"{s.comment}: a chunk may end early and has nowhere to say so")
            self.same(I64, self.pointer(s.fault), s.fault)
        if s.streamed is not None:
            self.pointer(s.streamed.pointer)
        own = given_names(s.body)  # a name of a chunk is not one outside that is called so
        inside: dict[str, Type] = {n: t for n, t in self.names.items() if n not in own}
        inside.update(lo=I64, hi=I64)
        _Verifier(self.kernel, inside, s.fault).block(s.body)

    # -- expressions -----------------------------------------------------------------------------
    def type_of(self, expr: Expr) -> Type:
        match expr:
            case Var():
                return self.name(expr.name)
            case Number():
                return expr.dtype
            case Integer():
                self.integers(expr.value)
                return I64
            case Element():
                self.integers(expr.offset)
                return self.pointer(expr.pointer)
            case Field():
                isinstance(self.name(expr.array), Array) or self.fail(f"{expr.array} is no array")
                return I64
            case Call():
                return self.called(expr)
        assert isinstance(expr, Apply)
        is_of_indices = not expr.op.kind and expr.op.name in INDEX_OPS
        return self.of_indices(expr) if is_of_indices else self.of_payload(expr)

    def of_indices(self, expr: Apply) -> Type:
        """Arithmetic of indices: int64, and bools."""
        row = INDEX_OPS[expr.op.name]
        given = [self.type_of(o) for o in expr.operands]
        allowed: tuple[Type, ...] = (I64, BOOL, None)
        if row.name in ("and", "or", "not"):
            allowed = (BOOL, None)
        if row.name == "int":
            allowed = (*allowed, *(np.dtype(f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)))
        all(g in allowed for g in given) or self.fail(f"{row.name} of {[*map(str, given)]}")
        is_logic = row.name in "&|" and BOOL in given
        return BOOL if row.is_bool or is_logic else I64

    def of_payload(self, expr: Apply) -> Type:
        """A row of the payload's table, or a conversion."""
        given = [self.type_of(o) for o in expr.operands]
        if expr.op in (CONVERT, CAST):
            len(given) == 1 or self.fail(f"a conversion of {len(given)} numbers")
            return expr.dtype
        row = SCALAR_OPS.get(expr.op.name)
        if row is None or row.arity != len(given) or expr.op.kind not in row.templates:
            self.fail(f"there is no {expr.op} of {len(given)} operands")
        first = given[0]
        if isinstance(first, np.dtype) and first.kind != expr.op.kind:
            self.fail(f"{expr.op} of {first}")
        return expr.dtype

    def called(self, expr: Call) -> Type:
        given = [self.type_of(o) for o in expr.operands]
        if expr.function == "flat_scoped" and isinstance(given[0], Array):
            return PointerTo(given[0].dtype)
        return None

    def condition(self, expr: Expr) -> None:
        self.same(BOOL, self.type_of(expr), "a condition")

    def integers(self, value: Polynomial) -> None:
        """Names in offsets and extents are integers; narrow ones are loaded as subscripts."""
        for name in value.names():
            known = self.name(name)
            if known is not None and not (isinstance(known, np.dtype) and known.kind in "iu"):
                self.fail(f"{name} is {_text(known)}, not an integer")

    def pointer(self, name: Pointer) -> Type:
        """What a pointer points to."""
        inner = memory_of(name)
        known = self.name(inner)
        if known is None:
            return None
        if not isinstance(known, PointerTo):
            self.fail(f"{inner} is not a pointer")
        return known.dtype if inner == name else part_dtype(known.dtype)

    def name(self, name: str) -> Type:
        if name not in self.names:
            self.fail(f"{name} is read and may have no value")
        return self.names[name]

    def same(self, wanted: Type, given: Type, what: str) -> None:
        if wanted is not None and given is not None and wanted != given:
            self.fail(f"{what} is {_text(given)}, not {_text(wanted)}")


def _text(kind: Type) -> str:
    return f"a pointer to {kind.dtype}" if isinstance(kind, PointerTo) else str(kind)
