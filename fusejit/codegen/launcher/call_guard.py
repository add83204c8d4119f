"""Whether a call may be served by a function that runs as Python, as the calls before it were.

`CallGuard.rejects` is a builtin of C's calling convention that takes the arguments of a call and
costs some nanoseconds, so that decorating a function of a line or two costs little. It counts
calls, and rejects a call when enough have passed, when an argument is larger than those seen or of
another type, dtype or rank, or when the function's code or default values were replaced. Where
objects are not laid out as expected, Python code checks the same.

The builtin reads a table of 64-bit integers::

    calls, due, number of pairs, number of arguments
    per pair      address of a word, what it held
    per argument  type or 0, dtype of an array or 0, rank of an array or -1, largest size
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.codegen.backend.native_layout import layout_is_known, offsets_of_parts
from fusejit.codegen.launcher.debuggers import tracer_address, tracer_of_main_thread
from fusejit.dataclass import dataclass
from fusejit.support.identity import FunctionIdentity
from fusejit.support.interrupts import is_from_handler
from fusejit.support.locks import cut_short

if TYPE_CHECKING:
    from fusejit.codegen.backend.native_loader import AssembledEntry

NEVER = 2**63 - 1
UNLIMITED = 2**63 - 1

SAMPLE = 256  # calls that pass at a time, where one of so many is checked
FEW_LOOKS = 1024  # calls after which none is checked any more
MANY_LOOKS = 1 << 18  # the same, for calls with numbers or containers, where arrays may come

HOLD_ITEMS = (list, dict, set)  # an array may stand for them in another call
ARRAYS = (np.ndarray, np.memmap)
CONTAINERS = (str, bytes, bytearray, list, tuple, dict, set, frozenset)


@dataclass(frozen=True, slots=True)
class Expected:
    """What an argument is like.

    Attributes
    ----------
    kind : type or None
        Its very class; None for any.
    dtype : numpy.dtype or None
        Of an array; None for any.
    ndim : int
        Of an array; -1 for any.
    limit : int
        The largest number of elements of an array, length of a container, or integer.
    no_array : bool
        Whether an array is rejected, where most calls pass unwatched.
    """

    kind: type | None = None
    dtype: np.dtype[Any] | None = None
    ndim: int = -1
    limit: int = UNLIMITED
    no_array: bool = False

    def holds(self, value: Any) -> bool:
        """Whether a value is like that."""
        kind = type(value)
        if self.kind is not None and kind is not self.kind:
            return False
        if kind in ARRAYS:
            if self.no_array or (self.dtype is not None and value.dtype is not self.dtype):
                return False
            return self.ndim in (-1, value.ndim) and bool(value.size <= self.limit)
        if kind is int:
            return bool(value <= self.limit or value > UNLIMITED)
        return kind not in CONTAINERS or len(value) <= self.limit


class CallGuard:
    """Count calls, and reject those that the dispatcher has to serve.

    Parameters
    ----------
    expected : sequence of Expected
        One for each parameter.
    due : int
        The call, counted from 1, from which on all are rejected.
    function : FunctionType or None
        A function whose code and default values must stay what they are.
    unwatched : int
        How many calls may pass at a time that are only counted; `NEVER` if all may.
    tracer : object, optional
        A debugger's trace function, without which all calls are rejected.
    may_load : bool
        Whether a compiler may be loaded for the builtin.

    Attributes
    ----------
    tracer : object
        As given.
    rejects : callable
        Takes the arguments of a call, counts it, and returns whether it is rejected.
    """

    def __init__(
        self,
        expected: Sequence[Expected],
        due: int = NEVER,
        function: FunctionType | None = None,
        unwatched: int = 0,
        tracer: Any = None,
        *,
        may_load: bool = True,
    ) -> None:
        self.expected = tuple(expected)
        self.unwatched = unwatched
        self.due = due = min(due, NEVER)
        self._identity = None if function is None else FunctionIdentity(function)
        self._calls = 0
        self.tracer = tracer
        self._table: _Table | None = None
        self.rejects: Callable[..., bool] = self._rejects
        if may_load and not unwatched and not cut_short() and is_native():
            start = id(function)
            parts = () if self._identity is None else self._identity.parts
            places = zip(offsets_of_parts(), parts, strict=False)
            pairs = [(start + at, 0 if part is None else id(part)) for at, part in places]
            served = () if self._identity is None else self._identity.served
            code_at = offsets_of_parts()[0]
            pairs += [(id(one.entry_stub) + code_at, id(one.code)) for one in served]
            of_served = len(pairs) - len(served)
            if tracer is not None and tracer_address():
                pairs.append((tracer_address(), id(tracer)))
            self._table = _table(self.expected, due, pairs)
            self._table.keep = self._identity
            for place, one in enumerate(served, of_served):
                one.tell(self._table, (4 + 2 * place + 1) * 8)
            self.rejects = _entry().builtin(self._table)

    @property
    def calls(self) -> int:
        """How many have come."""
        if self._table is None:
            return self._calls
        return int(struct.unpack_from("q", self._table)[0])

    def kinds(self) -> dict[int, type]:
        """The classes of arguments that are compared even where calls pass unwatched."""
        return kinds_of(self.expected)

    def count(self, calls: int) -> None:
        """Count calls that have passed unwatched."""
        if self._table is None:
            self._calls += calls
        else:
            struct.pack_into("q", self._table, 0, self.calls + calls)

    @property
    def is_open(self) -> bool:
        """Whether it lets all calls pass."""
        open_ones = (Expected(), Expected(no_array=True))
        return self.due == NEVER and all(one in open_ones for one in self.expected)

    def would_reject(self, args: Sequence[Any]) -> bool:
        """Whether a call would be rejected; does not count it."""
        if self.calls >= self.due or not are_like(self.expected, args):
            return True
        return self._identity is not None and not self._identity.holds()

    def _rejects(self, *args: Any) -> bool:
        self._calls += 1
        is_left = self.tracer is not None and tracer_of_main_thread() is not self.tracer
        return is_left or self.would_reject(args)


def unwatched_calls(
    args: Sequence[Any], due: int, *, is_open: bool, sizes: Sequence[Any] | None = None
) -> int:
    """The number of interpreted calls like this one that may pass at a time, unwatched.

    Arrays may come where there were numbers, so one call of `SAMPLE` is checked. Methods of objects
    may be too short for any check. Each call with a size is checked: one of ``sizes``, or of the
    arguments.
    """
    kinds = {*map(type, args if sizes is None else sizes)}
    has_sizes = not kinds.isdisjoint((*ARRAYS, int, *CONTAINERS))
    if not is_open and (due < FEW_LOOKS or has_sizes):
        return 0
    is_last = last_look(args) < due if not is_open else last_look(args) == FEW_LOOKS
    return NEVER if is_last else SAMPLE


def kinds_of(expected: Sequence[Expected] | None) -> dict[int, type]:
    """The arguments, by place, that are lists, dictionaries or sets."""
    found = ((at, one.kind) for at, one in enumerate(expected or ()))
    return {at: kind for at, kind in found if kind is not None and kind in HOLD_ITEMS}


def unwatched_open(args: Sequence[Any], expected: Sequence[Expected] | None) -> int:
    """The number of interpreted calls that may pass unwatched, where no size matters.

    All may where an argument is a list: the entry stub itself compares its class.
    """
    return NEVER if kinds_of(expected) else unwatched_calls(args, NEVER, is_open=True)


def last_look(args: Sequence[Any]) -> int:
    """The number of calls after which none is checked any more, if all were like this one."""
    kinds = {*map(type, args)}
    if not kinds.isdisjoint(ARRAYS):
        return NEVER
    may_be_arrays = (int, float, complex, bool, *CONTAINERS)
    return FEW_LOOKS if kinds.isdisjoint(may_be_arrays) else MANY_LOOKS


def expected_of(value: Any) -> Expected:
    """Describe the arguments of the class, dtype and rank of this one."""
    if type(value) in ARRAYS:
        return Expected(type(value), value.dtype, value.ndim)
    return Expected(type(value))


def are_like(expected: Sequence[Expected], args: Sequence[Any]) -> bool:
    """Whether arguments are as expected."""
    pairs = zip(expected, args, strict=False)
    return len(args) == len(expected) and all(one.holds(arg) for one, arg in pairs)


@functools.cache
def is_native() -> bool:
    """Whether the builtin can be used here: it says what Python says of a few calls."""
    if not layout_is_known() or not offsets_of_parts():
        return False
    expected = [Expected(limit=3), Expected(np.ndarray, np.dtype(float), 1)]
    x, wide = np.zeros(3), np.zeros((2, 2))
    firsts = (3, 4, 2**70, -(2**70), True, 1.5, [1] * 4, {1, 2}, {1, 2, 3, 4}, "abcd", b"", x, wide)
    calls: list[tuple[Any, ...]] = [(first, x) for first in firsts]
    calls += [(0, other) for other in (wide, x[1:], x.astype("f4"), 1.0, None)]
    calls += [(0,), (0, x, x)]
    try:
        ask = _entry().builtin(_table(expected, NEVER, ()))
        return all(ask(*args) is not are_like(expected, args) for args in calls)
    except RuntimeError as error:  # of an LLVM that reads another text
        if is_from_handler(error):
            raise
        return False


class _Table(bytearray):
    """The table, and what owns the words that it is compared with."""

    keep: FunctionIdentity | None = None


def _table(expected: Sequence[Expected], due: int, pairs: Sequence[tuple[int, int]]) -> _Table:
    """The table: see above."""
    words = [0, due, len(pairs), len(expected), *(word for pair in pairs for word in pair)]
    for one in expected:
        kind, dtype = (0 if part is None else id(part) for part in (one.kind, one.dtype))
        words += [kind, dtype, one.ndim, min(one.limit, UNLIMITED)]
    return _Table(struct.pack(f"{len(words)}q", *words))


@functools.cache
def _entry() -> AssembledEntry:
    from fusejit.codegen.backend.native_loader import AssembledEntry  # loads a compiler

    kinds = [f"inttoptr (i64 {id(kind)} to ptr)" for kind in CONTAINERS]
    tests, found = [], "false"
    for k, kind in enumerate(kinds):
        tests.append(f"  %is{k} = icmp eq ptr %type, {kind}")
        tests.append(f"  %any{k} = or i1 {found}, %is{k}")
        found = f"%any{k}"
    text = _TEXT.format(
        ndarray=id(np.ndarray),
        memmap=id(np.memmap),
        integer=id(int),
        tests="\n".join(tests),
        is_container=found,
    )
    return AssembledEntry(text, "fusejit_call_guard")


_TEXT = """
declare ptr @PyByteArray_AsString(ptr)
declare ptr @PyBool_FromLong(i64)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare i64 @PyObject_Size(ptr)

