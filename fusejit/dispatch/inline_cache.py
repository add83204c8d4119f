"""`InlineCache`: several entries, one of which serves each call of a function.

An entry stub asks one launcher, or holds the statements that Python runs for calls of one
signature. What they do not serve goes the slow path, which costs 5 to 50 us and then has the entry
stub ask another. A call site that gives an array of floats and then one of integers, or objects of
two classes, would pay that each time. So after a few changes the ways that have served calls are
asked one after the other, and a single one again when it has served many calls in a row.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from fusejit.codegen.launcher.call_guard import CallGuard
from fusejit.dataclass import dataclass
from fusejit.outcome import MISS, Outcome

CHANGES = 4  # of what serves calls, before several ways are asked
IN_A_ROW = 64  # calls that one serves, before it is asked alone
LIMIT = 12  # entries that are tried; the one that served the last call comes first

Launch = Callable[..., Any]
"""Takes the parameters by position; returns the result, or an `Outcome` of other calls."""


class Priority(enum.IntEnum):
    """In which order ways are asked: a later one may serve what an earlier one serves better."""

    VARIANT = 0
    SEGMENTS = 1
    PYTHON = 2
    FALLBACK = 3


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What serves calls of some signature.

    Attributes
    ----------
    call : callable
    rank : Priority
    key : object
        What it was made of: of two with one key, the newer one is asked.
    install_alone : callable
        Has it serve calls without the others, if that can be; returns whether it does.
    is_python : bool
        Whether Python runs the function's own statements.
    """

    call: Launch
    rank: Priority
    key: object
    install_alone: Callable[[], bool]
    is_python: bool = False


def guarded(guard: CallGuard, run: Launch) -> Launch:
    """Runs what the guard lets pass."""
    rejects = guard.rejects

    def call(*args: Any) -> Any:
        return MISS if rejects(*args) else run(*args)

    return call


class InlineCache:
    """What has served calls, and whether one way or several are to be asked.

    Parameters
    ----------
    install_launcher : callable
        Has the entry stub ask something first.
    launchers : callable
        Returns those of all variants, the newest one first.
    install_unasked : callable
        Has the function's own statements serve some calls of any kind.

    Attributes
    ----------
    chain : callable or None
        The launcher that tries the cached entries in order; None while a single one is installed.
    """

    def __init__(
        self,
        install_launcher: Callable[[Launch], None],
        launchers: Callable[[], list[Launch]],
        install_unasked: Callable[[], None],
    ) -> None:
        self.chain: Launch | None = None
        self._serve_first = install_launcher
        self._launchers = launchers
        self._install_unasked = install_unasked
        self._entries: list[CacheEntry] = []
        self._changes = 0

    def record_variant(self, launch: Launch) -> None:
        """A call was served by a launcher that was not asked first."""
        self.record(self._of_variant(launch))

    def record(self, entry: CacheEntry) -> None:
        """A call was served by a way that was not asked first."""
        self._changes += 1
        self.chain = None
        self._entries = [entry, *(other for other in self._entries if other.key != entry.key)][
            :LIMIT
        ]
        entries = self._in_order() if self._changes > CHANGES else []
        if len(entries) > 1:
            self.chain = self._chain_of(entries)
            self._serve_first(self.chain)
        else:
            entry.install_alone()

    def forget(self, instead: Launch) -> None:
        """Some way is no more: ask ``instead`` until others have served calls."""
        self._entries = []
        if self.chain is not None:
            self.chain = None
            self._serve_first(instead)

    def _of_variant(self, launch: Launch) -> CacheEntry:
        def install_alone() -> bool:
            self._serve_first(launch)
            return True

        return CacheEntry(launch, Priority.VARIANT, launch, install_alone)

    def _in_order(self) -> list[CacheEntry]:
        """All variants, then the others; of each those first that have served calls last."""
        known = [entry.key for entry in self._entries]
        more = [self._of_variant(launch) for launch in self._launchers() if launch not in known]
        return sorted([*self._entries, *more], key=lambda entry: entry.rank)

    def _install_one(self, entry: CacheEntry) -> None:
        """One way has served many calls in a row."""
        rejects, self.chain = self.chain, None
        if entry.install_alone():
            self._changes = CHANGES // 2
        else:
            self.chain = rejects

    def _chain_of(self, entries: list[CacheEntry]) -> Launch:
        """Asks one way after the other.

        Where all of them are Python, it need not be asked which one serves a call: small functions
        would take three times as long.
        """
        calls = [(entry.call, entry) for entry in entries]
        last, row, served = entries[0], 0, 0
        is_python = all(entry.is_python for entry in entries)

        def several(*args: Any) -> Any:
            nonlocal last, row, served
            missed = MISS
            for call, entry in calls:  # noqa: B007
                result = call(*args)
                if result.__class__ is not Outcome:
                    break
                missed = missed if result is MISS else result
            else:
                return missed
            served += 1
            if is_python and served >= IN_A_ROW and self.chain is several:
                served = 0
                self._install_unasked()
            elif entry is not last:
                last, row = entry, 0
            elif row < IN_A_ROW:
                row += 1
            elif self.chain is several:
                row = 0
                self._install_one(entry)
            return result

        return several
