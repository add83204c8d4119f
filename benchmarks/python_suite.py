"""``python -m benchmarks.python_suite [NAME..]``: Python's own benchmark programs, all decorated.

They are those of pyperformance (``pip install pyperformance``), of which none uses arrays: so the
decorator is to cost nothing. Each program runs in a process of its own, with every function and
method of its file decorated and as it is, in turn. A row says how long the first run took, and the
median of both forms after `WARM_UP` seconds. The bars: at least 0.95 of plain in the steady state,
and a first run of at most 1.2 times plain and one second, with importing fusejit and decorating.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from benchmarks.ordinary.decorated import NAME, decorated_tree

PROGRAMS = (
    *("deltablue", "go", "hexiom", "richards", "raytrace", "chaos", "nqueens", "spectral_norm"),
    *("fannkuch", "nbody", "generators", "bpe_tokeniser"),
)
WARM_UP = float(os.environ.get("SECONDS_OF_WARM_UP", "8"))
SECONDS = 4.0  # of steady state
LEAST_RATIO = 0.95


class Runner:
    """Stands for pyperf's: keeps what is to be timed."""

    kept: ClassVar[list[Callable[[], Any]]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.argparser = ArgumentParser()
        self.metadata: dict[str, Any] = {}

    def parse_args(self) -> Namespace:
        """The default values."""
        return self.argparser.parse_args([])

    def bench_func(self, name: str, function: Callable[..., Any], *args: Any, **_: Any) -> None:
        """A function that is called once a run."""
        self.kept.append(lambda: function(*args))

    def bench_time_func(
        self, name: str, function: Callable[..., Any], *args: Any, **_: Any
    ) -> None:
        """A function that is given how many runs to make."""
        self.kept.append(lambda: function(1, *args))


def first_of(path: Path, decorator: Callable[..., Any]) -> Callable[[], Any]:
    """The first benchmark of a file, with all functions and methods decorated."""
    pyperf = ModuleType("pyperf")
    vars(pyperf).update(Runner=Runner, perf_counter=time.perf_counter)
    sys.modules["pyperf"], sys.argv, Runner.kept = pyperf, [str(path)], []
    program = ModuleType("__main__")
    vars(program).update({"__file__": str(path), NAME: decorator})
    code = compile(decorated_tree(path), str(path), "exec", dont_inherit=True)
    exec(code, vars(program))
    return Runner.kept[0]


def seconds(run: Callable[[], Any]) -> float:
    """How long a run takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def times_of(name: str) -> dict[str, float]:
    """Time one program in this process."""
    found = importlib.util.find_spec("pyperformance")
    if found is None or found.origin is None:
        raise SystemExit("pip install pyperformance")
    folder = Path(found.origin).parent / "data-files" / "benchmarks" / f"bm_{name}"
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    plain = first_of(folder / "run_benchmark.py", lambda function: function)
    first_plain = seconds(plain)
    start = time.perf_counter()
    from fusejit import fuse_jit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = first_of(folder / "run_benchmark.py", fuse_jit)
        ours()
        first = time.perf_counter() - start
        end = time.perf_counter() + WARM_UP
        while time.perf_counter() < end:
            ours()
        pairs: list[tuple[float, float]] = []
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end or len(pairs) < 3:
            pairs.append((seconds(plain), seconds(ours)))
    theirs, decorated = (statistics.median(each) for each in zip(*pairs, strict=True))
    return {"first_plain": first_plain, "first": first, "plain": theirs, "ours": decorated}


def row(name: str, times: dict[str, float]) -> str:
    """The row of one program."""
    ratio = times["plain"] / times["ours"]
    misses = []
    if ratio < LEAST_RATIO:
        misses.append("slower")
    if times["first"] > 1.2 * times["first_plain"] + 1:
        misses.append("first run")
    return (
        f"{name:14s} first run {times['first']:6.2f} s (plain {times['first_plain']:5.2f} s)   "
        f"steady {times['ours'] * 1e3:8.1f} ms (plain {times['plain'] * 1e3:8.1f} ms)   "
        f"{ratio:5.2f}x   {', '.join(misses)}"
    )


def main(names: list[str]) -> None:
    """Run the programs one after the other and print their rows."""
    for name in names or PROGRAMS:
        command = [sys.executable, "-m", "benchmarks.python_suite", "--row", name]
        environment = {**os.environ, "FUSEJIT_CACHE": "0"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name:14s} FAILED {done.stderr.strip()[-200:]}", flush=True)
        else:
            print(row(name, json.loads(done.stdout.splitlines()[-1])), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        print(json.dumps(times_of(sys.argv[2])))
    else:
        main(sys.argv[1:])
