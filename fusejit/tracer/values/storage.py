"""Where the elements of a traced array are: a pure value, or a buffer once something is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block
from fusejit.ir.source import UNKNOWN
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.program.fallback import Fallback, Retrace
from fusejit.tracer.program.locations import current_location, unsupported
from fusejit.tracer.values.symbolic_number import affine_number


def mutation_key(trace: Trace, value: Value) -> tuple[Any, ...]:
    """The decision that values made at a line are memory from the start."""
    return ("mutated", str(trace.defined[value].location))


class Storage:
    """Shared by all views of one array.

    Attributes
    ----------
    value : Value or None
        The elements, as long as nothing was stored into a part of them. Neither a value nor a
        buffer is what ``np.empty`` returns.
    order : tuple of int or None
        Axes from the outermost to the innermost; None is C order.
    array : numpy.ndarray or None
        The argument or constant in this call: its strides are the hints of `compare_strides`.
    """

    has_gaps = False  # between elements that follow each other
    are_known = False  # of a column: whether the program has another way to the arrays in it

    def __init__(self, trace: Trace, dtype: np.dtype, extents: Extents) -> None:
        self.trace = trace
        self.dtype = dtype
        self.extents = extents
        self.value: Value | None = None
        self._buffer: Buffer | None = None
        self.order: tuple[int, ...] | None = None
        self.path: Path | None = None
        self.array: np.ndarray | None = None
        self.reshapes: dict[Any, Storage] = {}
        self.num_stores = 0
        # a copy where NumPy has a view: of what, after how many stores, may it be handed out
        self.copied_from: dict[Storage, int] = {}
        self.may_leave = True
        self.is_chosen = False  # from two arrays by a condition: NumPy has one of them
        self.stands_for = ""  # in a loop: what NumPy has, into which nothing can be stored here
        self.prefix: Extents | None = None  # what all of it is to the program, if rows are spare
        self.copy_source: Any = None  # of a copy: where stores into all of it go, too
        self.copied_why = "a reshaped view that was copied"
        # of a column that holds copies of arrays of a list: leaves the list to Python
        self.leave_items: Callable[[], NoReturn] | None = None
        # of such a copy: has another attempt use the memory of the column instead
        self.be_memory: Callable[[], None] | None = None
        self.origin: Any = None  # an `Origin`: what the array may be instead of a copy
        self._loaded: tuple[int, Block, Value] | None = None
        self.location = current_location() if trace.regions else UNKNOWN
        self.home = trace.block  # where it was made: it is visible there and in blocks inside

    @staticmethod
    def of_value(trace: Trace, value: Value) -> Storage:
        """The storage of a result that nothing was stored into."""
        storage = Storage(trace, value.type.dtype, value.type.extents)
        storage.value = value
        storage.order = value.order
        if trace.table and value.kind is Kind.ARRAY and mutation_key(trace, value) in trace.table:
            storage.to_buffer()
        return storage

    @staticmethod
    def of_buffer(
        trace: Trace, buffer: Buffer, path: Path | None = None, array: np.ndarray | None = None
    ) -> Storage:
        """The storage of an argument, a constant or ``np.empty``."""
        storage = Storage(trace, buffer.type.dtype, buffer.type.extents)
        storage.buffer = buffer
        storage.order = buffer.order
        storage.path = path
        storage.array = array
        return storage

    @property
    def buffer(self) -> Buffer | None:
        """The memory, for arguments and for arrays that are written."""
        if self._buffer is None and self.root is not self and self.root.buffer is not None:
            self._buffer = self._make_alias()
        return self._buffer

    @buffer.setter
    def buffer(self, buffer: Buffer | None) -> None:
        self._buffer = buffer

    def _make_alias(self) -> Buffer:
        """A buffer in the memory of the base of a derived storage, and the op that defines it."""
        raise NotImplementedError

    @property
    def root(self) -> Storage:
        """The storage whose memory it is."""
        return self

    def is_all_of(self, index_map: IndexingMap, extents: Extents) -> bool:
        """Whether a part of it is what the program knows as the array."""
        canonical = self.trace.decisions.canonical
        known = self.extents if self.prefix is None else self.prefix
        return index_map.is_identity and [*map(canonical, known)] == [*map(canonical, extents)]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def is_dense(self) -> bool:
        """Whether the strides follow from order and extents."""
        return self.buffer is None or self.buffer.layout is Layout.CONTIGUOUS

    def read(self) -> Value:
        """All elements at this place of the program."""
        trace = self.trace
        if self.copied_from:
            self.require_unchanged_base()
            if trace.is_repeated_since(self.home):
                trace.owned(CopiesReadInLoops).append(self)
        if not trace.is_open(self.home):
            made = f" at line {self.location.line}" if self.location.line else ""
            what = f"a value made{made} inside a compiled loop or conditional is used outside"
            raise unsupported(
                what, "assign it to a name that has a number or an array of this kind before"
            )
        if self.buffer is None:
            if self.value is not None:
                return self.value
            self.to_buffer()
        assert self.buffer is not None
        here = (trace.versions[self.buffer.alias_class], trace.block)
        if self._loaded is None or self._loaded[0] != here[0] or self._loaded[1] is not here[1]:
            self._loaded = (*here, trace.load(self.buffer))
        return self._loaded[2]

    def may_overlap(self, other: Storage) -> bool:
        """Whether another array may have some of its memory."""
        one, another = self.root, other.root
        if one is another:
            return True
        if one.buffer is None or another.buffer is None:
            return False
        return one.buffer.alias_class == another.buffer.alias_class

    def value_of_view(self, view: Any) -> Value | None:
        """The elements of a view, where they are not read of all elements."""
        return None

    def note_copied(self, base: Storage, may_leave: bool, why: str = "") -> None:
        """Note that NumPy has a view of ``base`` here: it must not be told from the copy."""
        self.copied_from[base] = base.num_stores
        self.may_leave &= may_leave
        self.copied_why = why or self.copied_why

    def possible(self) -> list[Storage]:
        """The array itself, and those that NumPy's may be, or may share memory with."""
        found = [self.root]
        for one in found:
            bases = [base.root for base in one.copied_from if base.leave_items is None]
            found += [base for base in bases if base not in found]
        return found

    def columns(self) -> list[Storage]:
        """The columns of lists that hold copies of it, or that it was copied from."""
        found = self.possible()
        for one in found:
            bases = (base for base in one.copied_from if base.leave_items is not None)
            found += [base for base in bases if base not in found]
        return [one for one in found if one.leave_items is not None and one is not self]

    def bases(self) -> set[Storage]:
        """The arrays that it is copied from, or may be, and the columns that hold copies of it."""
        return {*self.copied_from, *self.columns()}

    def is_outdated(self) -> bool:
        """Whether something was stored into what this is a copy of."""
        return any(base.num_stores != after for base, after in self.copied_from.items())

    def require_unchanged_base(self) -> None:
        """Fall back if something was stored into what this is a copy of."""
        if self.is_outdated():
            self.require_own()
            raise Fallback(f"{self.copied_why} is read after a store to its base")

    def require_no_row(self) -> None:
        """Leave a list to Python if the program returns a row of it."""
        if self.leave_items is not None:
            self.leave_items()

    def require_own(self) -> None:
        """Start again with a check that a copy is what NumPy has too, if it nearly always is.

        A list of arrays that a copy can be told from is left to Python.
        """
        if self.origin is not None and self.origin.require_own is not None:
            self.origin.require_own()
        for column in self.columns():
            assert column.leave_items is not None
            column.leave_items()

    def replace(self, value: Value) -> None:
        """Take on a fresh value, for every view of the array."""
        assert self.buffer is None
        if self.home is not self.trace.block:
            if self.value is not None:
                self._restart_as_buffer()
            self.trace.store(View.whole(self.to_buffer()), value)
            self.forward(value)
            return
        value.order = self.order
        self.value = value
        if self.trace.table and mutation_key(self.trace, value) in self.trace.table:
            self.to_buffer()

    def _restart_as_buffer(self) -> None:
        """A value that a loop or a conditional changes in place has to be memory from the start."""
        assert self.value is not None
        self.trace.table[mutation_key(self.trace, self.value)] = True
        raise Retrace

    def forward(self, value: Value) -> None:
        """Note that the whole buffer has just been given ``value``."""
        assert self.buffer is not None
        trace = self.trace
        self._loaded = (trace.versions[self.buffer.alias_class], trace.block, value)

    def to_buffer(self) -> Buffer:
        """The memory, which from here on is what counts."""
        if self.buffer is not None:
            return self.buffer
        trace = self.trace
        if self.value is not None and self.home is not trace.block:
            self._restart_as_buffer()
        type_ = TensorType(self.dtype, self.extents)
        buffer = trace.allocate("b0", type_, self.order, self.home, current_location())
        self.buffer = buffer
        if self.value is not None:
            trace.store(View.whole(buffer), self.value)
            self.forward(self.value)
            self.value = None
        return buffer

    # -- strides ----------------------------------------------------------------------------------
    def stride_is_zero(self, axis: int) -> bool:
        """Whether all indices of an axis are one element; guarded where the strides are free."""
        if self.array is None or self.is_dense:
            return False
        expr = HostExpr("eq", (self.stride_expr(axis), HostExpr.const(0)))
        is_zero = self.array.strides[axis] == 0
        return self.trace.decisions.condition(expr, is_zero, "the argument is a broadcast array")

    def has_overlap(self, axis: int) -> bool:
        """Whether the elements along an axis are one and the same.

        NumPy's new axes have a stride of 0 too, and length 1, which is known where it is so.
        """
        has_one = self.array is not None and self.array.shape[axis] == 1
        return not has_one and self.stride_is_zero(axis)

    def compare_strides(
        self, axis: int, step: int, other: int, other_step: int, is_earlier: bool
    ) -> int:
        """The sign of ``|step * stride[axis]| - |other_step * stride[other]|``.

        Equal strides count as 1 if ``is_earlier``, else as -1.
        """
        order = self.order or tuple(range(self.rank))
        at, other_at = order.index(axis), order.index(other)
        if at > other_at:
            return -self.compare_strides(other, other_step, axis, step, not is_earlier)
        step, other_step = abs(step), abs(other_step)
        if step > other_step or (step == other_step and (is_earlier or self.is_dense)):
            return 1
        decisions, reason = self.trace.decisions, "the order of the axes"
        if not self.is_dense:
            left = HostExpr("mul", (HostExpr.const(step), self.stride_expr(axis)))
            right = HostExpr("mul", (HostExpr.const(other_step), self.stride_expr(other)))
            absolute = tuple(HostExpr("abs", (e,)) for e in (left, right))
            assert self.array is not None
            strides = self.array.strides
            difference = abs(step * strides[axis]) - abs(other_step * strides[other])
            answer = difference >= 0 if is_earlier else difference > 0
            decisions.condition(HostExpr("ge" if is_earlier else "gt", absolute), answer, reason)
            return 1 if answer else -1
        # stride[axis] = stride[other] * (the extents from `other` outwards)
        factor: Any = step
        for inner in order[at + 1 : other_at + 1]:
            factor = affine_number(self.trace, self.extents[inner]) * factor
        least = other_step if is_earlier else other_step + 1
        if isinstance(factor, int):
            return 1 if factor >= least else -1
        assert factor.affine is not None  # a product of sizes is one symbol
        return 1 if decisions.at_most(least, factor.affine, reason) else -1

    def stride_expr(self, axis: int) -> HostExpr:
        """The stride of an axis in bytes, as the launcher finds it."""
        assert self.path is not None
        return HostExpr.path(self.path.attribute("strides").item(axis))


class DerivedStorage(Storage):
    """A storage whose memory is that of another one, ``base``, to which all stores go through."""

    def __init__(self, base: Storage, dtype: np.dtype, extents: Extents) -> None:
        self.base = base
        super().__init__(base.trace, dtype, extents)
        self.path = base.path

    @property
    def root(self) -> Storage:
        """The storage whose memory it is."""
        return self.base.root

    @property
    def is_dense(self) -> bool:
        """Whether the strides follow from order and extents."""
        return self.base.is_dense

    def to_buffer(self) -> Buffer:
        """The memory, which from here on is what counts."""
        self.base.to_buffer()
        buffer = self.buffer
        assert buffer is not None
        return buffer


class CopiesReadInLoops(list[Storage]):
    """Copies of one trace that iterations read where NumPy has a view."""
