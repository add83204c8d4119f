"""The source of a function is found in every way in which tools hand it over.

Regressions: Functions of a notebook cell that also has ``import numpy as np`` had no usable source:
IPython compiles each statement by itself, so the compiler did not know ``np`` as an import. Cells
with ``%%time``, functions that cloudpickle had brought to another process, and functions with
asserts that pytest had rewritten had none either.
"""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib
import linecache
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from fusejit.notices import FuseWarning
from fusejit.tracer.source.source_text import FunctionSource, find_source
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate
from fusejit_testing.shells import ipython_shell

Namespace = dict[str, Any]

# loops and branches on elements need the source; ``np`` is called as an attribute of an import
TEXT = """\
import numpy as np

_scale = 2.0

def helper(v):
    return np.sqrt(v) * _scale

def summed(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            s += helper(x[i])
        else:
            s -= 1
    return s
"""
X = np.array([4.0, -1.0, 0.25, 9.0])


def registered(name: str, text: str) -> None:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def file(folder: Path) -> Iterator[Namespace]:
    (folder / "typed_in_a_module.py").write_text(TEXT)
    sys.path.insert(0, str(folder))
    yield vars(importlib.import_module("typed_in_a_module"))
    sys.path.remove(str(folder))
    del sys.modules["typed_in_a_module"]


def exec_with_linecache(folder: Path) -> Iterator[Namespace]:
    registered("<generated 1>", TEXT)
    namespace: Namespace = {}
    exec(compile(TEXT, "<generated 1>", "exec"), namespace)
    yield namespace


def each_statement_by_itself(folder: Path) -> Iterator[Namespace]:
    """As ipykernel compiles a cell: one statement after another, under a file's name."""
    name = "/tmp/ipykernel_4711/2345678901.py"
    registered(name, TEXT)
    namespace: Namespace = {"__name__": "__main__"}
    for statement in ast.parse(TEXT).body:
        exec(compile(ast.Module([statement], []), name, "exec"), namespace)
    yield namespace


def in_ipython(cell: str) -> Iterator[Namespace]:
    with ipython_shell() as shell:
        shell.run_cell(cell).raise_error()
        yield shell.user_ns


def ipython(folder: Path) -> Iterator[Namespace]:
    yield from in_ipython(TEXT)


def ipython_time(folder: Path) -> Iterator[Namespace]:
    yield from in_ipython(f"%%time\n\n{TEXT}")


def ipython_time_of_an_expression(folder: Path) -> Iterator[Namespace]:
    yield from in_ipython(f"%%time\n{TEXT}\nsummed(np.ones(3))")


def ipython_timeit(folder: Path) -> Iterator[Namespace]:
    """``%%timeit`` runs the cell inside a function: names get out as attributes of an object."""
    text = f"%%timeit -n1 -r1\n{TEXT}\nsys.summed = summed"
    for shell in in_ipython("import sys"):
        shell["get_ipython"]().run_cell(text).raise_error()
        yield {"summed": vars(sys).pop("summed")}


def ipython_capture_of_time(folder: Path) -> Iterator[Namespace]:
    yield from in_ipython(f"%%capture out\n%%time\n{TEXT}")


def marimo(folder: Path) -> Iterator[Namespace]:
    """As marimo's ``compile_cell`` compiles: the whole cell, its private names renamed."""
    name = str(folder / "__marimo__cell_Hbol_.py")
    tree = ast.parse(TEXT)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "_scale":
            node.id = "_cell_Hbol_scale"
    registered(name, TEXT)
    namespace: Namespace = {}
    exec(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True), namespace)
    yield namespace


def marimo_run_as_a_script(folder: Path) -> Iterator[Namespace]:
    """Each cell is a function of the file; its body is compiled at its lines."""
    notebook = folder / "notebook.py"
    body = textwrap.indent(TEXT, "    ").replace("    \n", "\n")
    notebook.write_text(f"import marimo\napp = marimo.App()\n\n@app.cell\ndef _():\n{body}")
    (cell,) = (n for n in ast.parse(notebook.read_text()).body if isinstance(n, ast.FunctionDef))
    namespace: Namespace = {}
    exec(compile(ast.Module(cell.body, []), str(notebook), "exec"), namespace)
    yield namespace


