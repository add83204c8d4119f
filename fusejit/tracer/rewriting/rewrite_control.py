"""The control flow of a rewritten function: loops, conditionals, ``and``, ``or``, ``not``.

Each statement stays in the user's frame with its lines; callbacks stand around it. See
`traced_for`, `traced_while` and `traced_if` of this package for what the callbacks do::

    for i in range(n):            _st_c1 = _st.for_(range(n), 7, 4, ('s',), ('s',), (), (),
        s = s + x[i]                                ('i',), ('i',))
                                  for i in _st_c1:
                                      if _st_c1.enters:
                                          s, = _st_c1.enter(_st.names())
                                      s = s + x[i]
                                      if _st_c1.leaves:
                                          _st_c1.leave(_st.names())
                                  if _st_c1.is_traced:
                                      s, i = _st_c1.result()
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from fusejit.dataclass import dataclass
from fusejit.support.syntax import children, walk
from fusejit.tracer.source.bound_names import own_name
from fusejit.tracer.source.jumps import own_nodes
from fusejit.tracer.source.loop_targets import parts_of_target
from fusejit.tracer.source.scopes import Origin, Scope

Node = TypeVar("Node", bound=ast.AST)


_NAMED = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.Import, ast.ImportFrom)


class ControlBuilder:
    """Makes the statements around loops and conditionals of one function.

    Parameters
    ----------
    helper : str
        The name of the callbacks.
    function : ast.AST
        The function, its jumps structured.
    flags : dict
        The flags that may end each loop.
    scope : Scope
        Whose names they are.
    recursions : set
        The loops that stand for recursions.
    is_ours : bool
        Whether it is a function of fusejit: its conditions change nothing.
    """

    def __init__(
        self,
        helper: str,
        function: ast.AST,
        flags: dict[ast.AST, tuple[str, ...]],
        scope: Scope,
        recursions: set[ast.AST],
        is_ours: bool,
    ) -> None:
        self.helper = helper
        self._recursions = recursions
        self._is_ours = is_ours
        self._mangle = scope.mangle
        self._scope = scope
        self.flags = flags
        self._count = 0
        nodes = list(own_nodes(function))
        regions = [c for c in nodes if isinstance(c, ast.If | ast.For | ast.While)]
        self._unbound = set(self._own(assigned_names(regions)))
        if not regions:
            return
        self._reads = _reads(function)
        self._anywhere = _names_of_inner_functions(nodes)
        loops = [c for c in regions if not isinstance(c, ast.If)]
        self._repeated = {c for loop in loops for c in own_nodes(loop)}  # come after themselves
        # not by lines: several statements of a segment stand at that of one of the user's
        self._positions = {child: at for at, child in enumerate(_in_order(function))}
        self._last = {loop: max(self._positions[child] for child in walk(loop)) for loop in loops}
        self._places_of_reads = [
            (child.id, at)
            for child, at in self._positions.items()
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
        ]

    def may_be_unbound(self, name: str) -> bool:
        """Whether a name is bound in a loop or a conditional, and so perhaps not after it."""
        return name in self._unbound

    def _fresh(self) -> str:
        self._count += 1
        return f"{self.helper}_c{self._count}"

    def plan(self, node: ast.For | ast.While | ast.If) -> Plan:
        """Which names a statement is about; to be asked before its parts are rewritten."""
        targets = self._own(assigned_names([node.target])) if isinstance(node, ast.For) else []
        bodies = [*node.body, *node.orelse]
        names = [n for n in self._own(assigned_names(bodies)) if n not in targets]
        inside = _reads(node)
        live = [n for n in [*names, *targets] if self._reads[n] > inside[n] or n in self._anywhere]
        known = [t for t in targets if t in live]
        make = _Maker(self._fresh(), self.helper, node)
        dead: list[str] = []
        if not isinstance(node, ast.If):
            dead = [
                n for n in names if _is_bound_first(n, node) and not self._is_read_later(n, node)
            ]
        may_repeat = isinstance(node, ast.While) and (
            self._is_ours or _may_be_asked_twice(node.test)
        )
        flags = self.flags.get(node, ())
        return Plan(make, names, known, live, flags, targets, dead, may_repeat)

    def for_(
        self, node: ast.For, plan: Plan, iterable: ast.expr, body: list[ast.stmt]
    ) -> list[ast.stmt]:
        """The statements of a ``for`` loop whose parts are rewritten already."""
        make = plan.make
        texts = (plan.names, plan.live, plan.flags, plan.dead, plan.targets, plan.bound)
        spec = [self._texts(make, n) for n in texts]
        parts = make.at(ast.Constant(value=parts_of_target(node.target)))
        start = make.assign(make.callback("for_", iterable, parts, *make.position(), *spec))
        node.iter = make.load()
        node.body = self._body(plan, body)
        return [start, node, *make.unpack("is_traced", [*plan.names, *plan.targets], "result")]

    def while_(
        self, node: ast.While, plan: Plan, test: ast.expr, body: list[ast.stmt]
    ) -> list[ast.stmt]:
        """The statements of a ``while`` loop."""
        make = plan.make
        spec = [self._texts(make, n) for n in (plan.names, plan.live, plan.flags, plan.dead)]
        name = "recursion" if node in self._recursions else "while_"
        start = make.assign(make.callback(name, *make.position(), *spec))
        end: list[ast.stmt] = [make.at(ast.Break())]
        asked = [test]
        if plan.may_repeat:
            end.insert(0, make.when("repeats_condition", [make.at(ast.Continue())]))
            asked.append(make.at(ast.Constant(value=True)))
        stop = make.at(ast.UnaryOp(op=ast.Not(), operand=make.method("test", *asked)))
        leave = make.at(ast.If(test=stop, body=end, orelse=[]))
        node.test = make.method("again")
        node.body = self._body(plan, body)
        node.body.insert(1, leave)
        return [start, node, *make.unpack("is_traced", plan.names, "result")]

    def _body(self, plan: Plan, body: list[ast.stmt]) -> list[ast.stmt]:
        make = plan.make
        result = make.unpack("enters", plan.names, "enter", make.names())
        result += body
        leave = make.at(ast.Expr(value=make.method("leave", make.names())))
        result.append(make.when("leaves", [leave]))
        if plan.flags:
            loads = [make.name(f) for f in plan.flags]
            stopped = make.method("stops", make.callback("stop_flag", *loads))
            result.append(make.at(ast.If(test=stopped, body=[make.at(ast.Break())], orelse=[])))
        return result

    def if_(
        self,
        node: ast.If,
        plan: Plan,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
    ) -> list[ast.stmt]:
        """The statements of a conditional."""
        make, names = plan.make, plan.names
        spec = [self._texts(make, n) for n in (names, plan.live)]
        start = make.assign(make.callback("if_", test, *make.position(), *spec))
        first = make.at(ast.If(test=make.attribute("taken"), body=body, orelse=[]))
        then = make.at(ast.Expr(value=make.method("then", make.names())))
        result = [start, make.when("is_traced", [then]), first]
        result += make.unpack("is_traced", names, "otherwise", make.names())
        if orelse:
            result.append(make.at(ast.If(test=make.attribute("other"), body=orelse, orelse=[])))
        return [*result, *make.unpack("is_traced", names, "result", make.names())]

    # -- names ------------------------------------------------------------------------------------
    def _is_read_later(self, name: str, loop: ast.For | ast.While) -> bool:
        """Whether what a loop leaves in a name may be read outside it."""
        if name in self._anywhere or name.startswith(self.helper):
            return True
        if loop in self._repeated:
            return self._reads[name] > _reads(loop)[name]
        last = self._last[loop]
        return any(n == name and at > last for n, at in self._places_of_reads)

    def _is_own(self, name: str) -> bool:
        return self._scope.origin(self._mangle(name)) is Origin.OWN

    def _own(self, names: Sequence[str]) -> list[str]:
        """The names that are the function's own, without those of callbacks and comprehensions."""
        others = (f"{self.helper}_c", "<")
        return [n for n in names if not n.startswith(others) and self._is_own(n)]

    def _texts(self, make: _Maker, names: Sequence[str]) -> ast.expr:
        return make.texts(list(map(self._mangle, names)))


