"""``python -m benchmarks.scripts_times [--size SIZE] [NAME..]``: scripts with one line changed.

Each script of `benchmarks.scripts` runs in new processes, in turn with ``import numpy as np`` and
with ``import fusejit.numpy as np``, deferred. The clock runs while the script's body runs: starting
Python and importing are not counted. "cold" is the first deferred run, with an empty disk cache.
"warm" and "NumPy" are medians of the later runs. The ratio is NumPy / warm, above 1 where fusejit
is faster.

Sizes are small, large and long. At size large the main arrays have about a million numbers. Size
long is the same again and again in one process, for some `SECONDS` of NumPy's time: what a program
gains that does such work for longer. The mean counts, with compilation. At size small a process
runs the script for a tenth of a second, at most 20 times.

A row also says whether all runs print the same numbers to 12 digits. The last lines sum up and name
the scripts that miss a bar: a script must take at most 1.05 times NumPy's time. The geometric mean
of those with large arrays must be at least 3.

``--clock process_time`` counts the processor time of all threads, which other processes disturb
less. Kernels that run on several threads then look slower than they are.
``FUSEJIT_LAZY_WINDOW`` and the other variables of fusejit may be set for all.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.scripts import SCRIPTS, Script, by_name
from benchmarks.scripts.outputs import difference

MODULES = ("numpy", "fusejit.numpy")
ROUNDS = {"small": 7, "large": 3, "long": 1}
SECONDS = {"small": 0.1, "large": 0.0, "long": 8.0}  # of NumPy's runs in one process
MAX_RUNS = {"small": 20, "large": 1, "long": 1000}
LIMIT = 120.0  # seconds for one run
SLOWER = 1.05


class Failed(Exception):
    """A run that printed no result: the end of what it wrote to stderr."""


@dataclass(frozen=True)
class Times:
    """Seconds of one script.

    Parameters
    ----------
    name
    numpy_seconds, warm
        Medians with NumPy and with fusejit's namespace, the disk cache warm.
    cold
        The first run with fusejit's namespace and an empty disk cache.
    difference
        The first line that was printed differently, or an empty text.
    """

    name: str
    numpy_seconds: float
    warm: float
    cold: float
    difference: str = ""

    @property
    def ratio(self) -> float:
        """Above 1: faster than NumPy."""
        return self.numpy_seconds / self.warm

    @property
    def cold_ratio(self) -> float:
        """The same of the first run."""
        return self.numpy_seconds / self.cold

    def misses(self) -> list[str]:
        """Which bars it misses."""
        slower = ["slower"] if self.warm > SLOWER * self.numpy_seconds else []
        return slower + (["output differs"] if self.difference else [])


def ran(
    script: Script, size: str, module: str, cache_folder: str, count: int, clock: str
) -> tuple[float, list[str]]:
    """Run a script ``count`` times in a new process; return its mean seconds and its outputs."""
    number = "" if size == "small" else str(script.large)
    command = [sys.executable, "-m", "benchmarks.scripts.run", script.name, number, module]
    command += [str(count), clock]
    environment = {**os.environ, "FUSEJIT_CACHE_DIR": cache_folder}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"no end in {LIMIT:.0f} s") from error
    if done.returncode:
        raise Failed(f"{module}: {done.stderr.strip()[-200:]}")
    seconds, outputs = json.loads(done.stdout.splitlines()[-1])
    return seconds, outputs


def measured(script: Script, size: str, rounds: int, clock: str = "perf_counter") -> Times:
    """Run a script with an empty cache, then with both namespaces in turn."""
    with tempfile.TemporaryDirectory(prefix="fusejit-scripts-") as folder:
        outputs: list[list[str]] = [[], []]
        times: list[list[float]] = [[], []]
        once, _ = ran(script, size, MODULES[0], folder, 1, clock)
        count = max(1, min(MAX_RUNS[size], math.ceil(SECONDS[size] / once)))
        cold, printed = ran(script, size, MODULES[1], folder, count, clock)
        outputs[1] += printed
        for number in range(rounds):
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                seconds, printed = ran(script, size, MODULES[which], folder, count, clock)
                times[which].append(seconds)
                outputs[which] += printed
    expected = outputs[0][0]
    found = [difference(expected, each) for each in (*outputs[0], *outputs[1])]
    numpy_seconds, warm = map(statistics.median, times)
    return Times(script.name, numpy_seconds, warm, cold, next(filter(None, found), ""))


def row(times: Times) -> str:
    """The row of one script."""
    return (
        f"{times.name:24s} NumPy {times.numpy_seconds:8.4f} s   cold {times.cold:8.4f} s   "
        f"warm {times.warm:8.4f} s   {times.ratio:6.2f}x   "
        f"output {'differs' if times.difference else 'agrees'}   {', '.join(times.misses())}"
    ).rstrip()


def summary(every: Sequence[Times]) -> list[str]:
    """Geometric means, the slowest scripts, and how many miss which bar."""
    lines = []
    for label, ratios in (
        ("warm", {times.name: times.ratio for times in every}),
        ("cold", {times.name: times.cold_ratio for times in every}),
    ):
        slowest = min(ratios, key=ratios.__getitem__)
        mean = statistics.geometric_mean(ratios.values())
        lines.append(
            f"{len(every)} scripts, {label}: geometric mean {mean:.2f}x of NumPy, "
            f"slowest {ratios[slowest]:.2f}x ({slowest})"
        )
    large = [times.ratio for times in every if not by_name()[times.name].has_small_arrays]
    if large:
        mean = statistics.geometric_mean(large)
        lines.append(f"{len(large)} of them with large arrays, warm: geometric mean {mean:.2f}x")
    slower = [times.name for times in every if "slower" in times.misses()]
    lines.append(f"slower than {SLOWER:.2f} times NumPy: {', '.join(slower) or 'none'}")
    differ = [f"{times.name}: {times.difference}" for times in every if times.difference]
    lines.append(f"output differs: {len(differ)}")
    return [*lines, *differ]


def main(arguments: Sequence[str]) -> None:
    """Run the scripts one after the other and print their rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripts_times")
    parser.add_argument("--size", choices=(*ROUNDS,), default="large")
    parser.add_argument("--rounds", type=int, help="runs of each form after the cold one")
    parser.add_argument("--clock", choices=("perf_counter", "process_time"), default="perf_counter")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {*by_name()}:
        parser.error(f"no script is called {', '.join(sorted(unknown))}")
    scripts = [by_name()[name] for name in options.names] or SCRIPTS
    every: list[Times] = []
    for script in scripts:
        if importlib.util.find_spec(script.needs) is None:
            print(f"{script.name:24s} skipped: {script.needs} is not installed", flush=True)
            continue
        try:
            rounds = options.rounds or ROUNDS[options.size]
            every.append(measured(script, options.size, rounds, options.clock))
        except Failed as failure:
            print(f"{script.name:24s} FAILED {failure}", flush=True)
            continue
        print(row(every[-1]), flush=True)
    if every:
        print("", *summary(every), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
