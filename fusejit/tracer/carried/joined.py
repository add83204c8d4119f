"""A conditional of the program: one object for each name, of the objects of its two branches.

As with loops (`fusejit.tracer.carried.loop_region`), each kind of thing that a name can hold is a
class, which hands on values at the end of either branch and makes one object of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fusejit.ir.ops import Block
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.regions import is_array
from fusejit.tracer.ops.elementwise_op import full
from fusejit.tracer.ops.number_values import number_value, number_values, of_values, zero
from fusejit.tracer.ops.origins import Origin, is_captured, number_of
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, Operand
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import NumberType, UnionType


class Branches(NamedTuple):
    """The objects that one name has at the end of either branch of a conditional.

    Attributes
    ----------
    sides : tuple
        The objects.
    blocks : tuple of Block
        The blocks in which they were made.
    is_shared : tuple of bool
        Of arrays: whether others may know the object on a side, and tell a copy from it.
    """

    trace: Trace
    name: str
    sides: tuple[Any, Any]
    blocks: tuple[Block, Block]
    is_shared: tuple[bool, ...] = ()


class Joined:
    """One name after a conditional: the interface of all kinds."""

    def __init__(self, branches: Branches) -> None:
        self.trace, self.name, self.sides = branches.trace, branches.name, branches.sides
        self.branches = branches

    def hand_on(self, side: int) -> list[Value]:
        """The values at the end of a branch, in its block."""
        raise NotImplementedError

    def join(self, results: Sequence[Value]) -> Any:
        """Return what the name holds, given the values of the branch that has run."""
        raise NotImplementedError


class Same(Joined):
    """One object after both branches."""

    def __init__(self, branches: Branches, obj: Any) -> None:
        super().__init__(branches)
        self._obj = obj

    def hand_on(self, side: int) -> list[Value]:
        """Nothing."""
        return []

    def join(self, results: Sequence[Value]) -> Any:
        """The object."""
        return self._obj


class JoinedNumber(Joined):
    """A number; one of several types has its tag beside it."""

    def __init__(self, branches: Branches, type_: NumberType | UnionType) -> None:
        super().__init__(branches)
        self.type = type_

    def hand_on(self, side: int) -> list[Value]:
        """The number, and its tag."""
        obj = self.sides[side]
        return [*number_values(zero(self.type) if isinstance(obj, Undefined) else obj, self.type)]

    def join(self, results: Sequence[Value]) -> Any:
        """The number."""
        self._note_known(results[0])
        return of_values(self.trace, self.type, results)

    def _note_known(self, value: Value) -> None:
        """Note an int that is one of several that each call knows before its kernels run."""
        known: list[Any] = []
        for side in self.sides:
            is_given = isinstance(side, SymbolicNumber) and side.affine is not None
            if type(side) is int or (is_given and not side.is_local):
                known.append(side)
            elif isinstance(side, TracedArray) and side.storage.value is not None:
                known += self.trace.chosen_from.get(side.storage.value, (None,))
            else:
                return
        if not any(number is None for number in known):
            self.trace.chosen_from[value] = tuple(known)


class JoinedArray(Joined):
    """One of two arrays: a copy, where NumPy has one of them itself."""

    def __init__(self, branches: Branches) -> None:
        super().__init__(branches)
        self.objects: list[TracedArray] = []  # that were there before, and that it may be
        self.which: TracedArray | None = None  # which of them it is

    def hand_on(self, side: int) -> list[Value]:
        """The elements."""
        obj = self.sides[side]
        if not isinstance(obj, Undefined):
            return [obj.value()]
        other = next(other for other in self.sides if is_array(other))
        literal = Operand(other.dtype, literal=np.zeros((), other.dtype)[()])
        return [full(other.extents, literal, other.dtype, other.storage.order).value()]

    def join(self, results: Sequence[Value]) -> Any:
        """The array, which may be an object that was there before."""
        storage = Storage.of_value(self.trace, results[0])
        note_copies(storage, self.branches)
        array = TracedArray.whole(storage, results[0].kind)
        told = [obj for obj in self.sides if not isinstance(obj, Undefined)]
        array.is_view = all(obj.is_view for obj in told)
        array.is_ndarray = all(obj.is_ndarray for obj in told)
        if storage.copied_from:
            storage.origin = Origin(array, tuple(self.objects), self.which)
        return array


class JoinedObject(Joined):
    """Which of the objects that were there before an array is."""

    def __init__(self, array: JoinedArray) -> None:
        super().__init__(array.branches)
        self._array = array

    def hand_on(self, side: int) -> list[Value]:
        """The number of the object."""
        obj = self.sides[side]
        number = number_of(obj, self._known, self.trace) if is_array(obj) else 0
        return [number_value(number, (Kind.PYTHON, I64))]

    def _known(self, obj: TracedArray) -> int | None:
        home, found = obj.storage.root.home, self._array.objects
        if home in self.branches.blocks or not self.trace.is_open(home):
            return None
        if not any(obj is other for other in found):
            found.append(obj)
        return 1 + next(k for k, other in enumerate(found) if other is obj)

    def join(self, results: Sequence[Value]) -> Any:
        """The number: no name of the program has it."""
        self._array.which = TracedArray.of_value(self.trace, results[0])


def note_copies(copy: Storage, branches: Branches) -> None:
    """A choice between arrays is a copy, where NumPy has one of them itself."""
    trace = branches.trace
    for obj, is_shared in zip(branches.sides, branches.is_shared, strict=True):
        if not isinstance(obj, TracedArray) or not is_array(obj):
            continue
        copy.is_chosen = True
        root = obj.storage.root
        for base in root.columns():
            copy.note_copied(base, root.may_leave, root.copied_why)
        if not trace.is_open(obj.storage.home):  # made in a block, perhaps itself a choice
            for base in root.copied_from:
                if trace.is_open(base.home):
                    copy.note_copied(base, root.may_leave, root.copied_why)
        elif root.buffer is not None or root.origin is not None or is_shared:
            why = "one of two arrays, depending on a condition"
            is_own = obj.path is None and not is_captured(root) and root.may_leave
            is_whole = obj.is_whole or root.is_all_of(obj.map, obj.extents)
            copy.note_copied(root, is_own and is_whole, why)
