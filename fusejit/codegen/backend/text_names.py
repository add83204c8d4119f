"""Names in kernel text: which assignment a read sees, and functions that differ in names alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.syntax import children, walk

_WITH_SCOPE = ("scratch", "heap_scratch")  # their third argument is an alias scope


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a name is assigned or read: its number in the text, and what is around it."""

    at: int
    around: tuple[int, ...]  # branches (above zero) and loops (below)
    node: Any


class Places:
    """Which assignment each read of a name sees, where that is only one.

    It is the last one in front of the read that stands in a block around it, if no other one stands
    between them or in a loop that is around the read alone.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        self._position = 0
        self._stored: dict[str, list[_Place]] = {}
        self._read: dict[str, list[_Place]] = {}
        for argument in node.args.args:
            self._stored[argument.arg] = [_Place(0, (), argument)]
        self._block(node.body, ())

    def assigned(self) -> frozenset[str]:
        """Names that the function assigns, its parameters among them."""
        return frozenset(self._stored)

    def seen(self) -> dict[Any, Any]:
        """Node of a read -> node of the assignment, for names of which that is so at every read."""
        result: dict[Any, Any] = {}
        for name, stores in self._stored.items():
            found = {r.node: _seen(r, stores) for r in self._read.get(name, ())}
            if None not in found.values():
                result.update(found)
                result.update((each.node, each.node) for each in stores)
        return result

    def _block(self, statements: Sequence[ast.stmt], around: tuple[int, ...]) -> None:
        for statement in statements:
            self._position += 1
            loop = (*around, -self._position)
            for part in ("value", "iter"):
                self._reads(getattr(statement, part, None), around)
            self._reads(getattr(statement, "test", None), self._test_place(statement, around, loop))
            self._position += 1
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self._store(target, around)
            if isinstance(statement, ast.For):
                self._store(statement.target, loop)
            if isinstance(statement, ast.For | ast.While):
                self._block(statement.body, loop)
            elif isinstance(statement, ast.If):
                for branch in (statement.body, statement.orelse):
                    self._position += 1
                    self._block(branch, (*around, self._position))

    @staticmethod
    def _test_place(
        statement: ast.stmt, around: tuple[int, ...], loop: tuple[int, ...]
    ) -> tuple[int, ...]:
        """A loop asks its condition in each iteration."""
        return loop if isinstance(statement, ast.While) else around

    def _store(self, target: ast.expr, around: tuple[int, ...]) -> None:
        if isinstance(target, ast.Name):
            place = _Place(self._position, around, target)
            self._stored.setdefault(target.id, []).append(place)

    def _reads(self, node: ast.expr | None, around: tuple[int, ...]) -> None:
        if node is None:
            return
        self._position += 1
        for each in walk(node):
            if isinstance(each, ast.Name):
                place = _Place(self._position, around, each)
                self._read.setdefault(each.id, []).append(place)


def _seen(read: _Place, stores: Sequence[_Place]) -> Any:
    """The node of the one assignment that a read sees; None if there may be others."""
    before = [s for s in stores if s.at < read.at]
    if not before:
        return None
    last = before[-1]
    if read.around[: len(last.around)] != last.around:
        return None
    loops = [block for block in read.around[len(last.around) :] if block < 0]
    others = (s for s in stores if s is not last)
    return None if any(b in s.around for s in others for b in loops) else last.node


@dataclass(frozen=True, slots=True)
class Form:
    """A function without its names and scopes.

    Attributes
    ----------
    text : tuple
        Its nodes, each local name as the number of its first occurrence.
    order : tuple of int
        The places of its parameters, those first that occur first.
    scopes : tuple of int
        The alias scopes that it names itself.
    """

    text: tuple[Any, ...]
    order: tuple[int, ...]
    scopes: tuple[int, ...]

    @staticmethod
    def of(node: ast.FunctionDef) -> Form:
        """The form of a definition."""
        names = [a.arg for a in node.args.args]
        known = frozenset(names) | {
            n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        numbers: dict[str, int] = {}
        scopes: list[int] = []
        text: list[Any] = []
        for each in node.body:
            _write_parts(each, known, numbers, scopes, text)
        place = {name: at for at, name in enumerate(names)}
        used = [place[name] for name in numbers if name in place]
        unused = [at for at in range(len(names)) if at not in used]
        taken = tuple(numbers[names[at]] for at in used)
        return Form((*text, taken), (*used, *unused), tuple(scopes))

    def key(self, argtypes: Sequence[Any]) -> tuple[Any, ...]:
        """Equal for functions that do the same: to LLVM a scope only differs from other ones."""
        known: dict[int, int] = {0: 0}
        kinds = []
        for at in self.order:
            scope = getattr(argtypes[at], "scope", None)
            if scope is None:
                kinds.append(argtypes[at])
            else:
                kinds.append((argtypes[at].dtype, known.setdefault(scope, len(known))))
        own = tuple(known.setdefault(scope, len(known)) for scope in self.scopes)
        return (self.text, tuple(kinds), own)


def text_form(tree: ast.Module) -> tuple[Any, ...]:
    """Equal for kernels that differ in the names of variables and chunk functions alone."""
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    functions = {node.name: at for at, node in enumerate(definitions)}
    forms = [Form.of(node) for node in definitions]

    def part(each: Any) -> Any:
        return ("function", functions[each]) if each in functions else each

    return tuple((tuple(map(part, f.text)), f.order, f.scopes) for f in forms)


def _write_parts(
    node: ast.AST,
    known: frozenset[str],
    numbers: dict[str, int],
    scopes: list[int],
    parts: list[Any],
) -> None:
    """Append what a node is; into one list, as nests are deep."""
    if isinstance(node, ast.Name):
        local = node.id in known
        parts.append(numbers.setdefault(node.id, len(numbers)) if local else node.id)
        return
    if isinstance(node, ast.Constant):
        parts.append(repr(node.value))
        return
    parts.append(type(node).__name__)
    if isinstance(node, ast.Attribute):
        parts.append(node.attr)
    inner = list(children(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_scope = node.func.id in _WITH_SCOPE and len(node.args) == 3
        number = node.args[2].value if is_scope and isinstance(node.args[2], ast.Constant) else None
        if isinstance(number, int):
            scopes.append(number)
            inner = [node.func, *node.args[:2]]
            parts.append("scope")
    for each in inner:
        _write_parts(each, known, numbers, scopes, parts)
    if isinstance(node, ast.If):
        parts.append(len(node.body))
    parts.append("end")
