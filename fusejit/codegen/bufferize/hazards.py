"""Stores that overlap what they read: in which order no element is overwritten before it is read.

For ``W = f(R1, R2, ..)`` the point ``p`` of the loops reads, through each of the ``R``, the element
that the point ``p + distance`` writes. A store needs no copy of its whole value where

1. all distances are 0, or the elements are never the same: any order will do;
2. all distances are constant, and along each dim of one sign: the loops run *backwards* along dims
   with negative distances, so that each element is read first (``x[1:] -= x[:-1]``);
3. the distances along the outermost dim are known when the kernel runs: rows are computed in
   *blocks*, and a block is written back once no later row reads it. `codegen.bufferize.blocks` says
   how many blocks must wait: none if all distances along the dim have one sign, else as many as the
   nearer side reaches (``u[1:-1] = u[:-2] + u[2:]``). Where a distance is known only in a loop, it
   is compared with the number of rows there: slices that do not meet need no blocks.

Anything else (``a += a.T``) goes through a copy of the whole value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Op, ReshapeOp, Store, ViewOp
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Buffer, Value

Distance = Mapping[int, AffineExpr | None]
"""Per dim of the domain how far the point that writes lies after the one that reads; None: not
known, or another one for each point."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """How a store that overlaps what it reads is ordered.

    Attributes
    ----------
    backwards : frozenset of int
        Dims along which the loops run from the end to the start. With ``rows`` None nothing else
        is needed.
    rows : int or None
        The dim along which blocks of rows are computed before they are written back.
    distances : tuple of AffineExpr
        The distances along ``rows``, or along the outermost dim.
    outermost : int or None
        The dim that moves farthest in memory; None if all are of length 1.
    """

    backwards: frozenset[int] = frozenset()
    rows: int | None = None
    distances: tuple[AffineExpr, ...] = ()
    outermost: int | None = None

    @property
    def constants(self) -> tuple[int, ...] | None:
        """The distances as integers; None if some are not known before the kernel runs."""
        numbers = [d.as_constant() for d in self.distances]
        known = tuple(n for n in numbers if n is not None)
        return known if len(known) == len(numbers) else None

    @property
    def lag(self) -> int | None:
        """How many rows must be computed ahead of the one that is written back."""
        constants = self.constants
        if constants is None:
            return None
        return min(max((0, *(-c for c in constants))), max((0, *constants)))

    def __str__(self) -> str:
        if self.rows is None:
            return "runs backwards" if self.backwards else "runs forwards, in one piece"
        if self.lag is None:
            return "blocks of rows, in the direction that the distance asks for"
        if self.lag == 0:
            return "blocks of rows are computed before they are written back"
        return f"a ring of {self.lag + 1} rows is computed ahead of what is written back"


FREE = Overlap()
"""No point reads what another one writes."""


def overlap_of(
    producer: GenericOp,
    store: Store,
    defining: Mapping[Value, Op],
    versions: Mapping[int, int],
) -> Overlap | str:
    """How ``store`` must be ordered if its producer writes into it; text where it may not.

    Parameters
    ----------
    producer : GenericOp
        Computes the stored value elementwise.
    defining : mapping
        The op of each value.
    versions : mapping
        Version of each alias class before the store.
    """
    buffer = store.view.buffer
    target = store.view.map.compose(producer.inits[0].map)
    found: list[Distance] = []
    sources = [(o.value, o.map, False) for o in producer.inputs]
    if store.mask is not None:
        sources.append((store.mask, producer.inits[0].map, True))
    for value, map, is_mask in sources:
        reshaped = False
        while isinstance(op := defining.get(value), ViewOp | ReshapeOp):
            if isinstance(op, ReshapeOp):
                reshaped = True
            elif not reshaped:
                map = op.map.compose(map)
            value = op.source
        if not isinstance(op, Load):
            continue
        read = op.view.buffer
        if versions.get(read.alias_class, 0) != op.version:
            return "what it reads has been overwritten by then"
        if read.alias_class != buffer.alias_class:
            continue
        if reshaped or read is not buffer:
            return "it reads the same memory in another shape"
        if producer.payload.has_extract():
            return "it reads elements at computed places"
        map = op.view.map.compose(map)
        distance = distance_of(target, map, len(producer.domain))
        if is_mask and distance is not None and not _is_zero(distance):
            return "its mask is read from what it writes"
        if distance is not None:
            found.append(distance)
    return order_of(found, producer, target, buffer)


def may_reduce_into(
    producer: GenericOp, store: Store, defining: Mapping[Value, Op], versions: Mapping[int, int]
) -> bool:
    """Whether a reduction may write its results where a store would copy them.

    It does so element by element, each after all that is combined into it was read; a start that
    is the element itself is read before. Nothing else may lie in the memory that is written.

    Parameters
    ----------
    versions : mapping
        Version of each alias class before the store.
    """
    (init,) = producer.inits
    ordered = {d for d, i in enumerate(producer.iterators) if i is IteratorType.SEQUENTIAL}
    if store.mask or (init.combiner is None and (not ordered or init.map.dims() & ordered)):
        return False
    target = store.view.map.compose(init.map)
    read = [(operand.value, operand.map, False) for operand in producer.inputs]
    if init.start is not None:
        read.append((init.start, init.map, True))
    for value, map, is_start in read:
        while isinstance(op := defining.get(value), ViewOp):
            value, map = op.source, op.map.compose(map)
        if isinstance(op, ReshapeOp):
            return False
        if not isinstance(op, Load):
            continue
        alias_class = op.view.buffer.alias_class
        if versions.get(alias_class, 0) != op.version:
            return False
        if alias_class == store.view.buffer.alias_class:
            is_same = op.view.buffer is store.view.buffer and op.view.map.compose(map) == target
            if not (is_start and is_same):
                return False
    return True


def order_of(
    found: Sequence[Distance], producer: GenericOp, target: IndexingMap, buffer: Buffer
) -> Overlap | str:
    """The order for given distances, by the rules above; text where there is none."""
    if all(map(_is_zero, found)):
        return FREE
    backwards = set()
    for dim in range(len(producer.domain)):
        along = [_constant(distance[dim]) for distance in found]
        if None in along:
            break
        signs = {(n > 0) - (n < 0) for n in along if n is not None}
        if signs >= {-1, 1}:
            break
        if -1 in signs:
            backwards.add(dim)
    else:
        zero = AffineExpr.const(0)
        rows = _outermost(producer, target, buffer)
        distances = () if rows is None else tuple(d[rows] or zero for d in found)
        return Overlap(frozenset(backwards), None, tuple(dict.fromkeys(distances)), rows)
    return in_blocks(found, producer, target, buffer)


def in_blocks(
    found: Sequence[Distance], producer: GenericOp, target: IndexingMap, buffer: Buffer
) -> Overlap | str:
    """Blocks of rows for given distances; text where those between rows are not known."""
    rows = _outermost(producer, target, buffer)
    if rows is None:
        return "it writes a single row"
    elsewhere = [distance for distance in found if not _is_zero(distance)]
    distances = tuple(d for distance in elsewhere if (d := distance[rows]) is not None)
    if len(distances) < len(elsewhere):
        return "it reads rows other than those around the one it writes"
    return Overlap(frozenset(), rows, tuple(dict.fromkeys(distances)), rows)


def distance_of(target: IndexingMap, read: IndexingMap, rank: int) -> Distance | None:
    """How far after the reading point the writing one lies; None if they never meet.

    ``(d0 + 1)`` written and ``(d0)`` read: ``{0: -1}``.
    """
    distance: dict[int, AffineExpr | None] = {}
    for written, wanted in zip(target.results, read.results, strict=True):
        difference = wanted - written
        dims = written.dims()
        if not (written.is_linear and wanted.is_linear) or difference.dims():
            for dim in dims:
                distance.setdefault(dim, None)
            continue
        constant = difference.as_constant()
        if not dims:
            if constant:
                return None
            continue
        if len(dims) > 1:
            for dim in dims:
                distance.setdefault(dim, None)
            continue
        (dim,) = dims
        step = written.coefficient(Dim(dim))
        along: AffineExpr | None
        if constant is not None:
            if constant % step:
                return None
            along = AffineExpr.const(constant // step)
        else:
            along = difference * step if abs(step) == 1 else None
        known = distance.get(dim)
        both = known is not None and along is not None and (along - known).as_constant()
        if both:  # two axes that move together, as on a diagonal
            return None
        if known is None:
            distance[dim] = along
    zero = AffineExpr.const(0)
    return {dim: distance.get(dim, zero) for dim in range(rank)}


def _outermost(producer: GenericOp, target: IndexingMap, buffer: Buffer) -> int | None:
    """The dim that moves farthest in the memory that is written."""
    for axis in buffer.order or range(buffer.type.rank):
        for dim in sorted(target.results[axis].dims()):
            if producer.domain[dim].as_constant() != 1:
                return dim
    return None


def _constant(expr: AffineExpr | None) -> int | None:
    return None if expr is None else expr.as_constant()


def _is_zero(distance: Distance) -> bool:
    return all(_constant(d) == 0 for d in distance.values())
