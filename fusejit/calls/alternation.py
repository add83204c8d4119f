"""`Alternation`: several ways that serve a function's calls in turn.

A carrier asks one launcher, or holds the statements that Python runs for calls of one kind. What
they do not serve goes the slow way, which costs 5 to 50 us and then has the carrier ask another. A
call site that gives an array of floats and then one of integers, or objects of two classes, would
pay that each time. So after a few changes the ways that have served calls are asked one after the
other, and a single one again when it has served many calls in a row.
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
MOST = 12  # ways that are asked; the one that has served calls last comes first

Launch = Callable[..., Any]
"""Takes the parameters by position; returns the result, or an `Outcome` of other calls."""


class Rank(enum.IntEnum):
    """In which order ways are asked: a later one may serve what an earlier one serves better."""

    VARIANT = 0
    SEGMENTS = 1
    PYTHON = 2
    DECLINED = 3


@dataclass(frozen=True, slots=True)
class Way:
    """What serves calls of some kind.

    Attributes
    ----------
    call : callable
    rank : Rank
    key : object
        What it was made of: of two with one key, the newer one is asked.
    alone : callable
        Has it serve calls without the others, if that can be; returns whether it does.
    """

    call: Launch
    rank: Rank
    key: object
    alone: Callable[[], bool]


def guarded(guard: CallGuard, run: Launch) -> Launch:
    """Runs what the guard lets pass."""
    asks = guard.asks

    def call(*args: Any) -> Any:
        return MISS if asks(*args) else run(*args)

    return call


class Alternation:
    """What has served calls, and whether one way or several are to be asked.

    Parameters
    ----------
    serve_first : callable
        Has the carrier ask something first.
    launchers : callable
        Returns those of all variants, the newest one first.

    Attributes
    ----------
    asks : callable or None
        What asks several ways, while it does.
    """

    def __init__(
        self, serve_first: Callable[[Launch], None], launchers: Callable[[], list[Launch]]
    ) -> None:
        self.asks: Launch | None = None
        self._serve_first = serve_first
        self._launchers = launchers
        self._ways: list[Way] = []
        self._changes = 0

    def served_by(self, launch: Launch) -> None:
        """A call was served by a launcher that was not asked first."""
        self.served(self._of_variant(launch))

    def served(self, way: Way) -> None:
        """A call was served by a way that was not asked first."""
        self._changes += 1
        self.asks = None
        self._ways = [way, *(other for other in self._ways if other.key != way.key)][:MOST]
        ways = self._in_order() if self._changes > CHANGES else []
        if len(ways) > 1:
            self.asks = self._several(ways)
            self._serve_first(self.asks)
        else:
            way.alone()

    def forget(self, instead: Launch) -> None:
        """Some way is no more: ask ``instead`` until others have served calls."""
        self._ways = []
        if self.asks is not None:
            self.asks = None
            self._serve_first(instead)

    def _of_variant(self, launch: Launch) -> Way:
        def alone() -> bool:
            self._serve_first(launch)
            return True

        return Way(launch, Rank.VARIANT, launch, alone)

    def _in_order(self) -> list[Way]:
        """All variants, then the others; of each those first that have served calls last."""
        known = [way.key for way in self._ways]
        more = [self._of_variant(launch) for launch in self._launchers() if launch not in known]
        return sorted([*self._ways, *more], key=lambda way: way.rank)

    def _ended(self, way: Way) -> None:
        """One way has served many calls in a row."""
        asks, self.asks = self.asks, None
        if way.alone():
            self._changes = CHANGES // 2
        else:
            self.asks = asks

    def _several(self, ways: list[Way]) -> Launch:
        """Asks one way after the other."""
        calls = [(way.call, way) for way in ways]
        last, row = ways[0], 0

        def several(*args: Any) -> Any:
            nonlocal last, row
            missed = MISS
            for call, way in calls:  # noqa: B007
                result = call(*args)
                if result.__class__ is not Outcome:
                    break
                missed = missed if result is MISS else result
            else:
                return missed
            if way is not last:
                last, row = way, 0
            elif row < IN_A_ROW:
                row += 1
            elif self.asks is several:
                row = 0
                self._ended(way)
            return result

        return several
