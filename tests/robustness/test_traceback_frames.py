"""A traceback has the frames that Python shows for the undecorated function, and no others.

Regressions: A function that raised stood in the traceback up to three times, as its entry stub, as
the split function that called a segment and as that segment; handlers of the program, ``__exit__``
of its contexts and ``__context__`` of its exceptions had frames of fusejit's files besides.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit.support.tracebacks import strip_all_frames, strip_frames
from fusejit_testing.oracle import decorate

SOURCE = """\
import functools
import sys
import traceback
import numpy as np

LOG = []

def frames(error):
    entries = traceback.extract_tb(error.__traceback__)
    return [(entry.name, entry.lineno) for entry in entries]

class Context:
    def __exit__(self, kind, error, trace):
        LOG.append([(e.name, e.lineno) for e in traceback.extract_tb(trace)])

    def __enter__(self):
        return self

def raised_by_numpy(x):
    y = x + 1
    return y.reshape(4, -1, 17)

def raised_by_a_kernel(x):
    for i in range(len(x)):
        x[i] = 1.0
        x[i + 1] = 2.0
    return x

def read(x, i):
    return x[i]

def in_an_inlined_helper(x):
    k = x.size - 1
    return read(x, k) + read(x, k + 1)

def between_segments(x):
    LOG.append(x.sum())
    y = x * 2
    return LOG[y.size * 1000]

def in_a_segment(x):
    LOG.append(x.sum())
    y = x * 2

    for i in range(len(x)):
        x[i] = y[i]
        x[i + 1] = 4.0
    return x

def in_the_last_of_many_segments(x):
    a = x + 1
    LOG.append(a)
    b = a * 2
    LOG.append(b)
    c = b - 1
    d = c.reshape(4, -1, 17)
    return d

def summed(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i + 1]
    return s

def in_a_helper_of_a_statement(x):
    y = x + 1
    LOG.append(summed(y))
    return y * 2

def checked(x):
    y = x + 1
    if y.sum() > 1:
        raise ValueError("too large")
    return y

def in_a_call_of_two_lines(x):
    y = x * 2
    return checked(
        y)

def with_a_cause(x):
    try:
        LOG.append(x.sum())
        return checked(x * 2)
    except ValueError as error:
        raise KeyError("k") from error

def with_a_context(x):
    try:
        LOG.append(x.sum())
        y = x + 1
        return y.reshape(4, -1, 17)
    except ValueError:
        raise KeyError("k")

def raised_again(x):
    try:
        LOG.append(x.sum())
        y = x * 2
        z = checked(y)
    except ValueError as error:
        LOG.append(frames(error))
        raise
    return z

def passing_finally(x):
    try:
        y = x + 1
        LOG.append(x.sum())
        return y.reshape(4, -1, 17)
    finally:
        LOG.append(1)

def seen_by_a_handler(x):
    try:
        LOG.append(x.sum())
        y = x * 2
        z = checked(y)
    except ValueError as error:
        return frames(error), len(y)
    return z

def seen_by_a_context(x):
    with Context():
        LOG.append(x.sum())
        y = x * 2
        z = checked(y)
    return z

def logged(x):
    try:
        seen_by_a_context(x)
    except ValueError:
        return LOG[-1]

def in_a_loop_with_handlers(x):
    found = []
    for i in range(3):
        try:
            y = x * i
            LOG.append(y.sum())
            found.append(checked(y).sum())
        except ValueError as error:
            found.append(frames(error))
    return found

def in_parts_of_a_part(x):
    y = x * 2
    try:
        y = y + 1
        LOG.append(y[0])
        z = y * 2
        y = np.linalg.inv(z)
    except np.linalg.LinAlgError as error:
        LOG.append("singular")
        y = y - 100
        return frames(error)[:1], list(y)
    finally:
        LOG.append(y.sum())
    return y

def in_a_condition(x):
    LOG.append(0)
    i = 0
    while x[i] > 0:
        i += 1
    return x

def in_an_elif(x):
    y = x + 1
    if len(LOG) == 100000:
        LOG.append(y)
    elif read(y, 100) > 0:
        LOG.append(y + 1)
    return y

def recursive(x, n=3):
    y = x + 1
    if n == 0:
        return y.reshape(4, -1, 17)
    return recursive(y, n - 1) + 1

def recursive_in_segments(x, n=3):
    y = x + 1
    LOG.append(y)
    z = y * 2
    if n == 0:
        return z.reshape(4, -1, 17)
    return recursive_in_segments(z, n - 1) + 1

def generator(x):
    for i in range(3):
        yield x[i * 100]

def in_a_generator_of_a_helper(x):
    y = x + 1
    s = 0.0
    for v in generator(y):
        s += v
    return s

def in_an_inner_function(x):
    def inner(y):
        return y.reshape(4, -1, 17)
    z = x * 2
    return inner(z)

def in_a_comprehension(x):
    y = x + 1
    return [y[i * 100] for i in range(3)]

def in_an_assert(x):
    y = x * 2
    assert y.sum() < 0, "sum"
    return y

def with_keywords(x, *, k=100):
    return x[k]

def with_a_rest(x, *rest, **others):
    y = x + 1
    LOG.append(y)
    return y.reshape(4, -1, 17)

