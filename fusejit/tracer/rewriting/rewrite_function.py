"""The rewritten form of a Python function: its source with callbacks at calls and captured reads.

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
tracebacks and debuggers show the user's file. ``_st`` is one more closure cell: the callbacks of
this activation. Its name, like all that the rewriter makes, is no identifier: it begins with a dot.
Nothing is assigned into the user's module.
"""

from __future__ import annotations

import ast

from fusejit.support.syntax import copied, walk, with_location
from fusejit.tracer.program.locations import OWN
from fusejit.tracer.rewriting.appended_lists import appended_lists_as_arrays
from fusejit.tracer.rewriting.generators import reductions_as_loops
from fusejit.tracer.rewriting.rewrite_control import ControlBuilder
from fusejit.tracer.rewriting.rewrite_expressions import has_walrus, swapped_items
from fusejit.tracer.rewriting.rewrite_operators import OperatorRewriter
from fusejit.tracer.source.bound_names import is_declaration, is_dotted, own_name
from fusejit.tracer.source.changed_displays import changed_displays
from fusejit.tracer.source.generated_items import with_generated_items
from fusejit.tracer.source.jumps import JUMPS, Jumps, can_be_structured, nodes_of
from fusejit.tracer.source.listed_generators import with_listed_generators
from fusejit.tracer.source.loop_targets import with_named_items
from fusejit.tracer.source.memo_tables import with_memo_tables
from fusejit.tracer.source.recursion import loop_of
from fusejit.tracer.source.scopes import Origin, Scope, ScopeNode, analyse
from fusejit.tracer.source.shared_names import with_shared_names
from fusejit.tracer.source.source_text import FunctionNode, FunctionSource

_TOO_NEW = ("TypeAlias", "TemplateStr")  # syntax of later Python versions, not rewritten


class CannotRewrite(Exception):
    """Syntax the rewriter does not know."""


def rewrite_node(
    source: FunctionSource,
    free: tuple[str, ...],
    has_loops: bool = False,
    is_ours: bool = False,
) -> tuple[FunctionNode, str]:
    """The rewritten copy of a function's node, and the name of its callbacks.

    With ``has_loops``, functions that call themselves are loops: see
    `fusejit.tracer.source.recursion`. A function of fusejit itself ``is_ours``.
    """
    for node in walk(source.node):
        if type(node).__name__ in _TOO_NEW or getattr(node, "type_params", None):
            raise CannotRewrite(f"{type(node).__name__} at line {getattr(node, 'lineno', '?')}")
    node, helper = copied(source.node), OWN
    flags: dict[ast.AST, dict[ast.AST, tuple[str, ...]]] = {}
    changed: set[ast.AST] = set()
    recursions: set[ast.AST] = set()
    with_memo_tables(node, helper)
    with_named_items(node, helper)
    with_generated_items(node, helper)
    with_listed_generators(node, helper)
    with_shared_names(node, helper)
    for inner in [n for n in walk(node) if isinstance(n, ast.FunctionDef)] if has_loops else ():
        loop = loop_of(inner, helper)
        recursions |= set() if loop is None else {loop}
    for inner in [n for n in walk(node) if isinstance(n, ast.FunctionDef)]:
        if can_be_structured(inner):
            changed |= changed_displays(inner)
            appended_lists_as_arrays(inner, helper)
            reductions_as_loops(inner, helper)
    for inner in [n for n in walk(node) if isinstance(n, ast.FunctionDef)]:
        if can_be_structured(inner):
            jumps = Jumps(helper)
            jumps.function(inner)
            flags[inner] = jumps.flags
    scopes = analyse(node, source.class_name, free)
    rewriter = _Rewriter(scopes, helper, flags)
    rewriter.changed, rewriter.recursions, rewriter.is_ours = changed, recursions, is_ours
    return rewriter.rewrite(node), helper


