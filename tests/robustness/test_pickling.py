"""Decorated functions travel to other processes as function and options.

Regression: Decorated functions of ``__main__`` were not pickled by value.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import assert_same

pytestmark = pytest.mark.usefixtures("unjitted")

X = np.arange(3.0)


def made(factor: float) -> Any:
    """A function that pickle cannot find by name."""

    @fuse_jit(fusion="none", warn=False)
    def scaled(x: Any, *, first: Any = 1.0) -> Any:
        return x * factor + first

    return scaled


@fuse_jit
def by_name(x: Any) -> Any:
    return x + 1


def test_by_name() -> None:
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    assert copy.deepcopy(by_name) is by_name
    assert copy.copy(by_name) is by_name


def test_the_state_is_function_and_options() -> None:
    fused = made(2.0)
    assert_same(X * 2.0 + 1.0, fused(X))
    state = fused.__fusejit_state__
    build, arguments, known = state.__reduce__()
    assert arguments == (state.function, state.options)
    again = build(*arguments)
    assert again.options is state.options
    assert not len(again.variants)
    rebuild, parts = known["entry_stub"].__reduce__()
    entry_stub = rebuild(*parts)
    assert entry_stub.function is fused
    assert entry_stub.first is state.entry_stub.first
    assert_same(X * 2.0 + 1.0, fused(X))  # its variant is found again
    assert entry_stub.first is fused.variants[0].launch
    assert len(fused.variants) == 1
    build_variants, none = fused.variants.__reduce__()
    assert not len(build_variants(*none))


@pytest.mark.parametrize("is_known", [False, True])
def test_by_value(is_known: bool) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    fused = made(3.0)
    if is_known:
        fused(X)
    twin = pickle.loads(cloudpickle.dumps(fused))
    assert not len(twin.variants)
    for _ in range(2):
        assert_same(X * 3.0 + 2.0, twin(X, first=2.0))
    assert len(twin.variants) == 1
    state = twin.__fusejit_state__
    assert (state.options.fusion, state.options.warn) == ("none", False)
    assert state.entry_stub.function is twin
    assert state.entry_stub.first is twin.variants[0].launch, "the newest variant is asked first"
    assert "variants compiled so far: 1" in twin.explain(X, detail=True)
    assert_same(X * 3.0 + 1.0, fused(X))


SCRIPT = """
import joblib
import numpy as np
from fusejit import fuse_jit

@fuse_jit
def f(x):
    return x * 2 + 1

@fuse_jit
def opened(x):
    print(end="")
    return f(x).tolist(), x.sum()

if __name__ == "__main__":
    x = np.arange(3.0)
    f(x), opened(x)
    work = [joblib.delayed(g)(x + i) for i in range(2) for g in (f, opened)]
    for y, (g, args, _) in zip(joblib.Parallel(n_jobs=2)(work), work):
        assert str(y) == str(g.__wrapped__(*args)), y
"""


@pytest.mark.deep
def test_functions_of_main_in_other_processes(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    script = tmp_path / "main.py"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, str(script)], check=True, timeout=120)
