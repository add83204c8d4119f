"""`CallSignatures`: how many variants there may be for each signature of calls.

Calls have one signature if they are alike but for sizes, lengths and values. Arrays are of one
signature if they agree in dtype, rank and order of memory; lists, tuples and dicts if what is in
them does; numbers and texts by type. A text that is another one with each call, or a list that is
longer, makes a variant each time, of which none is used again. So from the second string or length
of a signature on, a call is compiled only when its own have come back. Beyond `MAX_PER_SIGNATURE`
variants it is compiled only when calls like it have come `MIN_REPEATS` times (see
`fusejit.dispatch.fallback_cache` for "like"). Signatures are bounded too: a function that each call
gives other dtypes and ranks would be compiled for each. So beyond some variants of all signatures a
call is compiled only when calls of its signature have come `MIN_REPEATS` times, and more often the
more variants there are. Which call is compiled follows from the calls alone, never from the clock.
"""

from __future__ import annotations

import enum
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable
from itertools import islice
from types import FunctionType
from typing import Any, cast

import numpy as np

from fusejit.codegen.launcher.call_guard import CallGuard, expected_of
from fusejit.dispatch.fallback_cache import likeness
from fusejit.ir.raw_reads import dtype_of, flags_of, is_a, ndim_of, value_reader
from fusejit.outcome import Outcome, fallback

MAX_PER_SIGNATURE = 8
MIN_REPEATS = 8
MAX_UNCOUNTED_VARIANTS = 16  # variants of all signatures that a function has without such a count
FREE_VARIANTS_PER_SEGMENT = 8
FREE_VARIANTS_OF_LATE_SEGMENTS = 2  # once a function's segments have `MANY_SEGMENT_VARIANTS`
MANY_SEGMENT_VARIANTS = 64
NEW_VALUE_REASON = (
    "a string or a length in this call is new; each one needs its own variant, compiled when the "
    "same values come again"
)
_MAX_CHECKED_WAITS = 16  # calls that wait, before others pass without being asked about
_MAX_COUNTED = 64  # calls whose uses are counted; the one that was not met for longest goes
_MAX_SIGNATURE_ITEMS = 8  # items of a container, for its signature
_MAX_ITEMS = 64  # of a container or text in calls whose uses are counted
_MAX_SIGNATURE_DEPTH = 3  # containers in containers that are looked into: a list may contain itself


