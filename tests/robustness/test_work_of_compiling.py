"""What compiling takes is at most proportional to the program: work is counted, not timed.

Regression: Compile time had no bound: argument checks for each pair of arrays, passes over all
pairs, LLVM's loop unswitching.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit
from fusejit import fuse_jit
from fusejit.codegen.backend.loop_hints import loop_depth
from fusejit.ir.loops.index_math import operand
from fusejit.ir.loops.nodes import For, LoopFunction, LoopModule, Stmt
from fusejit.stages import Lowered

PACKAGE = str(Path(fusejit.__file__).parent)


def function(name: str, text: str) -> Callable[..., Any]:
    """The function ``f`` of a text, whose source can be found."""
    file = f"<work of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    made: Callable[..., Any] = namespace["f"]
    return made


def lines(form: str, count: int) -> str:
    return "".join(f"    {form.format(k=k, j=k + 1)}\n" for k in range(1, count + 1))


BODIES = {
    "ops in a chain": "x = x * 1.5 + y",
    "stores into parts": "y[{k}:-{j}] = y[{k}:-{j}] * x[{j}:-{k}] + x[{k}:-{j}]",
    "stores of elements": "y[{k}] = x[{k}] * y[{j}] + x[0]",
    "rolls of one array": "z.append(x + np.roll(y, {k}))",
    "rolls of rolls": "x = x + np.roll(x, {k})",
    "joined parts": "x = np.concatenate((x[1:], y[:1] * {k}.5))",
    "reductions": "x = x - x.mean() * {k}.5",
    "conditionals": "y[{k}] = x[{k}] if x[{j}] > 0 else -x[{k}]",
    "loops": "for i in range(len(y)): y[i] += x[i] * {k}",
    "products": "z.append(np.outer(x, y) @ x + {k})",
}


def program(family: str, count: int) -> Callable[..., Any]:
    body = lines(BODIES[family], count)
    return function(f"{family} {count}", f"def f(x, y):\n    z = []\n{body}    return x, y, *z\n")


def work(run: Callable[[], Any]) -> tuple[int, Any]:
    """How many functions of the package are called, and the result."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = run()
    finally:
        sys.setprofile(before)
    return calls, result


def lowered(f: Callable[..., Any], arguments: tuple[Any, ...]) -> Lowered:
    return fuse_jit(f).trace(*arguments).fuse().lower()


@pytest.mark.parametrize("family", BODIES)
def test_twice_the_program_is_twice_the_work(family: str) -> None:
    arguments = np.linspace(-1, 1, 300), np.ones(300)
    lowered(program(family, 3), arguments)  # tables that are made once
    calls, lengths = [], []
    for count in (12, 24):
        f = program(family, count)
        number, made = work(lambda f=f: lowered(f, arguments))  # type: ignore[misc]
        calls.append(number)
        lengths.append(len(made.source))
    assert calls[1] <= 2.5 * calls[0]
    assert lengths[1] <= 2.5 * lengths[0]


def test_each_argument_is_asked_once_where_it_is() -> None:
    """Each pair of a written argument and another was asked again: 253 pairs of 23 arguments."""
    count = 12
    names = ", ".join(f"a{k}" for k in range(count))
    body = "".join(f"    a{k} += 1\n" for k in range(count))
    f = function("written arguments", f"def f({names}):\n{body}")
    source = lowered(f, tuple(np.ones(3) for _ in range(count))).source
    assert source.count("low_address(") == source.count("high_address(") == count
    assert source.count("low_a") > count * (count - 1)  # and each pair is compared


def test_dense_strides_are_products_of_two() -> None:
    """The stride of an axis was written out as the product of all lengths inside of it."""
    f = function("16 axes", "def f(x):\n    return x * 2\n")
    text = lowered(f, (np.ones((2,) * 16),)).source
    strides = [line for line in text.splitlines() if ".strides[" in line]
    assert len(strides) == 16
    assert max(line.count("*") for line in strides) == 0


@pytest.mark.parametrize("depth", [9, 14])
def test_deep_nests_are_deep(depth: int) -> None:
    """Loops inside of each other are counted, those side by side are not."""
    nest: list[Stmt] = []
    for k in range(depth):
        nest = [For(f"i{k}", operand(0), operand("n"), nest)]
    other = LoopFunction("chunk0", ("n",), [For("j", operand(0), operand("n"), [])])
    kernel = LoopFunction("kernel", ("n",), [*nest, *other.body])
    assert loop_depth(LoopModule((other, kernel))) == depth
