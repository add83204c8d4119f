"""Generator expressions under ``sum``, ``any``, ``all``, ``max``, ``min`` as loops of their own.

::

    y = sum(x[i] * w for i in range(n) if m[i])

becomes, before anything else is done to the function,::

    def <genexpr>(items):
        total = 0
        for i in items:
            if m[i]:
                total = total + x[i] * w
        return total
    y = <genexpr>(range(n))

which is what Python does, and can be traced like any other loop. So are ``sum([..])`` and
``len([..])`` of a list comprehension. ``np.array([..])`` of one fills an array::

    def <listcomp>(function, items, dtype):
        array = filled(function, items, dtype)
        if is_filled(array):
            for place, i in numbered(array, items):
                put(array, place, x[i] * w)
            return array_of(array)
        return function([x[i] * w for i in items])  # with dtype=dtype, if that is given

Any other list comprehension makes a list, as others make dictionaries and sets::

    def <listcomp>(items):
        made = looped_list(items)
        if is_filled(made):
            for i in items:
                made.append(x[i] * w)
            return made
        return [x[i] * w for i in items]

The names of the new functions and of what is theirs have
blanks in them, so that they are nobody else's.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter, deque
from typing import Any

from fusejit.support.syntax import walk
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.rewriting.comprehension_loops import (
    COMPREHENSION,
    FUNCTION,
    Body,
    Comprehension,
    LoopMaker,
)
from fusejit.tracer.source.bound_names import bound_names, is_constant

_GENERATORS = ("sum", "any", "all", "max", "min")
_LISTS = ("sum", "max", "min", "len")
_COLLECTIONS: dict[str, Any] = {"Counter": Counter, "deque": deque}
_LISTING = ("sorted", "list", "tuple", "set", *_COLLECTIONS)
_OPTIONS = {"sum": "start", "max": "default", "min": "default"}
_ARRAYS = ("array", "asarray")
HELD = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def python_is_faster(name: str, function: Any) -> None:
    """Refuse if ``sum`` of a generator is not Python's own ``sum``."""
    own = _COLLECTIONS.get(name) or getattr(builtins, name)
    if active_trace() is not None and function is not own:
        what = f"calls a function named {name} that is not Python's with a generator expression"
        raise unsupported(what, "give the function another name")


def reductions_as_loops(function: ast.FunctionDef, helper: str) -> None:
    """Replace such calls in the statements of a function, in place."""
    replacer = _Replacer(helper, bound_names(function))
    function.body = replacer.block(function.body)


