"""The loops of one op: order, collapsing, tiles, and payload instructions at their own depth.

A `LoopNest` describes the op after its operands got memrefs: one loop per dim (a name and an
extent) and, for each operand, its element offset as a polynomial of the loop names. Loops are put
into the order that touches the fewest cache lines, those that step through all operands as one are
merged, and dims in which operands disagree about the unit stride are tiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fusejit.dataclass import dataclass, field, replace
from fusejit.ir.loops.index_math import Index, int_of, operand
from fusejit.ir.loops.mentioned_names import expr_names
from fusejit.ir.loops.nodes import (
    Element,
    Expr,
    For,
    Let,
    Number,
    Pointer,
    Role,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import cast, convert, scalar
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import Payload
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import dtype_name

TILE = 32


def token(dtype: np.dtype) -> str:
    """The dtype token of generated source, one of `intrinsic_table.DTYPE_TOKENS`."""
    return "boolean" if dtype.kind == "b" else dtype_name(dtype)


@dataclass(frozen=True, slots=True)
class LoopDim:
    """A loop: its variable, its extent, and whether it is a reduction."""

    var: str
    extent: Polynomial
    is_reduction: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """What an operand of the nest reads or writes: an offset into memory, or an expression.

    One that is ``guarded`` has an offset without some loop on which its subscripts depend, as in
    ``x[-i, i]`` of one column: where that loop has no iteration, the element need not exist.
    """

    pointer: Pointer | None
    offset: Polynomial
    expr: Expr | None = None
    guarded: bool = False
    role: Role = Role.OWN

    def load(self) -> Expr:
        """The expression that reads it."""
        return self.expr if self.pointer is None else Element(self.pointer, self.offset)  # type: ignore[return-value]

    def store(self, value: Expr) -> Stmt:
        """What writes a value to it: a store, or a name for a number."""
        if self.pointer is not None:
            return StoreElement(self.pointer, self.offset, value)
        assert isinstance(self.expr, Var)
        return Let(self.expr.name, value)

    def runs_through(self, outer: LoopDim, inner: LoopDim) -> bool:
        """Whether it moves through two loops as through one."""
        if not all(self.offset.is_linear_in(loop.var) for loop in (outer, inner)):
            return False
        step = self.offset.coefficient(inner.var)
        return self.offset.coefficient(outer.var) == step * inner.extent

    def substitute(self, var: str, value: Polynomial) -> Reference:
        """The reference with a loop variable replaced."""
        return replace(self, offset=self.offset.substitute(var, value))


@dataclass(slots=True)
class LoopNest:
    """One op ready to be written as loops. ``loops`` stand outermost first."""

    op: GenericOp
    loops: list[LoopDim]
    inputs: list[Reference]
    outputs: list[Reference]
    index_dims: dict[int, Polynomial]  # what each dim of the domain is, in terms of loop names
    extract: Callable[[int, Sequence[Expr]], Expr] | None = None
    prefix: str = ""  # of the names of payload values, where several nests share a function
    mask: Reference | None = None  # where it reads False nothing is written
    starts: list[Reference | None] = field(default_factory=list)  # of the totals of a reduction
    pinned: frozenset[str] = field(default_factory=frozenset)  # loops that must stay as they are

    def inits(self, outputs: Sequence[Reference]) -> list[Expr | None]:
        """What the payload reads of its results."""
        reads = self.op.payload.reads_init
        return [r.load() if reads(at) else None for at, r in enumerate(outputs)]

    @property
    def references(self) -> list[Reference]:
        """Everything in memory that is read or written."""
        masks = () if self.mask is None else (self.mask,)
        return [r for r in (*self.inputs, *self.outputs, *masks) if r.pointer is not None]

    def stride(self, reference: Reference, var: str) -> Polynomial:
        """How far one step of a loop moves in an operand."""
        return reference.offset.coefficient(var)


# ---------------------------------------------------------------------------------- loop order
def order_loops(nest: LoopNest) -> None:
    """Put the unit-stride loop innermost and the others by the distance they move.

    Distances are compared on the first operand (outputs before inputs) that can tell them apart.
    """
    position = {loop.var: at for at, loop in enumerate(nest.loops)}

    def misses(loop: LoopDim) -> float:
        """Cache lines touched per step, as innermost loop."""
        strides = [nest.stride(r, loop.var).as_constant() for r in nest.references]
        total = sum(1.0 if s is None else min(1.0, abs(s) * 8.0 / 64.0) for s in strides)
        # a store into a column costs the line twice
        stored = [r for r in nest.outputs if r.pointer is not None]
        strides = [nest.stride(r, loop.var).as_constant() for r in stored]
        return total + sum(0.5 for s in strides if s is None or abs(s) > 1)

    def distance(loop: LoopDim) -> tuple[int, ...]:
        """Larger for outer loops: the degree and size of the strides, operand by operand."""
        keys: list[int] = []
        for reference in (*nest.outputs, *nest.inputs):
            if reference.pointer is None:
                continue
            stride = nest.stride(reference, loop.var)
            constant = stride.as_constant()
            if constant == 0:
                keys.append(-1)
            elif constant is not None:
                keys.append(abs(constant))
            else:
                degree = max(len(names) for names, _ in stride.terms)
                keys.append(1_000_000 + degree)
        return tuple(keys)

    if not nest.loops:
        return
    inner = min(nest.loops, key=lambda p: (misses(p), -position[p.var]))
    rest = [loop for loop in nest.loops if loop is not inner]
    rest.sort(key=lambda p: (tuple(-k for k in distance(p)), position[p.var]))
    nest.loops = [*rest, inner]


def drop_unit_loops(nest: LoopNest) -> None:
    """Drop loops of one step: the edge of a stencil is a row, its corner a single point."""
    one = Polynomial.const(1)
    for loop in [p for p in nest.loops if p.extent == one and p.var not in nest.pinned]:
        nest.loops.remove(loop)
        _stay_at_zero(nest, loop.var)


def _stay_at_zero(nest: LoopNest, var: str) -> None:
    """Replace a loop's name by 0 in all that the nest reads and writes."""
    zero = Polynomial.const(0)
    nest.inputs = [r.substitute(var, zero) for r in nest.inputs]
    nest.outputs = [r.substitute(var, zero) for r in nest.outputs]
    nest.starts = [r and r.substitute(var, zero) for r in nest.starts]
    nest.mask = nest.mask and nest.mask.substitute(var, zero)
    nest.index_dims = {d: p.substitute(var, zero) for d, p in nest.index_dims.items()}


