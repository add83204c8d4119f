"""The staged form of a Python function: its own source with hooks at calls and outside reads.

::

    def f(x):
        y = np.exp(x) * scale
        cfg.n[0] += 1
        return y

    def f(x):
        y = _st.call(_st.attr(_st.load_global('np'), 'exp'), x) * _st.load_global('scale')
        _st.item_slot(_st.attr(_st.load_global('cfg'), 'n'), 0).value += 1
        return y

Operators, comparisons, control flow and local names stay Python. The new function runs in the
user's globals with the user's closure cells, and its nodes keep the user's lines and columns, so
tracebacks and debuggers show the user's file. ``_st`` (a fresh name) is one more closure cell: the
hooks of this activation. Nothing is assigned into the user's module.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, TypeVar

from fusejit.syntax import walk
from fusejit.tracer.capture.generators import reductions_as_loops
from fusejit.tracer.capture.jumps import Jumps, can_be_structured
from fusejit.tracer.capture.rewrite_control import ControlBuilder, is_hook_name
from fusejit.tracer.capture.scopes import Comprehension, Origin, Scope, ScopeNode, analyse
from fusejit.tracer.capture.source_text import FunctionNode, FunctionSource
from fusejit.tracer.runtime.locations import LATER

Node = TypeVar("Node", bound=ast.AST)

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_TOO_NEW = ("TypeAlias", "TemplateStr")  # syntax of later Python versions, not rewritten


class CannotRewrite(Exception):
    """Syntax the rewriter does not know."""


def rewrite_node(source: FunctionSource, free: tuple[str, ...]) -> tuple[FunctionNode, str]:
    """The rewritten copy of a function's node, and the fresh name of its hooks."""
    taken = set(free)
    for node in walk(source.node):
        taken.update(v for _, v in ast.iter_fields(node) if isinstance(v, str))
        if type(node).__name__ in _TOO_NEW or getattr(node, "type_params", None):
            raise CannotRewrite(f"{type(node).__name__} at line {getattr(node, 'lineno', '?')}")
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            taken.update(node.names)
    helper = next(n for n in map("_st{}".format, ["", *range(len(taken) + 1)]) if n not in taken)
    node = copied(source.node)
    flags: dict[ast.AST, dict[ast.AST, tuple[str, ...]]] = {}
    for inner in [n for n in walk(node) if isinstance(n, ast.FunctionDef)]:
        if can_be_structured(inner):
            reductions_as_loops(inner, helper)
    for inner in [n for n in walk(node) if isinstance(n, ast.FunctionDef)]:
        if can_be_structured(inner):
            jumps = Jumps(helper)
            jumps.function(inner)
            flags[inner] = jumps.flags
    scopes = analyse(node, source.class_name, free)
    return _Rewriter(scopes, helper, flags).rewrite(node), helper