def doctests(folder: Path) -> Iterator[Namespace]:
    """Each example is a text of its own, which `linecache` has while the doctest runs."""
    found: list[Any] = []
    parts = [ast.unparse(statement).splitlines() for statement in ast.parse(TEXT).body]
    lines = [f"{'...' if n else '>>>'} {line}" for part in parts for n, line in enumerate(part)]
    text = "\n".join([*lines, ">>> check(summed)"])
    namespace = {"check": lambda function: found.append(checked(function))}
    test = doctest.DocTestParser().get_doctest(text, namespace, "typed", "typed.py", 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert not runner.failures
    assert found == [None]
    yield {}


def with_asserts_that_pytest_rewrote(folder: Path) -> Iterator[Namespace]:
    def summed(x: Any) -> Any:
        assert x.ndim == 1, "a vector"
        s = 0.0
        for i in range(len(x)):
            if x[i] > 0:
                s += np.sqrt(x[i])
        return s

    assert {name for name in summed.__code__.co_varnames if name.startswith("@py_")}
    yield {"summed": summed}


def checked(function: Callable[..., Any]) -> None:
    """A call is compiled, gives what Python gives, and warns of nothing."""
    fused = decorate(function, jit=False)
    assert_same(function(X), fused(X))
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks
    assert "traced plainly" not in str(fused.explain(X))


@pytest.mark.parametrize(
    "way",
    [
        file,
        exec_with_linecache,
        each_statement_by_itself,
        ipython,
        ipython_time,
        ipython_time_of_an_expression,
        ipython_timeit,
        ipython_capture_of_time,
        marimo,
        marimo_run_as_a_script,
        doctests,
        with_asserts_that_pytest_rewrote,
    ],
)
def test_ways_within_a_process(
    way: Callable[[Path], Iterator[Namespace]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {*linecache.cache}
    namespaces = way(tmp_path)
    try:
        for namespace in namespaces:
            if "summed" in namespace:
                checked(namespace["summed"])
    finally:
        for name in {*linecache.cache} - known:
            linecache.cache.pop(name, None)


def test_a_function_without_source_is_blamed_for_that() -> None:
    """The advice was ``np.where``, though with its source the function would have compiled."""
    namespace: Namespace = {}
    exec(compile(TEXT, "<no source of this name>", "exec"), namespace)
    with pytest.warns(FuseWarning, match="no source was found; define it in a file") as shown:
        assert_same(namespace["summed"](X), decorate(namespace["summed"], jit=False)(X))
    assert "np.where" not in str(shown[0].message)


# -- other processes -----------------------------------------------------------------------------
CHECK = """
import warnings
warnings.simplefilter("error")
from fusejit import fuse_jit
f = fuse_jit(summed)
for _ in range(2): assert f(np.array([4.0, -1.0, 0.25, 9.0])) == 10.0

assert len(f.variants) == 1, f.variants
assert not f.variants.fallbacks, f.variants
print("done" + "!")
"""
ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "FUSEJIT_UNJITTED": "1", "PYTHONPATH": str(ROOT)}


def run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=ENVIRONMENT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("option", ["-c", "-Bc"])
def test_python_c(option: str) -> None:
    assert run(option, TEXT + CHECK) == "done!\n"


def test_python_i() -> None:
    """The text that was typed is in the history of ``readline``; later versions keep it."""
    fdpexpect = pytest.importorskip("pexpect.fdpexpect")
    pytest.importorskip("readline")
    prompt = re.compile(r"(>>>|\.\.\.) ")
    terminal, end = os.openpty()
    process = subprocess.Popen(  # pexpect.spawn forks, which this process with its threads must not
        [sys.executable, "-q", "-i", "-c", "import numpy"],
        env={**ENVIRONMENT, "TERM": "dumb", "HOME": "/nonexistent"},
        stdin=end,
        stdout=end,
        stderr=end,
    )
    os.close(end)
    with process, fdpexpect.fdspawn(terminal, encoding="utf-8", timeout=60) as python:
        python.expect(prompt)
        output = ""
        written = [ast.unparse(statement) for statement in ast.parse(TEXT + CHECK).body]
        for statement in written:
            for line in [*statement.splitlines(), *([""] if "\n" in statement else [])]:
                python.sendline(line)
                python.expect(prompt)
                output += python.before
        assert "done!" in output
        assert "Error" not in output, output
        python.sendline("exit()")
        assert process.wait(60) == 0


CELL = f"""
{TEXT}
class Model:
    def rate(self, v):
        return np.abs(v) if v < 0 else v

from fusejit import fuse_jit

@fuse_jit
def totals(x, model):
    s = 0.0
    for i in range(len(x)):
        if model.rate(x[i]) > 2:
            s += helper(x[i])
    return s

@fuse_jit
def shares_memory(x, y):
    x[0] = y[-1]
    return y * 2

"""
NOTEBOOK = """
import ast, linecache, sys
cell = sys.argv[1]
name = "<ipython-input-7-0123456789ab>"
linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
for statement in ast.parse(cell).body:
    exec(compile(ast.Module([statement], []), name, "exec"))
"""
SEND = f"""{NOTEBOOK}
import cloudpickle
sys.stdout.buffer.write(cloudpickle.dumps([(totals, shares_memory), Model()]))
"""
RECEIVE = """
import sys, warnings
data = open(sys.argv[1], "rb").read()
import numpy as np, pickle
from fusejit import fuse_jit
x = np.array([4.0, -1.0, 0.25, 9.0])
with warnings.catch_warnings(record=True) as shown:
    for _ in range(3):
        warnings.simplefilter("always")
        (totals, shares_memory), model = pickle.loads(data)
        assert totals(x, model) == 10.0
        assert len(totals.variants) == 1, totals.variants
        assert not totals.variants.fallbacks, totals.variants
        shares_memory(x.copy(), x)
        y = x.copy()
        shares_memory(y, y[1:])
assert len(shown) == 1, [str(w.message) for w in shown]
try:
    totals(None, model)
except TypeError:
    print("raised TypeError")
"""


def test_cloudpickle(tmp_path: Path) -> None:
    """So do dask's processes: its scheduler sends ``cloudpickle.dumps`` of tasks to a pool."""
    pytest.importorskip("cloudpickle")
    pickled = subprocess.run(
        [sys.executable, "-c", SEND, CELL], capture_output=True, check=True, env=ENVIRONMENT
    )
    file = tmp_path / "task"
    file.write_bytes(pickled.stdout)
    assert run("-c", RECEIVE, str(file)) == "raised TypeError\n"


JOBLIB = f"""{NOTEBOOK}
import joblib, warnings
def task(x):
    warnings.simplefilter("error")
    result = totals(x, Model())
    return float(result), len(totals.variants), dict(totals.variants.fallbacks)
x = np.array([4.0, -1.0, 0.25, 9.0])
print(joblib.Parallel(n_jobs=2)(joblib.delayed(task)(x * k) for k in (1, 0.25)))
"""


def test_joblib() -> None:
    pytest.importorskip("joblib")
    assert run("-c", JOBLIB, CELL) == "[(10.0, 1, {}), (3.0, 1, {})]\n"


@dataclasses.dataclass(order=True, unsafe_hash=True)
class Ordered:
    a: int
    b: float = 2.0
    c: list[int] = dataclasses.field(default_factory=list, compare=False)
    d: dict[str, int] = dataclasses.field(default_factory=dict, init=False, hash=False)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: tuple[int, ...] = dataclasses.field(default_factory=tuple)

    def __post_init__(self) -> None:
        assert self.a


@dataclasses.dataclass(kw_only=True, slots=True)
class ByName:
    x: int
    y: int = 1


@dataclasses.dataclass
class Empty:
    pass


METHODS = ("__init__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", [Ordered, Frozen, ByName, Empty])
def test_methods_of_dataclasses(kind: type, name: str) -> None:
    """`dataclasses` compiles text that nobody keeps: it is put together again."""
    method = vars(kind).get(name)
    if isinstance(method, FunctionType):
        assert isinstance(find_source(method), FunctionSource)


def test_another_method_of_a_class_from_a_string() -> None:
    """A text that does not compile to the bytecode is none."""
    text = "class C:\n def __eq__(self, other):\n  return (self.a,) <= (other.a,)"
    made: dict[str, Any] = {}
    exec(compile(text, "<string>", "exec"), made)
    assert isinstance(find_source(made["C"].__eq__), str)
