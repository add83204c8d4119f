"""Loops written as LLVM IR: the same bits as by Numba's front end from the printed source."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.analysis.function_forms import module_form, single_valued
from fusejit.codegen.backend import numba_private
from fusejit.codegen.backend.compile import ArgType, Kernel, compile_kernel
from fusejit.codegen.backend.llvm_values import UnsupportedLowering
from fusejit.codegen.machine.probe import probe
from fusejit.codegen.printer.statement_printer import emit_kernel
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.loops.index_math import (
    BOOL,
    I64,
    both,
    compute,
    either,
    equal,
    int_of,
    less,
    let,
    maximum,
    minimum,
    name,
    negated,
    number,
    operand,
)
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    Field,
    For,
    If,
    Launch,
    Let,
    LoopFunction,
    LoopModule,
    Number,
    Return,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import cast, convert, scalar
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.options import Options
from fusejit.stages import trace

INT = ArgType("scalar", I64)
F8 = np.dtype(np.float64)
A, B, ZERO = name("a"), name("b"), Polynomial.const(0)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who compiled the kernels of a test."""
    ways: list[str] = []
    by_loops = numba_private.compile_loops

    def compile_loops(*args: Any) -> Any:
        try:
            made = by_loops(*args)
        except UnsupportedLowering:
            ways.append("numba")
            raise
        ways.append("here")
        return made

    monkeypatch.setattr(numba_private, "compile_loops", compile_loops)
    return ways


def array(dtype: Any = I64) -> ArgType:
    return ArgType("array", np.dtype(dtype), 1)


def kernel_of(
    *body: Stmt, arrays: Sequence[str] = "o", numbers: Sequence[str] = "ab"
) -> LoopModule:
    """A kernel of arrays, with a pointer to each (``p_o``), and of numbers."""
    flat = [
        let(f"p_{each}", Call("flat_scoped", (Var(each), operand(at + 1))))
        for at, each in enumerate(arrays)
    ]
    statements = [*flat, *body, Return(operand(0))]
    return LoopModule((LoopFunction("kernel", (*arrays, *numbers), statements),))


def build(module: LoopModule, *signature: ArgType, by_numba: bool = False) -> Kernel:
    loops = None if by_numba else module
    return compile_kernel(emit_kernel(module), signature, loops, cache_enabled=False)


def store(value: Expr, at: Polynomial = ZERO) -> StoreElement:
    return StoreElement("p_o", at, value)


QUOTIENT = Polynomial.quotient(A + 3, B * B + 1)
INDICES: tuple[Expr, ...] = (
    operand(A + B),
    operand(A - B * 3 + 5),
    operand(A * -1),
    operand(A * B * -2 - 7),
    operand(QUOTIENT * 2 + Polynomial.quotient(A, 7, remainder=True)),
    *(compute(sign, A, by) for sign in ("//", "%") for by in (8, 7, 1)),
    *(compute(sign, A, B) for sign in ("//", "%", "&", "|")),
    compute("neg", A),
    compute(">>", A, 2),
    compute("*", A, B, 3),
    compute("-", compute("-", A, B), compute("-", B, 4)),
    minimum(A, B, 4),
    maximum(A, B),
    compute("abs", A),
    int_of(negated(equal(A, B))),
    int_of(both(less(A, 0), less(B, 0))),
    int_of(either(less(A, 0), less(2, B), equal(A, 5))),
    int_of(compute("&", less(A, 0), less(B, 0))),
    *(int_of(compute(sign, A, B)) for sign in ("<", "<=", ">", ">=", "==", "!=")),
)


def test_arithmetic_of_indices_has_the_bits_of_numbas_front_end(written: list[str]) -> None:
    module = kernel_of(*(store(e, Polynomial.const(at)) for at, e in enumerate(INDICES)))
    signature = array(), INT, INT
    kernels = build(module, *signature), build(module, *signature, by_numba=True)
    assert written == ["here"]
    numbers = (-(2**31), -17, -8, -7, -1, 0, 1, 5, 7, 8, 64, 2**40)
    for a in numbers:
        for b in (n for n in numbers if n):
            results = [np.zeros(len(INDICES), np.int64) for _ in kernels]
            for kernel, result in zip(kernels, results, strict=True):
                assert kernel.call(result, a, b) == 0
            np.testing.assert_array_equal(*results, err_msg=f"{a}, {b}")


