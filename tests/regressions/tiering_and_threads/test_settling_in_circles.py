"""RecursionError in a self-recursive function: a tiering decision notified itself forever.

SciPy's ``quad`` calls itself for complex functions, so what serves its calls is reported to itself:
as long as a call had not settled it, that went round until Python's stack was full.
"""

from __future__ import annotations

from typing import Any

from fusejit.tiering.segment_profiler import SegmentProfiler


class Segment:
    """A segment that Python may come to run."""

    name = "segment"
    is_interpreted = False
    depends_on_sizes = False

    def request_reprofile(self) -> None:
        """Nothing to forget."""


def test_a_function_that_is_told_of_itself_settles() -> None:
    segment = Segment()

    def opened(x: int) -> tuple[str, int]:
        return "opened", x

    def original(x: int) -> tuple[str, int]:
        return "original", x

    settling = SegmentProfiler(opened, original, lambda interpreted: opened, [segment], [])
    told: list[Any] = []

    def serve(run: Any, guard: Any) -> None:
        told.append(run)
        settling.again()

    settling.serve = serve
    assert settling.first(1) == ("opened", 1)
    for is_interpreted, name in ((True, "original"), (False, "opened")):
        segment.is_interpreted = is_interpreted
        told.clear()
        settling.again()
        settling.again()
        assert len(told) == 1
        settling.reprofile_call(2)
        assert told[-1](3) == (name, 3)
