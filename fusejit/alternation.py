"""`Alternation`: several variants that serve a function's calls in turn.

A carrier asks one launcher, and the slow way of a call, 4 us, finds another. A call site that gives
an array of floats and then one of integers, again and again, would pay that each time. So after a
few changes the launchers are asked one after the other, and a single one again once it has served
many calls in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.codegen.launcher.miss import MISS, Miss

CHANGES = 4  # of the variant, before several are asked
IN_A_ROW = 64  # calls that one serves, before it is asked alone
MOST = 6  # launchers that are asked

Launch = Callable[..., Any]


class Alternation:
    """What has served calls, and whether one launcher or several are to be asked.

    Parameters
    ----------
    serve : callable
        Is given what takes the place of the launchers.
    """

    def __init__(self, serve: Callable[[Launch], None]) -> None:
        self.asks: Launch | None = None
        self._serve = serve
        self._changes = 0

    def changed(self, launches: Sequence[Launch], to: Launch) -> None:
        """A call was served by ``to``, one of ``launches``, behind the launcher asked first."""
        self._changes += 1
        self.asks = None
        if self._changes > CHANGES and len(launches) > 1:
            first = [to, *(launch for launch in launches if launch is not to)]
            self.asks = to = self._several(first[:MOST])
        self._serve(to)

    def ended(self, launch: Launch) -> None:
        """One launcher has served many calls in a row."""
        self.asks = None
        self._changes = CHANGES // 2
        self._serve(launch)

    def _several(self, launches: Sequence[Launch]) -> Launch:
        """Asks one after the other."""
        last, row = launches[0], 0

        def several(*args: Any) -> Any:
            nonlocal last, row
            missed = MISS
            for launch in launches:
                result = launch(*args)
                if result.__class__ is not Miss:
                    break
                missed = missed if result is MISS else result
            else:
                return missed
            if launch is not last:
                last, row = launch, 0
            elif row < IN_A_ROW:
                row += 1
            elif self.asks is several:
                self.ended(launch)
            return result

        return several
