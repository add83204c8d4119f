"""`SplitTrial`: the clock decides whether a split function or Python serves its calls.

Each segment has been found to pay by itself, but not what lies between them: a recursion whose
every call hands its numbers over may take three times as long as Python. So calls of the function
as a whole are timed, by either form in turn. Calls that a timed call makes of the function itself
are served by the same form. Only functions are timed whose kernels have the bits of Python: which
form is chosen can then be seen on the clock alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fusejit.support.interrupts import is_from_handler
from fusejit.tiering.timings import CALLS, LONG_NS, MAX_LONG, MAX_SPOILED, count_timings, usual_ns

WARM_UP = 1  # calls, before any is timed
MIN_CALLS = 2  # of each form, after which a large difference decides
DECISIVE_RATIO = 2.0

Run = Callable[..., Any]


class SplitTrial:
    """A few calls that are timed.

    Parameters
    ----------
    split, original : callable
        Both forms; they take the parameters by position.
    serve : callable
        ``serve(run)`` has calls served by ``run`` from now on.
    decided : callable
        ``decided(python_is_faster, args)`` ends it; ``args`` are those of the last call.
    tries_long : bool
        Whether Python's form of a long call is not much longer.
    """

    def __init__(
        self,
        split: Run,
        original: Run,
        serve: Callable[[Run], None],
        decided: Callable[[bool, tuple[Any, ...]], None],
        clock: Callable[[], int] = time.perf_counter_ns,
        *,
        tries_long: bool,
    ) -> None:
        self._split, self._original = split, original
        self._serve, self._decided, self._clock = serve, decided, clock
        self._tries_long = tries_long
        self._times: dict[Run, list[int]] = {split: [], original: []}
        self._warm = self._long = self._spoiled = 0
        self.is_open = True

    def launch(self, *args: Any) -> Any:
        """A call by the form whose turn it is."""
        run = self._next()
        self._serve(run)
        timings, begin = count_timings(), self._clock()
        try:
            result = run(*args)
        except Exception as error:
            if not is_from_handler(error):
                self.is_open = False
                self._serve(self._split)
            raise
        finally:
            if self.is_open:
                self._serve(self.launch)
        spent = self._clock() - begin
        if self.is_open:
            self._note(run, spent, count_timings() == timings + 1, args)
        return result

    def _next(self) -> Run:
        """Whose turn it is: see `TimedTrial`."""
        if self._warm < WARM_UP:
            return self._split
        timed = sum(map(len, self._times.values()))
        return self._original if timed.bit_count() % 2 else self._split

    def _note(self, run: Run, spent: int, is_sound: bool, args: tuple[Any, ...]) -> None:
        if self._warm < WARM_UP:
            self._warm += 1
        elif run is self._split and spent > LONG_NS and not self._tries_long:
            self._long += 1
            if self._long >= MAX_LONG:
                self._end(False, args)
        elif not is_sound and self._spoiled < MAX_SPOILED:
            self._spoiled += 1  # something that it called was timed or traced
        else:
            self._times[run].append(spent)
            self._look(args)

    def _look(self, args: tuple[Any, ...]) -> None:
        """Decide if enough calls were timed."""
        timed = min(map(len, self._times.values()))
        if timed < MIN_CALLS:
            return
        split_ns, python_ns = (usual_ns(self._times[run]) for run in (self._split, self._original))
        is_clear = max(split_ns, python_ns) > DECISIVE_RATIO * min(split_ns, python_ns)
        if is_clear or timed >= CALLS:
            self._end(python_ns < split_ns, args)

    def _end(self, python_is_faster: bool, args: tuple[Any, ...]) -> None:
        self.is_open = False
        self._decided(python_is_faster, args)
