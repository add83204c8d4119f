"""Programs with matrix products, whoever has the threads: ``python -m benchmarks.blas_threads``.

OpenBLAS cuts large products into one part for each core, and the caller waits, spinning, until all
are done: where a neighbour has one of the cores, for a time slice of the scheduler. One line per
program, engine and number of BLAS threads has the smallest time of a call and the quartiles, in
milliseconds. The engines take turns in one process; ``fusejit, serial`` has one thread for kernels.
Names of other programs may follow the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.machine import available_cores
from benchmarks.programs import PROGRAMS
from benchmarks.programs.program import Program
from fusejit import fuse_jit
from fusejit.codegen.machine.pool import set_num_threads

DEFAULT = ("principal_components", "jacobi_solver")
SECONDS = 20.0
CALLS = 3  # of one engine before the next has its turn

BLAS_VARIABLE = "OPENBLAS_NUM_THREADS"


def compare(program: Program, seconds: float) -> dict[str, list[float]]:
    """Milliseconds of every call, by engine; a first call of each turn is not counted."""
    arguments = program.build(program.bench)
    fused = fuse_jit(program.function)
    cores = available_cores()
    turns: dict[str, tuple[Callable[..., Any], int]] = {
        "numpy": (program.function, cores),
        "fusejit": (fused, cores),
        "fusejit, serial": (fused, 1),
    }
    times: dict[str, list[float]] = {engine: [] for engine in turns}
    order = list(turns)
    end = time.monotonic() + seconds
    while time.monotonic() < end or not times[order[0]]:
        order = [*order[1:], order[0]]
        for engine in order:
            function, threads = turns[engine]
            set_num_threads(threads)
            function(*arguments)
            for _ in range(CALLS):
                start = time.perf_counter()
                function(*arguments)
                times[engine].append((time.perf_counter() - start) * 1e3)
    return times


def table_lines(name: str, blas: str, times: dict[str, list[float]]) -> list[str]:
    """The lines of one program."""
    lines = []
    for engine, measured in times.items():
        figures = " | ".join(f"{ms:.2f}" for ms in np.percentile(measured, [0, 25, 50, 75]))
        lines.append(f"| {name} | {blas} | {engine} | {figures} |")
    return lines


def main(names: list[str]) -> None:
    """Print the table: of this process alone where the number of BLAS threads is set."""
    wanted = [p for p in PROGRAMS if p.name in (names or DEFAULT)]
    blas = os.environ.get(BLAS_VARIABLE)
    if blas is None:
        print(f"load {os.getloadavg()[0]:.1f}, {available_cores()} cores; milliseconds of a call")
        print("| program | BLAS threads | engine | min | 25 % | median | 75 % |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for threads in (available_cores(), 1):  # OpenBLAS reads it once, when it is loaded
            environment = {**os.environ, BLAS_VARIABLE: str(threads)}
            command = [sys.executable, "-m", "benchmarks.blas_threads", *names]
            subprocess.run(command, env=environment, check=True)
        return
    for program in wanted:
        times = compare(program, SECONDS)
        print("\n".join(table_lines(program.name, blas, times)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
