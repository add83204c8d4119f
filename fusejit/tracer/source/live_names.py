"""Which local names some statements read before they bind them, bind, and hold on to.

What a run of statements needs from the statements around it, and what it leaves for them::

    y = x * scale          # reads x, scale
    total = y.sum()        # reads y, which is bound here: x and scale are needed
    y = y / total          # binds y, total
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from typing import cast

from fusejit.support.syntax import parse, walk
from fusejit.tracer.source.bound_names import free_names, own_name, unbound
from fusejit.tracer.source.definite_assignment import Flow, Names, State

_SEES_ALL = {"locals", "vars", "exec", "eval", "dir"}
_CONSUMERS = {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum"}
_CONSUMERS |= {"tuple", "join", "prod", "fromiter"}
_TAKE_TEXTS = {"evaluate", "eval", "query", "bmat"}  # of numexpr, pandas, NumPy
_COMPUTE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call)
_LONGEST_FORMULA = 1000
_WORD = re.compile(r"[^\W\d]\w*")
_KEEPERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ClassDef)


class _FlowWithTry(Flow):
    """Also follows ``try``: a handler starts with what was bound before the statement.

    So does what stands behind a ``with``, if contexts may end exceptions.
    """

    def __init__(self, contexts_end: bool = True) -> None:
        super().__init__()
        self.contexts_end = contexts_end
        self.in_front: dict[ast.stmt, Names] = {}  # what is bound before each statement
        self.behind: State = None  # what is bound after all

    def statement(self, node: ast.stmt, state: Names) -> State:
        self.in_front[node] = state
        behind = super().statement(node, state)
        if self.contexts_end and is_context(node):
            state -= unbound([node])
            first = cast(ast.With, node).items[0].optional_vars
            if isinstance(first, ast.Name):  # bound before all that may fail
                state |= {first.id}
            return state if behind is None else behind & state
        return behind

    def other(self, node: ast.stmt, state: Names) -> State:
        if not isinstance(node, ast.Try):
            return super().other(node, state)
        behind = self.block(node.body, state)
        if behind is not None:
            behind = self.block(node.orelse, behind)
        failed = state - unbound(node.body)
        for handler in node.handlers:
            inside = self.expression(handler.type, failed)
            self.assigned |= own_name(handler)
            other = self.block(handler.body, inside | own_name(handler))
            if other is not None:
                other -= own_name(handler)  # unbound at its end
                behind = other if behind is None else behind & other
        if node.finalbody:
            last = self.block(node.finalbody, state - unbound([node]))
            if behind is None or last is None:
                return None
            behind = behind - unbound(node.finalbody) | last
        return behind


def _flow(
    statements: Sequence[ast.stmt], bound: Iterable[str] = (), contexts_end: bool = True
) -> _FlowWithTry:
    flow = _FlowWithTry(contexts_end)
    flow.breaks.append([])  # the statements may stand in a loop
    flow.behind = flow.block(statements, frozenset(bound))
    return flow


def needed(statements: Sequence[ast.stmt]) -> set[str]:
    """Names that may be read before the statements bind them."""
    return _flow(statements).possibly_unbound


def surely_assigned(statements: Sequence[ast.stmt]) -> set[str]:
    """Names that are bound whatever way leads through the statements."""
    flow = _flow(statements)
    return set(flow.assigned if flow.behind is None else flow.behind)


def mentioned(node: ast.AST) -> set[str]:
    """Every name in a statement, those of inner scopes too."""
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


class PossiblyUnboundNames:
    """Local names of a function that may have no value at a place.

    Parameters
    ----------
    statements : sequence of ast.stmt
        Its body.
    parameters : iterable of str
    local : set of str
    """

    def __init__(
        self, statements: Sequence[ast.stmt], parameters: Iterable[str], local: Set[str]
    ) -> None:
        self._flows = [_flow(statements, parameters, contexts_end=e) for e in (False, True)]
        self._local = local
        self._errors = {
            n.name for s in statements for n in walk(s) if isinstance(n, ast.ExceptHandler)
        }

    def at(self, node: ast.stmt, contexts_end: bool = False) -> set[str]:
        """Those that may have none before a statement.

        With ``contexts_end`` also if a ``with`` before it has ended an exception. Exceptions
        that a handler names are Python's objects, and never handed to a segment.
        """
        flow = self._flows[contexts_end]
        bound = flow.in_front.get(node, frozenset())
        definitely_assigned = bound - flow.refused - self._errors
        return {name for name in self._local if name not in definitely_assigned}


def kept(node: ast.AST) -> set[str]:
    """Names that functions made inside a statement go on reading."""
    found: set[str] = set()
    consumed: set[ast.AST] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Call) and _name(inner.func) in _CONSUMERS:
            consumed.update(inner.args)
        if isinstance(inner, _KEEPERS) and not (
            inner in consumed and isinstance(inner, ast.GeneratorExp)
        ):
            found |= free_names(inner)
    return found


def is_context(node: ast.stmt) -> bool:
    """Whether a statement is a ``with`` that may end an exception: ``np.errstate`` does not."""
    return isinstance(node, ast.With) and not all(
        isinstance(i.context_expr, ast.Call) and _name(i.context_expr.func) == "errstate"
        for i in node.items
    )


def _name(node: ast.AST) -> str:
    """The name of a function, without what stands before it."""
    return getattr(node, "attr", "") or getattr(node, "id", "")


def reads_later(
    statements: Sequence[ast.stmt],
    after: Iterable[str],
    read_inside: Callable[[ast.stmt], Set[str]],
) -> list[set[str]]:
    """For each statement the names that may still be read after it.

    Those of ``after`` in any case: control may leave a statement in the middle. ``read_inside``
    has names that a statement reads besides, once it is cut.
    """
    behind = set(after)
    found: list[set[str]] = []
    for at in range(len(statements) - 1, -1, -1):
        found.append(behind)
        one = statements[at : at + 1]
        behind = (behind - surely_assigned(one)) | needed(one) | read_inside(one[0]) | {*after}
    return found[::-1]


def looks_at_its_names(node: ast.AST) -> bool:
    """Whether a function reads its own names as a whole; ``vars(o)`` and ``dir(o)`` do not."""
    of_objects = {n.func for n in walk(node) if isinstance(n, ast.Call) and len(n.args) == 1}
    return any(
        isinstance(n, ast.Name)
        and n.id in _SEES_ALL
        and not (n in of_objects and n.id in ("vars", "dir"))
        for n in walk(node)
    )


def named_in_texts(body: Sequence[ast.AST], local: Set[str]) -> set[str]:
    """Local names in texts: a library may look them up in the frame that calls it.

    ``ne.evaluate("c + b")`` reads ``c`` and ``b``; of a text that is not written out there any name
    may be read. Other texts count if they are formulas, as in ``rule = "c + b"``.
    """
    found: set[str] = set()
    for node in (n for statement in body for n in walk(statement)):
        if isinstance(node, ast.Call) and node.args and _name(node.func) in _TAKE_TEXTS:
            text = node.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found |= local & set(_WORD.findall(text.value))
            elif _may_be_text(text, _name(node.func)):
                found |= local
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = local & set(_WORD.findall(node.value))
            if words and _is_formula(node.value):
                found |= words
    return found


def _may_be_text(node: ast.AST, function: str) -> bool:
    """Whether an argument may be a text that is put together, or given; trees are queried too."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return function != "query"
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in walk(node))


def _is_formula(text: str) -> bool:
    """Whether a text computes something: no single name, no sentence."""
    if len(text) > _LONGEST_FORMULA:
        return False
    try:
        tree = parse(text.replace("@", "").strip(), mode="eval")  # ``@c``: a variable, in pandas
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(n, _COMPUTE) for n in walk(tree))


def bound_by_inner(body: Sequence[ast.stmt]) -> set[str]:
    """Names that functions of the body bind again (or that it declares itself)."""
    inner = (n.names for s in body for n in walk(s) if isinstance(n, ast.Nonlocal))
    return {name for names in inner for name in names}


def counts(body: Sequence[ast.stmt]) -> Counter[str]:
    """How often names occur, those of functions, classes and imports too."""
    nodes = [n for s in body for n in walk(s)]
    found = Counter(n.id for n in nodes if isinstance(n, ast.Name))
    found.update(name for node in nodes for name in own_name(node))
    return found
