"""``break``, ``continue`` and ``return`` inside loops and conditionals, as flags and branches.

::

    for i in range(n):                  stop = False
        if x[i] > limit:                for i in range(n):
            break                           if not stop:
        total += x[i]                           if x[i] > limit:
    return total                                    stop = True
                                                else:
                                                    total += x[i]
                                            <end of the body: leave the loop if stop>
                                        return total

Both forms do the same in Python; the second can also be traced, because every block runs to its
end. What follows a statement that always jumps moves into its other branch; what follows one that
may jump stands under a condition on the flags. So does the body of a loop that may end early: where
the loop is unrolled, a flag may be known only in the kernel. Runs on the syntax tree, before
callbacks are put in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from fusejit.dataclass import dataclass, field
from fusejit.support.syntax import children, with_location
from fusejit.tracer.source.live_names import is_context
from fusejit.tracer.source.new_statements import statement_of

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
JUMPS = (ast.Break, ast.Continue, ast.Return)
NONE_OF = "none_of"  # the callback that tells whether all flags are down


def result_name(helper: str) -> str:
    """The name of what a function is going to return, and the beginning of those of its parts."""
    return f"{helper}_value"


def is_result(name: str, helper: str) -> bool:
    """Whether a name is one of these: the program reads it to return it, and in no other way."""
    return name.startswith(result_name(helper))


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function that are not inside a function or class nested in it."""
    pending = list(children(node))
    while pending:
        child = pending.pop()
        yield child
        if not isinstance(child, _SCOPES):
            pending.extend(children(child))


def nodes_of(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of statements of a function that are not inside a function or class in them."""
    for statement in body:
        if not isinstance(statement, _SCOPES):
            yield statement
            yield from own_nodes(statement)


def can_be_structured(node: ast.AST) -> bool:
    """Whether control flow of a function may be traced: no generator, no jump out of ``try``."""
    for child in own_nodes(node):
        if isinstance(child, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith):
            return False
        is_left_alone = isinstance(child, ast.Try | ast.TryStar | ast.Match)
        if is_left_alone and any(isinstance(c, JUMPS) for c in own_nodes(child)):
            return False
    return True


@dataclass
class _Loop:
    """The flags of a loop, and which of them are used."""

    stop: str
    skip: str
    used: set[str] = field(default_factory=set)


class Jumps:
    """Rewrites the jumps of one function.

    Attributes
    ----------
    flags : dict
        For each loop that a flag may end: the names of these flags.
    """

    def __init__(self, helper: str) -> None:
        self.helper = helper
        self.flags: dict[ast.AST, tuple[str, ...]] = {}
        self._count = 0
        self._loops: list[_Loop] = []
        self._done = f"{helper}_done"
        self._value = result_name(helper)
        self._is_nested = False
        self._parts: list[str] = []  # the names of the parts of a tuple that is returned

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Rewrite the body of a function in place."""
        body = node.body
        compound = [statement for statement in body if not isinstance(statement, ast.Return)]
        self._is_nested = any(isinstance(n, ast.Return) for n in nodes_of(compound))
        self._parts = self._parts_of_results(body)
        new, ends, _ = self._block(body)
        if self._is_nested:
            at = node.body[-1]
            new = [self._assign(self._done, False, node.body[0]), *new]
            if not ends:
                fall = self._guard([self._assign(self._value, None, at)], {self._done}, at)
                new.append(fall)
            result = self._result(ast.Load(), at)
            new.append(with_location(ast.Return(value=result), at))
        node.body = new

    def _result(self, context: ast.expr_context, at: ast.AST) -> ast.expr:
        """Where the result is kept: one name, or one for each part of a tuple."""
        if not self._parts:
            return _name(self._value, at, context)
        names: list[ast.expr] = [_name(part, at, context) for part in self._parts]
        return with_location(ast.Tuple(elts=names, ctx=context), at)

    def _parts_of_results(self, body: list[ast.stmt]) -> list[str]:
        """A name for each part, where all that is returned are tuples of one length."""
        returned = [child.value for child in nodes_of(body) if isinstance(child, ast.Return)]
        parts = [v.elts if isinstance(v, ast.Tuple) else [] for v in returned]
        sizes = {len(p) for p in parts}
        starred = any(isinstance(e, ast.Starred) for p in parts for e in p)
        is_tuple = len(sizes) == 1 and sizes != {0} and not starred and self._ends(body)
        return [f"{self._value}{k}" for k in range(len(parts[0]))] if is_tuple else []

    def _ends(self, body: list[ast.stmt]) -> bool:
        """Whether the last statement always returns: nothing falls off the end."""
        last = body[-1]
        if isinstance(last, ast.If):
            return bool(last.orelse) and self._ends(last.body) and self._ends(last.orelse)
        return isinstance(last, ast.Return | ast.Raise) or _is_endless(last)

    # -- blocks -----------------------------------------------------------------------------------
    def _block(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], bool, set[str]]:
        """The new statements, whether they always jump, and the flags they may raise."""
        result: list[ast.stmt] = []
        raised: set[str] = set()
        for place, statement in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(statement, ast.If) and rest and self._absorbs(statement, rest):
                rest = []
            new, ends, flags = self._statement(statement)
            result += new
            raised |= flags
            if ends or not rest:
                return result, ends, raised
            if flags:
                inner, ends, more = self._block(rest)
                result.append(self._guard(inner, flags, rest[0]))
                return result, ends, raised | more
        return result, False, raised

    def _absorbs(self, node: ast.If, rest: list[ast.stmt]) -> bool:
        """Move what follows a conditional into the branch that does not jump."""
        if self._always_jumps(node.body):
            node.orelse = [*node.orelse, *rest]
        elif self._always_jumps(node.orelse):
            node.body = [*node.body, *rest]
        else:
            return False
        return True

    def _always_jumps(self, body: list[ast.stmt]) -> bool:
        if not body:
            return False
        last = body[-1]
        if isinstance(last, JUMPS):
            return self._is_nested or not isinstance(last, ast.Return)
        if isinstance(last, ast.If):
            return self._always_jumps(last.body) and self._always_jumps(last.orelse)
        return False

    # -- statements -------------------------------------------------------------------------------
    def _statement(self, node: ast.stmt) -> tuple[list[ast.stmt], bool, set[str]]:
        if isinstance(node, ast.Return) and self._is_nested:
            value = node.value or with_location(ast.Constant(value=None), node)
            kept = ast.Assign(targets=[self._result(ast.Store(), node)], value=value)
            done = self._assign(self._done, True, node)
            return [with_location(kept, node), done], True, {self._done}
        if isinstance(node, ast.Break | ast.Continue) and self._loops:
            loop = self._loops[-1]
            flag = loop.stop if isinstance(node, ast.Break) else loop.skip
            loop.used.add(flag)
            return [self._assign(flag, True, node)], True, {flag}
        if isinstance(node, ast.If):
            node.body, first, flags = self._block(node.body)
            node.orelse, second, more = self._block(node.orelse)
            return [node], first and second, flags | more
        if isinstance(node, ast.Raise):
            return [node], True, set()
        if isinstance(node, ast.With):
            node.body, ends, flags = self._block(node.body)
            return [node], ends and not is_context(node), flags
        if isinstance(node, ast.While) and _binds(node.test) and not _has_jump(node.orelse):
            return self._loop(_with_test_inside(node))
        if isinstance(node, ast.For | ast.While):
            return self._loop(node)
        return [node], False, set()

    def _loop(self, node: ast.For | ast.While) -> tuple[list[ast.stmt], bool, set[str]]:
        self._count += 1
        ends = _is_endless(node)
        loop = _Loop(f"{self.helper}_stop{self._count}", f"{self.helper}_skip{self._count}")
        self._loops.append(loop)
        node.body, _, flags = self._block(node.body)
        self._loops.pop()
        before: list[ast.stmt] = []
        if loop.skip in loop.used:
            node.body = [self._assign(loop.skip, False, node.body[0]), *node.body]
        if loop.stop in loop.used:
            before.append(self._assign(loop.stop, False, node))
        ending = flags & {loop.stop, self._done}
        if ending:
            self.flags[node] = tuple(sorted(ending))
            node.body = [self._guard(node.body, ending, node.body[0])]
        after: list[ast.stmt] = []
        escaped = flags & {self._done}
        if node.orelse:
            orelse, node.orelse = node.orelse, []
            new, _, more = self._block(orelse)
            after = [self._guard(new, ending, orelse[0])] if ending else new
            escaped |= more
        return [*before, node, *after], ends, escaped

    # -- new nodes --------------------------------------------------------------------------------
    def _assign(self, name: str, value: bool | None, at: ast.AST) -> ast.stmt:
        constant = with_location(ast.Constant(value=value), at)
        target = _name(name, at, ast.Store())
        return with_location(ast.Assign(targets=[target], value=constant), at)

    def _guard(self, body: list[ast.stmt], flags: Iterable[str], at: ast.AST) -> ast.stmt:
        """``if none_of(flags): body``; the callback is put in by name."""
        names: list[ast.expr] = [_name(flag, at) for flag in sorted(flags)]
        function = _name(f"{self.helper}.{NONE_OF}", at)
        test = with_location(ast.Call(func=function, args=names, keywords=[]), at)
        return with_location(ast.If(test=test, body=body, orelse=[]), at)


