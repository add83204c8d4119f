"""Tracebacks end at the user's file and line, wherever the code was typed."""

from __future__ import annotations

import doctest
import importlib
import linecache
import subprocess
import sys
import traceback
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit.errors import FusejitError
from fusejit_testing.oracle import decorate

SOURCE = """\
import numpy as np

def helper(x, i):
    return x[i]

def refused(x):
    y = x + 1
    return np.linalg.eigvals(y)

def unsettled(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            s += float(str(x[i]))
    return s

def numpys_own(x):
    y = x + 1
    return y.reshape(4, -1, 17)

def late(x):
    for i in range(len(x)):
        x[i] = 1.0
        x[i + 1] = 2.0
    return x

def late_in_a_helper(x, k):
    k[0] = k[1] - 1
    return helper(x, k[0])

KEPT = []

def between_segments(x):
    KEPT.append(x.sum())
    y = x * 2
    return KEPT[y.size * 1000]

def late_in_a_segment(x):
    KEPT.append(x.sum())
    for i in range(len(x)):
        x[i] = 3.0
        x[i + 1] = 4.0
    return x
"""
LINES = SOURCE.splitlines()
X = np.linspace(1.0, 2.0, 6)
K = np.array([0, 100])
ERRORS: dict[str, tuple[tuple[Any, ...], type[Exception], str, str]] = {
    "refused": ((X,), FusejitError, "return np.linalg.eigvals(y)", "refused"),
    "unsettled": ((X,), FusejitError, "s += float(str(x[i]))", "unsettled"),
    "numpys_own": ((X,), ValueError, "return y.reshape(4, -1, 17)", "numpys_own"),
    "late": ((X,), IndexError, "x[i + 1] = 2.0", "late"),
    "between_segments": ((X,), IndexError, "return KEPT[y.size * 1000]", "between_segments"),
    "late_in_a_segment": ((X,), IndexError, "x[i + 1] = 4.0", "late_in_a_segment"),
    "late_in_a_helper": ((X, K), IndexError, "return x[i]", "helper"),
}


def from_a_file(folder: Path) -> dict[str, Any]:
    file = folder / "typed_in_a_file.py"
    file.write_text(SOURCE)
    module = types.ModuleType("typed_in_a_file")
    module.__file__ = str(file)
    exec(compile(SOURCE, str(file), "exec"), module.__dict__)
    return module.__dict__


def from_a_cell(name: str) -> dict[str, Any]:
    """As IPython does: the text of a cell is registered under an invented name."""
    lines = SOURCE.splitlines(keepends=True)
    linecache.cache[name] = (len(SOURCE), None, lines, name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOURCE, name, "exec"), namespace)
    return namespace


def from_a_zip(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    archive = folder / "library.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("typed_in_a_zip.py", SOURCE)
    monkeypatch.syspath_prepend(str(archive))
    return vars(importlib.import_module("typed_in_a_zip"))


@pytest.fixture(params=["file", "ipython", "ipykernel", "zip"])
def namespace(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Any]]:
    if request.param == "file":
        yield from_a_file(tmp_path)
    elif request.param == "zip":
        yield from_a_zip(tmp_path, monkeypatch)
        sys.modules.pop("typed_in_a_zip", None)
    else:
        name = {
            "ipython": "<ipython-input-3-0123456789ab>",
            "ipykernel": "/tmp/ipykernel_4711/1234567890.py",
        }[request.param]
        yield from_a_cell(name)
        linecache.cache.pop(name, None)


def last_frame(function: Callable[..., Any], args: tuple[Any, ...], kind: type[Exception]) -> Any:
    with pytest.raises(kind) as caught:
        decorate(function, jit=False, fullgraph=kind is FusejitError)(*(a.copy() for a in args))
    return caught.value, traceback.extract_tb(caught.value.__traceback__)


@pytest.mark.parametrize("name", ERRORS)
def test_the_last_frame(namespace: dict[str, Any], name: str) -> None:
    args, kind, text, function = ERRORS[name]
    error, frames = last_frame(namespace[name], args, kind)
    users = [f for f in frames if f.filename == namespace[name].__code__.co_filename]
    assert frames[-1] == users[-1], traceback.format_list(frames)
    assert users[-1].lineno == next(n for n, t in enumerate(LINES, 1) if t.strip() == text)
    assert users[-1].line == text
    assert users[-1].name == function
    if name == "late_in_a_helper":
        assert (users[-2].name, users[-2].line) == (name, "return helper(x, k[0])")
    if isinstance(error, FusejitError):
        assert f"{users[-1].filename}:{users[-1].lineno}, in {name}: " in str(error)


@pytest.mark.parametrize("name", ["refused", "numpys_own"])
def test_code_without_source(name: str) -> None:
    """No text, but the line's number."""
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, "<string>", "exec"), namespace)
    namespace[name].__globals__["np"] = np
    args, kind, text, function = ERRORS[name]
    _, frames = last_frame(namespace[name], args, kind)
    number = next(n for n, t in enumerate(LINES, 1) if t.strip() == text)
    assert (frames[-1].filename, frames[-1].name) == ("<string>", function)
    assert frames[-1].lineno in (number, number - 1)


PROGRAM = """
import numpy as np
from fusejit import fuse_jit
@fuse_jit
def f(x):
    for i in range(len(x)):
        x[i + 1] = 2.0
    return x
@fuse_jit
def g(x):
    y = x + 1
    return y.reshape(4, -1, 17)
import traceback
for h in (f, g):
    try:
        h(np.ones(5))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        print(type(error).__name__, last.filename, last.lineno, last.name)
"""


@pytest.mark.parametrize("options", [["-c"], ["-O", "-c"]])
def test_python_c(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *options, PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={"FUSEJIT_UNJITTED": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert done.stdout.splitlines() == ["IndexError <string> 7 f", "ValueError <string> 12 g"]


def test_python_of_a_file_without_asserts(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-O", str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={"FUSEJIT_UNJITTED": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert done.stdout.splitlines() == [f"IndexError {file} 7 f", f"ValueError {file} 12 g"]


@pytest.mark.parametrize("between", ["/./", "//"])
def test_a_package_found_by_an_unusual_path(tmp_path: Path, between: str) -> None:
    """``sys.path.insert(0, "./lib")``: frames of fusejit itself were taken for the user's."""
    root = Path(__file__).resolve().parents[2]
    file = tmp_path / "program.py"
    path = f"{root.parent}{between}{root.name}"
    file.write_text(f"import sys\nsys.path.insert(0, {path!r})\n{PROGRAM}")
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={"FUSEJIT_UNJITTED": "1"},
    )
    assert done.stdout.splitlines() == [f"IndexError {file} 9 f", f"ValueError {file} 14 g"]


DOCTEST = """
>>> import numpy as np
>>> from fusejit_testing.oracle import decorate
>>> def f(x):
...     y = x + 1
...     return y.reshape(4, -1, 17)
>>> decorate(f, jit=False)(np.ones(5))
Traceback (most recent call last):
    ...
ValueError: cannot reshape array of size 5 into shape (4,newaxis,17)
>>> import traceback
>>> try:
...     _ = decorate(f, jit=False)(np.ones(5))
... except ValueError as error:
...     print(traceback.extract_tb(error.__traceback__)[-1].line)
return y.reshape(4, -1, 17)
>>> decorate(f, jit=False)(np.ones(68)).shape
(4, 1, 17)
"""


def test_doctest() -> None:
    test = doctest.DocTestParser().get_doctest(DOCTEST, {}, "typed", "typed.py", 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
