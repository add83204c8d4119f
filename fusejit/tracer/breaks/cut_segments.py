"""A function in which Python has to run a statement: segments that are compiled, and the rest.

::

    def f(x, log):                      def f(x, log):
        y = np.exp(x)                       y, part0 = segments.s0(x)
        log.add(y.sum())                    segments.c0(log.add)(part0)
        return y - y.mean()                 return segments.s1(y)

    def s0(x):                          def s1(y):
        y = np.exp(x)                       return y - y.mean()
        part0 = y.sum()
        return y, part0

The statement that could not be compiled stays, without the parts that can be computed before
it. Runs of statements around it become functions of the names that they need, which return the
names that are read later. A compound statement that holds it stays Python's, and its blocks are cut
in the same way. Each segment is a function like any other: it is traced when it is first called,
and opened in its turn if Python has to run a statement in it. All nodes keep the user's lines.
What a ``try`` or ``with`` asks for besides is in `fusejit.tracer.breaks.kept_names`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set

from fusejit.support.syntax import children, copied, walk, with_location
from fusejit.support.tracebacks import SEGMENTS
from fusejit.tracer.breaks.asked_objects import asks_what_was_bound
from fusejit.tracer.breaks.ended_contexts import EndedContexts
from fusejit.tracer.breaks.hoisting import Hoist, is_idle, is_trivial
from fusejit.tracer.breaks.kept_names import binds_at_its_end, handled, read_on_failure
from fusejit.tracer.breaks.python_statements import (
    COMPOUND,
    SIMPLE,
    Follow,
    Position,
    PythonStatements,
    blocks,
    declared_names,
    is_followed,
)
from fusejit.tracer.breaks.split_result import (
    NOTHING,
    InterpretedParts,
    Place,
    Segment,
    SplitFunction,
    place_of,
)
from fusejit.tracer.source.bound_names import assigned
from fusejit.tracer.source.live_names import (
    PossiblyUnboundNames,
    bound_by_inner,
    counts,
    is_context,
    kept,
    looks_at_its_names,
    mentioned,
    named_in_texts,
    needed,
    reads_later,
    surely_assigned,
)
from fusejit.tracer.source.new_statements import statement_of

_PART = "_part"


def split_function(
    node: ast.FunctionDef,
    parameters: Sequence[str],
    position: Position | None,
    python_names: frozenset[str] = frozenset(),
    *,
    called: str = "",
    follow: Follow = Follow.NOTHING,
    singly: bool = False,
    on_error: str = "",
    interpreted: InterpretedParts = NOTHING,
    read_inside: Mapping[Place, Set[str]] | None = None,
) -> SplitFunction | None:
    """Cut a function in which Python has to run the statement at ``position``.

    Parameters
    ----------
    node : ast.FunctionDef
        The function; it is not changed.
    parameters : sequence of str
        Its parameters, which the split function takes by position.
    position : tuple of (int, int) or None
        Line and column of the expression at which a trace ended.
    python_names : frozenset of str
        Parameters that only Python can handle: whatever reads them is Python's.
    called : str
        A function that only Python calls.
    follow : Follow
        Which of what Python makes of these parameters is compiled again, within one expression:
        ``np.sqrt(df["a"].to_numpy())``.
    singly : bool
        Whether each statement becomes a segment: something in the function is not compiled, but it
        is not known what.
    on_error : str
        What it does where it raises: see `Segment`.
    interpreted : InterpretedParts
        Segments and calls that Python runs. The numbers of the others are the same without it.
    read_inside : mapping of Place to set of str, optional
        For compound statements: the names that segments inside take, as another attempt has found.

    Returns
    -------
    Opened or None
        None if nothing can be compiled on its own: the line is no statement's, or the function
        looks at its own names, or asks which object one of them holds.
    """
    body = [copied(s) for s in node.body]
    whole = ast.Module(body=body, type_ignores=[])
    names = mentioned(whole)
    if looks_at_its_names(whole) or asks_what_was_bound(whole):
        return None
    declared = declared_names(body)
    local = (assigned(body) | set(parameters)) - declared
    fresh = (n for n in (f"{_PART}{k}" for k in range(10**6)) if n not in names | {*parameters})

    def part() -> str:
        local.add(name := next(fresh))
        return name

    hoist = Hoist(part, local, bound_by_inner(body))
    python = PythonStatements(position, python_names, called, declared, hoist, follow)
    body = python.marked(body)
    computing = [s for s in body if not is_idle(s)]
    is_parted = singly and len(computing) > 1
    names |= named_in_texts(body, {*parameters})
    is_without = bool(python_names & {*parameters} - names)  # which no segment is given
    if not python.native and not python.opened and not is_parted and not is_without:
        return None
    cut = _Cut(node, body, parameters, local, python, part)
    cut.singly = singly
    cut.keeps_names = bool(on_error)
    cut.strips_frames = not on_error  # its caller reads names in its frames, and strips them
    cut.is_repeated = on_error == "per_statement"
    cut.interpreted = interpreted
    cut.read_before = known = read_inside or {}
    made = cut.whole()
    found = {place: names | known.get(place, set()) for place, names in cut.read_inside.items()}
    if any(found[place] > known.get(place, set()) for place in found):
        return split_function(
            node,
            parameters,
            position,
            python_names,
            called=called,
            follow=follow,
            singly=singly,
            on_error=on_error,
            interpreted=interpreted,
            read_inside=found,
        )
    return SplitFunction(
        made, cut.helper, cut.segments, python.lines(), cut.num_calls, hoist.values
    )


class _Cut:
    """One function that is split."""

    def __init__(
        self,
        node: ast.FunctionDef,
        body: list[ast.stmt],
        parameters: Sequence[str],
        local: set[str],
        python: PythonStatements,
        fresh: Callable[[], str],
    ) -> None:
        self.original = node
        self.body = body
        self.parameters = list(parameters)
        self.local = local
        self.marks = python
        self.in_texts = named_in_texts(body, local)
        self.segments: list[Segment] = []
        self.interpreted = NOTHING
        self.num_calls = 0
        self.helper = _unused(SEGMENTS, {n for s in body for n in mentioned(s)} | set(parameters))
        self.fresh = fresh
        self.contexts = EndedContexts(fresh)
        self.singly = False
        self.keeps_names = False
        self.strips_frames = True  # where a segment raises
        self.read_outside: set[str] = set()  # names of the body that others read afterwards
        self.is_repeated = False
        self.in_loop = False
        self.counts = counts(body)
        self.possibly_unbound = PossiblyUnboundNames(body, parameters, local)
        rebound = bound_by_inner(body) & local
        every = [n for s in body for n in walk(s) if isinstance(n, ast.stmt)]
        self.captured = {n for s in body for n in kept(s)} & self._bound_often(every) | rebound
        self.captured |= self._bound_later(every) & local
        self.read_before: Mapping[Place, Set[str]] = {}  # in the last attempt: see `read_inside`
        self.read_inside: dict[Place, set[str]] = {}  # what segments in compound statements take

    def whole(self) -> ast.FunctionDef:
        """The function, which calls its segments."""
        # of a segment that keeps its names the last statement returns them
        if self.keeps_names:
            self.read_outside = mentioned(self.original.body[-1]) & self.local
        new = self.block(self.body, self.read_outside, is_tail=not self.keeps_names)
        new = self.contexts.counted(new)
        read = {n for s in new for n in mentioned(s)} & self.local
        if unbound := sorted(read - assigned(new) - {*self.parameters}):
            targets = "".join(f"{name} = " for name in unbound)  # local names nevertheless
            new.insert(0, statement_of(f"if False: {targets}None", new[0]))
        return _function(self.original, self.parameters, new)

    def _bound_often(self, every: Sequence[ast.stmt]) -> set[str]:
        """Local names that are bound in more than one place."""
        count = Counter(self.parameters)
        count.update(name for s in every for name in assigned([s], heads=True))
        in_loops = assigned(s for s in every if isinstance(s, ast.For | ast.While))
        return {name for name, n in count.items() if n > 1} | in_loops

    def _bound_later(self, every: Sequence[ast.stmt]) -> set[str]:
        """Names that a function reads and that have no value yet when it is made."""
        found: set[str] = set()
        for statement in every:
            if not isinstance(statement, COMPOUND):
                unbound = self.possibly_unbound.at(statement)
                found |= kept(statement) & unbound - assigned([statement])
        return found

    def _read_inside(self, node: ast.stmt) -> Set[str]:
        """What segments inside a statement take, as the last attempt to cut it has shown."""
        return self.read_before.get(place_of(node), frozenset()) & self.local

    # -- segments ---------------------------------------------------------------------------------
    def block(self, body: Sequence[ast.stmt], after: set[str], *, is_tail: bool) -> list[ast.stmt]:
        """A block with calls of segments in it."""
        later = reads_later(body, after, self._read_inside)
        if self.in_texts:
            later = [
                names | (self.in_texts - (self.possibly_unbound.at(s) - surely_assigned([s])))
                for names, s in zip(later, body, strict=True)
            ]
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for at, statement in enumerate(body):
            behind = later[at] & self.local
            is_end = isinstance(statement, ast.Return) and not is_tail
            if is_end and self.is_compiled(statement, behind):
                if self.keeps_names:
                    made += self.segment(run, later[at - 1] & self.local)
                    run = []
                return [*made, *self.segment([*run, statement], set(), is_tail=True)]
            is_last = is_tail and self._may_return(body[at:], later[at:])
            if self.is_compiled(statement, behind, is_last):
                run.append(statement)
                if not self.singly and not self.captured & assigned([statement]):
                    continue
                made += self.segment(run, behind, is_tail=is_tail and at == len(body) - 1)
                run = []
                continue
            made += self.segment(run, later[at - 1] & self.local)
            run = []
            made += self.python(statement, behind, is_tail and at == len(body) - 1)
        made += self.segment(run, (later[-1] if later else after) & self.local, is_tail=is_tail)
        return made

    def _may_return(self, rest: Sequence[ast.stmt], later: Sequence[set[str]]) -> bool:
        """Whether all statements up to the end of the function can be one segment."""
        if self.singly or any(self.captured & assigned([s]) for s in rest):
            return len(rest) == 1
        return all(self.is_compiled(s, names, True) for s, names in zip(rest, later, strict=True))

    def is_compiled(self, node: ast.stmt, later: Set[str], is_tail: bool = True) -> bool:
        """Whether a statement may stand in a segment, given what is read later.

        ``is_tail`` says whether it may return.
        """
        if node in self.marks.native or node in self.marks.opened or not is_followed(node):
            return False
        if self._jumps(node, is_tail):
            return False
        if self.captured & kept(node):  # a function made in a segment has cells of its own
            return False
        inside = mentioned(node)
        is_parted = self.singly and not self.keeps_names
        if isinstance(node, COMPOUND) and (self.captured & inside or is_parted):
            return False
        perhaps = assigned([node]) - surely_assigned([node])
        handed = needed([node]) | perhaps & (later | self.captured)
        return not any(
            name in self.read_outside & perhaps or self._comes_from_elsewhere(name, [node])
            for name in handed & self.possibly_unbound.at(node)
        )

    def _comes_from_elsewhere(self, name: str, run: Sequence[ast.stmt]) -> bool:
        """Whether a name that some statements mention may get its value before them."""
        if name in self.parameters or self.counts[name] > counts(run)[name]:
            return True
        if name not in assigned(run):  # never bound, as what binds it is not reached
            return True
        return self.in_loop and name in needed(run)  # in the iteration before

    @staticmethod
    def _jumps(node: ast.stmt, is_tail: bool) -> bool:
        """Whether control may leave a statement in the middle."""
        pending: list[tuple[ast.AST, bool]] = [(node, False)]
        while pending:
            one, in_loop = pending.pop()
            if isinstance(one, ast.Return) and not is_tail:
                return True
            if isinstance(one, ast.Break | ast.Continue) and not in_loop:
                return True
            if isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef):
                continue
            if isinstance(one, ast.For | ast.While):  # not so in ``else``
                pending += [(child, True) for child in one.body]
                pending += [(child, in_loop) for child in one.orelse]
                continue
            pending += [(child, in_loop) for child in children(one)]
        return False

    def segment(
        self, run: list[ast.stmt], later: set[str], *, is_tail: bool = False
    ) -> list[ast.stmt]:
        """The call of a segment instead of a run of statements."""
        if all(map(is_idle, run)):
            return run
        native = [copied(s) for s in run]
        made = self._called(run, later, is_tail=is_tail)
        if self.segments[-1].name in self.interpreted.segments:
            return native
        handed = self.segments[-1].node.args.args
        if not {a.arg for a in handed} & self.possibly_unbound.at(run[0], contexts_end=True):
            return made
        return [self.contexts.choice(made, native)]

    def _called(
        self, run: list[ast.stmt], later: set[str], *, is_tail: bool, is_test: bool = False
    ) -> list[ast.stmt]:
        """The statements that call a new segment."""
        wanted = needed(run) & self.local
        if self.in_texts:
            wanted |= named_in_texts(
                run, self.in_texts - assigned(run) - self.possibly_unbound.at(run[0])
            )
        before = {name for name in wanted if self._comes_from_elsewhere(name, run)}
        returns = is_tail and any(isinstance(n, ast.Return) for s in run for n in walk(s))
        if is_tail:
            later = set()
        read = later | self.captured  # functions that were made go on reading the latter
        handed_on = set() if returns else assigned(run) & read & self.local
        seen = self.captured | self.in_texts | self.read_outside  # not by statements of the body
        outputs = sorted(n for n in handed_on if n in seen or self._comes_from_elsewhere(n, run))
        inputs = sorted(before | (set(outputs) - surely_assigned(run)))  # what stays as it was
        name = f"s{len(self.segments)}"
        is_kept = self.keeps_names and bool(outputs) and not binds_at_its_end(run)
        body = [*run]
        if outputs:
            body.append(statement_of(f"return {', '.join(outputs)}", run[-1]))
        node = _function(self.original, inputs, body)
        node.lineno = run[0].lineno
        on_error = (
            "" if not is_kept else "per_statement" if self.in_loop or self.is_repeated else "undo"
        )
        self.segments.append(Segment(name, node, on_error))
        text = f"{self.helper}.{name}({', '.join(inputs)})"
        if returns:
            text = f"return {text}"
        elif outputs:
            text = f"{', '.join(outputs)} = {text}"
        made: ast.stmt = statement_of(text, run[0], has_extent=False)
        if is_kept or (self.strips_frames and not is_test):
            kept = (name, outputs) if is_kept else None
            made = handled(made, self.helper, self.fresh, kept, strips=self.strips_frames)
        return [made]

    def test(self, node: ast.If | ast.While) -> bool:
        """Make the condition of a statement of Python a segment; whether it is to cut frames."""
        test = node.test
        possibly_unbound = self.possibly_unbound.at(node, contexts_end=True)
        if is_trivial(test) or node in self.marks.heads or possibly_unbound & mentioned(test):
            return False
        if any(isinstance(n, ast.NamedExpr) for n in walk(test)) or _is_cheap_test(test):
            return False
        returned = with_location(ast.Return(value=test), test)
        (call,) = self._called([returned], set(), is_tail=True, is_test=True)
        if self.segments[-1].name in self.interpreted.segments:
            return False
        assert isinstance(call, ast.Return)
        assert call.value is not None
        node.test = call.value
        return self.strips_frames

    def python(self, node: ast.stmt, later: set[str], is_tail: bool) -> list[ast.stmt]:
        """A statement that Python runs; the blocks of a compound one are cut."""
        if not isinstance(node, COMPOUND):
            return [self._with_calls(node)]
        around, read = set(later), needed([node])
        was_in_loop = self.in_loop
        if isinstance(node, ast.For | ast.While):
            self.in_loop = True
            around |= needed([node])
            is_tail = False
        strips = isinstance(node, ast.If | ast.While) and self.test(node)
        outer = self.keeps_names
        if is_context(node) or isinstance(node, ast.Try):
            self.keeps_names = True
            around |= read_on_failure(node)
        self.contexts.depth += is_context(node)
        for _, block in blocks(node):
            is_end = is_tail and not isinstance(node, ast.Try | ast.With) and not later
            block[:] = self.block(block, around, is_tail=is_end)
        self.contexts.depth -= is_context(node)
        self.keeps_names = outer
        self.in_loop = was_in_loop
        inside = self.read_inside.setdefault(place_of(node), set())
        inside |= (needed([node]) - read) & self.local
        return [handled(node, self.helper, self.fresh, strips=True) if strips else node]

    def _with_calls(self, node: ast.stmt) -> ast.stmt:
        """Functions of the user's that Python calls are fused in their turn."""
        if not isinstance(node, SIMPLE):
            return node
        return _Calls(self).visit(node)  # type: ignore[no-any-return]


class _Calls(ast.NodeTransformer):
    """``helper(x)`` becomes ``segments.c0(helper)(x)``, outside of inner functions."""

    def __init__(self, cut: _Cut) -> None:
        self.cut = cut

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        if isinstance(node.func, ast.Name | ast.Attribute):
            number = self.cut.num_calls
            self.cut.num_calls += 1
            if number in self.cut.interpreted.calls:
                return node
            base = with_location(ast.Name(id=self.cut.helper, ctx=ast.Load()), node.func)
            call = with_location(
                ast.Attribute(value=base, attr=f"c{number}", ctx=ast.Load()), node.func
            )
            node.func = with_location(ast.Call(func=call, args=[node.func], keywords=[]), node.func)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _is_cheap_test(node: ast.expr) -> bool:
    """``i % 10 == 0``, ``a is None``: Python is as fast as a segment."""
    return not any(isinstance(n, ast.Call | ast.Subscript) for n in walk(node))


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _function(like: ast.FunctionDef, names: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """A function of the name of the user's, with these parameters."""
    made: ast.FunctionDef = statement_of(f"def function({', '.join(names)}): pass", like)
    made.name, made.body = like.name, body
    return made