@dataclass(frozen=True)
class Plan:
    """The names of one statement."""

    make: _Maker
    names: list[str]
    targets: list[str]
    live: list[str]
    flags: tuple[str, ...]
    bound: list[str]  # all that the head of a `for` loop binds
    dead: list[str]  # bound in each iteration before they are read, and not read outside
    may_repeat: bool  # whether the condition of a `while` loop may be asked twice


class _Maker:
    """Nodes at the position of one statement."""

    def __init__(self, name: str, helper: str, node: ast.stmt) -> None:
        self._name, self._helper, self._node = name, helper, node

    def at(self, node: Node) -> Node:
        """``node`` at the first line of the statement."""
        ast.copy_location(node, self._node)
        if hasattr(node, "end_lineno"):
            node.end_lineno, node.end_col_offset = self._node.lineno, self._node.col_offset + 1  # type: ignore[attr-defined]
        return node

    def name(self, name: str, ctx: ast.expr_context | None = None) -> ast.Name:
        """A local name."""
        return self.at(ast.Name(id=name, ctx=ctx or ast.Load()))

    def load(self) -> ast.Name:
        """The object of the statement."""
        return self.name(self._name)

    def attribute(self, name: str) -> ast.expr:
        """An attribute of the object."""
        return self.at(ast.Attribute(value=self.load(), attr=name, ctx=ast.Load()))

    def method(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of a method of the object."""
        return self.at(ast.Call(func=self.attribute(name), args=list(arguments), keywords=[]))

    def callback(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of a callback."""
        function = self.at(ast.Attribute(value=self.name(self._helper), attr=name, ctx=ast.Load()))
        return self.at(ast.Call(func=function, args=list(arguments), keywords=[]))

    def names(self) -> ast.expr:
        """The local names of the user's frame."""
        return self.callback("names")

    def texts(self, names: Sequence[str]) -> ast.expr:
        """Names as a constant."""
        texts: Any = tuple(names)
        return self.at(ast.Constant(value=texts))

    def position(self) -> list[ast.expr]:
        """Line and column of the statement."""
        numbers = (self._node.lineno, self._node.col_offset)
        return [self.at(ast.Constant(value=n)) for n in numbers]

    def assign(self, value: ast.expr) -> ast.stmt:
        """Give the object its name."""
        return self.at(ast.Assign(targets=[self.name(self._name, ast.Store())], value=value))

    def when(self, attribute: str, body: list[ast.stmt]) -> ast.stmt:
        """A native conditional on an attribute of the object."""
        return self.at(ast.If(test=self.attribute(attribute), body=body, orelse=[]))

    def unpack(
        self, attribute: str, names: Sequence[str], method: str, *arguments: ast.expr
    ) -> list[ast.stmt]:
        """``if object.attribute: names = object.method(..)``."""
        call = self.method(method, *arguments)
        if not names:
            return [self.when(attribute, [self.at(ast.Expr(value=call))])]
        stores: list[ast.expr] = [self.name(n, ast.Store()) for n in names]
        target = self.at(ast.Tuple(elts=stores, ctx=ast.Store()))
        return [self.when(attribute, [self.at(ast.Assign(targets=[target], value=call))])]


def assigned_names(nodes: Sequence[ast.AST]) -> list[str]:
    """The names that statements bind, sorted."""
    found: set[str] = set()
    for node in nodes:
        for child in [node, *own_nodes(node)]:
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store | ast.Del):
                found.add(child.id)
            elif isinstance(child, _NAMED):
                found |= own_name(child)
    return sorted(found)


