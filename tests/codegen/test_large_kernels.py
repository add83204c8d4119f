"""Large kernels are compiled at a lower level: the option of LLVM is set for them alone."""

from __future__ import annotations

import llvmlite.binding
import numpy as np
import pytest

from fusejit.codegen.backend import numba_private
from fusejit.codegen.backend.compile import ArgType, compile_kernel

ARRAY = ArgType("array", np.dtype(np.float64), 1)


def text(count: int) -> str:
    lines = "".join(f"    put(p, {k}, get(p, {k + 1}) * f64({k}.5))\n" for k in range(count))
    return f"def kernel(a):\n    p = flat(a)\n{lines}    return 0\n"


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options that LLVM is given."""
    options: list[str] = []
    set_option = llvmlite.binding.set_option

    def note(name: str, option: str) -> None:
        options.append(option)
        set_option(name, option)

    monkeypatch.setattr(llvmlite.binding, "set_option", note)
    return options


def test_large_kernels_alone_go_without_a_pass(given: list[str]) -> None:
    for count in (5, 700):
        kernel = compile_kernel(text(count), (ARRAY,), cache_enabled=False)
        array, expected = np.arange(1000.0), np.arange(1000.0)
        for k in range(count):
            expected[k] = expected[k + 1] * (k + 0.5)
        assert kernel.call(array) == 0
        np.testing.assert_array_equal(array, expected)
        assert given == ([] if count == 5 else ["-disable-lsr=true", "-disable-lsr=false"])


def test_a_failure_leaves_llvm_as_it_was(given: list[str]) -> None:
    with pytest.raises(RuntimeError), numba_private._level_for(numba_private._LARGE):
        raise RuntimeError
    assert given == ["-disable-lsr=true", "-disable-lsr=false"]


def test_an_unknown_llvm_is_given_no_option(
    given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvmlite.binding, "llvm_version_info", (99, 0, 0))
    with numba_private._level_for(numba_private._LARGE):
        pass
    assert given == []
