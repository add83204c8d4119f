"""Kernel text written as LLVM IR: the same bits as by Numba's front end, and who writes what."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.backend import native_text, numba_private
from fusejit.codegen.backend.compile import ArgType, Kernel, compile_kernel
from fusejit.codegen.backend.text_names import Places, text_form
from fusejit.codegen.machine.probe import probe
from fusejit.ir.affine import parse_affine_expr
from fusejit.options import Options
from fusejit.pipeline import trace

INT = ArgType("scalar", np.dtype(np.int64))
INTS = ArgType("array", np.dtype(np.int64), 1)
FLOATS = ArgType("array", np.dtype(np.float64), 1)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who compiled the kernels of a test."""
    ways: list[str] = []
    by_text = numba_private.compile_text

    def compile_text(*args: Any) -> Any:
        try:
            made = by_text(*args)
        except native_text.Unwritten:
            ways.append("numba")
            raise
        ways.append("text")
        return made

    monkeypatch.setattr(numba_private, "compile_text", compile_text)
    return ways


def build(source: str, *signature: ArgType) -> Kernel:
    return compile_kernel(source, signature, cache_enabled=False)


def function(body: str, parameters: str = "o, a, b") -> str:
    lines = [f"    {line}" for line in body.splitlines()]
    return "\n".join([f"def kernel({parameters}):", "    p = flat(o)", *lines, "    return 0", ""])


