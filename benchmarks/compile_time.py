"""Processor time that compiling the programs of the corpus takes, stage by stage.

    python -m benchmarks.compile_time [NAME ...]

Processor seconds of this process, without the disk cache and behind a first compilation, so that
other processes count little and imports not at all. `python -m benchmarks --suite programs` gives
the wall clock of first calls.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from benchmarks.bars import COMPILE_SECONDS
from benchmarks.programs import PROGRAMS
from benchmarks.programs.program import Program
from fusejit import fuse_jit
from fusejit.options import Options
from fusejit.stages import trace

Result = TypeVar("Result")
BUDGET = f"budget of {Options().compile_seconds:g} s"
STAGES = ("trace", "fuse", "lower", "compile")


def stage_seconds(program: Program) -> tuple[dict[str, float], int, int]:
    """Seconds of each stage, how many kernels there are, and lines of their text."""
    seconds: dict[str, float] = {}

    def timed(stage: str, run: Callable[[], Result]) -> Result:
        start = time.process_time()
        result = run()
        seconds[stage] = time.process_time() - start
        return result

    arguments = program.build(program.bench)
    traced = timed("trace", lambda: trace(program.function, arguments, {}, Options(cache=False)))
    lowered = timed("lower", timed("fuse", traced.fuse).lower)
    timed("compile", lowered.compile)
    return seconds, len(lowered.sources), sum(text.count("\n") for text in lowered.sources)


def main(names: Sequence[str]) -> None:
    """Print a row for each program, and how many are above the bar."""
    warnings.simplefilter("ignore")

    @fuse_jit
    def first(x: Any) -> Any:
        return np.exp(x) + x.sum()

    first(np.ones(5))
    slow, count, total, longest = [], 0, 0.0, 0.0
    print(f"{'program':26}{'total':>8}" + "".join(f"{s:>9}" for s in STAGES) + "  kernels  lines")
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        try:
            seconds, kernels, lines = stage_seconds(program)
        except Exception as error:  # not whole yet: tests/programs/gaps.txt says why
            print(f"{program.name:26} {type(error).__name__}")
            continue
        whole = sum(seconds.values())
        count, total, longest = count + 1, total + whole, max(longest, whole)
        slow += [program.name] if whole > COMPILE_SECONDS else []
        cells = "".join(f"{seconds[s]:9.2f}" for s in STAGES)
        print(f"{program.name:26}{whole:8.2f}{cells}{kernels:9}{lines:7}", flush=True)
    above = f"above {COMPILE_SECONDS:g} s: {', '.join(slow) or 'none'}"
    print(f"{count} programs, {total:.1f} s; {above}; the longest {longest:.1f} s of a {BUDGET}")


if __name__ == "__main__":
    main(sys.argv[1:])
