"""Names that statements bind and unbind, and names that inner scopes read: by syntax alone.

::

    for i, (a, *rest) in pairs:     # binds i, a, rest
        with opened(a) as file:     # binds file
            del rest                # unbinds rest
        total += (last := i)        # binds total, last
        rows = [i for i in a]       # binds rows: the inner i has a scope of its own

The rules are those of section 4.2 of the language reference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fusejit.support.syntax import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*FUNCTIONS, ast.ClassDef)


def assigned(statements: Iterable[ast.AST], *, heads: bool = False) -> set[str]:
    """Names that statements bind or unbind, but not those in scopes of their own.

    With ``heads`` only what the statements bind themselves: not what statements in their blocks do.
    """
    found: set[str] = set()
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if is_declaration(node):
            continue  # ``k: int`` binds nothing
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        found |= own_name(node)
        if isinstance(node, COMPREHENSIONS):
            walrus = (n for n in walk(node) if isinstance(n, ast.NamedExpr))
            found |= {n.target.id for n in walrus}
        elif isinstance(node, _SCOPES):
            pending += evaluated_at_once(node)
        else:
            inner = children(node)
            pending += [n for n in inner if not isinstance(n, ast.stmt)] if heads else inner
    return found


def is_declaration(node: ast.AST) -> bool:
    """Whether it is ``k: int``, which evaluates nothing; ``o.k: int`` evaluates ``o``."""
    is_bare = isinstance(node, ast.AnnAssign) and node.value is None
    return is_bare and isinstance(node.target, ast.Name)  # type: ignore[attr-defined]


def own_name(node: ast.AST) -> set[str]:
    """Names that a node binds without an `ast.Name`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return {a.asname or a.name.partition(".")[0] for a in node.names}
        case ast.MatchMapping():
            return {node.rest} if node.rest else set()
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return {node.name} if node.name else set()
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
    return set()


def unbound(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that ``del`` or the end of an ``except .. as`` in some statements unbinds."""
    found: set[str] = set()
    for node in (inner for outer in nodes for inner in walk(outer)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def evaluated_at_once(node: ast.AST) -> list[ast.expr]:
    """Expressions that are evaluated where a scope is made, in the scope around it."""
    match node:
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return [node.generators[0].iter]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            arguments = node.args
            defaults = [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
            if isinstance(node, ast.Lambda):
                return defaults
            annotations = [a.annotation for a in parameters_of(node)] + [node.returns]
            return [*node.decorator_list, *defaults, *(a for a in annotations if a is not None)]
    return []


def free_names(scope: ast.AST) -> set[str]:
    """Names that a function, class or comprehension reads or binds in the scope around it."""
    read: set[str] = set()
    own = {a.arg for a in parameters_of(scope)}
    if isinstance(scope, COMPREHENSIONS):
        own |= assigned(g.target for g in scope.generators)
        pending = children(scope)
    else:
        body = getattr(scope, "body", [])
        pending = [*body] if isinstance(body, list) else [body]
        own |= set() if isinstance(scope, ast.ClassDef) else assigned(pending)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
        elif isinstance(node, ast.Nonlocal):
            own -= set(node.names)
            read |= set(node.names)
        if isinstance(node, (*_SCOPES, *COMPREHENSIONS)):
            read |= free_names(node)
            pending += evaluated_at_once(node)
        else:
            pending += children(node)
    return read - own


def parameters_of(node: ast.AST) -> list[ast.arg]:
    """The parameters of a function; of other nodes none."""
    arguments = getattr(node, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return named + [a for a in (arguments.vararg, arguments.kwarg) if a is not None]


def bound_names(function: ast.FunctionDef) -> set[str]:
    """The names that a function, or one inside it, binds."""
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Name):
            found |= {node.id} if type(node.ctx) is not ast.Load else set()
        elif not isinstance(node, ast.Attribute | ast.keyword | ast.Constant):
            found |= {*identifiers(node)}
    return found


def identifiers(node: ast.AST) -> Iterator[str]:
    """The identifiers in a node itself: of names, imports, definitions, patterns, declarations."""
    for _, value in ast.iter_fields(node):
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield text.partition(".")[0]


def is_constant(node: ast.expr, bound: set[str]) -> bool:
    """Whether an expression is a constant, or names something that a function does not bind."""
    if isinstance(node, ast.Attribute):
        return is_constant(node.value, bound)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in bound)


def is_dotted(node: ast.expr) -> bool:
    """Whether it is a name, or an attribute of one: ``np.linalg.LinAlgError``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