class _Replacer(ast.NodeTransformer):
    """Replaces calls in expressions and collects the functions that they become."""

    def __init__(self, helper: str, bound: set[str]) -> None:
        self._helper = helper
        self._bound = bound
        self._made: Body = []
        self._count = 0

    def block(self, body: Body) -> Body:
        """The statements of a block, each with what it needs in front."""
        result: Body = []
        for statement in body:
            result += self._statement(statement)
        return result

    def _statement(self, node: ast.stmt) -> Body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [node]
        outer, self._made = self._made, []
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.ExceptHandler | ast.match_case):
                        item.body = self.block(item.body)
                    elif isinstance(item, ast.AST) and not isinstance(node, ast.While):
                        self.generic_visit(item)
                        # a whole expression in a list stands under ``targets``: never a call
            elif isinstance(value, ast.expr) and not isinstance(node, ast.While):
                setattr(node, name, self.visit(value))
        made, self._made = self._made, outer
        return [*made, node]

    def visit(self, node: ast.AST) -> Any:
        """Leave alone what is evaluated later, or with other names."""
        if isinstance(node, ast.ListComp | ast.DictComp | ast.SetComp) and _runs_at_once(node):
            return self._filled(node)
        return node if isinstance(node, HELD) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        listed = _listed(node, self._bound)
        if listed is not None:
            self._visit_around(node, listed)
            return self._array(node, listed)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _LISTING and name not in self._bound and node.args:
            self._list_items(node, name)
        match node:
            case ast.Call(
                ast.Attribute(ast.Constant(str()), "join"), [ast.GeneratorExp() as items]
            ):
                if _runs_at_once(items):  # Python lists them, too
                    node.args = [_as_list(items)]
        found = self._comprehension(name, node)
        if found is None or name in self._bound:
            self.generic_visit(node)
            return node
        self._visit_around(node, found)
        options = [*node.args[1:], *(k.value for k in node.keywords)]
        self._count += 1
        text = f"<genexpr {self._count}>" if self._count > 1 else "<genexpr>"
        maker = LoopMaker(node, found, self._helper)
        function = maker.function(name, text, bool(options))
        function.body = self.block(function.body)
        self._made.append(function)
        return maker.at(
            ast.Call(func=maker.load(text), args=[found.generators[0].iter, *options], keywords=[])
        )

    def _list_items(self, node: ast.Call, name: str) -> None:
        """``sorted(.. for ..)`` as the same of a list comprehension."""
        first = node.args[0]
        if isinstance(first, ast.GeneratorExp) and _runs_at_once(first):
            node.args[0] = _as_list(first)
            self._made.append(LoopMaker(node, first, self._helper).check(name))

    def _visit_around(self, node: ast.Call, found: ast.GeneratorExp | ast.ListComp) -> None:
        """Visit a call but for the comprehension that it is given, whose loop comes later."""
        node.func = self.visit(node.func)
        node.args = [arg if arg is found else self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        found.generators[0].iter = self.visit(found.generators[0].iter)

    def _array(self, node: ast.Call, listed: ast.ListComp) -> ast.Call:
        """``np.array`` of a list comprehension as a call of a function of its own."""
        text = self._name_of_list()
        maker = LoopMaker(node, listed, self._helper)
        function = maker.filling(text, bool(node.keywords))
        function.body[1:2] = self.block(function.body[1:2])  # the loop
        self._made.append(function)
        dtypes = [k.value for k in node.keywords] or [maker.constant(None)]
        arguments = [node.func, listed.generators[0].iter, *dtypes]
        return maker.at(ast.Call(func=maker.load(text), args=arguments, keywords=[]))

    def _filled(self, node: ast.ListComp | ast.DictComp | ast.SetComp) -> ast.expr:
        """A comprehension of a list, dictionary or set as a call of a function of its own."""
        text = self._name_of_list()
        maker = LoopMaker(node, node, self._helper)
        first = node.generators[0].iter
        function = maker.listing(text)
        function.body[1:2] = self.block(function.body[1:2])  # the loop
        self._made.append(function)
        place = map(maker.constant, (node.lineno, node.col_offset))
        return maker.callback(COMPREHENSION, maker.load(text), self.visit(first), *place)

    def _name_of_list(self) -> str:
        self._count += 1
        return f"<listcomp {self._count}>" if self._count > 1 else "<listcomp>"

    @staticmethod
    def _comprehension(name: str, node: ast.Call) -> ast.GeneratorExp | ast.ListComp | None:
        """The comprehension that a call reduces, if it can be a loop."""
        first = node.args[0] if node.args else None
        if isinstance(first, ast.GeneratorExp) and name in _GENERATORS:
            found: ast.GeneratorExp | ast.ListComp = first
        elif isinstance(first, ast.ListComp) and name in _LISTS:
            found = first
        else:
            return None
        options = [*(_OPTIONS.get(name) for _ in node.args[1:]), *(k.arg for k in node.keywords)]
        if options and (name in ("max", "min") and len(node.args) > 1):
            return None
        if len(options) > 1 or any(o is None or o != _OPTIONS.get(name) for o in options):
            return None
        return found if _runs_at_once(found) else None


def _as_list(node: ast.GeneratorExp) -> ast.ListComp:
    return ast.copy_location(ast.ListComp(elt=node.elt, generators=node.generators), node)


def _listed(node: ast.Call, bound: set[str]) -> ast.ListComp | None:
    """The list comprehension of ``np.array([.. for .. in ..])``, if it can be a loop."""
    is_named = isinstance(node.func, ast.Attribute) and node.func.attr in _ARRAYS
    is_nested = isinstance(node.func, ast.Name) and node.func.id == FUNCTION
    has_more = len(node.args) != 1 or not all(
        k.arg == "dtype" and is_constant(k.value, bound) for k in node.keywords
    )
    if has_more or not (is_named or is_nested):
        return None
    (listed,) = node.args
    if not isinstance(listed, ast.ListComp) or len(listed.generators) > 1:
        return None
    return listed if _runs_at_once(listed) else None


def _runs_at_once(found: Comprehension) -> bool:
    """Whether a comprehension binds and awaits nothing."""
    inner = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    is_async = any(g.is_async for g in found.generators)
    return not is_async and not any(isinstance(n, inner) for n in walk(found))