EXPRESSIONS = (
    "a + b",
    "a - b * 3",
    "a // 8",
    "a % 8",
    "a // 7",
    "a % 7",
    "a // b",
    "a % b",
    "-a",
    "~a",
    "a & b",
    "a | 5",
    "a ^ b",
    "a << 3",
    "a >> 2",
    "min(a, b, 4)",
    "max(a, b)",
    "abs(a)",
    "i64(a < b)",
    "i64(not a == b)",
    "i64(a < 0 and b < 0)",
    "i64(a < 0 or b > 2)",
    "i64(f64(a) / f64(b) < 1)",
    "i64(f64(a) * 2 + 1.5)",
    "i64(i8(a) & i8(b))",
    "i64(i8(a) + u8(b))",
    "i64(f32(a) * f64(0.1))",
    "i64(u64(a) > u64(b))",
    "i64(f64(a) != f64(nan))",
    "i64(boolean(a) == False)",
    "i64(-8 <= a < b <= 8)",
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_have_the_bits_of_numbas_front_end(
    expression: str, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = function(f"put(p, 0, {expression})")
    mine = build(source, INTS, INT, INT)
    assert written == ["text"]

    def nothing(*args: Any) -> Any:
        raise native_text.Unwritten

    monkeypatch.setattr(numba_private, "compile_text", nothing)
    numbas = build(source, INTS, INT, INT)
    results = np.zeros(1, np.int64), np.zeros(1, np.int64)
    numbers = (-(2**31), -17, -8, -7, -1, 0, 1, 5, 7, 8, 64, 2**40)
    for a in numbers:
        for b in numbers:
            for kernel, result in zip((mine, numbas), results, strict=True):
                assert kernel.call(result, a, b) == 0
            assert results[0] == results[1], (expression, a, b)


CONTROL: dict[str, Callable[[int, int], int]] = {
    "t = 0\nfor i in range(a):\n    t = t + i\nput(p, 0, t)": lambda a, b: sum(range(a)),
    "t = 0\nfor i in range(a, b, -2):\n    t = t + i\nput(p, 0, t)": lambda a, b: sum(
        range(a, b, -2)
    ),
    # the name of a loop is not its counter
    "t = 0\nfor i in range(a):\n    t = t + 1\n    i = 100\nput(p, 0, t)": lambda a, b: max(a, 0),
    "t = a\nwhile t > 3:\n    t = t - 2\nput(p, 0, t)": lambda a, b: (
        a if a <= 3 else 3 - (a + 1) % 2
    ),
    "t = 0\nwhile True:\n    u = t * t\n    if u > a:\n        break\n    t = t + 1\n"
    "put(p, 0, t)": lambda a, b: next(t for t in range(1000) if t * t > a),
    "if a < b:\n    t = 1\nelse:\n    t = 2\nput(p, 0, t)": lambda a, b: 1 if a < b else 2,
    "if a < b:\n    return 7\nput(p, 0, 5)": lambda a, b: 5,
    # what an iteration reads in front of the assignment is the last one's
    "t = 1\nu = 0\nfor i in range(a):\n    u = u + t\n    t = t * 2\nput(p, 0, u)": lambda a, b: (
        sum(2**k for k in range(a))
    ),
    # a name of two types, one after the other
    "x = f64(a)\nput(p, 0, i64(x))\nx = i64(b)\nput(p, 0, x)": lambda a, b: b,
}


@pytest.mark.parametrize("body", CONTROL)
def test_control_flow_is_pythons(body: str, written: list[str]) -> None:
    kernel = build(function(body), INTS, INT, INT)
    assert written == ["text"]
    for a, b in ((0, 0), (9, 2), (3, 5), (12, -1)):
        result = np.full(1, -5)
        status = kernel.call(result, a, b)
        if status == 0:
            assert result[0] == CONTROL[body](a, b), (a, b)
        else:
            assert (status, result[0]) == (7, -5)


def test_what_is_not_of_the_language_is_left_to_numba(written: list[str]) -> None:
    source = function("x = (a, b)\nput(p, 0, x[1])")
    kernel = build(source, INTS, INT, INT)
    result = np.zeros(1, np.int64)
    assert kernel.call(result, 1, 2) == 0
    assert (result[0], written) == (2, ["numba"])


def test_the_kernels_of_programs_are_written_here(written: list[str]) -> None:
    def program(x: np.ndarray, n: int) -> Any:
        for _ in range(n):
            x[1:-1] += 0.5 * np.sin(x[2:] - x[:-2])
        return x.mean(), np.cumsum(x), x.reshape(-1, 2).max(axis=1), x[x > 0].sum()

    x = np.linspace(-3, 3, 40)
    stage = trace(program, (x, 9), {}, Options(cache=False))
    made = stage.fuse().lower().compile()
    assert written == ["text"] * len(made.kernels)
    mine, numpys = x.copy(), x.copy()
    for left, right in zip(made.launch(mine, 9), program(numpys, 9), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-13)


ALIKE = """
def chunk0(lo, hi, p_a, p_o):
    for i in range(lo, hi):
        put(p_o, i, get(p_a, i) * f64(2.0))

def chunk1(lo, hi, p_x, p_z):
    for d in range(lo, hi):
        put(p_x, d, get(p_z, d) * f64({factor}))

def kernel(a, t, o):
    q = flat_scoped(a, 1)
    r = flat_scoped(t, 2)
    s = flat_scoped(o, {scope})
    parallel_for(chunk0, a.shape[0], 5, q, r)
    parallel_for(chunk1, a.shape[0], 5, s, r)
    return 0
"""


@pytest.mark.parametrize(
    ("factor", "scope", "functions"), [("2.0", 3, 1), ("3.0", 3, 2), ("2.0", 2, 2)]
)
def test_chunks_that_differ_in_names_alone_are_one_function(
    factor: str, scope: int, functions: int
) -> None:
    source = ALIKE.format(factor=factor, scope=scope)
    kernel = build(source, FLOATS, FLOATS, FLOATS)
    found = [line for line in kernel.llvm().splitlines() if line.startswith("define")]
    assert sum("fusejit_chunk0" in d or "fusejit_chunk1" in d for d in found) == functions
    a, t, o = np.arange(5.0), np.zeros(5), np.zeros(5)
    assert kernel.call(a, t, o) == 0
    np.testing.assert_array_equal(t, 2 * a)
    np.testing.assert_array_equal(o, float(factor) * t)


def test_kernels_of_one_form_are_compiled_once(written: list[str]) -> None:
    def program(w: np.ndarray, x: np.ndarray) -> np.ndarray:
        for _ in range(4):  # unrolled; the products are library calls between kernels
            x = np.maximum(w @ x, 0.5) * 0.25
        return x

    w, x = np.random.default_rng(0).random((64, 64)), np.ones((64, 64))
    made = trace(program, (w, x), {}, Options(cache=False)).fuse().lower().compile()
    assert len(made.kernels) > len(written)
    assert len({kernel.source for kernel in made.kernels}) == len(made.kernels)
    np.testing.assert_allclose(made.launch(w, x), program(w, x), rtol=1e-12)


def test_the_form_of_a_text_is_all_but_its_names() -> None:
    def form(text: str) -> Any:
        return text_form(ast.parse(text))

    one = "def kernel(a, b):\n    c = a + b\n    return c * 2\n"
    assert form(one) == form("def kernel(x, y):\n    t = x + y\n    return t * 2\n")
    for other in (
        "def kernel(x, y):\n    t = y + x\n    return t * 2\n",  # the parameters change places
        "def kernel(x, y):\n    t = x + y\n    return t * 3\n",
        "def kernel(x, y):\n    t = x + y\n    return t * 2.0\n",
        "def kernel(x, y):\n    t = x + x\n    return t * 2\n",
        "def kernel(x, y):\n    t = x - y\n    return t * 2\n",
    ):
        assert form(one) != form(other), other
    nested = "def kernel(x):\n    if x:\n        f(x)\n        g(x)\n    {}\n"
    assert form(nested.format("h(x)")) != form(nested.format("    h(x)"))


def test_a_read_sees_one_assignment_or_is_left_to_memory() -> None:
    tree = ast.parse(
        "def f(n):\n"
        "    a = 1\n"
        "    for i in range(n):\n"
        "        use(a)\n"
        "        a = 2\n"
        "        b = i\n"
        "        use(b)\n"
        "    if n:\n"
        "        c = 1\n"
        "        use(c)\n"
        "    else:\n"
        "        c = 2\n"
        "        use(c)\n"
        "    if n:\n"
        "        d = 1\n"
        "    use(d)\n"
    )
    (node,) = tree.body
    assert isinstance(node, ast.FunctionDef)
    names = {n.id for n in Places(node).seen() if isinstance(n, ast.Name)}
    assert names == {"n", "i", "b", "c"}


def test_an_expression_hashes_anew_in_another_process() -> None:
    expr = parse_affine_expr("(d0 + s0) floordiv 2 + 3 * s1")
    hash(expr)
    code = (
        "import pickle, sys; from fusejit.ir.affine import parse_affine_expr as parse;"
        "e = pickle.loads(sys.stdin.buffer.read());"
        "assert e in {parse('(d0 + s0) floordiv 2 + 3 * s1')}"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(expr), check=True)


@pytest.mark.skipif(not probe().has_vector("exp", "f64"), reason="no vector form of exp here")
def test_loops_of_functions_take_one_vector_at_a_time() -> None:
    """Registers do not outlive a call: several vectors at once would go to the stack and back."""
    widest = probe().form("exp", "f64")
    assert widest is not None
    loads = []
    for value in ("exp(get(q, i))", "(get(q, i) + f64(1.0))"):
        text = (
            "def kernel(o, x, n):\n    p = flat_scoped(o, 1)\n    q = flat_scoped(x, 2)\n"
            f"    for i in range(n):\n        put(p, i, {value})\n    return 0\n"
        )
        llvm = build(text, FLOATS, FLOATS, INT).llvm()
        loads.append(Counter(map(int, re.findall(r"load <(\d+) x double>", llvm))))
    assert (
        loads[0][widest.bits // 64] == 1
    )  # of the function's own width, also where LLVM likes less
    assert max(loads[1].values()) > 1  # LLVM's own choice, where nothing is called
