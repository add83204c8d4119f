"""Python integers that leave 64 bits: an `Assert` ends the call where a kernel could wrap.

Python's integers have no end, a kernel's have 64 bits. When a trace is complete, the ranges of all
numbers (`ir.analysis.value_ranges`) show which additions, products and shifts of Python integers
stay inside. Behind each other one stands an `Assert`, unless only the low bits of what it computes
are used, which wrapping leaves as they are: ``(h * 16777619) & 0xFFFFFFFF``, ``% 2**32``.

    %3 = multiply %1, 31        ->      %3 = multiply %1, 31
                                        %4 = fits %1                # between -2**63 / 31 and ..
                                        assert %4 "a Python int fits 64 bits" raises "64 bits"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir.analysis.value_ranges import Ranges
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, Block, GenericOp, Init, Op, walk
from fusejit.ir.payload import I64, Instr, PayloadBuilder
from fusejit.ir.scalar_ops.op_ranges import FULL, Range, is_inside
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value, View
from fusejit.tracer.indexing.kernel_indices import ENDS, fits
from fusejit.tracer.ops.union_types import EXACT
from fusejit.tracer.values.operand_types import BOOL

_SCALAR = IndexingMap.identity(0)
_NEAR = 2**63 - 2**60  # how far the ends of a range are apart, surely


_ALLOWED: dict[str, Range] = {
    EXACT: (-(2**53), 2**53),
    **{
        fits(np.dtype(name)): (int(np.iinfo(name).min), int(np.iinfo(name).max))
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
    },
}


def check_overflows(graph: Graph, nonnegative: frozenset[Value]) -> None:
    """Put an `Assert` after each operation on Python integers that may leave 64 bits."""
    checks = [op for op in walk(graph.block) if isinstance(op, Assert)]
    divisions = [op for op in checks if op.error[-2:] == " 0"]
    conversions = {op: _ALLOWED[op.reason] for op in checks if op.reason in _ALLOWED}
    far = [op for op in walk(graph.block) if isinstance(op, GenericOp) and op.name == ENDS]
    candidates = [op for op in walk(graph.block) if isinstance(op, GenericOp) and _is_python(op)]
    if not candidates and not divisions and not conversions and not far:
        return
    ranges, uses = Ranges(graph, nonnegative), _uses(graph)
    low_bits: dict[Value, bool] = {}
    wide = frozenset(
        op
        for op in candidates
        if _is_wide(op, ranges) and not _only_low_bits(op.results[0], uses, ranges, low_bits)
    )
    if wide:
        ranges = Ranges(graph, nonnegative, wide)  # with a check after each, others may be needless
    left = [op for op in candidates if op in wide and _is_wide(op, ranges)]
    changed: dict[Op, list[Op]] = {op: [op, *_check(op, ranges.operands[op])] for op in left}
    defined = {value: op for op in walk(graph.block) for value in op.results}
    for check in divisions:
        made = defined.get(check.condition)
        if made is not None and made in ranges.operands:
            low, high = ranges.operands[made][0]
            if low > 0 or high < 0:
                changed[check] = []
    near = {op.results[0] for op in far if _are_near(op, ranges)}
    for op in walk(graph.block):
        if isinstance(op, Assert) and op.condition in near:
            changed[op] = []
    for check, allowed in conversions.items():
        made = defined.get(check.condition)
        if isinstance(made, GenericOp) and is_inside(ranges.of(made.inputs[0].value), allowed):
            changed[check] = []
    _replace(graph.block, changed)


def _are_near(op: GenericOp, ranges: Ranges) -> bool:
    """Whether the ends of a range are never far from each other."""
    end, start = (instr.attr for instr in op.payload.instrs[:2])
    return is_inside(ranges.affine(end - start), (-_NEAR, _NEAR))


def _is_wide(op: Op, ranges: Ranges) -> bool:
    return op in ranges.exact and not is_inside(ranges.exact[op], FULL)


def _is_python(op: GenericOp) -> bool:
    """Whether it is one operation on Python integers that may leave 64 bits."""
    if op.domain or len(op.results) != 1:
        return False
    (result,) = op.results
    is_int = result.kind is Kind.PYTHON and result.type.dtype == I64
    row = SCALAR_OPS.get(op.name)
    if not is_int or row is None or row.fits is None or not op.payload.instrs:
        return False
    last = op.payload.num_arguments + len(op.payload.instrs) - 1
    return op.payload.instrs[-1].op == op.name and op.payload.results == (last,)


def _replace(block: Block, changed: Mapping[Op, list[Op]]) -> None:
    for op in block.ops:
        for inner in op.blocks:
            _replace(inner, changed)
    block.ops[:] = [new for op in block.ops for new in changed.get(op, [op])]


# ------------------------------------------------------------------------------------- low bits
def _uses(graph: Graph) -> dict[Value, list[Op | None]]:
    """The ops that read each value; None stands for whatever is no op."""
    uses: dict[Value, list[Op | None]] = {}

    def yields(block: Block) -> Iterator[Value]:
        yield from block.yields
        for op in block.ops:
            for inner in op.blocks:
                yield from yields(inner)

    for op in walk(graph.block):
        for value in op.operand_values:
            uses.setdefault(value, []).append(op)
    leaving = [r for r in graph.results if not isinstance(r, View)]
    for value in (*yields(graph.block), *leaving):
        uses.setdefault(value, []).append(None)
    return uses


def _only_low_bits(
    value: Value,
    uses: dict[Value, list[Op | None]],
    ranges: Ranges,
    known: dict[Value, bool],
) -> bool:
    """Whether every use of a value gives the same for all numbers with the same low 64 bits."""
    if value not in known:
        known[value] = all(
            isinstance(op, GenericOp) and _keeps_low_bits(op, value, uses, ranges, known)
            for op in uses.get(value, ())
        )
    return known[value]


def _keeps_low_bits(
    op: GenericOp,
    value: Value,
    uses: dict[Value, list[Op | None]],
    ranges: Ranges,
    known: dict[Value, bool],
) -> bool:
    if op not in ranges.operands or op.results[0].type.dtype != I64:
        return False
    if not op.payload.instrs:  # the same number, as another kind of one
        return _only_low_bits(op.results[0], uses, ranges, known)
    last, refs = op.payload.instrs[-1], [k for k, o in enumerate(op.inputs) if o.value is value]
    if any(set(refs) & set(instr.operands) for instr in op.payload.instrs[:-1]):
        return False
    at = [k for k, ref in enumerate(last.operands) if ref in refs]
    given = ranges.operands[op]
    if last.op == "bitwise_and" and len(at) == 1 and given[1 - at[0]][0] >= 0:
        return True
    if last.op == "remainder" and at == [0] and _is_power_of_two(given[1]):
        return True
    row = SCALAR_OPS.get(last.op)
    if row is None or not row.keeps_low_bits or (last.op == "left_shift" and at != [0]):
        return False
    return _only_low_bits(op.results[0], uses, ranges, known)


def _is_power_of_two(given: Range) -> bool:
    low, high = given
    return low == high > 0 and not high & (high - 1)


# ------------------------------------------------------------------------------------ the checks
@dataclass(slots=True)
class _Sum:
    """The operands of an op and its result in the payload of its check."""

    builder: PayloadBuilder
    refs: list[int]
    result: int
    ranges: list[Range]

    def op(self, name: str, *operands: int) -> int:
        """A scalar op on int64."""
        return self.builder.op(name, operands, I64)

    def asks(self, name: str, *operands: int) -> int:
        """A comparison, or a connective of bools."""
        return self.builder.op(name, operands, BOOL)

    def const(self, number: int) -> int:
        """A literal."""
        return self.builder.const(number, I64)

    def at_most(self, ref: int, given: Range, allowed: Range) -> int:
        """Whether a number in the range ``given`` is in ``allowed``."""
        tests = []
        if given[0] < allowed[0]:
            tests.append(self.asks("greater_equal", ref, self.const(allowed[0])))
        if given[1] > allowed[1]:
            tests.append(self.asks("less_equal", ref, self.const(allowed[1])))
        return self.asks("logical_and", *tests) if len(tests) == 2 else tests[0]


def _check(op: GenericOp, ranges: list[Range]) -> list[Op]:
    """A bool that says whether the result of ``op`` fits 64 bits, and the check of it."""
    payload = op.payload
    builder = PayloadBuilder(payload.arguments[: payload.num_inputs], [BOOL])
    refs = list(range(payload.num_arguments))
    last = payload.instrs[-1]
    for instr in payload.instrs:
        made = Instr(instr.op, tuple(refs[o] for o in instr.operands), instr.dtype, instr.attr)
        refs.append(builder.add(made))
    given = [refs[o] for o in last.operands]
    fits_in_64_bits = SCALAR_OPS[op.name].fits
    assert fits_in_64_bits is not None
    ok = fits_in_64_bits(_Sum(builder, given, refs[-1], ranges))
    result = Value(f"{op.results[0].name}_fits", TensorType(BOOL, ()), Kind.PYTHON)
    fits = replace(
        op,
        results=(result,),
        inits=(Init(_SCALAR),),
        payload=builder.finish([ok]),
        name="fits",
    )
    reason = "a Python int fits 64 bits"
    return [fits, Assert(condition=result, reason=reason, error="64 bits", location=op.location)]
