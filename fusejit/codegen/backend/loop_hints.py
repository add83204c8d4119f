"""What a loop tells LLVM, as metadata: where its own choice of vectors is slower.

One vector at a time: loops that call vector functions. A call leaves no register as it was, so the
operands and results of others beside it would go to the stack and back: a tenth to a fifth of the
time.

One element at a time: loops that do little but read small tables of bytes, ``lut[image]``. There is
no instruction for such reads, so LLVM takes vectors of many lanes apart and puts them together
again, which is two to three times as slow as the plain loop.

    v = get(image, i)
    t = cast(v, i64)
    put(out, i, get(lut, t))            lut of 1 or 2 bytes, v narrower than 8

One vector, and nothing else: loops of a register tile. LLVM would unroll such a short loop before
it looks for vectors.

Not unrolled: loops around loops of a number of iterations that is not known. They cannot
become straight lines, so copies of them only take LLVM's time: means of rows of 30 had 7,800
instructions instead of 1,550.

The widest registers: loops that compare or fold, see
`codegen.intrinsics_jit.raw_memory.prefer_widest`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import subexpressions
from fusejit.codegen.backend.scalar_forms import scalar_form
from fusejit.dataclass import dataclass, field
from fusejit.ir.loops.index_math import FUNCTION, I64, INDEX_OPS
from fusejit.ir.loops.mentioned_names import expr_names, parts
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Element,
    Expr,
    For,
    Integer,
    Let,
    LoopModule,
    Number,
    Stmt,
    StoreElement,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import CAST, CONVERT
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

Hints = tuple[tuple[str, int], ...]

ONE_VECTOR: Hints = (("llvm.loop.interleave.count", 1),)
ONE_ELEMENT: Hints = (("llvm.loop.vectorize.width", 1), ("llvm.loop.interleave.count", 4))
NOT_UNROLLED: Hints = (("llvm.loop.unroll.disable", 1),)

_SMALL = 2  # bytes of an element
_FEW = 6  # operations of a loop that are as fast without vectors


def hints(loop: For, itemsize: Callable[[str], int]) -> Hints:
    """The metadata of a loop; ``itemsize`` is in bytes, of the elements at a pointer."""
    if loop.lanes:
        return (("llvm.loop.vectorize.width", loop.lanes), *ONE_VECTOR, *NOT_UNROLLED)
    if _has_loop(loop.body):
        return NOT_UNROLLED if _has_symbolic_loop(loop.body) else ()
    work = _Work.of(loop.body)
    if not MATH_FUNCTIONS.keys().isdisjoint(work.functions):
        return ONE_VECTOR
    if work.divides or "sqrt" in work.functions or work.operations > _FEW:
        return ()
    places = _narrow_indices(loop)
    tables = (e.pointer for e in work.reads if not places.isdisjoint(e.offset.names()))
    if any(isinstance(p, str) and itemsize(p) <= _SMALL for p in tables):
        return ONE_ELEMENT
    return ()


def wants_wide_registers(loop: For) -> bool:
    """Whether an innermost loop compares, or folds what it reads into one number."""
    if loop.lanes:
        return True
    if _has_loop(loop.body):
        return False
    lets = (s for s in flat(loop.body) if isinstance(s, Let))
    return _Work.of(loop.body).compares or any(s.name in expr_names(s.value) for s in lets)


def loop_depth(module: LoopModule) -> int:
    """How many loops of one function stand inside each other, at most."""
    return max(_depth(f.body) for f in module.functions)


def _depth(statements: Sequence[Stmt]) -> int:
    return max((_depth([*parts(s)[1]]) + isinstance(s, For | While) for s in statements), default=0)


@dataclass(slots=True)
class _Work:
    """What statements compute: operations, functions, elements that they read."""

    operations: int = 0
    functions: set[str] = field(default_factory=set)
    reads: list[Element] = field(default_factory=list)
    divides: bool = False
    compares: bool = False

    @staticmethod
    def of(statements: Sequence[Stmt]) -> _Work:
        """Of all statements, those in others too."""
        work = _Work()
        for s in flat(statements):
            for value in parts(s)[0]:
                for expr in subexpressions(value):
                    work.add(expr)
            if isinstance(s, StoreElement):
                work.operations += _operators(s.offset)
        return work

    def add(self, expr: Expr) -> None:
        match expr:
            case Integer():
                self.operations += _operators(expr.value)
            case Number():
                self.operations += expr.dtype != I64
            case Element():
                self.reads.append(expr)
                self.operations += _operators(expr.offset)
            case Call():
                self.functions.add(expr.function)
                self.operations += 1
            case Apply():
                self.apply(expr)

    def apply(self, expr: Apply) -> None:
        if expr.op.name in INDEX_OPS and not expr.op.kind:
            row = INDEX_OPS[expr.op.name]
            self.compares |= row.is_bool and row.name not in ("and", "or", "not")
            if row.binds == FUNCTION:
                self.operations += row.name != "int"
            elif not row.is_bool:
                self.operations += len(expr.operands) - 1
        elif expr.op == CONVERT:
            self.operations += expr.dtype != I64
        elif expr.op != CAST:
            form = scalar_form(expr.op)
            self.functions.update(form.functions)
            self.operations += form.num_operators + len(form.functions)
            self.divides |= form.divides
            self.compares |= form.compares


def _operators(value: Polynomial) -> int:
    """The sums, products and quotients of a polynomial."""
    total = max(len(value.terms) - 1, 0)
    for factors, coefficient in value.terms:
        total += len(factors) - 1 + (abs(coefficient) != 1) if factors else 0
        for factor in factors:
            if not isinstance(factor, str):
                total += 1 + _operators(factor.numerator) + _operators(factor.denominator)
    return total


def _has_loop(statements: Sequence[Stmt]) -> bool:
    """Whether a loop stands among statements: outer loops are asked, and only innermost walked."""
    return any(isinstance(s, For | While) for s in flat(statements))


def _has_symbolic_loop(statements: Sequence[Stmt]) -> bool:
    """Whether a loop of a number of iterations that is not known stands among statements."""
    return any(
        isinstance(s, While)
        or (isinstance(s, For) and bool(expr_names(s.lower) or expr_names(s.upper)))
        for s in flat(statements)
    )


def _narrow_indices(loop: For) -> set[str]:
    """Names that the loop casts from narrower integers to places, and what it makes of them."""
    places: set[str] = set()
    for s in loop.body:
        if isinstance(s, Let):
            value = s.value
            is_cast = isinstance(value, Apply) and value.op == CAST and value.dtype == I64
            if is_cast or not places.isdisjoint(expr_names(value)):
                places.add(s.name)
    return places