class _Rewriter(OperatorRewriter):
    def __init__(
        self,
        scopes: dict[ScopeNode, Scope],
        helper: str,
        flags: dict[ast.AST, dict[ast.AST, tuple[str, ...]]],
    ) -> None:
        super().__init__(scopes, helper)
        self.flags = flags  # of the loops of each function whose control flow may be traced
        self._tries: list[str] = []  # of the `try` around: where its depth is kept
        self._num_tries = 0
        self.recursions: set[ast.AST] = set()  # loops that stand for recursions
        self.is_ours = False

    def rewrite(self, node: FunctionNode) -> FunctionNode:
        self._enter(node)
        self._body(node)
        return node

    def _enter(self, node: ScopeNode) -> None:
        self.scope = self.scopes[node]
        self.control = None
        if node in self.flags:
            flags = self.flags[node]
            self.control = ControlBuilder(
                self.helper, node, flags, self.scope, self.recursions, self.is_ours
            )
        is_simple_lambda = isinstance(node, ast.Lambda) and not has_walrus(node)
        self.has_callbacks = self.control is not None or is_simple_lambda

    def _body(self, node: FunctionNode | ast.ClassDef) -> None:
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = self._all(node.body)

    # ------------------------------------------------------------------- functions and classes
    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = self._all(arguments.defaults)
        arguments.kw_defaults = [
            None if default is None else self.visit(default) for default in arguments.kw_defaults
        ]

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        node.decorator_list = [
            self._callback("decorator", d, self.visit(d)) for d in node.decorator_list
        ]

    def _inside(self, node: FunctionNode | ast.ClassDef) -> None:
        outer = self.scope, self.control, self.has_callbacks
        self._enter(node)
        self._body(node)
        self.scope, self.control, self.has_callbacks = outer

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
        if self.control is None or has_walrus(node.test):
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

    # -------------------------------------------------------------------------------- statements
    def _name_stores(self, at: ast.AST, *names: str) -> list[ast.stmt]:
        """What stands before a statement that binds names which are not the function's."""
        result = []
        for name in map(self.scope.mangle, names):
            origin = self.scope.origin(name)
            if origin in (Origin.FREE, Origin.GLOBAL):
                result.append(self._statement("store_name", at, origin.value, name))
        return result

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        swapped = swapped_items(node) if self.has_callbacks else None
        if swapped is not None:
            return self._statement("swapped_items", node, *map(self.visit, swapped))
        self.generic_visit(node)
        node.value = self._bound(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple | ast.List):
            node.value = self._unpacked(node.value, node.targets[0])
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        node.value = self._bound(self.visit(node.value))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if is_declaration(node):
            return node
        node.target = self.visit(node.target)
        node.simple = int(isinstance(node.target, ast.Name) and node.simple)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        names = [n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)]
        self.generic_visit(node)
        checked: list[ast.stmt] = []
        for name in names:
            if self.control is not None and self.control.may_be_unbound(name):
                load = with_location(ast.Name(id=name, ctx=ast.Load()), node)
                checked.append(self._statement("bound", node, load))
        return [*checked, node]

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        self._only_truth(node.test)
        message = node.msg if isinstance(node.msg, ast.Constant) else None
        if node.msg is None:
            message = with_location(ast.Constant(value=""), node.test)
        self.generic_visit(node)
        known = () if message is None else (message,)
        node.test = self._callback("asserted", node.test, node.test, *known)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if node.exc is None:
            return node
        kind: ast.expr = node.exc
        arguments: list[ast.expr] = []
        if isinstance(node.exc, ast.Call) and not node.exc.keywords:
            kind, arguments = node.exc.func, node.exc.args
        known: list[ast.expr] = []
        if is_dotted(kind):
            known.append(self.visit(copied(kind)))
            if not arguments:
                known.append(with_location(ast.Constant(value=""), node.exc))
            elif len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
                known.append(copied(arguments[0]))
        self.generic_visit(node)
        return with_location(
            ast.If(test=self._callback("raises", node, *known), body=[node], orelse=[]), node
        )

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.visit(node.type)
        depth = with_location(ast.Name(id=self._tries[-1], ctx=ast.Load()), node)
        node.body = [self._statement("caught", node, depth), *self._all(node.body)]
        return node

    def _try(self, node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        for handler in node.handlers:
            before += self._name_stores(handler, *own_name(handler))
        self._num_tries += 1
        self._tries.append(f"{self.helper}_c_try{self._num_tries}")
        store = with_location(ast.Name(id=self._tries[-1], ctx=ast.Store()), node)
        before.append(
            with_location(ast.Assign(targets=[store], value=self._callback("trying", node)), node)
        )
        jumps = any(isinstance(child, JUMPS) for child in nodes_of(node.finalbody))
        self.generic_visit(node)
        if jumps:  # it would swallow exceptions that end the trace
            depth = with_location(ast.Name(id=self._tries[-1], ctx=ast.Load()), node)
            node.finalbody.insert(0, self._statement("ending", node.finalbody[0], depth))
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
        subject = self._callback("subject", node.subject, self.visit(node.subject))
        node.subject = subject
        before: list[ast.stmt] = []
        for case in node.cases:
            for part in walk(case.pattern):
                if isinstance(part, ast.MatchSingleton):
                    subject.args[1:] = [with_location(ast.Constant(value=True), part)]
                elif isinstance(part, ast.MatchClass):  # read natively: noted here
                    value = self.visit(copied(part.cls))
                    before.append(self._statement("pattern_value", part, value))
                elif isinstance(part, ast.MatchValue) and isinstance(part.value, ast.Attribute):
                    value = self.visit(copied(part.value))
                    before.append(self._statement("pattern_value", part, value))
                else:
                    before += self._name_stores(part, *own_name(part))
            if case.guard is not None:
                case.guard = self.visit(case.guard)
            case.body = self._all(case.body)
        return [*before, node]
