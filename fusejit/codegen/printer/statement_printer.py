"""Loop nests as Python source, which runs jitted or, with Python implementations, unjitted.

The text has no imports and is deterministic: names come from positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fusejit.codegen.loop_nests.loop_nest import token
from fusejit.codegen.printer.outlining import KERNEL, outlined_statements
from fusejit.ir.loops.index_math import FUNCTION, INDEX_OPS
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Comment,
    Element,
    Expr,
    Field,
    For,
    Free,
    If,
    Integer,
    Launch,
    Let,
    LoopFunction,
    LoopModule,
    Number,
    Operation,
    Return,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import CAST, CONVERT
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

_INDENT = "    "
_CLOSEST = FUNCTION
_CONVERSIONS = {CONVERT: "{T}({0})", CAST: "cast({0}, {T})"}


def emit_kernel(module: LoopModule) -> str:
    """The source of a kernel: its chunk functions, and ``kernel``."""
    return "\n\n".join(_function(f) for f in module.functions)


def statement_lines(statements: Sequence[Stmt]) -> list[str]:
    """Statements as text, chunk functions included."""
    functions, body = outlined_statements(statements)
    texts = [*map(_function, functions), _function(LoopFunction(KERNEL, (), body))]
    return [line for text in texts for line in text.splitlines()]


def _function(function: LoopFunction) -> str:
    comment = [f"{_INDENT}# {function.comment}"] if function.comment else []
    header = f"def {function.name}({', '.join(function.parameters)}):"
    return "\n".join([header, *comment, *_block(function.body, 1)]) + "\n"


def _block(statements: Sequence[Stmt], depth: int) -> list[str]:
    lines = [line for s in statements for line in _statement(s, depth)]
    return lines or [f"{_INDENT * depth}pass"]


def _statement(s: Stmt, depth: int) -> list[str]:
    pad = _INDENT * depth
    match s:
        case Let():
            value = expression(s.value)
            return [pad + (value if s.name == "_" else f"{s.name} = {value}")]
        case StoreElement():
            return [f"{pad}put({s.pointer}, {s.offset}, {expression(s.value)})"]
        case Scratch():
            function = "scratch" if s.on_stack else "heap_scratch"
            size = f"{expression(s.size)}, {token(s.dtype)}{f', {s.scope}' if s.scope else ''}"
            return [f"{pad}{s.name} = {function}({size})"]
        case Free():
            return [f"{pad}free_scratch({s.name})"]
        case For():
            bounds = f"{expression(s.lower)}, {expression(s.upper)}"
            if s.step != 1:
                bounds += f", {s.step}"
            elif expression(s.lower) == "0":
                bounds = expression(s.upper)
            return [f"{pad}for {s.var} in range({bounds}):", *_block(s.body, depth + 1)]
        case While(head=[]):
            return [f"{pad}while {expression(s.condition)}:", *_block(s.body, depth + 1)]
        case While():
            inner = pad + _INDENT
            stop = [f"{inner}if not {expression(s.condition)}:", f"{inner}{_INDENT}break"]
            body = _block(s.body, depth + 1)
            return [f"{pad}while True:", *_block(s.head, depth + 1), *stop, *body]
        case If():
            lines = [f"{pad}if {expression(s.condition)}:", *_block(s.body, depth + 1)]
            return [*lines, f"{pad}else:", *_block(s.orelse, depth + 1)] if s.orelse else lines
        case Launch():
            arguments = ", ".join([s.function, *map(expression, (*s.numbers, *s.arguments))])
            return [f"{pad}{launcher_of(s)}({arguments})"]
        case Return():
            return [f"{pad}return" + ("" if s.value is None else f" {expression(s.value)}")]
    assert isinstance(s, Comment)
    return [f"{pad}# {s.text}"]


def launcher_of(launch: Launch) -> str:
    """The function of `fusejit.codegen.intrinsics` that runs a launch."""
    if launch.is_streamed:
        return "stream_for"
    return "uneven_for" if launch.is_uneven else "parallel_for"


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
    return form_text(expr.op).format(*operands, T=name), _CLOSEST


def _within(expr: Expr, binds: int) -> str:
    """The text of an operand, in parentheses where an operator around it binds closer."""
    text, own = _bound(expr)
    return text if own >= binds else f"({text})"


def _of_indices(expr: Apply) -> tuple[str, int]:
    """An operation of `fusejit.ir.loops.index_math` in Python's notation."""
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


def form_text(op: Operation) -> str:
    """The form of an operation, as its row has it."""
    if op in _CONVERSIONS:
        return _CONVERSIONS[op]
    row = SCALAR_OPS[op.name]
    return row.scalar_templates[op.kind] if op.scalar_form else row.templates[op.kind]


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