define ptr @fusejit_call_guard(ptr %self, ptr %args, i64 %count) {{
entry:
  %overflow = alloca i32
  %table = call ptr @PyByteArray_AsString(ptr %self)
  %before = load i64, ptr %table
  %calls = add i64 %before, 1
  store i64 %calls, ptr %table
  %due_at = getelementptr i64, ptr %table, i64 1
  %due = load i64, ptr %due_at
  %is_due = icmp sge i64 %calls, %due
  %pairs_at = getelementptr i64, ptr %table, i64 2
  %pairs = load i64, ptr %pairs_at
  %count_at = getelementptr i64, ptr %table, i64 3
  %expected = load i64, ptr %count_at
  %is_other_count = icmp ne i64 %count, %expected
  %refused = or i1 %is_due, %is_other_count
  %first_pair = getelementptr i64, ptr %table, i64 4
  br i1 %refused, label %yes, label %pair

pair:
  %p = phi i64 [0, %entry], [%p_next, %pair_holds]
  %place = phi ptr [%first_pair, %entry], [%place_next, %pair_holds]
  %has_pair = icmp slt i64 %p, %pairs
  br i1 %has_pair, label %compare, label %argument

compare:
  %address = load ptr, ptr %place
  %held_at = getelementptr i64, ptr %place, i64 1
  %held = load i64, ptr %held_at
  %now = load i64, ptr %address
  %is_same = icmp eq i64 %now, %held
  br i1 %is_same, label %pair_holds, label %yes

pair_holds:
  %p_next = add i64 %p, 1
  %place_next = getelementptr i64, ptr %place, i64 2
  br label %pair

argument:
  %a = phi i64 [0, %pair], [%a_next, %holds]
  %row = phi ptr [%place, %pair], [%row_next, %holds]
  %has_argument = icmp slt i64 %a, %count
  br i1 %has_argument, label %look, label %no

look:
  %arg_at = getelementptr ptr, ptr %args, i64 %a
  %arg = load ptr, ptr %arg_at
  %type_at = getelementptr i64, ptr %arg, i64 1
  %type = load ptr, ptr %type_at
  %wanted = load ptr, ptr %row
  %any_type = icmp eq ptr %wanted, null
  %same_type = icmp eq ptr %wanted, %type
  %fits = or i1 %any_type, %same_type
  br i1 %fits, label %what, label %yes

what:
  %limit_at = getelementptr i64, ptr %row, i64 3
  %limit = load i64, ptr %limit_at
  %is_ndarray = icmp eq ptr %type, inttoptr (i64 {ndarray} to ptr)
  %is_memmap = icmp eq ptr %type, inttoptr (i64 {memmap} to ptr)
  %is_array = or i1 %is_ndarray, %is_memmap
  br i1 %is_array, label %array, label %number

array:
  %dtype_at = getelementptr i64, ptr %row, i64 1
  %dtype = load ptr, ptr %dtype_at
  %descr_at = getelementptr i8, ptr %arg, i64 56
  %descr = load ptr, ptr %descr_at
  %any_dtype = icmp eq ptr %dtype, null
  %same_dtype = icmp eq ptr %dtype, %descr
  %dtype_fits = or i1 %any_dtype, %same_dtype
  %rank_at = getelementptr i64, ptr %row, i64 2
  %rank = load i64, ptr %rank_at
  %ndim_at = getelementptr i8, ptr %arg, i64 24
  %ndim32 = load i32, ptr %ndim_at
  %ndim = sext i32 %ndim32 to i64
  %any_rank = icmp eq i64 %rank, -1
  %same_rank = icmp eq i64 %rank, %ndim
  %rank_fits = or i1 %any_rank, %same_rank
  %array_fits = and i1 %dtype_fits, %rank_fits
  %shape_at = getelementptr i8, ptr %arg, i64 32
  %shape = load ptr, ptr %shape_at
  br i1 %array_fits, label %axis, label %yes

axis:
  %k = phi i64 [0, %array], [%k_next, %multiply]
  %size = phi i64 [1, %array], [%size_next, %multiply]
  %has_axis = icmp slt i64 %k, %ndim
  br i1 %has_axis, label %multiply, label %within

multiply:
  %extent_at = getelementptr i64, ptr %shape, i64 %k
  %extent = load i64, ptr %extent_at
  %size_next = mul i64 %size, %extent
  %k_next = add i64 %k, 1
  br label %axis

within:
  %is_within = icmp sle i64 %size, %limit
  br i1 %is_within, label %holds, label %yes

number:
  %is_integer = icmp eq ptr %type, inttoptr (i64 {integer} to ptr)
  br i1 %is_integer, label %integer, label %container

integer:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %arg, ptr %overflow)
  %is_above = icmp sgt i64 %value, %limit
  br i1 %is_above, label %yes, label %holds

container:
{tests}
  br i1 {is_container}, label %length, label %holds

length:
  %items = call i64 @PyObject_Size(ptr %arg)
  %is_short = icmp sle i64 %items, %limit
  br i1 %is_short, label %holds, label %yes

holds:
  %a_next = add i64 %a, 1
  %row_next = getelementptr i64, ptr %row, i64 4
  br label %argument

yes:
  %true = call ptr @PyBool_FromLong(i64 1)
  ret ptr %true

no:
  %false = call ptr @PyBool_FromLong(i64 0)
  ret ptr %false
}}
"""