class CallSignatures:
    """What is known of each signature of call of one function."""

    def __init__(self) -> None:
        self._variants: Counter[Hashable] = Counter()
        self._contents: dict[
            Hashable, set[Hashable]
        ] = {}  # of calls that have a variant, by signature
        self._columns: set[tuple[Hashable, int]] = set()  # arguments whose items kernels read
        self._lengths: dict[int, int] = {}  # of the first lists, by their places
        self._varying: frozenset[int] = frozenset()
        self._tried: frozenset[int] = frozenset()  # of these, for a variant that serves all lengths
        self._waits: Counter[Hashable] = Counter()
        self._uses: OrderedDict[Hashable, int] = OrderedDict()

    def note_variant(self, args: tuple[Any, ...], columns: Iterable[int] = ()) -> None:
        """A variant was made for a call; kernels read the items of the arguments at ``columns``."""
        signature = _signature(args)
        self._variants[signature] += 1
        self._columns.update((signature, place) for place in columns)
        contents = self._contents_of(signature, args)
        self._contents.setdefault(signature, set()).add(contents)

    def _contents_of(self, signature: Hashable, args: tuple[Any, ...]) -> tuple[Hashable, ...]:
        """What a call must have in common with another one; not what kernels read of it."""
        pairs = enumerate(args)
        return tuple(None if (signature, k) in self._columns else _contents(a) for k, a in pairs)

    def waits(self, args: tuple[Any, ...]) -> bool:
        """Whether texts or lengths of a call are neither compiled nor have come before."""
        signature = _signature(args)
        known = self._contents.get(signature)
        if known is None:
            return False
        contents = self._contents_of(signature, args)
        if contents in known or self._count((signature, contents)) > 1:
            return False
        new = self.varying(args) - self._tried
        if new:  # one variant may serve all lengths
            self._tried |= new
            return False
        self._waits[signature] += 1
        return True

    def varying(self, args: tuple[Any, ...]) -> frozenset[int]:
        """The places of the arguments that are lists of ever other lengths, and not of arrays."""
        for place, arg in enumerate(args):
            if type(arg) is not list or (arg and is_a(arg[0], np.ndarray)):
                continue
            if self._lengths.setdefault(place, len(arg)) != len(arg):
                self._varying |= {place}
        return self._varying

    def waited(self, args: tuple[Any, ...]) -> int:
        """How many calls of a signature have waited."""
        return self._waits[_signature(args)]

    def ever_other(self, args: tuple[Any, ...], function: FunctionType) -> CallGuard | None:
        """The guard that lets calls with new texts pass for a while; None if it is too early.

        Each guard lets twice as many pass as the one before. Then some calls are examined again,
        since a text may have come back.
        """
        signature = _signature(args)
        if self._waits[signature] % _MAX_CHECKED_WAITS:
            return None
        return CallGuard(
            [*map(expected_of, args)],
            _MAX_CHECKED_WAITS << self._waits[signature] // _MAX_CHECKED_WAITS,
            function,
        )

    def refusal(self, args: tuple[Any, ...], free: int = MAX_UNCOUNTED_VARIANTS) -> Outcome | None:
        """Return why a call gets no new variant, or None; count the call.

        The first ``free`` variants of a function need no repeated calls.
        """
        limit = self._limit(args, free)
        if limit is None or self._count(limit[1]) >= limit[2]:
            return None
        return _refused(*limit)

    def next_refusal(
        self, args: tuple[Any, ...], free: int = MAX_UNCOUNTED_VARIANTS
    ) -> Outcome | None:
        """Return why a call would get no variant now, or None; counts nothing."""
        signature = _signature(args)
        known = self._contents.get(signature)
        if known is not None:
            contents = self._contents_of(signature, args)
            if contents not in known and not self._uses.get((signature, contents)):
                return fallback(NEW_VALUE_REASON)
        limit = self._limit(args, free)
        if limit is None or (limit[1] is not None and self._uses.get(limit[1], 0) + 1 >= limit[2]):
            return None
        return _refused(*limit)

    def _limit(self, args: tuple[Any, ...], free: int) -> tuple[str, Hashable, int] | None:
        """Return why a call has to repeat, which calls count as repetitions, and how many it takes.

        None if it gets a variant at once.
        """
        signature = _signature(args)
        made = sum(self._variants.values())
        if self._variants[signature] >= MAX_PER_SIGNATURE:
            why = (
                f"there are {MAX_PER_SIGNATURE} variants for calls that differ from it in sizes, "
                "lengths or values alone"
            )
            return why, _alike(args), MIN_REPEATS
        if made >= free:
            why = f"there are {made // free * free} variants for other dtypes, ranks or types"
            return why, ("signature", signature), MIN_REPEATS * (made // free)
        return None

    def _count(self, call: Hashable) -> int:
        """How often a call like this one has come; 0 where that cannot be told."""
        if call is None:
            return 0
        self._uses[call] = self._uses.pop(call, 0) + 1
        if len(self._uses) > _MAX_COUNTED:
            self._uses.popitem(last=False)
        return self._uses[call]


def _refused(why: str, call: Hashable, uses: int) -> Outcome:
    return fallback(f"{why}; it gets one when calls like it have come {uses} times")


def _alike(value: Any, depth: int = _MAX_SIGNATURE_DEPTH) -> Hashable:
    """What calls that are alike agree in, lists looked into; None where it cannot be told."""
    if type(value) in (list, tuple) and len(value) <= _MAX_ITEMS and depth:
        parts = tuple(_alike(item, depth - 1) for item in value)
        return None if None in parts else (type(value), *parts)
    return likeness(value)


def _contents(value: Any, depth: int = _MAX_SIGNATURE_DEPTH) -> Hashable:
    """Texts, lengths and integers of tuples, by which a program chooses what it does.

    And the values of subclasses of numbers and texts: each has a variant of its own.
    """
    read = value_reader(type(value))
    if read is not None and not is_a(value, enum.Enum):
        return type(value), _contents(read(value)) or read(value)
    if type(value) in (str, bytes):
        return value if len(value) <= _MAX_ITEMS else (len(value), hash(value))
    if type(value) not in (list, tuple, dict):
        return None
    if not depth:
        return len(value)
    if type(value) is dict:
        items = islice(value.items(), _MAX_ITEMS)
        return len(value), tuple((_key(key), _contents(v, depth - 1)) for key, v in items)
    if type(value) is tuple and all(type(v) is int for v in value):
        return len(value), value
    return len(value), tuple(_contents(v, depth - 1) for v in value[:_MAX_ITEMS])


def _key(key: Any) -> Hashable:
    """What is kept of a key. A user's own would be kept alive, and compared by code of theirs."""
    return cast(Hashable, key if type(key) in (str, bytes, int) else type(key))


def _signature(args: tuple[Any, ...]) -> Hashable:
    """What two calls of one signature agree in."""
    return tuple(map(_signature_of, args))


def _signature_of(value: Any, depth: int = _MAX_SIGNATURE_DEPTH) -> Hashable:
    if is_a(value, np.ndarray):
        flags, dtype = flags_of(value), dtype_of(value)
        orders = flags.c_contiguous, flags.f_contiguous
        return type(value), dtype, dtype.metadata is None, ndim_of(value), *orders
    if type(value) not in (list, tuple, dict) or not depth:
        return ("type", type(value))
    items: Iterable[Any] = value.values() if type(value) is dict else value
    return type(value), frozenset(
        _signature_of(v, depth - 1) for v in islice(items, _MAX_SIGNATURE_ITEMS)
    )