def collapse_loops(nest: LoopNest, *, reductions: bool = True) -> None:
    """Merge loops of one kind through which every operand moves as through one.

    Before: ``for i0 in range(s0): for i1 in range(s1): o[s1*i0 + i1]``;
    after: ``for i1 in range(s0*s1): o[i1]``. Without ``reductions``, parallel loops only.
    """
    for kind in (False, True) if reductions else (False,):
        loops = [loop for loop in nest.loops if loop.is_reduction == kind]
        inner = loops.pop() if loops else None
        while inner is not None and loops:
            outer = loops.pop()
            if not _may_collapse(nest, outer, inner):
                inner = outer
                continue
            merged = LoopDim(inner.var, outer.extent * inner.extent, kind)
            nest.loops[nest.loops.index(inner)] = merged
            nest.loops.remove(outer)
            _stay_at_zero(nest, outer.var)
            inner = merged


def _may_collapse(nest: LoopNest, outer: LoopDim, inner: LoopDim) -> bool:
    if {outer.var, inner.var} & nest.pinned:
        return False
    if nest.op.payload.has_index() or nest.op.payload.has_extract():
        return False
    starts = [r for r in nest.starts if r is not None and r.pointer is not None]
    return all(r.runs_through(outer, inner) for r in (*nest.references, *starts))


def needs_tiles(nest: LoopNest) -> tuple[str, str] | None:
    """The (outer, inner) loops to tile because some operand has its unit stride in ``outer``."""
    if len(nest.loops) < 2:
        return None
    inner = nest.loops[-1]
    for loop in reversed(nest.loops[:-1]):
        for reference in nest.references:
            unit = nest.stride(reference, loop.var).as_constant()
            across = nest.stride(reference, inner.var).as_constant()
            is_unit = unit is not None and abs(unit) == 1
            if is_unit and (across is None or abs(across) > 8):
                return loop.var, inner.var
    return None