def _is_endless(node: ast.stmt) -> bool:
    """Whether only ``return`` leaves a loop: ``while True`` without a ``break`` of its own."""
    if not isinstance(node, ast.While) or not isinstance(node.test, ast.Constant):
        return False
    pending: list[ast.AST] = [*node.body]
    while pending:
        child = pending.pop()
        if isinstance(child, ast.Break):
            return False
        if isinstance(child, ast.For | ast.While):
            pending.extend(child.orelse)  # a `break` there is about the loop outside
        elif not isinstance(child, _SCOPES):
            pending.extend(children(child))
    return bool(node.test.value)


def _binds(test: ast.expr) -> bool:
    """Whether a test has a ``:=``."""
    return any(isinstance(n, ast.NamedExpr) for n in [test, *own_nodes(test)])


def _has_jump(body: list[ast.stmt]) -> bool:
    return any(isinstance(n, JUMPS) for n in nodes_of(body))


def _with_test_inside(node: ast.While) -> ast.While:
    """``while a and b: body; else: rest`` with ``a`` and ``b`` as statements of the loop.

    ::

        while True:
            if a:
                if b:
                    body
                    continue
            rest
            break
    """
    is_and = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
    tests = node.test.values if is_and and isinstance(node.test, ast.BoolOp) else [node.test]
    made: ast.While = statement_of("while True: break", node)
    leave = [*node.orelse, *made.body]
    if len(tests) == 1:
        made.body = [with_location(ast.If(test=tests[0], body=node.body, orelse=leave), node)]
        return made
    body: list[ast.stmt] = [*node.body, with_location(ast.Continue(), node)]
    for test in reversed(tests):
        body = [with_location(ast.If(test=test, body=body, orelse=[]), node)]
    made.body = [*body, *leave]
    return made


def _name(name: str, at: ast.AST, context: ast.expr_context | None = None) -> ast.Name:
    return with_location(ast.Name(id=name, ctx=context or ast.Load()), at)
