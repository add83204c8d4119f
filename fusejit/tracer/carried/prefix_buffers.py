"""`PrefixBuffers`: memory for arrays that one branch of a conditional shortens: a prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value
from fusejit.tracer.carried.joined import Branches, Joined, note_copies
from fusejit.tracer.carried.regions import Region, is_array
from fusejit.tracer.carried.shrinking import (
    are_rows_of_one_kind,
    capacity,
    is_left_of,
    number_of_rows,
)
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.ops.number_values import number_value
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import affine_number


class PrefixBuffers:
    """Those of one conditional.

    Parameters
    ----------
    region : Region
        The conditional.
    """

    def __init__(self, region: Region) -> None:
        self._region = region
        self._trace = region.trace
        self._before: Mapping[str, Any] = {}
        self._prefix_buffers: dict[str, TracedArray] = {}  # by name
        self._never_grow: set[str] = set()  # of those, what has no more rows than in front

    def put(self, branches: Branches) -> JoinedRows:
        """The second branch puts its rows there."""
        prefix, array = self._prefix_buffers[branches.name], branches.sides[1]
        self._trace.store(rows(prefix, array.extents).memory(), array.value())
        return JoinedRows(branches, prefix)

    def open(self, then: Mapping[str, Any], before: Mapping[str, Any]) -> None:
        """Memory for arrays that one branch cuts; the first branch puts its rows there.

        ``then`` and ``before`` have what the names hold after that branch, and before both.
        """
        self._before = before
        for name in self._region.names:
            array = then[name]
            if not self._region.decided("cut", name) or not is_array(array):
                continue
            size = capacity(array)
            if size is None or array.storage.order is not None:
                continue
            extents = (size, *array.extents[1:])
            buffer = self._trace.allocate(
                "c0",
                TensorType(array.dtype, extents),
                None,
                self._trace.blocks[-2],  # before the conditional
                self._region.location,
            )
            prefix = TracedArray.whole(Storage.of_buffer(self._trace, buffer))
            self._prefix_buffers[name] = prefix
            self._trace.store(rows(prefix, array.extents).memory(), array.value())
            if is_left_of(before[name], array):
                self._never_grow.add(name)

    def is_cut(self, name: str, left: Any, right: Any) -> bool:
        """Whether an array is cut in one branch, and there is memory for either form of it."""
        if name in self._prefix_buffers:
            return is_left_of(self._prefix_buffers[name], right)
        if are_rows_of_one_kind(left, right) and self._region.decided("cut", name) is None:
            self._region.decide(True, "cut", name)
        return False

    def count(self, every: Sequence[JoinedRows]) -> list[JoinedCount]:
        """The numbers of rows: one for arrays that are equally long in either branch."""
        counts: dict[tuple[AffineExpr, AffineExpr], JoinedCount] = {}
        canonical = self._trace.decisions.canonical
        for one in every:
            left, right = one.sides
            before = self._before[one.name]
            never_grows = one.name in self._never_grow and is_left_of(before, right)
            lengths = canonical(left.extents[0]), canonical(right.extents[0])
            most = before.extents[0] if never_grows else None
            one.count = counts.setdefault(lengths, JoinedCount(one, lengths, most))
        return [*counts.values()]


class JoinedRows(Joined):
    """The rows of an array that the branch which has run has left."""

    count: JoinedCount

    def __init__(self, branches: Branches, prefix: TracedArray) -> None:
        super().__init__(branches)
        self.prefix = prefix

    def hand_on(self, side: int) -> list[Value]:
        """Nothing: both branches have stored their rows."""
        return []

    def join(self, results: Sequence[Value]) -> Any:
        """The rows; their number is joined before."""
        buffer = self.prefix.storage.buffer
        assert buffer is not None
        storage = Storage.of_buffer(self.trace, buffer)
        storage.prefix = (self.count.length, *self.prefix.extents[1:])
        note_copies(storage, self.branches)
        return rows(TracedArray.whole(storage), storage.prefix)


class JoinedCount(Joined):
    """How many rows there are, of arrays that are cut together.

    Parameters
    ----------
    first : JoinedRows
        The first of these arrays.
    lengths : tuple of AffineExpr
        The numbers in the branches.
    before : AffineExpr or None
        The number before the conditional, where neither branch has more.
    """

    length: AffineExpr

    def __init__(
        self,
        first: JoinedRows,
        lengths: tuple[AffineExpr, AffineExpr],
        before: AffineExpr | None,
    ) -> None:
        super().__init__(first.branches)
        self._most = first.prefix.extents[0]
        self._lengths = lengths
        self._before = before

    def hand_on(self, side: int) -> list[Value]:
        """The number."""
        length = affine_number(self.trace, self._lengths[side])
        return [number_value(length, (Kind.PYTHON, I64))]

    def join(self, results: Sequence[Value]) -> Any:
        """The number, as a symbol of the block: no name of the program has it."""
        self.length = number_of_rows(self.trace, results[0], self._most)
        if self._before is not None:
            self.trace.decisions.assume_nonnegative(self._before - self.length)
