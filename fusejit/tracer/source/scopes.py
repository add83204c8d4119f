"""Which names of a function are its own, which come from a closure, which are global.

The rules are Python's (section 4.2 of the language reference): a name bound in a block belongs to
it, class blocks are skipped from inside, ``:=`` in a comprehension binds in the block around it.
"""

from __future__ import annotations

import ast
import enum

from fusejit.dataclass import dataclass, field
from fusejit.tracer.source.bound_names import Comprehension, is_declaration, own_name, parameters_of
from fusejit.tracer.source.source_text import FunctionNode

ScopeNode = FunctionNode | Comprehension | ast.ClassDef


class Origin(enum.Enum):
    """Where a name is found."""

    OWN = "own"  # in the function or in a function nested in it
    CLASS = "class"  # bound in a class block: there if it was assigned, else outside the block
    FREE = "free"  # a closure cell of the function
    GLOBAL = "global"  # a global or builtin


@dataclass(eq=False, slots=True)
class Scope:
    """A block with the names bound and declared in it; names are mangled."""

    node: ScopeNode
    parent: Scope | None
    class_name: str | None
    free: frozenset[str] = frozenset()  # of the outermost block
    bound: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)

    @property
    def is_class(self) -> bool:
        """Whether it is a class block."""
        return isinstance(self.node, ast.ClassDef)

    def mangle(self, name: str) -> str:
        """The name as the compiler stores it (``__x`` in class ``C`` is ``_C__x``)."""
        if self.class_name is None or not name.startswith("__"):
            return name
        stem = self.class_name.lstrip("_")
        if name.endswith("__") or "." in name or not stem:
            return name
        return f"_{stem}{name}"

    def origin(self, name: str) -> Origin:
        """Where a mangled name used in this block is found."""
        if name in self.global_names:
            return Origin.GLOBAL
        if name in self.bound and name not in self.nonlocal_names:
            return Origin.CLASS if self.is_class else Origin.OWN
        return self.outer_origin(name)

    def outer_origin(self, name: str) -> Origin:
        """Where a mangled name is found if this block does not bind it."""
        scope = self
        while scope.parent is not None:
            if name == "__class__" and scope.is_class:
                return Origin.OWN
            scope = scope.parent
            if scope.is_class:
                continue
            if name in scope.global_names:
                return Origin.GLOBAL
            if name in scope.bound and name not in scope.nonlocal_names:
                return Origin.OWN
        return Origin.FREE if name in scope.free else Origin.GLOBAL


def analyse(
    node: FunctionNode, class_name: str | None, free: tuple[str, ...]
) -> dict[ScopeNode, Scope]:
    """The scopes of a function and of every block nested in it, by their nodes."""
    collector = _Collector()
    root = Scope(node, None, class_name, frozenset(free))
    collector.scopes[node] = root
    collector.enter_function(root)
    return collector.scopes


class _Collector(ast.NodeVisitor):
    """Fills `Scope.bound` and the declarations; one scope is current at a time."""

    def __init__(self) -> None:
        self.scopes: dict[ScopeNode, Scope] = {}
        self.scope: Scope

    def _bind(self, name: str) -> None:
        self.scope.bound.add(self.scope.mangle(name))

    def _nested(self, node: ScopeNode, class_name: str | None) -> Scope:
        scope = self.scopes[node] = Scope(node, self.scope, class_name)
        return scope

    def enter_function(self, scope: Scope) -> None:
        node = scope.node
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        self.scope = scope
        for parameter in parameters_of(node):
            self._bind(parameter.arg)
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        for child in body:
            self.visit(child)

    def _function(self, node: FunctionNode) -> None:
        outer = self.scope
        if not isinstance(node, ast.Lambda):
            self._bind(node.name)
            for decorator in node.decorator_list:
                self.visit(decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.enter_function(self._nested(node, outer.class_name))
        self.scope = outer

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self.scope
        self._bind(node.name)
        for child in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(child)
        self.scope = self._nested(node, node.name)
        for statement in node.body:
            self.visit(statement)
        self.scope = outer

    def _comprehension(self, node: Comprehension) -> None:
        outer = self.scope
        self.visit(node.generators[0].iter)
        self.scope = self._nested(node, outer.class_name)
        for position, generator in enumerate(node.generators):
            self.visit(generator.target)
            if position:
                self.visit(generator.iter)
            for condition in generator.ifs:
                self.visit(condition)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.scope = outer

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while isinstance(scope.node, Comprehension) and scope.parent is not None:
            scope = scope.parent
        name = scope.mangle(node.target.id)
        scope.bound.add(name)
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)

    def _named(self, node: ast.AST) -> None:
        for name in own_name(node):
            self._bind(name)
        self.generic_visit(node)

    visit_Import = visit_ImportFrom = _named
    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = visit_MatchMapping = _named

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.simple or not is_declaration(node):  # ``(k): int`` makes no name local
            self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.global_names.update(map(self.scope.mangle, node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocal_names.update(map(self.scope.mangle, node.names))
