"""Arrays in files, `np.memmap`, are compiled; classes of results, aliasing and errors are NumPy's.

Regression: joblib hands arrays above 1 MB to its workers as memmaps, and fusejit left every call
with one to Python, because only exact ndarrays were given to kernels.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tracer.values.memmaps import PLAIN_RESULTS
from fusejit_testing.compare import assert_same

DATA = np.arange(1.0, 13.0).reshape(3, 4) * 0.25


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_TIERING", "0")
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def mapped(folder: Path, name: str, mode: Any = "r", data: np.ndarray = DATA) -> np.ndarray:
    path = folder / name
    data.tofile(path)
    return np.memmap(path, dtype=data.dtype, mode=mode, shape=data.shape)


def described(obj: Any) -> Any:
    if isinstance(obj, tuple | list):
        return [described(item) for item in obj]
    if isinstance(obj, np.ndarray):
        flags = obj.flags.writeable, obj.flags.c_contiguous, obj.flags.f_contiguous
        return type(obj), obj.dtype, obj.strides, flags, obj.tolist()
    return type(obj), obj


def outcome(function: Callable[..., Any], x: np.ndarray) -> tuple[Any, Any]:
    try:
        result = function(x)
    except Exception as error:
        return (type(error), str(error)), x.tolist()
    parts = result if isinstance(result, tuple) else (result,)
    shared = [isinstance(r, np.ndarray) and np.shares_memory(r, x) for r in parts]
    return (described(result), shared, [r is x for r in parts]), x.tolist()


def elements(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                total += x[i, j] * (i + 1)
    return total


def carried(x: Any) -> Any:
    y = np.zeros(x.shape)
    for _ in range(4):
        y = y * 0.5 + x
    return y


def conditional(x: Any) -> Any:
    if x[0, 0] > 0:
        y = x + 1
    else:
        y = x - 1
    return y


def whole_reads(x: Any) -> Any:
    return np.sqrt(x * 2 + 1), x.sum(), x.mean(axis=0), x[x > 1], x[[2, 0]], -x, x[1] - x[0]


def base_class(x: Any) -> Any:
    y = np.asarray(x)
    return y[1:], y, y.T.copy(), np.zeros_like(y)


def stores(x: Any) -> Any:
    x[0] = 7.0
    x[1:, 0] += 1
    return x


def out(x: Any) -> Any:
    return np.add(x, 1.0, out=x)


def into_another(x: Any) -> Any:
    made = np.empty(x.shape)
    np.multiply(x, 2.0, out=made)
    return made


def classes(x: Any) -> Any:
    is_map = isinstance(x, np.memmap), type(x) is np.memmap, isinstance(x.T, np.ndarray)
    return *is_map, isinstance(x + 1, np.memmap), type(x * 2) is np.ndarray, x.sum()


def products(x: Any) -> Any:
    return x @ x.T, np.dot(x, np.ones(4)), np.outer(x[0], x[1])


COMPILED = [
    whole_reads, elements, carried, conditional, base_class, stores, out, into_another, classes,
    products, lambda x: x,
]  # fmt: skip
WITH_MEMMAPS = [
    lambda x: x[1:], lambda x: x.T, lambda x: x.reshape(-1), lambda x: x.copy(), lambda x: x[...],
    lambda x: x.astype(np.float32), lambda x: np.zeros_like(x), lambda x: np.sort(x),
    lambda x: np.asanyarray(x)[1:], lambda x: np.dot(x, x.T), lambda x: np.roll(x, 1),
    lambda x: np.nan_to_num(x), lambda x: np.full_like(x, 3.0), lambda x: (x + 1, x[0]),
    lambda x: x.argmax(axis=0), lambda x: np.take(x, [0, 1]), lambda x: np.diff(x),
    lambda x: x.real, lambda x: np.extract(x > 1, x), lambda x: np.array(x, subok=True),
    lambda x: np.repeat(x, 2), lambda x: list(x), lambda x: x.ravel(),
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: copy.copy(x), lambda x: x.round(1), lambda x: np.squeeze(x[:1]),
    lambda x: [x[i] for i in range(2)], lambda x: type(x.T), lambda x: repr(x), lambda x: f"{x}",
    lambda x: (x.filename, x.mode, x.offset, float(x.sum())), lambda x: getattr(x, "nothing", 1),
    lambda x: hasattr(x, "filename"), lambda x: x.__class__,
]  # fmt: skip


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
@pytest.mark.parametrize("number", range(len(COMPILED)))
def test_compiled(tmp_path: Path, number: int, mode: str) -> None:
    function = COMPILED[number]
    fused = fuse_jit(function)
    for _ in range(2):
        expected = outcome(function, mapped(tmp_path, "a", mode))
        assert outcome(fused, mapped(tmp_path, "b", mode)) == expected
    raises = isinstance(expected[0][0], type)
    assert raises == (mode == "r" and function in (stores, out))
    assert raises or "(compiled)" in repr(fused.variants) or "1 variant" in repr(fused.variants)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("number", range(len(WITH_MEMMAPS)))
def test_results_that_are_memmaps(tmp_path: Path, number: int) -> None:
    """Python runs statements that show the class of an array."""
    function = WITH_MEMMAPS[number]
    fused = fuse_jit(function)
    x = mapped(tmp_path, "a")
    for _ in range(2):
        assert outcome(fused, x) == outcome(function, x)
    assert outcome(fused, DATA) == outcome(function, DATA)


def test_ndarrays_and_memmaps_in_turn(tmp_path: Path) -> None:
    fused = fuse_jit(lambda x: (x, x * 2))
    x = mapped(tmp_path, "a")
    for given in (DATA, x, DATA, x, np.asarray(x)):
        same, doubled = fused(given)
        assert same is given
        assert_same(doubled, DATA * 2)
    assert len(fused.variants) == 2


def test_memmaps_in_objects_and_globals(tmp_path: Path) -> None:
    class Model:
        data = mapped(tmp_path, "a")

        def total(self, w: Any) -> Any:
            return (self.data * w).sum(), self.data + w

    fused = fuse_jit(fullgraph=True)(Model.total)
    assert_same(fused(Model(), 2.0), Model().total(2.0))


def test_flush_between_compiled_statements(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        x[...] = np.sqrt(x) + 1
        x.flush()
        return x.max()

    x = mapped(tmp_path, "a", "r+")
    assert_same(fuse_jit(f)(x), (np.sqrt(DATA) + 1).max())
    assert_same(np.fromfile(tmp_path / "a").reshape(3, 4), np.sqrt(DATA) + 1)


def test_kernels_read_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With compiled code, whose entry checks the arrays that it is given itself."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", "0")

    def f(x: Any, y: Any) -> Any:
        return x * 2 + y, x

    fused = fuse_jit(f)
    x = mapped(tmp_path, "a")
    for first, second in ((x, DATA), (DATA, x), (DATA, DATA), (x, x), (x[1:], DATA[1:])):
        assert described(fused(first, second)) == described(f(first, second))
    assert pickle.loads(pickle.dumps(fused(x, DATA)[0])).tolist() == (DATA * 3).tolist()


FORMS: tuple[Callable[..., Any], ...] = (
    lambda f, m: f(m), lambda f, m: f(m, axis=0), lambda f, m: f(m, axis=0, keepdims=True),
    lambda f, m: f(m, m), lambda f, m: f(m[0], m[1]), lambda f, m: f([m, m]),
    lambda f, m: f(m, 1), lambda f, m: f(m, 1, 2), lambda f, m: f(m > 1, m, m),
    lambda f, m: f([m > 1], [m]), lambda f, m: f("ij->ji", m), lambda f, m: f(m[0], [1, 2]),
    lambda f, m: f(m, 50.0, axis=1), lambda f, m: f(m[:, :3], m[:, :3]), lambda f, m: f(m[0], m),
    lambda f, m: f(m.astype(np.int64)), lambda f, m: f(m.astype(np.int64), 1, 2),
    lambda f, m: f(m, 1, axis=0), lambda f, m: f(m, 1, m[0], axis=0),
    lambda f, m: f(m[0], m[0], m[0]),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_functions_that_count_as_plain(tmp_path: Path) -> None:
    x = mapped(tmp_path, "a")
    tried = set()
    for function in PLAIN_RESULTS:
        for form in FORMS:
            try:
                result = form(function, x)
            except Exception:
                continue
            tried.add(function)
            for part in result if isinstance(result, tuple | list) else (result,):
                assert not isinstance(part, np.memmap), (function, form)
    assert len(tried) > 0.9 * len(PLAIN_RESULTS)
