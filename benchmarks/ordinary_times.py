"""``python -m benchmarks.ordinary_times [NAME..]``: what the decorator costs ordinary programs.

Each program runs in a process of its own, its whole file decorated
(`benchmarks.ordinary.decorated`), at its larger test size, in turn with the undecorated one. A row
says how long the first call took, the median of both forms in the steady state, their ratio (above
1: faster than undecorated), how many calls of decorated functions a run makes, and which bars it
misses: at most 5 % and 2 us a call more than undecorated, a first call of at most 2 s, and no
warning. "5% and 2 us" is told of those that are slower by more than that in a whole run. The disk
cache is off. The last lines sum up.
"""

import functools
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

SECONDS = 1.0  # of steady state
WARM_UP = 20
LIMIT = 60.0  # seconds for one program
SLOWER = 1.05
SPARE_S = 2e-6
FIRST_S = 2.0


@dataclass(frozen=True)
class Times:
    """Seconds of one program, decorated and not.

    Parameters
    ----------
    first
        The first decorated call.
    ours, theirs
        Medians of later calls, decorated and undecorated.
    is_told
        Whether a warning says that something runs as plain NumPy.
    calls
        Of decorated functions, in one run of the undecorated program.
    """

    first: float
    ours: float
    theirs: float
    is_told: bool = False
    calls: int = 1

    @property
    def ratio(self) -> float:
        """Above 1: faster than undecorated."""
        return self.theirs / self.ours

    def misses(self) -> list[str]:
        """Which bars it misses."""
        found = []
        if self.ours > SLOWER * self.theirs + SPARE_S * self.calls:
            found.append("slower")
        elif self.ours > SLOWER * self.theirs + SPARE_S:
            found.append("5% and 2 us")
        if self.first > FIRST_S:
            found.append("first call")
        if self.is_told:
            found.append("told of")
        return found


def measured(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """Time a first call, then both forms in turn, each beginning every other time."""

    def timed(call: Callable[[], object]) -> float:
        begin = clock()
        call()
        return clock() - begin

    first = timed(ours)
    theirs()
    end = clock() + SECONDS
    for _ in range(WARM_UP):
        ours()
        if clock() > end:
            break
    times: tuple[list[float], list[float]] = [], []
    end = clock() + SECONDS
    while clock() < end or len(times[0]) < 4:
        order = (0, 1) if len(times[0]) % 2 else (1, 0)
        for which in order:
            times[which].append(timed((ours, theirs)[which]))
    return Times(first, statistics.median(times[0]), statistics.median(times[1]))


def times_of(name: str) -> Times:
    """Time one program in this process."""
    from benchmarks.ordinary import PROGRAMS
    from benchmarks.ordinary.decorated import decorated
    from fusejit import FuseWarning, fuse_jit

    program = next(p for p in PROGRAMS if p.name == name)
    plain = decorated(program, lambda function: function)
    fused = decorated(program, fuse_jit)
    size = program.sizes[1]
    counts = [0]

    def counting(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def counted(*args: object, **kwargs: object) -> object:
            counts[0] += 1
            return function(*args, **kwargs)

        return counted

    def call(form: object) -> Callable[[], object]:
        def run() -> object:
            try:
                return form.function(*form.build(size))  # type: ignore[attr-defined]
            except Exception as error:
                return error

        return run

    with warnings.catch_warnings(record=True) as given, open(os.devnull, "w") as nowhere:
        warnings.simplefilter("always")
        out, sys.stdout = sys.stdout, nowhere
        try:
            times = measured(call(fused), call(plain))
            call(decorated(program, counting))()
        finally:
            sys.stdout = out
    is_told = any(issubclass(w.category, FuseWarning) for w in given)
    return replace(times, is_told=is_told, calls=max(counts[0], 1))


def row(name: str, times: Times) -> str:
    """The row of one program."""
    return (
        f"{name:28s} first {times.first:6.2f} s   ours {times.ours * 1e6:10.1f} us   "
        f"undecorated {times.theirs * 1e6:10.1f} us   {times.ratio:6.2f}x   "
        f"{times.calls:6d} calls   {', '.join(times.misses())}"
    )


def summary(every: Sequence[Times]) -> list[str]:
    """How many programs miss which bar, and by how much at most."""
    slower = [times.ratio for times in every if "slower" in times.misses()]
    in_a_run = len(slower) + sum("5% and 2 us" in times.misses() for times in every)
    late = [times.first for times in every if "first call" in times.misses()]
    told = sum(times.is_told for times in every)
    ratios = sorted(times.ratio for times in every)
    lines = [
        f"{len(every)} programs: median {statistics.median(ratios):.2f}x of undecorated, "
        f"from {ratios[0]:.2f}x to {ratios[-1]:.1f}x",
        f"slower than {SLOWER - 1:.0%} and {SPARE_S * 1e6:.0f} us a call: {len(slower)}; "
        f"than {SLOWER - 1:.0%} and {SPARE_S * 1e6:.0f} us a run: {in_a_run}",
        f"first calls above {FIRST_S:.0f} s: {len(late)}",
        f"with a warning: {told}",
    ]
    return lines


def main(names: list[str]) -> None:
    """Run the programs one after the other and print their rows."""
    from benchmarks.ordinary import PROGRAMS

    every: list[Times] = []
    for name in names or [p.name for p in PROGRAMS]:
        command = [sys.executable, "-m", "benchmarks.ordinary_times", "--row", name]
        environment = {**os.environ, "FUSEJIT_CACHE": "0"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
            )
            text = f"{name:28s} FAILED {done.stderr.strip()[-120:]}"
            if done.returncode == 0:
                every.append(Times(**json.loads(done.stdout)))
                text = row(name, every[-1])
        except subprocess.TimeoutExpired:
            text = f"{name:28s} no end in {LIMIT:.0f} s"
        print(text, flush=True)
    if every:
        print("", *summary(every), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        print(json.dumps(asdict(times_of(sys.argv[2]))))
    else:
        main(sys.argv[1:])
