"""A function that calls itself, as a loop with a stack of its own.

::

    def count(n):                   def count(n):
        if n < 2:                       at, pending, saved1, saved2 = 0, [], [], []
            return 1                    while True:
        a = count(n - 1)                    if at == 0:
        return a + count(n - 2)                 if n < 2:
                                                    result, at = 1, -1
                                                else:
                                                    saved1.append((n,))
                                                    pending.append(1)
                                                    n, at = n - 1, 0
                                            if at == 1:
                                                a = result
                                                saved2.append((a,))
                                                pending.append(2)
                                                n, at = n - 2, 0
                                            if at == 2:
                                                result, at = a + result, -1
                                            if at == -1:
                                                if not pending:
                                                    break
                                                now = pending.pop()
                                                if now == 1:
                                                    (n,), at = saved1.pop(), 1
                                                if now == 2:
                                                    (a,), at = saved2.pop(), 2
                                        return result

The body is cut into blocks at each call of the function. A call saves the names that are read
behind it; parameters that every call hands on as they are (arrays, lists, a table of results) are
left alone. A list that is saved is moved: the name holds an empty one until it is bound again, so
whoever reaches the list in another way meets one that was given away, which is refused. A ``for``
loop around a call runs over places (`fusejit.tracer.source.recursion_loops`). What is evaluated
before a call in the same expression stays before it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusejit.support.syntax import copied, with_location
from fusejit.tracer.source.definite_assignment import Flow
from fusejit.tracer.source.recursion_blocks import RecursionBlocks
from fusejit.tracer.source.recursion_parts import Block, NotALoop


def loop_of(function: ast.FunctionDef, helper: str) -> ast.While | None:
    """Make a function that calls itself a loop; returns that, or None if it stays as it is.

    Parameters
    ----------
    function : ast.FunctionDef
        Its body is replaced.
    helper : str
        What the new names begin with.
    """
    try:
        loop, body = _put_together(RecursionBlocks(copied(function), helper))
    except NotALoop:
        return None
    function.body = body
    return loop


def _put_together(cut: RecursionBlocks) -> tuple[ast.While, list[ast.stmt]]:
    at = cut.function.body[0]
    needed = _needed(cut)
    calls, result = cut.name("pending"), cut.name("result")
    itself = with_location(ast.Expr(cut.callback("require_itself", copied(cut.itself))), at)
    before = [itself, *cut.before, cut.assign(cut.name("at"), ast.Constant(0), at)]
    before.append(cut.assign(calls, ast.List([], ast.Load()), at))
    dispatch: list[ast.stmt] = [cut.text(f"if not {calls}:\n    break", at)]
    dispatch.append(cut.text(f"{cut.name('now')} = {calls}.pop()", at))
    body: list[ast.stmt] = []
    first = _in_order([cut.blocks[0]], ())
    others = _in_order([b.returns_to for b in cut.blocks if b.returns_to is not None], first)
    for block in (*first, *others):
        if block.returns_to is not None:
            names = sorted(needed[block.returns_to])
            before += _saving(cut, block, names, dispatch)
        test = cut.text(f"{cut.name('at')} == {block.number}", at).value
        body.append(with_location(ast.If(test=test, body=block.body, orelse=[]), at))
    test = cut.text(f"{cut.name('at')} == -1", at).value
    body.append(with_location(ast.If(test=test, body=dispatch, orelse=[]), at))
    true = with_location(ast.Constant(value=True), at)
    loop = with_location(ast.While(test=true, body=body, orelse=[]), at)
    end = with_location(ast.Return(value=cut.load(result, at)), at)
    return loop, [*before, loop, end]


def _saving(
    cut: RecursionBlocks, block: Block, names: list[str], dispatch: list[ast.stmt]
) -> list[ast.stmt]:
    """Have a block save what is read behind its call, and the dispatcher restore it."""
    at, behind = block.at, block.returns_to
    assert at is not None
    assert behind is not None
    before: list[ast.stmt] = []
    calls, saved = cut.name("pending"), cut.name(f"saved{behind.number}")
    held = f"({', '.join(names)},)"
    temporaries = [cut.name(f"p{behind.number}_{k}") for k in range(len(cut.varying))]
    for name, value in zip(temporaries, block.arguments, strict=True):
        block.body.append(cut.assign(name, value, at))
    restore: list[ast.stmt] = []
    if names:
        stack = cut.load(saved, at)
        number = with_location(ast.Constant(behind.number), at)
        before.append(cut.assign(saved, cut.callback("saved_names", number), at))
        store = cut.callback("save", stack, cut.text(held, at).value)
        block.body.append(with_location(ast.Expr(store), at))
        load = cut.callback("restored", copied(stack), ast.Constant(len(names)))
        restore.append(cut.text(f"{held} = 0", at))
        restore[0].value = with_location(load, at)  # type: ignore[attr-defined]
    block.body.append(cut.text(f"{calls}.append({behind.number})", at))
    depth = cut.callback("require_depth", cut.load(calls, at))
    block.body.append(with_location(ast.Expr(depth), at))
    if names:
        moved = cut.text(f"{held} = 0", at)
        moved.value = cut.callback("moved", copied(stack), cut.text(held, at).value)
        block.body.append(moved)
    for name, parameter in zip(temporaries, cut.varying, strict=True):
        block.body.append(cut.assign(parameter, cut.load(name, at), at))
        block.body.append(cut.assign(name, ast.Constant(0), at))  # holds no list twice
    block.body.append(cut.assign(cut.name("at"), ast.Constant(0), at))
    restore.append(cut.jump(behind, at))
    test = cut.text(f"{cut.name('now')} == {behind.number}", at).value
    dispatch.append(with_location(ast.If(test=test, body=restore, orelse=[]), at))
    return before


def _needed(cut: RecursionBlocks) -> dict[Block, set[str]]:
    """The names that each block, or one behind it, reads before it binds them."""
    reads, binds = {}, {}
    for block in cut.blocks:
        reads[block], binds[block] = _uses(cut, block)
    needed = {block: set(reads[block]) for block in cut.blocks}
    is_new = True
    while is_new:
        is_new = False
        for block in reversed(cut.blocks):
            after = set().union(*(needed[b] for b in block.following))
            if block.returns_to is not None:
                after |= needed[block.returns_to]
            found = needed[block] | (after - binds[block])
            is_new |= found != needed[block]
            needed[block] = found
    return needed


def _uses(cut: RecursionBlocks, block: Block) -> tuple[set[str], set[str]]:
    """The local names that a block reads before it binds them, and those that it binds."""
    flow = Flow()
    arguments = [with_location(ast.Expr(value), value) for value in block.arguments]
    state = flow.block([*block.body, *arguments], frozenset())
    binds = cut.locals if state is None else cut.locals & state
    return cut.locals & flow.read, set(binds)


def _in_order(starts: Sequence[Block], known: Sequence[Block]) -> list[Block]:
    """The blocks that are reached from some, none before one that leads to it but in loops."""
    seen = [*known]
    found: list[Block] = []

    def visit(block: Block) -> None:
        if block not in seen:
            seen.append(block)
            for one in reversed(block.following):
                visit(one)
            found.append(block)

    for start in reversed(starts):
        visit(start)
    return found[::-1]
