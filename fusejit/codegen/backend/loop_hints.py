"""What a loop of kernel text tells LLVM, as metadata: where its own choice of vectors is slower.

One vector at a time: loops that call vector functions. A call leaves no register as it was, so the
operands and results of others beside it would go to the stack and back: a tenth to a fifth of the
time.

One element at a time: loops that do little but read small tables of bytes, ``lut[image]``. There is
no instruction for such reads, so LLVM takes vectors of many lanes apart and puts them together
again, which is two to three times as slow as the plain loop.

    v = get(image, i)
    t = cast(v, i64)
    put(out, i, get(lut, t))            lut of 1 or 2 bytes, v narrower than 8

Not unrolled: loops around loops of a number of iterations that is not in the text. They cannot
become straight lines, so copies of them only take LLVM's time: means of rows of 30 had 7,800
instructions instead of 1,550.

The widest registers: loops that compare or fold, see `codegen.intrinsics_jit.memory.prefer_widest`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from fusejit.codegen.intrinsics.math_table import MATH_FUNCTIONS
from fusejit.syntax import walk

Hints = tuple[tuple[str, int], ...]

ONE_VECTOR: Hints = (("llvm.loop.interleave.count", 1),)
ONE_ELEMENT: Hints = (("llvm.loop.vectorize.width", 1), ("llvm.loop.interleave.count", 4))
NOT_UNROLLED: Hints = (("llvm.loop.unroll.disable", 1),)

_SMALL = 2  # bytes of an element
_FEW = 6  # operations of a loop that are as fast without vectors
_MOVES = frozenset({"get", "put", "cast", "i64"})


def hints(loop: ast.For, itemsize: Callable[[ast.Name], int]) -> Hints:
    """The metadata of a loop; ``itemsize`` is in bytes, of the elements at a pointer."""
    if _has_loop(loop.body):
        return NOT_UNROLLED if _has_symbolic_loop(loop.body) else ()
    inside = [node for statement in loop.body for node in walk(statement)]
    calls = [
        (node.func.id, node.args)
        for node in inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    called = [name for name, _ in calls]
    if not MATH_FUNCTIONS.keys().isdisjoint(called):
        return ONE_VECTOR
    arithmetic = sum(isinstance(node, ast.BinOp) for node in inside)
    arithmetic += sum(name not in _MOVES for name in called)
    is_heavy = "sqrt" in called or any(isinstance(node, ast.Div) for node in inside)
    if is_heavy or arithmetic > _FEW:
        return ()
    places = _narrow_places(loop)
    tables = (p for name, (p, *at) in calls if name == "get" and not places.isdisjoint(_names(*at)))
    if any(isinstance(p, ast.Name) and itemsize(p) <= _SMALL for p in tables):
        return ONE_ELEMENT
    return ()


def wants_wide_registers(loop: ast.For) -> bool:
    """Whether an innermost loop compares, or folds what it reads into one number."""
    if _has_loop(loop.body):
        return False
    inside = [node for statement in loop.body for node in walk(statement)]
    assigned = [node for node in inside if isinstance(node, ast.Assign)]
    folds = any(_names(node.value) & _names(*node.targets) for node in assigned)
    return folds or any(isinstance(node, ast.Compare) for node in inside)


def loop_depth(node: ast.AST) -> int:
    """How many loops stand inside each other, counted over statements alone."""
    inner = [
        loop_depth(each)
        for field in ("body", "orelse")
        for each in getattr(node, field, ())
        if isinstance(each, ast.stmt)
    ]
    return max(inner, default=0) + isinstance(node, ast.For | ast.While)


def _has_loop(statements: Sequence[ast.stmt]) -> bool:
    """Whether a loop stands among statements: outer loops are asked, and only innermost walked."""
    return any(
        isinstance(each, ast.For | ast.While)
        or (isinstance(each, ast.If) and (_has_loop(each.body) or _has_loop(each.orelse)))
        for each in statements
    )


def _has_symbolic_loop(statements: Sequence[ast.stmt]) -> bool:
    """Whether a loop of a number of iterations that is not in the text stands among statements."""
    for each in statements:
        if isinstance(each, ast.While):
            return True
        if isinstance(each, ast.For):
            assert isinstance(each.iter, ast.Call)
            if _has_symbolic_loop(each.body) or any(map(_names, each.iter.args)):
                return True
        elif isinstance(each, ast.If) and _has_symbolic_loop([*each.body, *each.orelse]):
            return True
    return False


def _names(*nodes: ast.AST) -> set[str]:
    inside = (each for node in nodes for each in walk(node))
    return {each.id for each in inside if isinstance(each, ast.Name)}


def _narrow_places(loop: ast.For) -> set[str]:
    """Names that the loop casts from narrower integers to places, and what it makes of them."""
    places: set[str] = set()
    for node in loop.body:
        if isinstance(node, ast.Assign):
            match node.value:
                case ast.Call(ast.Name("cast"), [_, ast.Name("i64")]):
                    places |= _names(*node.targets)
                case value if places & _names(value):
                    places |= _names(*node.targets)
    return places