DTYPES = {"b": "?", "i": "bhil", "u": "BHIL", "f": "fd"}
FORMS = [
    (name, np.dtype(char), scalar_form)
    for name, row in SCALAR_OPS.items()
    for scalar_form in (False, True)
    for kind in (row.scalar_templates if scalar_form else row.templates)
    for char in DTYPES.get(kind, "")
]


def result_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """The dtype of a row's result."""
    row = SCALAR_OPS[name]
    if row.ufunc is None:
        return BOOL if name.endswith("_fits") else dtype
    return row.ufunc(*(np.ones(0, dtype),) * row.ufunc.nin).dtype


def of_rows(dtype: np.dtype) -> tuple[list[Expr], list[str]]:
    """Every row for operands of a dtype, and their names."""
    operands = [Element(f"p_{each}", name("i")) for each in "xyz"]
    exprs: list[Expr] = []
    names = []
    for row, of, scalar_form in FORMS:
        arity = SCALAR_OPS[row].arity
        is_of_int64 = row.endswith("_fits")
        if of != dtype or row in ("select", "complex") or (is_of_int64 and of != I64):
            continue
        made = scalar(
            row, *operands[:arity], dtype=result_dtype(row, of), of=of, scalar_form=scalar_form
        )
        exprs.append(made)
        names.append(f"{row}{' alone' if scalar_form else ''}")
    return exprs, names


POINTS = [0, 1, 2, 3, 7, 8, 100, 255, -1, -2, -7, -8, -100, 0.5, -0.5, 1.5, -0.0, 1e300, np.inf]


@pytest.mark.parametrize("char", "?" + "bhil" + "BHIL" + "fd")
def test_each_row_of_the_table_has_the_bits_of_numbas_front_end(
    char: str, written: list[str]
) -> None:
    dtype = np.dtype(char)
    exprs, names = of_rows(dtype)
    body = [
        StoreElement("p_o", name("i") * len(exprs) + at, cast(e, F8)) for at, e in enumerate(exprs)
    ]
    module = kernel_of(
        For("i", operand(0), operand("n"), body), arrays=("o", "x", "y", "z"), numbers=["n"]
    )
    signature = array(F8), *[array(dtype)] * 3, INT
    kernels = build(module, *signature), build(module, *signature, by_numba=True)
    assert written == ["here"]
    with np.errstate(all="ignore"):
        points = np.array([*POINTS, -np.inf, np.nan]).astype(dtype)
    x, y = (each.ravel() for each in np.meshgrid(points, points))
    results = [np.zeros((len(x), len(exprs))) for _ in kernels]
    for kernel, result in zip(kernels, results, strict=True):
        assert kernel.call(result.ravel(), x, y, np.roll(y, 1), len(x)) == 0
    for at, row in enumerate(names):
        np.testing.assert_array_equal(*(r[:, at] for r in results), err_msg=row)


def test_numbers_of_each_dtype_are_written_exactly(written: list[str]) -> None:
    values = [
        *(Number(n, np.dtype(c)) for c in "bhil" for n in (-3, 0, np.iinfo(c).min)),
        *(Number(n, np.dtype(c)) for c in "BHIL" for n in (3, np.iinfo(c).max)),
        *(Number(n, np.dtype(c)) for c in "fd" for n in (0.1, -0.0, np.inf, -np.inf, np.nan, 1e30)),
        Number(True, BOOL),
    ]
    exprs = [*(cast(v, F8) for v in values)]
    exprs += [cast(convert(v, F8), F8) for v in values if v.dtype.char in "bhiBHIfd"]
    module = kernel_of(*(store(e, Polynomial.const(at)) for at, e in enumerate(exprs)), numbers=())
    kernels = build(module, array(F8)), build(module, array(F8), by_numba=True)
    assert written == ["here"]
    results = [np.zeros(len(exprs)) for _ in kernels]
    for kernel, result in zip(kernels, results, strict=True):
        kernel.call(result)
    np.testing.assert_array_equal(*(r.view(np.int64) for r in results))


I = name("i")  # noqa: E741
T = name("t")


def again(of: str, value: Polynomial) -> Let:
    return let(of, value, rebind=True)