def _reads(node: ast.AST) -> Counter[str]:
    """How often each name is read, inner functions included."""
    counts: Counter[str] = Counter()
    for child in walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            counts[child.id] += 1
        elif isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name):
            counts[child.target.id] += 1
    return counts


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and all nodes below it, as they stand in the text."""
    yield node
    for child in children(node):
        yield from _in_order(child)


def _is_bound_first(name: str, loop: ast.For | ast.While) -> bool:
    """Whether a body gives a name a value before anything else mentions it."""
    if isinstance(loop, ast.While) and _mentions(name, loop.test):
        return False
    mentions = [s for s in loop.body if _mentions(name, s)]
    first = mentions[0] if mentions else None
    if isinstance(first, ast.For) and len(mentions) == 1:  # only of its body, which it binds for
        is_else = any(_mentions(name, s) for s in first.orelse)
        return name in assigned_names([first.target]) and not (
            is_else or _mentions(name, first.iter)
        )
    if not isinstance(first, ast.Assign) or _mentions(name, first.value):
        return False
    targets = [
        t for target in first.targets for t in getattr(target, "elts", [target])
    ]  # of a tuple, too
    return all(isinstance(t, ast.Name) or not _mentions(name, t) for t in targets)


def _mentions(name: str, node: ast.AST) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in walk(node))


def _names_of_inner_functions(nodes: Sequence[ast.AST]) -> set[str]:
    inner = [c for c in nodes if isinstance(c, ast.FunctionDef | ast.Lambda)]
    return {c.id for f in inner for c in walk(f) if isinstance(c, ast.Name)}


def is_callback_name(name: str, helper: str) -> bool:
    """Whether a name stands for a callback that `jumps` or `generators` has put in."""
    return name.startswith(f"{helper}.")


_ASKED_TWICE = (
    *(ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Name, ast.Constant),
    *(ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Attribute, ast.Subscript, ast.Slice),
)


def _may_be_asked_twice(test: ast.AST) -> bool:
    """Whether Python may compute a condition twice: it calls nothing by name but ``len``."""
    if isinstance(test, ast.Call):
        is_len = isinstance(test.func, ast.Name) and test.func.id == "len" and not test.keywords
        return is_len and all(map(_may_be_asked_twice, test.args))
    children = ast.iter_child_nodes(test)
    return isinstance(test, _ASKED_TWICE) and all(map(_may_be_asked_twice, children))
