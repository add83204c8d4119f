"""``python -m benchmarks.scripts.run NAME SIZE MODULE SECONDS CLOCK``: execute a script here.

``SIZE`` is a number, or empty for the script's own default; ``MODULE`` is ``numpy`` or
``fusejit.numpy``. The script runs again until ``SECONDS`` have passed, at most `MOST` times. Prints
a line of JSON: the mean seconds of the script's body, and each output that occurred. The script's
imports, and the parts of NumPy that load when they are first used, come before the clock starts.
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

from benchmarks.scripts import Script, by_name

MOST = 200
LOADED_LATE = ("numpy.random", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial")


@contextmanager
def _arguments(*arguments: str) -> Iterator[None]:
    before, sys.argv = sys.argv, [*arguments]
    try:
        yield
    finally:
        sys.argv = before


def run(
    script: Script, size: str, module: str, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, str]:
    """Execute a script and return the seconds of its body and the text that it printed."""
    tree = ast.parse(script.source(module))
    path = str(script.path)
    code = compile(tree, path, "exec")
    imports: list[ast.stmt] = []
    imports += (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    exec(compile(ast.Module(imports, []), path, "exec"), {})
    for name in LOADED_LATE:
        importlib.import_module(name)
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
    script: Script, size: str, module: str, at_least: float, clock: Callable[[], float]
) -> tuple[float, list[str]]:
    """Return the mean seconds of runs that take ``at_least`` seconds, and each output once."""
    times: list[float] = []
    outputs: list[str] = []
    while not times or (sum(times) < at_least and len(times) < MOST):
        seconds, output = run(script, size, module, clock)
        times.append(seconds)
        if output not in outputs:
            outputs.append(output)
    return sum(times) / len(times), outputs


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    name, size, module, at_least, clock = sys.argv[1:]
    script = by_name()[name]
    print(json.dumps(run_again(script, size, module, float(at_least), getattr(time, clock))))