CONTROL: list[tuple[list[Stmt], Callable[[int, int], int]]] = [
    (
        [let("t", 0), For("i", operand(0), operand(A), [again("t", T + I)]), store(Var("t"))],
        lambda a, b: sum(range(a)),
    ),
    (
        [let("t", 0), For("i", operand(A), operand(B), [again("t", T + I)], 3), store(Var("t"))],
        lambda a, b: sum(range(a, b, 3)),
    ),
    (  # the name of a loop is not its counter
        [
            let("t", 0),
            For("i", operand(0), operand(A), [again("t", T + 1), again("i", name("b") + 100)]),
            store(Var("t")),
        ],
        lambda a, b: max(a, 0),
    ),
    (
        [let("t", A), While([], less(3, "t"), [again("t", T - 2)]), store(Var("t"))],
        lambda a, b: a if a <= 3 else 3 - (a + 1) % 2,
    ),
    (
        [
            let("t", 0),
            While([let("u", T * T)], negated(less("a", "u")), [again("t", T + 1)]),
            store(Var("t")),
        ],
        lambda a, b: next(t for t in range(1000) if t * t > a),
    ),
    (
        [If(less("a", "b"), [let("t", 1)], [let("t", 2)]), store(Var("t"))],
        lambda a, b: 1 if a < b else 2,
    ),
    ([If(less("a", "b"), [Return(operand(7))]), store(number(5))], lambda a, b: 5),
    (  # what an iteration reads before the assignment is the last one's
        [
            let("t", 1),
            let("u", 0),
            For("i", operand(0), operand(A), [again("u", name("u") + T), again("t", T * 2)]),
            store(Var("u")),
        ],
        lambda a, b: sum(2**k for k in range(a)),
    ),
    (  # a name of two types, one after the other
        [
            Let("t", convert(Var("a"), F8)),
            store(cast(Var("t"), I64)),
            let("t", B),
            store(Var("t")),
        ],
        lambda a, b: b,
    ),
    (
        [
            Scratch("s", operand(4), I64, on_stack=True),
            StoreElement("s", Polynomial.const(3), Field("o", "size")),
            store(Element("s", Polynomial.const(3))),
        ],
        lambda a, b: 1,
    ),
]


@pytest.mark.parametrize("at", range(len(CONTROL)))
def test_control_flow_is_pythons(at: int, written: list[str]) -> None:
    body, expected = CONTROL[at]
    kernel = build(kernel_of(*body), array(), INT, INT)
    assert written == ["here"]
    for a, b in ((0, 0), (9, 2), (3, 5), (12, -1)):
        result = np.full(1, -5)
        for call in (kernel.call, kernel.python):
            status = call(result, a, b)
            if status == 0:
                assert result[0] == expected(a, b), (a, b)
            else:
                assert (status, result[0]) == (7, -5)


def test_what_is_not_written_here_is_left_to_numba(written: list[str]) -> None:
    body = [  # a name of two types in one place
        If(less("a", "b"), [let("t", A)], [Let("t", convert(Var("b"), F8))]),
        store(cast(Var("t"), I64)),
    ]
    kernel = build(kernel_of(*body), array(), INT, INT)
    result = np.zeros(1, np.int64)
    assert kernel.call(result, 1, 2) == 0
    assert (result[0], written) == (1, ["numba"])


def test_the_kernels_of_programs_are_written_here(written: list[str]) -> None:
    def program(x: np.ndarray, n: int) -> Any:
        for _ in range(n):
            x[1:-1] += 0.5 * np.sin(x[2:] - x[:-2])
        return x.mean(), np.cumsum(x), x.reshape(-1, 2).max(axis=1), x[x > 0].sum()

    x = np.linspace(-3, 3, 40)
    stage = trace(program, (x, 9), {}, Options(cache=False))
    made = stage.fuse().lower().compile()
    assert written == ["here"] * len(made.kernels)
    mine, numpys = x.copy(), x.copy()
    for left, right in zip(made.launch(mine, 9), program(numpys, 9), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-13)


def chunk(name_: str, to: str, source: str, var: str, factor: float) -> LoopFunction:
    at = name(var)
    doubled = scalar("multiply", Element(source, at), Number(factor, F8), dtype=F8)
    body = [For(var, Var("lo"), Var("hi"), [StoreElement(to, at, doubled)])]
    return LoopFunction(name_, ("lo", "hi", *sorted((to, source))), body)


