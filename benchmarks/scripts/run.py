"""``python -m benchmarks.scripts.run NAME SIZE MODULE COUNT CLOCK``: execute a script here.

``SIZE`` is a number, or empty for the script's own default; ``MODULE`` is ``numpy`` or
``fusejit.numpy``. The script runs ``COUNT`` times in this process. Prints a line of JSON: the mean
seconds of the script's body, and each output that occurred. The script's imports, and the parts of
NumPy that load when they are first used, come before the clock starts.
``CLOCK`` is a function of `time`: ``perf_counter``, or ``process_time`` on a busy machine.
Files that the script writes go to a new folder.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from functools import cache
from types import CodeType

from benchmarks.scripts import Script, by_name

LIMIT = 200
LOADED_LATE = ("numpy.random", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial")


@contextmanager
def _arguments(*arguments: str) -> Iterator[None]:
    before, sys.argv = sys.argv, [*arguments]
    try:
        yield
    finally:
        sys.argv = before


@cache
def _compiled(script: Script, module: str) -> CodeType:
    """Import what a script imports, and return its code."""
    tree = ast.parse(script.source(module))
    path = str(script.path)
    imports: list[ast.stmt] = []
    imports += (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    exec(compile(ast.Module(imports, []), path, "exec"), {})
    for name in LOADED_LATE:
        importlib.import_module(name)
    return compile(tree, path, "exec")


def run(
    script: Script, size: str, module: str, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, str]:
    """Execute a script and return the seconds of its body and the text that it printed."""
    code = _compiled(script, module)
    path = str(script.path)
    scope = {"__name__": "__main__", "__file__": path}
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory(prefix="fusejit-script-") as folder,
        chdir(folder),
        _arguments(path, *[size][: bool(size)]),
        redirect_stdout(printed),
    ):
        begin = clock()
        exec(code, scope)
        seconds = clock() - begin
    return seconds, printed.getvalue()


def run_again(
    script: Script, size: str, module: str, count: int, clock: Callable[[], float]
) -> tuple[float, list[str]]:
    """Return the mean seconds of runs, and each output once."""
    times: list[float] = []
    outputs: list[str] = []
    for _ in range(count):
        seconds, output = run(script, size, module, clock)
        times.append(seconds)
        if output not in outputs:
            outputs.append(output)
    return sum(times) / len(times), outputs


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    name, size, module, count, clock = sys.argv[1:]
    script = by_name()[name]
    print(json.dumps(run_again(script, size, module, int(count), getattr(time, clock))))
