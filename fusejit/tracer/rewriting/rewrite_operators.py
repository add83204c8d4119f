"""Operators with callbacks, as operands may be objects of the user's classes.

::

    d = q - p                 d = _st.binary('sub', q, p)
    v += a * dt               v = _st.augmented('add', v, _st.binary('mul', a, dt))
    self.x += d               _st.attr_slot(self, 'x').loaded.augment('add', d)

Constants among themselves stay as they are.
"""

from __future__ import annotations

import ast
import functools

from fusejit.support.syntax import with_location
from fusejit.tracer.program.locations import OWN
from fusejit.tracer.rewriting.rewrite_expressions import (
    ExpressionRewriter,
    has_walrus,
    is_constant,
    later,
)
from fusejit.tracer.source.changed_displays import is_list
from fusejit.tracer.source.loop_targets import parts_of_target
from fusejit.tracer.source.scopes import Origin

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Is: "is_",
    ast.IsNot: "is_not",
}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}


class OperatorRewriter(ExpressionRewriter):
    """Visits the operators of one function."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = self._all([node.left, *node.comparators])
        only = node.ops[0] if len(node.ops) == 1 else None
        is_positive = isinstance(only, (ast.Is, ast.In))
        asked = None
        if isinstance(only, (ast.Is, ast.IsNot)):
            asked = self._callback("same_object", node, *operands)
        elif isinstance(only, (ast.In, ast.NotIn)) and self.has_callbacks:
            asked = self._callback("contained", node, *operands, _membership(node))
        if asked is not None:
            return asked if is_positive else self._callback("not_", node, asked)
        names = [_COMPARISONS[type(o)] for o in node.ops if type(o) in _COMPARISONS]
        is_chain = len(names) == len(node.ops) > 1
        is_native = not is_chain or not self.has_callbacks or has_walrus(node)
        if len(names) == 1 and not all(map(is_constant, operands)):
            return self._callback("compared", node, names[0], *operands)
        for at, operator in enumerate(node.ops):
            pair = operands[at : at + 2]
            if isinstance(operator, (ast.Is, ast.IsNot)) and is_native:
                operands[at : at + 2] = [self._callback("identity", o, o) for o in pair]
            elif isinstance(operator, ast.Eq | ast.NotEq) and not any(map(is_constant, pair)):
                operands[at : at + 2] = [self._callback("operand", o, o) for o in pair]
        node.left, *node.comparators = operands
        if is_native:
            return node
        first, second, *others = operands
        pairs = zip(names[1:], map(later, others), strict=True)
        rest: list[ast.expr | str] = [part for pair in pairs for part in pair]
        return self._callback("chain", node, first, names[0], second, *rest)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        sides = node.left, node.right
        repeated = next((side for side in sides if isinstance(side, ast.List)), None)
        is_joined = isinstance(node.op, ast.Add) and any(map(is_list, sides))
        self.generic_visit(node)
        if is_joined and self.has_callbacks:
            return self._callback("joined_list", node, node.left, node.right, *self._about(node))
        if isinstance(node.op, ast.Mult) and repeated is not None and self.has_callbacks:
            sides = (node.left, node.right) if repeated is sides[0] else (node.right, node.left)
            return self._callback("repeated_list", node, *sides, *self._about(node))
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            node.right = self._callback("formatted", node.right, node.right)
        if _is_known(node):
            return node
        return self._callback("binary", node, _BINARY[type(node.op)], node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            self._only_truth(node.operand)
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self.has_callbacks:
            return self._callback("not_", node, node.operand)
        if isinstance(node.op, ast.Not) or _is_known(node):
            return node
        return self._callback("unary", node, _UNARY[type(node.op)], node.operand)

    def visit_Starred(self, node: ast.Starred) -> ast.Starred:
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            node.value = self._unpacked(node.value)
        return node

    def _unpacked(self, node: ast.expr, target: ast.expr | None = None) -> ast.expr:
        """Items that are taken apart, for a target."""
        if isinstance(node, ast.Tuple | ast.List):
            return node
        parts = [] if target is None else [ast.Constant(value=parts_of_target(target))]
        return self._callback("unpacked", node, node, *parts)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        name = _BINARY[type(node.op)]
        value = self.visit(node.value)
        place = functools.partial(with_location, at=node)
        if isinstance(node.target, ast.Name):
            target = node.target
            if self.scope.origin(self.scope.mangle(target.id)) in (Origin.OWN, Origin.CLASS):
                old = with_location(ast.Name(id=target.id, ctx=ast.Load()), target)
                value = self._callback("augmented", node, name, self.visit(old), value)
                return place(ast.Assign(targets=[self.visit(target)], value=value))
            node.target, node.value = self.visit(target), value  # refuses
            return node
        slot: ast.expr = self.visit(node.target)
        assert isinstance(slot, ast.Attribute)
        loaded = place(ast.Attribute(value=slot.value, attr="loaded", ctx=ast.Load()))
        augment = place(ast.Attribute(value=loaded, attr="augment", ctx=ast.Load()))
        arguments = [place(ast.Constant(value=name)), value]
        return place(ast.Expr(value=place(ast.Call(func=augment, args=arguments, keywords=[]))))


def _membership(node: ast.Compare) -> ast.Lambda:
    """``lambda item, container: item in container``: Python asks the objects of the user's."""
    names = (f"{OWN} item", f"{OWN} container")
    item, container = (with_location(ast.Name(name, ctx=ast.Load()), node) for name in names)
    test = with_location(ast.Compare(left=item, ops=[ast.In()], comparators=[container]), node)
    operands = [with_location(ast.arg(arg=name), node) for name in names]
    arguments = ast.arguments([], operands, None, [], [], None, [])
    return with_location(ast.Lambda(args=arguments, body=test), node)


def _is_known(node: ast.expr) -> bool:
    """Whether a literal of the text makes an expression."""
    if isinstance(node, ast.UnaryOp):
        return _is_known(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_known(node.left) and _is_known(node.right)
    return is_constant(node)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )
