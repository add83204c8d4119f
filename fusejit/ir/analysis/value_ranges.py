"""Ranges of the integers of a graph: between which bounds each number of rank 0 is.

Loops are run until the ranges of what they carry hold, widened in stages, then once more from what
was found. A counter, which one iteration moves by at most ``DRIFT``, is taken to stay within
``SLOW``, one that it moves by at most ``STEP`` within ``STEPS``: to leave them would take 2**50
iterations. Behind the check of an index the integer is a size at most, until the block ends in
which it is checked, and in what that block yields.
"""

from __future__ import annotations

import numpy as np

from fusejit.ir.affine import AffineExpr, Atom, FloorDiv, Mod
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Assert,
    Bind,
    Block,
    Cond,
    ConstantOp,
    GenericOp,
    HostCall,
    Loop,
    Op,
    symbols_bound,
    walk,
)
from fusejit.ir.scalar_ops.op_ranges import FULL, Range, floor_divided, hull, is_inside, remainder
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.values import Value as GraphValue

SLOW, DRIFT = 2**62, 2**12
STEPS, STEP = 2**52, 2**2
_STAGES = (0, 2**8, 2**16, 2**32, LARGEST_SYMBOL, STEPS, 2**53)


class Ranges:
    """The ranges of a graph.

    Parameters
    ----------
    graph : Graph
    nonnegative : collection of Value
        Scalars of the launcher that a guard keeps from being negative.
    checked : collection of Op
        Ops whose results a check keeps from overflowing.

    Attributes
    ----------
    exact : dict
        What each generic op of rank 0 would yield if integers had no end, by op.
    operands : dict
        The ranges of the operands of its last instruction.
    """

    def __init__(
        self,
        graph: Graph,
        nonnegative: frozenset[GraphValue] = frozenset(),
        checked: frozenset[Op] = frozenset(),
    ) -> None:
        self._checked = checked
        self.values: dict[GraphValue, Range] = dict.fromkeys(nonnegative, (0, FULL[1]))
        self.symbols: dict[str, Range] = {}
        self.exact: dict[Op, Range] = {}
        self.operands: dict[Op, list[Range]] = {}
        self._carried: dict[Op, list[Range]] = {}
        self._bound: dict[str, GraphValue] = {}  # what symbols of blocks name
        self._met: dict[Op, tuple[list[Range | None], list[Range]]] = {}  # ranges around a loop
        self._outside: dict[Op, tuple[list[GraphValue], list[str]]] = {}
        self._yielded: dict[Block, list[Range]] = {}  # by a block, of what it yields
        self._narrowed: dict[GraphValue, Range] = {}  # in the current block: ranges before it
        for symbol in graph.symbols:
            low = 0 if symbol.expr.op == "size" else -LARGEST_SYMBOL
            self.symbols[symbol.name] = (low, LARGEST_SYMBOL)
        self._block(graph.block)

    def of(self, value: GraphValue) -> Range:
        """The range of a number, or of the elements of an array."""
        return self.values.get(value) or of_dtype(value.type.dtype)

    def affine(self, expr: AffineExpr) -> Range:
        """The range of an expression of symbols."""
        low = high = expr.constant
        for atom, coefficient in expr.terms:
            bounds = self._atom(atom)
            ends = [coefficient * b for b in bounds]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _atom(self, atom: Atom) -> Range:
        if not isinstance(atom, FloorDiv | Mod):
            return self.symbols.get(str(atom), FULL)
        by = atom.denominator
        divisor = (by, by) if isinstance(by, int) else self.symbols.get(by.name, FULL)
        rule = floor_divided if isinstance(atom, FloorDiv) else remainder
        return rule(self.affine(atom.numerator), divisor)

    def _block(self, block: Block) -> None:
        outer, self._narrowed = self._narrowed, {}
        for op in block.ops:
            self._op(op)
        self._yielded[block] = list(map(self.of, block.yields))
        self.values.update(self._narrowed)  # what is checked in a block holds only there
        self._narrowed = outer

    def _op(self, op: Op) -> None:
        match op:
            case GenericOp():
                if not op.domain and len(op.results) == 1 and op.inits[0].combiner is None:
                    self._number(op)
            case ConstantOp():
                if op.results[0].type.dtype.kind in "iub":
                    self.values[op.results[0]] = (int(op.number), int(op.number))
            case Bind():
                self.symbols[op.symbol] = self.of(op.value)
                self._bound[op.symbol] = op.value
            case Assert():
                if op.shown is not None and isinstance(op.shown.index, AffineExpr):
                    self._indexed(op.shown.index, self.affine(op.shown.size)[1])
            case HostCall():
                self.symbols.update(dict.fromkeys(op.sizes, (0, LARGEST_SYMBOL)))
            case Loop():
                self._loop(op)
            case Cond():
                for block in op.blocks:
                    self._block(block)
                pairs = zip(*(self._yielded[block] for block in op.blocks), strict=True)
                for result, (left, right) in zip(op.results, pairs, strict=True):
                    self.values[result] = hull(left, right)

    def _indexed(self, index: AffineExpr, size: int) -> None:
        """An integer is an index of an axis: it is no further from 0 than the size."""
        if len(index.terms) != 1 or index.terms[0][1] != 1:
            return
        value = self._bound.get(str(index.terms[0][0]))
        if value is None:
            return
        low, high = self.of(value)
        low, high = max(low, -size - index.constant), min(high, size - 1 - index.constant)
        if low <= high:
            self._narrowed.setdefault(value, self.of(value))
            self.values[value] = (low, high)

    def _loop(self, op: Loop) -> None:
        if op.induction is not None and op.lower is not None and op.upper is not None:
            first, last = self.affine(op.lower)[0], self.affine(op.upper)[1] - 1
            self.symbols[op.induction] = (first, max(first, last))
        starts = [self.of(start) for start in op.carried]
        found = self._found_outside(op), starts
        if self._met.get(op) == found:
            return  # all it depends on is as it was: so is all that it computes
        self._met[op] = found
        ranges = list(map(hull, starts, self._carried.get(op, starts)))
        while (wider := list(map(_widened, ranges, self._iteration(op, ranges)))) != ranges:
            ranges = wider
        hulls = map(hull, starts, self._iteration(op, ranges))
        narrow = [h if is_inside(h, r) else r for h, r in zip(hulls, ranges, strict=True)]
        if narrow != ranges and all(map(is_inside, self._iteration(op, narrow), narrow)):
            ranges = narrow
        else:
            self._iteration(op, ranges)
        self._carried[op] = ranges
        self.values.update(zip(op.results, ranges, strict=True))

    def _found_outside(self, op: Loop) -> list[Range | None]:
        """The ranges of what a loop reads that it does not make."""
        if op not in self._outside:
            self._outside[op] = _read_outside(op)
        values, symbols = self._outside[op]
        bound = [self._bound[symbol] for symbol in symbols if symbol in self._bound]
        numbers = (self.values.get(value) for value in (*values, *bound))
        return [*numbers, *(self.symbols.get(symbol) for symbol in symbols)]

    def _iteration(self, op: Loop, ranges: list[Range]) -> list[Range]:
        """The ranges of what the body yields, if its arguments have the given ones."""
        self.values.update(zip(op.body.arguments, ranges, strict=True))
        for block in op.blocks:
            self._block(block)
        return self._yielded[op.body]

    def _number(self, op: GenericOp) -> None:
        payload = op.payload
        ranges = [self.of(o.value) for o in op.inputs]
        ranges += [of_dtype(d) for d in payload.inits]
        exact = ranges[0] if ranges else FULL
        given: list[Range] = []
        for instr in payload.instrs:
            given = [ranges[o] for o in instr.operands]
            row = SCALAR_OPS.get(instr.op)
            if instr.op == "index":
                exact = self.affine(instr.attr)
            elif instr.op == "const":
                is_whole = instr.dtype.kind in "iub"
                exact = (int(instr.attr), int(instr.attr)) if is_whole else FULL
            elif row is not None and row.range_of is not None and instr.dtype.kind in "iu":
                exact = row.range_of(*given)
            elif instr.op == "cast" and payload.dtype_of(instr.operands[0]).kind in "iub":
                exact = given[0]
            else:
                exact = of_dtype(instr.dtype)
            ranges.append(_within(exact, instr.dtype))
        self.exact[op], self.operands[op] = exact, given
        self.values[op.results[0]] = ranges[payload.results[0]]
        if op in self._checked:
            step = 1
            if payload.instrs[-1].op == "multiply":  # 3 * n ends at the last multiple of 3
                step = next((low for low, high in given if low == high > 0), 1)
            low = -(-max(exact[0], FULL[0]) // step) * step
            high = min(exact[1], FULL[1]) // step * step
            self.values[op.results[0]] = (low, high) if low <= high else FULL


def _read_outside(loop: Loop) -> tuple[list[GraphValue], list[str]]:
    """The values and symbols that a loop reads and does not define."""
    values: dict[GraphValue, None] = {}
    symbols: dict[str, None] = {}
    made: set[GraphValue | str] = set()
    for op in [loop, *(inner for block in loop.blocks for inner in walk(block))]:
        exprs: list[AffineExpr] = []
        if isinstance(op, Loop):
            exprs += [e for e in (op.lower, op.upper) if e is not None]
            made |= set() if op.induction is None else {op.induction}
        elif isinstance(op, Assert) and op.shown is not None:
            shown = (op.shown.index, op.shown.size)
            exprs += [e for e in shown if isinstance(e, AffineExpr)]
        elif isinstance(op, GenericOp):
            symbols |= dict.fromkeys(op.payload.symbols())
        symbols |= dict.fromkeys(s for e in exprs for s in e.symbols())
        values |= dict.fromkeys(op.operand_values)
        made |= {*symbols_bound(op)}
        for block in op.blocks:
            values |= dict.fromkeys(block.yields)
            made |= {*block.arguments}
        made |= set() if op is loop else {*op.results}
    return [v for v in values if v not in made], [s for s in symbols if s not in made]


def of_dtype(dtype: np.dtype) -> Range:
    """All numbers of an integer dtype, cut to 64 bits with a sign."""
    if dtype.kind == "b":
        return (0, 1)
    if dtype.kind not in "iu":
        return FULL
    count = 1 << (8 * dtype.itemsize)
    return (-count // 2, count // 2 - 1) if dtype.kind == "i" else (0, min(count - 1, FULL[1]))


def _within(exact: Range, dtype: np.dtype) -> Range:
    possible = of_dtype(dtype)
    return exact if is_inside(exact, possible) else possible


def _widened(now: Range, seen: Range) -> Range:
    """A range with room for what an iteration makes of it: the next stage that holds it.

    What one more iteration moves on from there, by a little, is a counter.
    """
    low, high = -_raised(-now[0], -seen[0]), _raised(now[1], seen[1])
    return max(low, FULL[0]), min(high, FULL[1])


def _raised(now: int, seen: int) -> int:
    if seen <= now or (now == SLOW and seen <= SLOW + DRIFT):
        return now
    if now in _STAGES[1:] and now <= STEPS and seen <= now + STEP:
        return STEPS
    if now in _STAGES[2:] and seen <= now + DRIFT:  # from the first one on 2 * n is near as well
        return SLOW
    if SLOW <= seen <= SLOW + DRIFT:  # counted by a loop inside
        return SLOW
    return next((stage for stage in _STAGES if seen <= stage), 2**63)
