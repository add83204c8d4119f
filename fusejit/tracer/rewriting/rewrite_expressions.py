"""Expressions with callbacks at calls, reads and tests: see `rewrite_function`."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from typing import Any

from fusejit.support.syntax import has_plain_format, walk, with_location
from fusejit.tracer.program.locations import LATER
from fusejit.tracer.rewriting.rewrite_control import ControlBuilder, is_callback_name
from fusejit.tracer.source.bound_names import Comprehension
from fusejit.tracer.source.loop_targets import parts_of_target
from fusejit.tracer.source.scopes import Origin, Scope, ScopeNode


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


class ExpressionRewriter(ast.NodeTransformer):
    """Visits the expressions of one function, whose scopes are known.

    Parameters
    ----------
    scopes : mapping of ScopeNode to Scope
    helper : str
        The name of the callbacks.

    Attributes
    ----------
    scope : Scope
        That of the expression which is visited.
    has_callbacks : bool
        Whether ``and``, ``or``, ``not``, ``if`` go through callbacks.
    control : ControlBuilder or None
        That of the function around it, if its control flow may be traced.
    """

    scope: Scope
    control: ControlBuilder | None = None

    def __init__(self, scopes: dict[ScopeNode, Scope], helper: str) -> None:
        self.scopes = scopes
        self.helper = helper
        self.has_callbacks = False
        self._tests: set[ast.AST] = set()  # of which only the truth counts
        self.changed: set[ast.AST] = set()  # displays that loops change

    def _all(self, nodes: list[Any]) -> list[Any]:
        """Visit a list of nodes; a statement may become several."""
        result: list[Any] = []
        for node in nodes:
            new = self.visit(node)
            result += new if isinstance(new, list) else [new]
        return result

    def _callback(
        self, name: str, at: ast.AST, *arguments: ast.expr | str, span: ast.Attribute | None = None
    ) -> ast.Call:
        """``_st.name(arguments)`` at the position of ``at``; a str becomes a constant.

        CPython gives a method call the line on which the method's name ends. ``span`` is the
        user's attribute where this is meant; ``_st.name`` stands on the first line otherwise.
        """
        place = functools.partial(with_location, at=at)
        base = place(ast.Name(id=self.helper, ctx=ast.Load()))
        function = ast.Attribute(value=base, attr=name, ctx=ast.Load())
        if span is not None:
            ast.copy_location(function, span)
            if span.end_col_offset is not None:
                function.end_col_offset = span.end_col_offset - len(span.attr) + len(name)
        else:
            place(function)
            function.end_lineno, function.end_col_offset = function.lineno, function.col_offset
        values = [place(ast.Constant(value=a)) if isinstance(a, str) else a for a in arguments]
        return place(ast.Call(func=function, args=values, keywords=[]))

    def _statement(self, name: str, at: ast.AST, *arguments: ast.expr | str) -> ast.stmt:
        return with_location(ast.Expr(value=self._callback(name, at, *arguments)), at)

    def _slot(self, name: str, at: ast.expr, ctx: ast.expr_context, *arguments: Any) -> ast.expr:
        """``_st.name(arguments).value`` as a target, with the user's order of evaluation."""
        slot = self._callback(name, at, *arguments)
        return with_location(ast.Attribute(value=slot, attr="value", ctx=ctx), at)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = self.scope.mangle(node.id)
        if name == "__debug__":
            return node
        origin = self.scope.origin(name)
        if not isinstance(node.ctx, ast.Load):
            if origin in (Origin.OWN, Origin.CLASS):
                return node
            return self._slot("name_slot", node, node.ctx, origin.value, name)
        if origin is Origin.CLASS:
            elsewhere = self._read(node, name, self.scope.outer_origin(name))
            test = self._callback("class_binds", node, name)
            return with_location(ast.IfExp(test=test, body=node, orelse=elsewhere), node)
        return self._read(node, name, origin)

    def _read(self, node: ast.Name, name: str, origin: Origin) -> ast.expr:
        if origin is Origin.GLOBAL:
            return self._callback("load_global", node, name)
        if origin is Origin.FREE:
            return self._callback("load_closure", node, name, node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if node not in self.changed:
            return node
        return self._callback("displayed", node, "Text", node, *self._about(node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        name = self.scope.mangle(node.attr)
        if isinstance(node.ctx, ast.Load):
            return self._callback("attr", node, value, name, span=node)
        return self._slot("attr_slot", node, node.ctx, value, name)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value = self.visit(node.value)
        key = self._key(self.visit(node.slice))
        if isinstance(node.ctx, ast.Load):
            return self._callback("item", node, value, key)
        return self._slot("item_slot", node, node.ctx, value, key)

    def _key(self, key: ast.expr) -> ast.expr:
        if isinstance(key, ast.Slice):
            none = with_location(ast.Constant(value=None), key)
            return self._callback(
                "slice", key, key.lower or none, key.upper or none, key.step or none
            )
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(element) for element in key.elts]
        return key

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and is_callback_name(node.func.id, self.helper):
            return self._callback(node.func.id.rpartition(".")[2], node, *self._all(node.args))
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            origin = self.scope.origin("super")
            if origin is Origin.GLOBAL and not node.args and not node.keywords:
                return node  # reads the caller's frame
        span = node.func if isinstance(node.func, ast.Attribute) else None
        function = self.visit(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            arguments = [self._printed(argument) for argument in node.args]
        else:
            arguments = self._all(node.args)
        arguments = list(map(self._bound, arguments))
        call = self._callback("call", node, function, *arguments, span=span)
        call.keywords = self._all(node.keywords)
        return call

    def _printed(self, node: ast.expr) -> ast.expr:
        """An argument of print; an f-string is the call of a callback that gets its values."""
        if not isinstance(node, ast.JoinedStr) or not all(map(has_plain_format, node.values)):
            argument: ast.expr = self.visit(node)
            return argument
        return self._f_string(node, is_printed=True)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        if self.has_callbacks and all(map(has_plain_format, node.values)):
            return self._f_string(node, is_printed=False)
        self.generic_visit(node)
        return node

    def _f_string(self, node: ast.JoinedStr, is_printed: bool) -> ast.expr:
        """The call of a callback that gets the parts of an f-string."""
        parts: list[ast.expr] = [with_location(ast.Constant(is_printed), node)]
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(part)
                continue
            value: ast.expr = self.visit(part.value)
            texts: list[ast.expr] = []
            if isinstance(part.format_spec, ast.JoinedStr):
                texts = part.format_spec.values
            spec = texts[0] if texts else with_location(ast.Constant(""), part)
            conversion = with_location(ast.Constant(part.conversion), part)
            triple = ast.Tuple(elts=[value, conversion, spec], ctx=ast.Load())
            parts.append(with_location(triple, part))
        return self._callback("text", node, *parts)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.generic_visit(node)
        node.value = self._callback("formatted", node.value, node.value)
        return node

    def _about(self, node: ast.expr, is_part: bool = False) -> list[ast.expr]:
        """Line and column of a display, and whether loops change it, as constants."""
        values = (node.lineno, node.col_offset, node in self.changed and not is_part)
        return [with_location(ast.Constant(value=value), node) for value in values]

    def visit_List(self, node: ast.List) -> ast.expr:
        is_read = isinstance(node.ctx, ast.Load) and self.has_callbacks
        if is_read and any(map(_is_starred, node.elts)):
            return self._list_of_parts(node)
        node.elts = self._all(node.elts)
        if not is_read:
            return node
        node.elts = list(map(self._bound, node.elts))
        return self._callback("displayed", node, "List", node, *self._about(node))

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        if (
            isinstance(node.ctx, ast.Load)
            and self.has_callbacks
            and any(map(_is_starred, node.elts))
        ):
            return self._callback("tupled", node, self._list_of_parts(node))
        self.generic_visit(node)
        return node

    def _list_of_parts(self, node: ast.List | ast.Tuple) -> ast.expr:
        """``[x, *xs, y]``: a list of the first part, which is extended by each other one."""
        made: ast.expr | None = None
        for is_starred, group in itertools.groupby(node.elts, _is_starred):
            for part in self._parts(node, is_starred, [*group]):
                if made is None:
                    made = self._callback("listed", node, part)
                else:
                    made = self._callback("extended", node, made, part)
        assert made is not None
        return made

    def _parts(self, node: ast.expr, is_starred: bool, group: list[ast.expr]) -> Iterator[ast.expr]:
        """What runs of elements of a display are the items of."""
        if is_starred:
            yield from (self.visit(one.value) for one in group if isinstance(one, ast.Starred))
        else:
            elements = list(map(self._bound, self._all(group)))
            yield with_location(ast.Tuple(elts=elements, ctx=ast.Load()), node)

    def visit_Set(self, node: ast.Set) -> ast.expr:
        node.elts = list(map(self._hashed, node.elts))
        items: ast.expr = node
        if not all(map(is_constant, node.elts)):  # Python gives constants an order of their own
            items = with_location(ast.Tuple(elts=node.elts, ctx=ast.Load()), node)
        elif not self.has_callbacks:
            return node
        return self._callback("displayed", node, "Set", items, *self._about(node))

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        for at, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is not None:
                node.keys[at] = self._hashed(key)
            node.values[at] = self.visit(value)
        if not self.has_callbacks:
            return node
        parts: list[Any] = [[]]  # items, what stands behind a ``**``, items, ..
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                parts += [value, []]
            else:
                parts[-1].append((key, value))
        made = self._items(node, parts[0], len(parts) > 1)
        for part in filter(None, parts[1:]):
            other = part if isinstance(part, ast.expr) else self._items(node, part, True)
            made = self._callback("merged", node, made, other, *self._about(node))
        return made

    def _items(
        self, node: ast.Dict, items: list[tuple[ast.expr, ast.expr]], is_part: bool
    ) -> ast.expr:
        """A dictionary of the items of a display, or of a part of them."""
        made: ast.expr
        if all(is_constant(key) for key, _ in items):
            kind, made = "Dict", ast.Dict([k for k, _ in items], [v for _, v in items])
        else:  # nobody has hashed its keys yet
            pairs = (with_location(ast.Tuple([*pair], ast.Load()), node) for pair in items)
            kind, made = "Pairs", ast.Tuple([*pairs], ast.Load())
        about = self._about(node, is_part)
        return self._callback("displayed", node, kind, with_location(made, node), *about)

    def _hashed(self, node: ast.expr) -> ast.expr:
        """An element of a set, or a key, which Python hashes and compares."""
        if isinstance(node, ast.Starred):
            node.value = self._hashed(node.value)
            return node
        new: ast.expr = self.visit(node)
        return new if is_constant(new) else self._callback("operand", new, new)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        name = self.scope.mangle(node.target.id)
        node.value = self.visit(node.value)
        origin = self.scope.origin(name)
        if origin in (Origin.FREE, Origin.GLOBAL):
            return self._callback("store_name", node, origin.value, name)
        return node

    def _comprehension(self, node: Comprehension) -> Comprehension:
        outer = self.scope
        first = self.visit(node.generators[0].iter)
        self.scope = self.scopes[node]
        for position, generator in enumerate(node.generators):
            items = self.visit(generator.iter) if position else first
            generator.iter = items
            if self.has_callbacks and not generator.is_async:
                parts = ast.Constant(value=parts_of_target(generator.target))
                generator.iter = self._callback("items", items, items, parts)
            generator.target = self.visit(generator.target)
            generator.ifs = self._all(generator.ifs)
        if isinstance(node, ast.DictComp):
            node.key = self._hashed(node.key)
            node.value = self.visit(node.value)
        else:
            node.elt = (self._hashed if isinstance(node, ast.SetComp) else self.visit)(node.elt)
        self.scope = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _bound(self, node: ast.expr) -> ast.expr:
        """Names that are only handed on (``u = w``, ``f(w)``): they must have a value."""
        if isinstance(node, ast.Tuple | ast.List):
            node.elts = list(map(self._bound, node.elts))
        elif isinstance(node, ast.Name) and self.control and self.control.may_be_unbound(node.id):
            return self._callback("bound", node, node)
        return node

    def _test(self, node: ast.expr) -> ast.expr:
        """Visit an expression of which only the truth counts."""
        self._only_truth(node)
        new: ast.expr = self.visit(node)
        return new

    def _only_truth(self, node: ast.expr) -> None:
        self._tests.add(node)
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._only_truth(value)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self._only_truth(node.test)
        self.generic_visit(node)
        if not self.has_callbacks or has_walrus(node):
            return node
        return self._callback("choose", node, node.test, *map(later, (node.body, node.orelse)))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if not self.has_callbacks or has_walrus(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        if node not in self._tests:
            name = f"{name.rstrip('_')}_value"
        return self._callback(name, node, node.values[0], *map(later, node.values[1:]))


def is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def later(node: ast.expr) -> ast.Lambda:
    """``lambda: node``, in a frame that is no frame of the user's."""
    mark = with_location(ast.arg(arg=LATER), node)
    none = with_location(ast.Constant(value=None), node)
    arguments = ast.arguments([], [], None, [mark], [none], None, [])
    return with_location(ast.Lambda(args=arguments, body=node), node)


def has_walrus(node: ast.AST) -> bool:
    return any(isinstance(child, ast.NamedExpr | ast.Await | ast.Yield) for child in walk(node))


def swapped_items(node: ast.Assign) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The names of ``xs[i], xs[j] = xs[j], xs[i]``."""
    match node:
        case ast.Assign(
            [ast.Tuple([ast.Subscript(a, i), ast.Subscript(b, j)])],
            ast.Tuple([ast.Subscript(c, k), ast.Subscript(d, m)]),
        ) if all(isinstance(part, ast.Name | ast.Constant) for part in (a, i, j)):
            parts = [*map(ast.dump, (a, b, c, d, i, j, m, k))]
            if len({*parts[:4]}) == 1 and parts[4:6] == parts[6:]:
                return a, i, j
    return None
