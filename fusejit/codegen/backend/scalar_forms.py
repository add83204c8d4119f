"""The forms of scalar ops, ``"({0} * {T}(2.0))"``, as trees: each is read once, from the table.

A form is what a row of `fusejit.ir.scalar_ops` says. Printed source has operands in place of its
numbers; here they are values.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any

from fusejit.codegen.backend.llvm_values import Typed, UnsupportedLowering, ValueEmitter
from fusejit.codegen.printer.statement_printer import form_text
from fusejit.dataclass import dataclass
from fusejit.ir.loops.nodes import Operation
from fusejit.support.syntax import parse, walk

_SIGNS: dict[type[Any], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.USub: "neg",
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPERANDS = ("o0", "o1", "o2")
_DTYPE = "T"


@dataclass(frozen=True, slots=True)
class ScalarForm:
    """A form of a scalar op.

    Attributes
    ----------
    tree : ast.expr
        The expression; operands are names.
    functions : tuple of str
        What it calls, but for casts to the dtype of the result.
    num_operators : int
        Its operators of two operands.
    divides, compares : bool
        Whether it does.
    """

    tree: ast.expr
    functions: tuple[str, ...]
    num_operators: int
    divides: bool
    compares: bool


@functools.cache
def scalar_form(op: Operation) -> ScalarForm:
    """The form of an operation, as a tree."""
    tree = parse(form_text(op).format(*_OPERANDS, T=_DTYPE), "eval").body
    inside = [*walk(tree)]
    called = [n.func.id for n in inside if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    signs = [_SIGNS[type(n.op)] for n in inside if isinstance(n, ast.BinOp)]
    compares = any(isinstance(n, ast.Compare) for n in inside)
    return ScalarForm(tree, tuple(called), len(signs), "/" in signs, compares)


class FormEmitter:
    """Writes one use of a form: ``token`` names the dtype of the result."""

    def __init__(self, values: ValueEmitter, operands: Sequence[Typed], token: str) -> None:
        self.values = values
        self.known = dict(zip(_OPERANDS, operands, strict=False))
        self.token = token

    def expression(self, node: ast.expr) -> Typed:
        """A part of the form."""
        match node:
            case ast.Name(name):
                named = self.token if name == _DTYPE else name
                return self.known[name] if name in self.known else self.values.global_name(named)
            case ast.Constant(value=bool() | int() | float() as value):
                return self.values.literal(value)
            case ast.BinOp(left, sign, right):
                sides = self.expression(left), self.expression(right)
                return self.values.operate(_SIGNS[type(sign)], *sides)
            case ast.UnaryOp(ast.USub(), ast.Constant(value=int() | float() as number)):
                return self.values.literal(-number)
            case ast.UnaryOp(sign, operand):
                return self.values.operate(_SIGNS[type(sign)], self.expression(operand))
            case ast.Compare(left, [sign], [right]):
                sides = self.expression(left), self.expression(right)
                return self.values.operate(_SIGNS[type(sign)], *sides)
            case ast.Call(ast.Name(name), arguments):
                function = self.token if name == _DTYPE else name
                return self.values.call(function, [*map(self.expression, arguments)])
        raise UnsupportedLowering(ast.dump(node))