# --------------------------------------------------------------------------------- payload text
def point_of(
    nest: LoopNest,
    inputs: Sequence[Reference],
    inits: Sequence[Expr | None],
    dims: dict[int, Polynomial],
    prefix: str | None = None,
) -> tuple[list[Let], list[Expr]]:
    """All instructions for one point: named values, and the expressions that are yielded.

    The names begin with the nest's prefix, if there is no other ``prefix``.
    """
    prefix = nest.prefix if prefix is None else prefix
    payload: Payload = nest.op.payload
    lets: list[Let] = []
    refs: list[Expr | None] = []
    used = {*payload.results, *(o for i in payload.instrs for o in i.operands)}
    named: dict[tuple[Pointer, Polynomial], Var] = {}
    for position, reference in enumerate(inputs):
        if position not in used:
            refs.append(None)
        elif reference.pointer is None:
            refs.append(reference.expr)
        else:
            key = (reference.pointer, reference.offset)
            if key not in named:
                named[key] = Var(f"{prefix}v{position}")
                name = named[key].name
                lets.append(Let(name, reference.load(), guarded=reference.guarded))
            refs.append(named[key])
    first_init = len(refs)
    refs.extend(inits)
    for at, position in enumerate(payload.results):
        if first_init <= position < min(first_init + at, len(refs)):  # written before this one
            start, name = refs[position], f"{prefix}old{position}"
            if start is not None and start != Var(name):
                lets.append(Let(name, start))
                refs[position] = Var(name)
    for position, instr in enumerate(payload.instrs):
        operands = [refs[o] for o in instr.operands]
        given = [o for o in operands if o is not None]
        assert len(given) == len(operands), "the payload reads an operand that has no value"
        if instr.op == "const":
            refs.append(Number(instr.attr, instr.dtype))
            continue
        if instr.op == "index":
            value: Expr = int_of(Polynomial.from_affine(instr.attr, dims))
        elif instr.op == "cast":
            value = _cast(given[0], payload.dtype_of(instr.operands[0]), instr.dtype)
        elif instr.op == "extract":
            assert nest.extract is not None
            value = nest.extract(instr.attr, given)
        else:
            of = payload.dtype_of(instr.operands[0])
            scalar_form = not nest.op.domain
            value = scalar(instr.op, *given, dtype=instr.dtype, of=of, scalar_form=scalar_form)
        name = f"{prefix}t{position}"
        lets.append(Let(name, value, guarded=instr.op == "extract"))
        refs.append(Var(name))
    results = [refs[r] for r in payload.results]
    return lets, [r for r in results if r is not None]


def _cast(value: Expr, source: np.dtype, target: np.dtype) -> Expr:
    """A cast; those that are exact need no care about ranges."""
    if source.kind == "b" or (target.kind == "f" and source.kind in "iuf"):
        return convert(value, target)
    return cast(value, target)


# ---------------------------------------------------------------------------------------- loops
def wrap(loops: Sequence[LoopDim], body: Sequence[Stmt]) -> list[Stmt]:
    """``body`` inside ``loops``, outermost first."""
    statements = list(body)
    for loop in reversed(loops):
        statements = [over(loop.var, loop.extent, statements)]
    return statements


def place_by_depth(
    loops: Sequence[LoopDim], lets: Sequence[Let], innermost: Sequence[Stmt]
) -> list[Stmt]:
    """Loops around statements, each ``let`` before the first loop it does not depend on.

    What is guarded stays inside: LLVM moves it where it is safe.
    """
    depth_of: dict[str, int] = {loop.var: at + 1 for at, loop in enumerate(loops)}
    at_depth: list[list[Stmt]] = [[] for _ in range(len(loops) + 1)]
    for let in lets:
        depth = max((depth_of.get(n, 0) for n in expr_names(let.value)), default=0)
        depth = len(loops) if let.guarded else depth
        depth_of[let.name] = depth
        at_depth[depth].append(let)
    statements: list[Stmt] = [*at_depth[len(loops)], *innermost]
    for at in range(len(loops) - 1, -1, -1):
        loop = loops[at]
        statements = [*at_depth[at], over(loop.var, loop.extent, statements)]
    return statements


def over(var: str, count: Index, body: Sequence[Stmt]) -> For:
    """``for var in range(count)``."""
    return For(var, operand(0), operand(count), list(body))


def point_cost_ps(nest: LoopNest) -> int:
    """Estimated picoseconds per point of the domain: arithmetic plus memory, one thread."""
    payload = nest.op.payload
    total = 100.0
    for instr in payload.instrs:
        row = SCALAR_OPS.get(instr.op)
        total += 1000.0 * row.cost_ns * 0.5 if row is not None else 50.0
    total += sum(60.0 for r in nest.references)
    return int(total)


def calls_vector_functions(nest: LoopNest) -> bool:
    """Whether the payload calls functions such as ``exp``."""
    rows = (SCALAR_OPS.get(instr.op) for instr in nest.op.payload.instrs)
    return any(row is not None and row.math is not None for row in rows)