def interrupted(x):
    y = x + 1
    LOG.append(y)
    raise KeyboardInterrupt

def exits(x):
    y = x + 1
    sys.exit(3)

def in_a_callback(x):
    return np.apply_along_axis(checked, 0, x)

def in_a_partial(x):
    return functools.partial(read, x)(len(x))

class Model:
    @classmethod
    def made(cls, x):
        y = x + 1
        return y.reshape(4, -1, 17)

    def method(self, x):
        y = x + 1
        return self.other(y)

    def other(self, y):
        LOG.append(1)
        return y.reshape(4, -1, 17)

    def __call__(self, x):
        return self.method(x)
"""
X = np.linspace(1.0, 2.0, 6)
HELPERS = {"read", "frames"}
NESTED = ["in_a_helper_of_a_statement", "logged", "recursive_in_segments", "with_a_cause"]
FUNCTIONS = [n for n in re.findall(r"^def (\w+)\(x", SOURCE, re.MULTILINE) if n not in HELPERS]
METHODS = ["method", "other", "__call__"]
CELL = "/tmp/ipykernel_4711/20261128.py"  # as ipykernel names it: there is no such file


@pytest.fixture(params=["file", "cell"])
def load(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Any]]:
    """Makes a module of the source each time; all have one name, file and text."""
    name = CELL if request.param == "cell" else str(tmp_path / "typed.py")
    if request.param == "cell":
        linecache.cache[name] = len(SOURCE), None, SOURCE.splitlines(keepends=True), name
    else:
        Path(name).write_text(SOURCE)

    def module() -> Any:
        made = types.ModuleType("typed")
        made.__file__ = name
        monkeypatch.setitem(sys.modules, "typed", made)
        exec(compile(SOURCE, name, "exec"), vars(made))
        return made

    yield module
    linecache.cache.pop(name, None)


def outcome(function: Callable[..., Any]) -> list[Any]:
    """The result, or the chain of errors with their frames below this one."""
    error: BaseException | None
    try:
        result = function(X.copy())
        return [list(result) if isinstance(result, types.GeneratorType) else result]
    except BaseException as raised:
        error = raised
    found: list[Any] = []
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)[not found :]
        places = [(frame.filename, frame.name, frame.lineno) for frame in frames]
        found.append((type(error), str(error), places))
        error = error.__cause__ or error.__context__
    return found


def compare(function: Callable[..., Any], fused: Callable[..., Any]) -> None:
    expected = outcome(function)
    for _ in range(3):
        assert outcome(fused) == expected


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:.*it is a generator function")
def test_functions(load: Callable[[], Any], name: str) -> None:
    plain, module = load(), load()
    fused = decorate(getattr(module, name), jit=False)
    setattr(module, name, fused)
    compare(getattr(plain, name), fused)


@pytest.mark.parametrize("name", METHODS)
def test_methods(load: Callable[[], Any], name: str) -> None:
    """All methods of the class are decorated."""
    plain, module = load().Model, load().Model
    for each in METHODS:
        setattr(module, each, decorate(getattr(module, each), jit=False))
    made = decorate(module.made.__func__, jit=False)
    module.made = classmethod(made)
    compare(getattr(plain(), name), getattr(module(), name))
    compare(plain.made, module.made)


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.filterwarnings("ignore:.*it is a generator function")
def test_decorated_helpers(load: Callable[[], Any], name: str) -> None:
    plain, module = load(), load()
    for each in FUNCTIONS:
        setattr(module, each, decorate(getattr(module, each), jit=False))
    compare(getattr(plain, name), getattr(module, name))


@pytest.mark.parametrize("name", ["raised_by_a_kernel", "in_a_segment", "seen_by_a_handler"])
def test_calls_that_may_stay_in_python(load: Callable[[], Any], name: str) -> None:
    plain, module = load(), load()
    compare(getattr(plain, name), decorate(getattr(module, name), jit=True, tiering=True))


def test_ipython() -> None:
    """The text that IPython shows for a function of a cell has the lines of the undecorated one."""
    shell_of = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
    shell = shell_of()
    shell.colors = "nocolor"
    shell.user_ns["decorate"] = decorate
    texts = []
    for decorator in ("@(lambda f: f)", "@(lambda f: decorate(f, jit=False))"):
        cell = SOURCE.replace("def in_a_segment", f"{decorator}\ndef in_a_segment")
        with contextlib.redirect_stdout(io.StringIO()):
            assert shell.run_cell(cell).success
        for _ in range(3):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                shell.run_cell("in_a_segment(np.ones(5))")
            texts.append(re.findall(r"^-+> \d+ .*|^\w+Error: .*", out.getvalue(), re.MULTILINE))
    assert len(texts[0]) == 3
    assert texts == [texts[0]] * 6


def test_tracebacks_of_fusejit_alone_stay_whole() -> None:
    with pytest.raises(TypeError) as caught:
        decorate(1, jit=False)  # type: ignore[arg-type]
    error = caught.value.with_traceback(caught.value.__traceback__.tb_next.tb_next)  # type: ignore[union-attr]
    before = traceback.extract_tb(error.__traceback__)
    assert traceback.extract_tb(strip_frames(error).__traceback__) == before
    assert traceback.extract_tb(strip_all_frames(error).__traceback__) == before
