"""Large kernels are compiled at a lower level: the option of LLVM is set for them alone.

Regression: A residual block compiled for 4.8 s: LLVM's LoopStrengthReduce takes up to two thirds of
code generation. Large kernels skip it and run at the same speed.
"""

from __future__ import annotations

import llvmlite.binding
import numpy as np
import pytest

from fusejit.codegen.backend import numba_private
from fusejit.codegen.backend.compile import ArgType, compile_kernel
from fusejit.codegen.printer.statement_printer import emit_kernel
from fusejit.ir.loops.index_math import let, operand
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    LoopFunction,
    LoopModule,
    Number,
    Return,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import scalar

ARRAY = ArgType("array", np.dtype(np.float64), 1)


def loops(count: int) -> LoopModule:
    """``x[k] = x[k + 1] * (k + 0.5)`` for each k, one after the other."""
    body: list[Stmt] = [let("p", Call("flat_scoped", (Var("a"), operand(1))))]
    for k in range(count):
        following = Element("p", Polynomial.const(k + 1))
        value = scalar("multiply", following, Number(k + 0.5, ARRAY.dtype), dtype=ARRAY.dtype)
        body.append(StoreElement("p", Polynomial.const(k), value))
    return LoopModule((LoopFunction("kernel", ("a",), [*body, Return(operand(0))]),))


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
        made = loops(count)
        kernel = compile_kernel(emit_kernel(made), (ARRAY,), made, cache_enabled=False)
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
