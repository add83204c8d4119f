"""``python -m benchmarks.scripts.run NAME SIZE MODULE``: execute one script in this process.

``SIZE`` is a number, or empty for the script's own default; ``MODULE`` is ``numpy`` or
``fusejit.numpy``. Prints a line of JSON: the seconds of the script's body and its output. The
script's imports are made before the clock starts. What the script writes goes to a new folder.
"""

from __future__ import annotations

import ast
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout

from benchmarks.scripts import Script, by_name


@contextmanager
def _arguments(*arguments: str) -> Iterator[None]:
    before, sys.argv = sys.argv, [*arguments]
    try:
        yield
    finally:
        sys.argv = before


def run(script: Script, size: str, module: str) -> tuple[float, str]:
    """Execute a script and return the seconds of its body and what it printed."""
    tree = ast.parse(script.source(module))
    path = str(script.path)
    code = compile(tree, path, "exec")
    imports: list[ast.stmt] = []
    imports += (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    exec(compile(ast.Module(imports, []), path, "exec"), {})
    scope = {"__name__": "__main__", "__file__": path}
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory(prefix="fusejit-script-") as folder,
        chdir(folder),
        _arguments(path, *[size][: bool(size)]),
        redirect_stdout(printed),
    ):
        begin = time.perf_counter()
        exec(code, scope)
        seconds = time.perf_counter() - begin
    return seconds, printed.getvalue()


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    seconds, output = run(by_name()[sys.argv[1]], *sys.argv[2:])
    print(json.dumps({"seconds": seconds, "output": output}))
