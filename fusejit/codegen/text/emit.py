"""Loop nests as Python source: the text that runs jitted and, with twins, unjitted.

The text has no imports and is deterministic: names come from positions. A `ParallelFor` becomes a
function of its own (`chunk0`, `chunk1`, ...) whose parameters are the names it reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fusejit.codegen.nests.nest import (
    token,
)
from fusejit.ir.index_math import FUNCTION, INDEX_OPS
from fusejit.ir.loop_names import outside_names
from fusejit.ir.loops import (
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
    Operation,
    ParallelFor,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.polynomial import Polynomial
from fusejit.ir.scalar_ops import SCALAR_OPS

_INDENT = "    "
_CLOSEST = FUNCTION
_CONVERSIONS = {"convert": "{T}({0})", "cast": "cast({0}, {T})"}


def emit_kernel(kernel: LoopKernel) -> str:
    """The source of a kernel: its chunk functions, and ``kernel``."""
    emitter = _Emitter()
    body = emitter.block(kernel.body, 1)
    parameters = ", ".join(p.name for p in kernel.parameters)
    main = "\n".join([f"def kernel({parameters}):", *body, f"{_INDENT}return 0"]) + "\n"
    return "\n\n".join([*emitter.functions, main])


def statement_lines(statements: Sequence[Stmt]) -> list[str]:
    """Statements as text, chunk functions included."""
    emitter = _Emitter()
    lines = ["def kernel():", *emitter.block(statements, 1)]
    return [*(line for text in emitter.functions for line in text.splitlines()), *lines]


class _Emitter:
    def __init__(self) -> None:
        self.functions: list[str] = []
        self.fault = ""  # where a chunk that ends early leaves its status

    def block(self, statements: Sequence[Stmt], depth: int) -> list[str]:
        lines = [line for s in statements for line in self.statement(s, depth)]
        return lines or [f"{_INDENT * depth}pass"]

    def statement(self, s: Stmt, depth: int) -> list[str]:
        pad = _INDENT * depth
        if isinstance(s, Let):
            value = expression(s.value)
            return [pad + (value if s.name == "_" else f"{s.name} = {value}")]
        if isinstance(s, StoreElement):
            return [f"{pad}put({s.pointer}, {s.offset}, {expression(s.value)})"]
        if isinstance(s, Scratch):
            size = expression(s.size)
            function = "scratch" if s.on_stack else "heap_scratch"
            lines = [f"{pad}{s.name} = {function}({size}, {token(s.dtype)}{scope_text(s.scope)})"]
            if not s.on_stack and s.exit_status is not None:
                lines += [f"{pad}if is_null({s.name}):", *self.exit(Exit(s.exit_status), depth + 1)]
            return lines
        if isinstance(s, Free):
            return [f"{pad}free_scratch({s.name})"]
        if isinstance(s, For):
            bounds = f"{expression(s.lower)}, {expression(s.upper)}"
            if s.step != 1:
                bounds += f", {s.step}"
            elif expression(s.lower) == "0":
                bounds = expression(s.upper)
            return [f"{pad}for {s.var} in range({bounds}):", *self.block(s.body, depth + 1)]
        if isinstance(s, While):
            if not s.head:
                condition = expression(s.condition)
                return [f"{pad}while {condition}:", *self.block(s.body, depth + 1)]
            head = self.block(s.head, depth + 1)
            stop = [
                f"{pad}{_INDENT}if not {expression(s.condition)}:",
                f"{pad}{_INDENT * 2}break",
            ]
            return [f"{pad}while True:", *head, *stop, *self.block(s.body, depth + 1)]
        if isinstance(s, If):
            lines = [f"{pad}if {expression(s.condition)}:", *self.block(s.body, depth + 1)]
            if s.orelse:
                lines += [f"{pad}else:", *self.block(s.orelse, depth + 1)]
            return lines
        if isinstance(s, ParallelFor):
            return self.parallel_for(s, pad)
        if isinstance(s, Exit):
            return self.exit(s, depth)
        assert isinstance(s, Comment)
        return [f"{pad}# {s.text}"]

    def exit(self, s: Exit, depth: int) -> list[str]:
        pad, status = _INDENT * depth, str(s.status)
        if s.values is not None:
            status = f"late_values({', '.join([status, *map(expression, s.values)])})"
        if not self.fault:
            return [f"{pad}return {status}"]
        return [f"{pad}put({self.fault}, 0, i64({status}))", f"{pad}return"]

    def parallel_for(self, s: ParallelFor, pad: str) -> list[str]:
        outer, self.fault = self.fault, s.fault
        body = self.block(s.body, 1)
        self.fault = outer
        first = s.streamed.pointer if s.streamed is not None else ""
        free = sorted(outside_names(s), key=lambda n: (n != first, *_natural(n)))
        name = f"chunk{len(self.functions)}"
        comment = [f"{_INDENT}# {s.comment}"] if s.comment else []
        header = f"def {name}({', '.join(['lo', 'hi', *free])}):"
        self.functions.append("\n".join([header, *comment, *body]) + "\n")
        function = "uneven_for" if s.is_uneven else "parallel_for"
        numbers = [s.extent, s.work_ns]
        if s.streamed is not None:
            function = "stream_for"
            numbers += [s.streamed.num_bytes, s.streamed.fresh_bytes]
        arguments = ", ".join([name, *map(expression, numbers), *free])
        return [f"{pad}{function}({arguments})"]


def scope_text(scope: int) -> str:
    """The alias scope argument of ``scratch``, where there is one."""
    return f", {scope}" if scope else ""


def expression(expr: Expr) -> str:
    """An expression as Python text."""
    return _bound(expr)[0]


def _bound(expr: Expr) -> tuple[str, int]:
    """The text of an expression, and how closely its outermost operator binds."""
    if isinstance(expr, Var):
        return expr.name, _CLOSEST
    if isinstance(expr, Number):
        return number(expr.value, expr.dtype), _CLOSEST
    if isinstance(expr, Integer):
        return str(expr.value), _of_polynomial(expr.value)
    if isinstance(expr, Element):
        return f"get({expr.pointer}, {expr.offset})", _CLOSEST
    if isinstance(expr, Field):
        axis = "" if expr.axis is None else f"[{expr.axis}]"
        return f"{expr.array}.{expr.name}{axis}", _CLOSEST
    if isinstance(expr, Call):
        return f"{expr.function}({', '.join(map(expression, expr.operands))})", _CLOSEST
    assert isinstance(expr, Apply)
    if expr.op.name in INDEX_OPS and not expr.op.kind:
        return _of_indices(expr)
    operands = [_within(operand, _CLOSEST) for operand in expr.operands]
    name = "" if expr.dtype is None else token(expr.dtype)
    return _template(expr.op).format(*operands, T=name), _CLOSEST


def _within(expr: Expr, binds: int) -> str:
    """The text of an operand, in parentheses where an operator around it binds closer."""
    text, own = _bound(expr)
    return text if own >= binds else f"({text})"


def _of_indices(expr: Apply) -> tuple[str, int]:
    """An operation of `fusejit.ir.index_math` in Python's notation."""
    row = INDEX_OPS[expr.op.name]
    if row.binds == FUNCTION:
        name = {"int": "i64"}.get(row.name, row.name)
        return f"{name}({', '.join(map(expression, expr.operands))})", _CLOSEST
    if len(expr.operands) == 1:
        sign = {"neg": "-", "not": "not "}.get(row.name, "")
        return sign + _within(expr.operands[0], row.binds), row.binds
    first, *others = expr.operands
    closer = row.binds + 1  # a - (b - c), a < (b < c)
    left = _within(first, closer if row.is_bool and row.name not in ("and", "or") else row.binds)
    parts = [left, *(_within(other, closer) for other in others)]
    return f" {row.name} ".join(parts), row.binds