class _Rewriter(ast.NodeTransformer):
    def __init__(
        self,
        scopes: dict[ScopeNode, Scope],
        helper: str,
        flags: dict[ast.AST, dict[ast.AST, tuple[str, ...]]],
    ) -> None:
        self.flags = flags  # of the loops of each function whose control flow may be staged
        self.scopes = scopes
        self.helper = helper
        self.scope: Scope
        self.control: ControlBuilder | None = None
        self.has_hooks = False  # whether ``and``, ``or``, ``not``, ``if`` go through hooks
        self._tests: set[ast.AST] = set()  # of which only the truth counts
        self._tries: list[str] = []  # of the `try` around: where its depth is kept
        self._num_tries = 0

    def rewrite(self, node: FunctionNode) -> FunctionNode:
        self._enter(node)
        self._body(node)
        return node

    def _enter(self, node: ScopeNode) -> None:
        self.scope = self.scopes[node]
        self.control = None
        if node in self.flags:
            self.control = ControlBuilder(self.helper, node, self.flags[node], self.scope)
        is_plain = isinstance(node, ast.Lambda) and not _has_walrus(node)
        self.has_hooks = self.control is not None or is_plain

    def _all(self, nodes: list[Any]) -> list[Any]:
        """Visit a list of nodes; a statement may become several."""
        result: list[Any] = []
        for node in nodes:
            new = self.visit(node)
            result += new if isinstance(new, list) else [new]
        return result

    def _body(self, node: FunctionNode) -> None:
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = self._all(node.body)

    def _hook(
        self, name: str, at: ast.AST, *arguments: ast.expr | str, span: ast.Attribute | None = None
    ) -> ast.Call:
        """``_st.name(arguments)`` at the position of ``at``; a str becomes a constant.

        CPython gives a method call the line on which the method's name ends. ``span`` is the
        user's attribute where this is meant; ``_st.name`` stands on the first line otherwise.
        """
        place = functools.partial(_place, at=at)
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
        return _place(ast.Expr(value=self._hook(name, at, *arguments)), at)

    def _slot(self, name: str, at: ast.expr, ctx: ast.expr_context, *arguments: Any) -> ast.expr:
        """``_st.name(arguments).value`` as a target, with the user's order of evaluation."""
        slot = self._hook(name, at, *arguments)
        return _place(ast.Attribute(value=slot, attr="value", ctx=ctx), at)

    # ------------------------------------------------------------------------------- expressions
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
            test = self._hook("class_binds", node, name)
            return _place(ast.IfExp(test=test, body=node, orelse=elsewhere), node)
        return self._read(node, name, origin)

    def _read(self, node: ast.Name, name: str, origin: Origin) -> ast.expr:
        if origin is Origin.GLOBAL:
            return self._hook("load_global", node, name)
        if origin is Origin.FREE:
            return self._hook("load_closure", node, name, node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.visit(node.value)
        name = self.scope.mangle(node.attr)
        if isinstance(node.ctx, ast.Load):
            return self._hook("attr", node, value, name, span=node)
        return self._slot("attr_slot", node, node.ctx, value, name)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value = self.visit(node.value)
        key = self._key(self.visit(node.slice))
        if isinstance(node.ctx, ast.Load):
            return self._hook("item", node, value, key)
        return self._slot("item_slot", node, node.ctx, value, key)

    def _key(self, key: ast.expr) -> ast.expr:
        if isinstance(key, ast.Slice):
            none = _place(ast.Constant(value=None), key)
            return self._hook("slice", key, key.lower or none, key.upper or none, key.step or none)
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(element) for element in key.elts]
        return key

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and is_hook_name(node.func.id, self.helper):
            return self._hook(node.func.id.rpartition(".")[2], node, *self._all(node.args))
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
        call = self._hook("call", node, function, *arguments, span=span)
        call.keywords = self._all(node.keywords)
        return call

    def _printed(self, node: ast.expr) -> ast.expr:
        """An argument of print; an f-string is the call of a hook that gets its values."""
        if not isinstance(node, ast.JoinedStr) or not all(map(_has_plain_format, node.values)):
            argument: ast.expr = self.visit(node)
            return argument
        parts: list[ast.expr] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(part)
                continue
            value: ast.expr = self.visit(part.value)
            texts: list[ast.expr] = []
            if isinstance(part.format_spec, ast.JoinedStr):
                texts = part.format_spec.values
            spec = texts[0] if texts else _place(ast.Constant(""), part)
            conversion = _place(ast.Constant(part.conversion), part)
            triple = ast.Tuple(elts=[value, conversion, spec], ctx=ast.Load())
            parts.append(_place(triple, part))
        return self._hook("text", node, *parts)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = self._all([node.left, *node.comparators])
        if len(operands) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and self.has_hooks:
            others = [o for o in operands if not (_is_constant(o) and o.value is None)]
            if len(others) == 1:
                asked = self._hook("is_none", node, others[0])
                is_positive = isinstance(node.ops[0], ast.Is)
                return asked if is_positive else self._hook("not_", node, asked)
        if len(operands) == 2 and isinstance(node.ops[0], (ast.In, ast.NotIn)) and self.has_hooks:
            asked = self._hook("contained", node, *operands, _membership(node))
            is_positive = isinstance(node.ops[0], ast.In)
            return asked if is_positive else self._hook("not_", node, asked)
        is_identity = len(operands) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot))
        if is_identity and not any(map(_is_constant, operands)):
            same = self._hook("same_object", node, *operands)
            if isinstance(node.ops[0], ast.Is):
                return same
            return ast.copy_location(ast.UnaryOp(ast.Not(), same), node)
        for at, operator in enumerate(node.ops):
            pair = operands[at : at + 2]
            if isinstance(operator, (ast.Is, ast.IsNot)):
                hook = "bound" if any(map(_is_constant, pair)) else "identity"
                operands[at : at + 2] = [self._hook(hook, o, o) for o in pair]
        node.left, *node.comparators = operands
        names = [_COMPARISONS[type(o)] for o in node.ops if type(o) in _COMPARISONS]
        is_chain = len(names) == len(node.ops) > 1
        if not is_chain or not self.has_hooks or _has_walrus(node):
            return node
        first, second, *others = operands
        pairs = zip(names[1:], map(_later, others), strict=True)
        later: list[ast.expr | str] = [part for pair in pairs for part in pair]
        return self._hook("chain", node, first, names[0], second, *later)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        self.generic_visit(node)
        node.value = self._hook("formatted", node.value, node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            node.right = self._hook("formatted", node.right, node.right)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        name = self.scope.mangle(node.target.id)
        node.value = self.visit(node.value)
        origin = self.scope.origin(name)
        if origin in (Origin.FREE, Origin.GLOBAL):
            return self._hook("store_name", node, origin.value, name)
        return node

    def _comprehension(self, node: Comprehension) -> Comprehension:
        outer = self.scope
        first = self.visit(node.generators[0].iter)
        self.scope = self.scopes[node]
        for position, generator in enumerate(node.generators):
            items = self.visit(generator.iter) if position else first
            generator.iter = items
            if self.has_hooks and not generator.is_async:
                generator.iter = self._hook("items", items, items)
            generator.target = self.visit(generator.target)
            generator.ifs = self._all(generator.ifs)
        if isinstance(node, ast.DictComp):
            node.key = self.visit(node.key)
            node.value = self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.scope = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # ------------------------------------------------------------------- functions and classes
    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = self._all(arguments.defaults)
        arguments.kw_defaults = [
            None if default is None else self.visit(default) for default in arguments.kw_defaults
        ]

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        node.decorator_list = [
            self._hook("decorator", d, self.visit(d)) for d in node.decorator_list
        ]

    def _inside(self, node: ScopeNode) -> None:
        outer = self.scope, self.control, self.has_hooks
        self._enter(node)
        if isinstance(node, ast.ClassDef):
            node.body = self._all(node.body)
        else:
            assert not isinstance(node, Comprehension)
            self._body(node)
        self.scope, self.control, self.has_hooks = outer

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._defaults(node.args)
        self._inside(node)
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        self._decorators(node)
        self._defaults(node.args)
        self._inside(node)
        return [*self._name_stores(node, node.name), node]

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> list[ast.stmt]:
        self._decorators(node)
        node.bases = self._all(node.bases)
        node.keywords = self._all(node.keywords)
        self._inside(node)
        return [*self._name_stores(node, node.name), node]

    # ------------------------------------------------------------------------------ control flow
    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        if self.control is None:
            self.generic_visit(node)
            return node
        behind, node.orelse = node.orelse, []  # no jump leaves the loop: those are flags by now
        plan = self.control.plan(node)
        iterable = self.visit(node.iter)
        node.target = self.visit(node.target)
        loop = self.control.for_(node, plan, iterable, self._all(node.body))
        return [*loop, *self._all(behind)]

    def visit_While(self, node: ast.While) -> ast.While | list[ast.stmt]:
        if self.control is None or _has_walrus(node.test):
            self.generic_visit(node)
            return node
        behind, node.orelse = node.orelse, []
        plan = self.control.plan(node)
        loop = self.control.while_(node, plan, self._test(node.test), self._all(node.body))
        return [*loop, *self._all(behind)]

    def visit_If(self, node: ast.If) -> ast.If | list[ast.stmt]:
        if self.control is None:
            self.generic_visit(node)
            return node
        plan = self.control.plan(node)
        test = self._test(node.test)
        return self.control.if_(node, plan, test, self._all(node.body), self._all(node.orelse))

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
        if not self.has_hooks or _has_walrus(node):
            return node
        return self._hook("choose", node, node.test, *map(_later, (node.body, node.orelse)))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if not self.has_hooks or _has_walrus(node):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        if node not in self._tests:
            name = f"{name.rstrip('_')}_value"
        return self._hook(name, node, node.values[0], *map(_later, node.values[1:]))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            self._only_truth(node.operand)
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self.has_hooks:
            return self._hook("not_", node, node.operand)
        return node

    # -------------------------------------------------------------------------------- statements
    def _name_stores(self, at: ast.AST, *names: str) -> list[ast.stmt]:
        """What stands in front of a statement that binds names which are not the function's."""
        result = []
        for name in map(self.scope.mangle, names):
            origin = self.scope.origin(name)
            if origin in (Origin.FREE, Origin.GLOBAL):
                result.append(self._statement("store_name", at, origin.value, name))
        return result

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        self.generic_visit(node)
        node.value = self._bound(node.value)
        return node

    def _bound(self, node: ast.expr) -> ast.expr:
        """Names that are only handed on (``u = w``, ``f(w)``): they must have a value."""
        if isinstance(node, ast.Tuple | ast.List):
            node.elts = list(map(self._bound, node.elts))
        elif isinstance(node, ast.Name) and self.control and self.control.may_be_unbound(node.id):
            return self._hook("bound", node, node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            name = self.scope.mangle(node.target.id)
            if self.scope.origin(name) in (Origin.OWN, Origin.CLASS):
                old = _place(ast.Name(id=node.target.id, ctx=ast.Load()), node.target)
                value = self._hook("augment", node, self.visit(old), value)
        node.target = self.visit(node.target)
        node.value = value
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign | list[ast.stmt]:
        if isinstance(node.target, ast.Name) and node.value is None:
            return node
        node.target = self.visit(node.target)
        node.simple = int(isinstance(node.target, ast.Name) and node.simple)
        if node.value is None:
            return node
        node.value = self.visit(node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self._only_truth(node.test)
        message = node.msg if isinstance(node.msg, ast.Constant) else None
        if node.msg is None:
            message = _place(ast.Constant(value=""), node.test)
        self.generic_visit(node)
        known = () if message is None else (message,)
        node.test = self._hook("asserted", node.test, node.test, *known)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if node.exc is None:
            return node
        kind: ast.expr = node.exc
        arguments: list[ast.expr] = []
        if isinstance(node.exc, ast.Call) and not node.exc.keywords:
            kind, arguments = node.exc.func, node.exc.args
        known: list[ast.expr] = []
        if _is_dotted(kind):
            known.append(self.visit(copied(kind)))
            if not arguments:
                known.append(_place(ast.Constant(value=""), node.exc))
            elif len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
                known.append(copied(arguments[0]))
        self.generic_visit(node)
        return _place(ast.If(test=self._hook("raises", node, *known), body=[node], orelse=[]), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.visit(node.type)
        depth = _place(ast.Name(id=self._tries[-1], ctx=ast.Load()), node)
        node.body = [self._statement("caught", node, depth), *self._all(node.body)]
        return node

    def _try(self, node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        for handler in node.handlers:
            if handler.name is not None:
                before += self._name_stores(handler, handler.name)
        self._num_tries += 1
        self._tries.append(f"{self.helper}_c_try{self._num_tries}")
        store = _place(ast.Name(id=self._tries[-1], ctx=ast.Store()), node)
        before.append(_place(ast.Assign(targets=[store], value=self._hook("trying", node)), node))
        self.generic_visit(node)
        self._tries.pop()
        return [*before, node]

    visit_Try = visit_TryStar = _try

    def _import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        if isinstance(node, ast.ImportFrom):
            modules = ["." * node.level + (node.module or "")]
        else:
            modules = [alias.name for alias in node.names]
        bound = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        return [
            *(self._statement("importing", node, module) for module in modules),
            *self._name_stores(node, *bound),
            node,
        ]

    visit_Import = visit_ImportFrom = _import

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        node.subject = self._hook("subject", node.subject, self.visit(node.subject))
        before: list[ast.stmt] = []
        for case in node.cases:
            for part in walk(case.pattern):
                if isinstance(part, ast.MatchClass):  # read natively: noted here
                    value = self.visit(copied(part.cls))
                    before.append(self._statement("pattern_value", part, value))
                elif isinstance(part, ast.MatchValue) and isinstance(part.value, ast.Attribute):
                    value = self.visit(copied(part.value))
                    before.append(self._statement("pattern_value", part, value))
                elif isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
                    before += self._name_stores(part, part.name)
                elif isinstance(part, ast.MatchMapping) and part.rest:
                    before += self._name_stores(part, part.rest)
            if case.guard is not None:
                case.guard = self.visit(case.guard)
            case.body = self._all(case.body)
        return [*before, node]


def copied(node: Node) -> Node:
    """A copy of a tree, some times faster than `copy.deepcopy`."""
    made = type(node)()
    for name, value in vars(node).items():
        if isinstance(value, ast.AST):
            value = copied(value)
        elif isinstance(value, list):
            value = [copied(v) if isinstance(v, ast.AST) else v for v in value]
        setattr(made, name, value)
    return made


def _place(node: Node, at: ast.AST) -> Node:
    return ast.copy_location(node, at)


def _has_plain_format(part: ast.expr) -> bool:
    """Whether a part of an f-string has no width or precision that is computed."""
    spec = part.format_spec if isinstance(part, ast.FormattedValue) else None
    if not isinstance(spec, ast.JoinedStr):
        return True
    return len(spec.values) <= 1 and all(map(_is_constant, spec.values))


def _is_dotted(node: ast.expr) -> bool:
    """Whether it is a name, or an attribute of one: ``np.linalg.LinAlgError``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _membership(node: ast.Compare) -> ast.Lambda:
    """``lambda item, container: item in container``: Python asks the objects of the user's."""
    names = ("_st item", "_st container")
    item, container = (_place(ast.Name(name, ctx=ast.Load()), node) for name in names)
    test = _place(ast.Compare(left=item, ops=[ast.In()], comparators=[container]), node)
    mark = _place(ast.arg(arg=LATER), node)
    none = _place(ast.Constant(value=None), node)
    operands = [_place(ast.arg(arg=name), node) for name in names]
    arguments = ast.arguments([], [*operands, mark], None, [], [], None, [none])
    return _place(ast.Lambda(args=arguments, body=test), node)


def _later(node: ast.expr) -> ast.Lambda:
    """``lambda: node``, in a frame that is no frame of the user's."""
    mark = _place(ast.arg(arg=LATER), node)
    none = _place(ast.Constant(value=None), node)
    arguments = ast.arguments([], [], None, [mark], [none], None, [])
    return _place(ast.Lambda(args=arguments, body=node), node)


def _has_walrus(node: ast.AST) -> bool:
    return any(isinstance(child, ast.NamedExpr | ast.Await | ast.Yield) for child in walk(node))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
    )
