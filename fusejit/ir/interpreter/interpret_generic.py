"""What a generic op means.

Every input is gathered over the whole domain, the payload is computed at every point at once, and
each result is written or reduced. Sequential dims are run one point at a time, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from fusejit.errors import InternalError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.interpreter.mapped_access import (
    Symbols,
    check_bounds,
    evaluate_on_grid,
    gather,
    scatter,
    uninitialised,
)
from fusejit.ir.interpreter.summation import BUFFER, pairwise_sum, piece_of_rows, sum_in_pieces
from fusejit.ir.ops import GenericOp, Init
from fusejit.ir.scalar_ops.combiners import COMBINERS, Combiner
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


def run_generic(
    op: GenericOp, values: Mapping[Value, np.ndarray], symbols: Symbols
) -> list[np.ndarray]:
    """The results of a generic op."""
    domain = tuple(e.evaluate((), symbols) for e in op.domain)
    inputs = [values[o.value] for o in op.inputs]
    results = [
        _started(init, result, values, symbols)
        for init, result in zip(op.inits, op.results, strict=True)
    ]
    sequential = [d for d, i in enumerate(op.iterators) if i is IteratorType.SEQUENTIAL]
    for point in product(*(range(domain[d]) for d in sequential)):
        fixed = dict(zip(sequential, point, strict=True))
        _run_part(op, domain, fixed, inputs, results, symbols)
    return results


def _started(
    init: Init, result: Value, values: Mapping[Value, np.ndarray], symbols: Symbols
) -> np.ndarray:
    """The array a result starts from: the start value, the identity, or nothing yet."""
    shape = tuple(e.evaluate((), symbols) for e in result.type.extents)
    if init.start is not None:
        start = values[init.start]
        if start.shape != shape:
            raise InternalError(f"{result} of shape {shape} starts from shape {start.shape}")
        return start.copy()
    dtype = result.type.dtype
    if init.combiner is not None:
        return np.full(shape, COMBINERS[init.combiner].identity(dtype), dtype)
    return uninitialised(shape, dtype)


def _run_part(
    op: GenericOp,
    domain: Sequence[int],
    fixed: Mapping[int, int],
    inputs: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
    symbols: Symbols,
) -> None:
    """Run the points of the domain whose sequential dims are ``fixed``, all at once."""
    grid = tuple(1 if d in fixed else n for d, n in enumerate(domain))
    shift = [AffineExpr.dim(d) + fixed.get(d, 0) for d in range(len(domain))]

    def shifted(indexing_map: IndexingMap) -> IndexingMap:
        return indexing_map.over(len(domain), shift)

    def index(expr: AffineExpr) -> np.ndarray:
        return evaluate_on_grid(expr.substitute(shift), grid, symbols)

    def extract(number: int, subscripts: Sequence[np.ndarray]) -> np.ndarray:
        array = inputs[number]
        indices = tuple(np.broadcast_to(np.asarray(s, np.int64), grid) for s in subscripts)
        check_bounds(indices, array.shape, f"extract in{number}")
        return np.array(np.broadcast_to(array[indices], grid))

    read = set(op.payload.results).union(*(i.operands for i in op.payload.instrs))
    sources = [*zip(inputs, (o.map for o in op.inputs), strict=True)]
    sources += zip(results, (i.map for i in op.inits), strict=True)
    arguments = [
        gather(array, shifted(indexing_map), grid, symbols) if number in read else None
        for number, (array, indexing_map) in enumerate(sources)
    ]
    yielded = op.payload.evaluate(arguments, index, extract)
    for init, result, value in zip(op.inits, results, yielded, strict=True):
        everywhere = np.broadcast_to(np.asarray(value, result.dtype), grid)
        if init.combiner is None:
            scatter(result, shifted(init.map), everywhere, symbols)
        else:
            _combine(COMBINERS[init.combiner], shifted(init.map), result, everywhere, symbols)


def _combine(
    combiner: Combiner,
    init_map: IndexingMap,
    result: np.ndarray,
    values: np.ndarray,
    symbols: Symbols,
) -> None:
    """Reduce ``values`` over the dims that ``init_map`` lacks, and combine with what is there."""
    reduced = [d for d in range(values.ndim) if d not in init_map.dims()]
    if not reduced:
        partial = values
    elif combiner.in_tree and values.dtype.kind in combiner.ordered:
        partial = _reduce_in_trees(combiner, values, reduced)
    else:
        partial = _reduce_in_turn(combiner, values, reduced)
    before = gather(result, init_map, partial.shape, symbols)
    total = combine(combiner, before, partial)
    if reduced and combiner.is_extremum(total.dtype):
        total = total + total.dtype.type(0)  # a zero is +0.0, whatever the order met first
    scatter(result, init_map, total, symbols)


def _reduce_in_trees(combiner: Combiner, values: np.ndarray, reduced: Sequence[int]) -> np.ndarray:
    """`pairwise_sum` over some dims, the last one running fastest; of all numbers or of pieces."""
    kept = [d for d in range(values.ndim) if d not in reduced]
    shape = tuple(1 if d in reduced else n for d, n in enumerate(values.shape))
    count = prod(values.shape[d] for d in reduced)
    numbers = values.transpose(*reduced, *kept).reshape(count, prod(shape))
    if combiner.in_pieces:
        piece = piece_of_rows(values.shape[reduced[-1]]) if combiner.in_rows else BUFFER
        total = sum_in_pieces(numbers, piece)
    else:
        total = pairwise_sum(numbers, combiner.accumulators)
    return np.asarray(total, values.dtype).reshape(shape)


def _reduce_in_turn(combiner: Combiner, values: np.ndarray, reduced: Sequence[int]) -> np.ndarray:
    """Merge from the first element to the last, the last reduced dim running fastest."""
    shape = tuple(1 if d in reduced else n for d, n in enumerate(values.shape))
    total = np.full(shape, combiner.identity(values.dtype), values.dtype)
    for point in product(*(range(values.shape[d]) for d in reduced)):
        at = dict(zip(reduced, point, strict=True))
        part = tuple(slice(at[d], at[d] + 1) if d in at else slice(None) for d in range(total.ndim))
        total = combine(combiner, total, values[part])
    return total


def combine(combiner: Combiner, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Merge two partial results elementwise."""
    merged = SCALAR_OPS[combiner.scalar_op].evaluate((left, right), left.dtype)
    return np.asarray(merged, left.dtype)