def _of_polynomial(value: Polynomial) -> int:
    """How closely the outermost operator of a polynomial's text binds."""
    if len(value.terms) > 1:
        return INDEX_OPS["+"].binds
    if any(c < 0 for _, c in value.terms):
        return INDEX_OPS["neg"].binds if _is_factor(value) else INDEX_OPS["+"].binds
    return _CLOSEST if _is_factor(value) else INDEX_OPS["*"].binds


def _is_factor(value: Polynomial) -> bool:
    """Whether a polynomial of one term is a name or a number alone."""
    return all(len(names) + (abs(c) != 1) <= 1 for names, c in value.terms)


def _template(op: Operation) -> str:
    if op.name in _CONVERSIONS and not op.kind:
        return _CONVERSIONS[op.name]
    row = SCALAR_OPS[op.name]
    return row.lone_templates[op.kind] if op.lone else row.templates[op.kind]


def number(value: object, dtype: np.dtype) -> str:
    """A literal of an exact dtype, as Python text."""
    name = token(dtype)
    if dtype.kind == "b":
        return f"boolean({bool(value)})"
    if dtype.kind in "iu":
        return f"{name}({int(value)})"  # type: ignore[call-overload]
    if dtype.kind == "c":
        parts = dtype.type(value)
        return f"complex_of({number(parts.real, parts.real.dtype)}, " + (
            f"{number(parts.imag, parts.imag.dtype)})"
        )
    x = float(value)  # type: ignore[arg-type]
    if math.isnan(x):
        return f"{name}(nan)"
    if math.isinf(x):
        return f"{name}({'-' if x < 0 else ''}inf)"
    return f"{name}({x!r})"


def _natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or -1)
