"""`PrefixBuffers`: memory for arrays that one branch of a conditional shortens: a prefix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import TensorType
from fusejit.ir.values import Value
from fusejit.tracer.flow.carried_values import Role, ValueOf
from fusejit.tracer.flow.regions import Region, is_array
from fusejit.tracer.flow.shrinking import are_rows_of_one_kind, capacity, is_left_of, number_of_rows
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.values.array import TracedArray
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
        self._together: dict[str, str] = {}  # names by the first of those that are equally long

    def put(self, name: str, array: TracedArray) -> None:
        """The second branch puts its rows there."""
        self._trace.store(rows(self._prefix_buffers[name], array.extents).memory(), array.value())

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

    def lengths(
        self, left: Mapping[str, Any], right: Mapping[str, Any]
    ) -> dict[str, tuple[Any, Any]]:
        """How many rows there are in either branch, once for arrays that are equally long."""
        seen: dict[tuple[AffineExpr, AffineExpr], str] = {}
        found: dict[str, tuple[Any, Any]] = {}
        self._together.clear()
        canonical = self._trace.decisions.canonical
        for name in self._prefix_buffers:
            if not is_left_of(self._before[name], right[name]):
                self._never_grow.discard(name)
            if is_left_of(self._prefix_buffers[name], right[name]):
                pair = canonical(left[name].extents[0]), canonical(right[name].extents[0])
                first = self._together[name] = seen.setdefault(pair, name)
                found[first] = (
                    affine_number(self._trace, pair[0]),
                    affine_number(self._trace, pair[1]),
                )
        return found

    def joined(
        self,
        sides: Sequence[Mapping[str, Any]],
        made: Mapping[ValueOf, Value],
        note_copy: Callable[[Storage, str, Any], None],
    ) -> dict[str, TracedArray]:
        """The rows that the branch which has run has left of arrays."""
        joined: dict[str, TracedArray] = {}
        lengths: dict[str, AffineExpr] = {}
        decisions = self._trace.decisions
        for name, first in self._together.items():
            prefix = self._prefix_buffers[name]
            if first not in lengths:
                value = made[ValueOf(first, Role.ROWS)]
                lengths[first] = number_of_rows(self._trace, value, prefix.extents[0])
                if name in self._never_grow:
                    before = self._before[name].extents[0]
                    decisions.assume_nonnegative(before - lengths[first])
            assert prefix.storage.buffer is not None
            storage = Storage.of_buffer(self._trace, prefix.storage.buffer)
            storage.prefix = (lengths[first], *prefix.extents[1:])
            for side in sides:
                note_copy(storage, name, side[name])
            joined[name] = rows(TracedArray.whole(storage), storage.prefix)
        return joined