@pytest.mark.parametrize(("factor", "scope", "functions"), [(2.0, 3, 1), (3.0, 3, 2), (2.0, 2, 2)])
def test_chunks_that_differ_in_names_alone_are_one_function(
    factor: float, scope: int, functions: int
) -> None:
    flat = [
        let(pointer, Call("flat_scoped", (Var(of), operand(number))))
        for pointer, of, number in (("q", "a", 1), ("r", "t", 2), ("s", "o", scope))
    ]
    numbers = Field("a", "shape", 0), operand(5)
    launches = [
        Launch("chunk0", numbers, (Var("q"), Var("r"))),
        Launch("chunk1", numbers, (Var("s"), Var("r"))),
    ]
    kernel = LoopFunction("kernel", ("a", "t", "o"), [*flat, *launches, Return(operand(0))])
    chunks = chunk("chunk0", "p_o", "p_a", "i", 2.0), chunk("chunk1", "p_x", "p_z", "d", factor)
    made = build(LoopModule((*chunks, kernel)), *[array(F8)] * 3)
    found = [line for line in made.llvm().splitlines() if line.startswith("define")]
    assert sum("fusejit_chunk0" in d or "fusejit_chunk1" in d for d in found) == functions
    a, t, o = np.arange(5.0), np.zeros(5), np.zeros(5)
    assert made.call(a, t, o) == 0
    np.testing.assert_array_equal(t, 2 * a)
    np.testing.assert_array_equal(o, factor * t)


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


def test_the_form_of_a_kernel_is_all_but_its_names() -> None:
    def form(result: Expr, parameters: str = "ab", more: Sequence[Stmt] = ()) -> Any:
        body = [*more, let("c", result), Return(Var("c"))]
        return module_form(LoopModule((LoopFunction("kernel", tuple(parameters), body),)))

    x, y = name("x"), name("y")
    one = form(operand(A + B * 2))
    assert one == form(operand(x + y * 2), "xy")
    for other in (
        form(operand(x * 2 + y), "xy"),  # the parameters change places
        form(operand(x + y * 3), "xy"),
        form(operand(x + x * 2), "xy"),
        form(operand(x - y * 2), "xy"),
        form(compute("+", x, y * 2), "xy"),
    ):
        assert one != other
    inside, behind = [store(Var("a"))], [store(Var("b"))]
    nested = form(operand(A), more=[If(less("a", "b"), [*inside, *behind])])
    assert nested != form(operand(A), more=[If(less("a", "b"), inside), *behind])


def test_a_name_whose_reads_see_one_assignment_is_a_register() -> None:
    def use(of: str) -> Let:
        return Let("_", Call("keep", (Var(of),)))

    is_some = less(0, "n")
    body = [
        let("a", 1),
        For("i", operand(0), operand("n"), [use("a"), let("a", 2), let("b", I), use("b")]),
        If(is_some, [let("c", 1), use("c")], [let("c", 2), use("c")]),
        If(is_some, [let("d", 1)]),
        use("d"),
        While([let("e", 1)], less("e", "n"), [use("e")]),
    ]
    found = single_valued(LoopFunction("f", ("n",), body))
    assert found - {"_"} == {"n", "i", "b", "c", "e"}


def test_an_expression_hashes_anew_in_another_process() -> None:
    expr = parse_affine_expr("(d0 + s0) floordiv 2 + 3 * s1")
    hash(expr)
    code = (
        "import pickle, sys; from fusejit.ir.affine_parser import parse_affine_expr as parse;"
        "e = pickle.loads(sys.stdin.buffer.read());"
        "assert e in {parse('(d0 + s0) floordiv 2 + 3 * s1')}"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(expr), check=True)


@pytest.mark.skipif(not probe().has_vector("exp", "f64"), reason="no vector form of exp here")
def test_loops_of_functions_take_one_vector_at_a_time() -> None:
    """Registers do not outlive a call: several vectors at once would go to the stack and back."""
    widest = probe().form("exp", "f64")
    assert widest is not None
    element = Element("p_x", I)
    loads = []
    for value in (
        scalar("exp", element, dtype=F8),
        scalar("add", element, Number(1.0, F8), dtype=F8),
    ):
        loop = For("i", operand(0), operand("n"), [store(value, I)])
        llvm = build(kernel_of(loop, arrays="ox", numbers="n"), array(F8), array(F8), INT).llvm()
        loads.append(Counter(map(int, re.findall(r"load <(\d+) x double>", llvm))))
    assert (
        loads[0][widest.bits // 64] == 1
    )  # of the function's own width, also where LLVM likes less
    assert max(loads[1].values()) > 1  # LLVM's own choice, where nothing is called
