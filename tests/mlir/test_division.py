"""`//`, `%`, shifts and `fma` as MLIR text: NumPy's numbers where MLIR leaves the result open."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.mlir.export.module_printer import mlir_text
from fusejit_testing import mlir_oracle
from fusejit_testing.graphs.one_op import one_op

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

from fusejit.mlir import load

DIVISIONS = ("floor_divide", "remainder", "fmod", "left_shift", "right_shift")
DTYPES = tuple(map(np.dtype, ("i1", "i4", "i8", "u1", "u8")))
NUMBERS = (3, -3, 0, 1, -1, 7, 8, -8, 70, 127)


def numbers_of(dtype):
    info = np.iinfo(dtype)
    return np.array([*range(max(-9, info.min), 10), info.min, info.max], dtype)


def divided_by(name, number, dtype):
    return one_op(lambda b: b.op(name, (0, b.const(number, dtype)), dtype), [dtype], dtype)


def cases():
    for name in DIVISIONS:
        for dtype in DTYPES:
            for number in NUMBERS:
                if np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
                    yield name, number, dtype


@pytest.fixture(scope="module")
def programs():
    """Text, argument (signless) and NumPy's result of each case."""
    found = []
    for name, number, dtype in cases():
        x = numbers_of(dtype)
        with np.errstate(all="ignore"):
            wanted = SCALAR_OPS[name].ufunc(x, dtype.type(number))
        signless = np.dtype(f"i{dtype.itemsize}")
        text = mlir_text(divided_by(name, number, dtype))
        found.append((text, x.view(signless), wanted.view(signless)))
    return found


def test_mlir_computes_numpys_numbers_for_every_sign_and_zero(programs):
    assert len(programs) > 200
    sent = [mlir_oracle.Program(t, (x,), ((x.dtype, 1),)) for t, x, _ in programs]
    for (text, _, wanted), (result,) in zip(programs, mlir_oracle.run(sent), strict=True):
        np.testing.assert_array_equal(result, wanted, err_msg=text)


def test_loading_gives_the_text_again_and_numpys_numbers(programs, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    for text, x, wanted in programs[::3]:
        function = load(text)
        assert function.mlir() == text
        np.testing.assert_array_equal(function(x), wanted, err_msg=text)


@pytest.mark.parametrize("name", DIVISIONS)
def test_a_division_by_data_is_refused_with_the_reason(name):
    dtype = np.dtype(np.int64)
    graph = one_op(lambda b: b.op(name, (0, 1), dtype), [dtype, dtype], dtype)
    with pytest.raises(UnsupportedError, match=rf"{name} of int64 .* not a constant: arith\."):
        mlir_text(graph)


def of_a_size(x):
    n = x.shape[0]
    return x * (n % 4), x + (n << 2), x - (n >> 1), x * (n // -3), x[: n // 3 % 2]


@pytest.mark.parametrize("fused", [False, True])
def test_sizes_are_divided_and_shifted_by_constants(fused, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    text = fuse_jit(of_a_size).mlir(np.ones(8), fused=fused)
    function = load(text)
    assert len(function.program.parameters) == 1  # no integer is one of its own
    assert function.mlir() == text
    for n in (0, 1, 7, 8):
        for actual, wanted in zip(function(np.ones(n)), of_a_size(np.ones(n)), strict=True):
            np.testing.assert_array_equal(actual, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_is_written_read_and_rounded_once(dtype, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    dtype = np.dtype(dtype)
    text = mlir_text(one_op(lambda b: b.op("fma", (0, 1, 2), dtype), [dtype] * 3, dtype))
    assert "math.fma %in0, %in1, %in2" in text
    function = load(text)
    assert function.mlir() == text
    step = np.finfo(dtype).eps
    a, b = np.array([1 + step, 3, -2], dtype), np.array([1 - step, 5, 0.5], dtype)
    c = np.array([-1, np.inf, 1], dtype)
    wanted = np.array([-step * step, np.inf, 0], dtype)  # of two roundings the first is 0
    np.testing.assert_array_equal(function(a, b, c), wanted)
    ((judged,),) = mlir_oracle.run([mlir_oracle.Program(text, (a, b, c), ((dtype, 1),))])
    np.testing.assert_array_equal(judged, wanted)


OPERATIONS = {
    "arith.divsi %x, %c : i32": ([-7, 7, 6, -6, 1], [2, -2, -2, 2, 0]),  # by -3
    "math.round %x : f32": ([0.5, 2.5, -1.5, 0.25], [1, 3, -2, 0]),
    "math.rsqrt %x : f32": ([4, 0.25], [0.5, 2]),
}


@pytest.mark.parametrize("line", OPERATIONS)
def test_operations_that_are_several_scalar_ops_are_read(line, monkeypatch):
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    type_ = line[-3:]
    constant = "%c = arith.constant -3 : i32\n" if type_ == "i32" else ""
    function = load(
        f"func.func @f(%a: tensor<?x{type_}>) -> tensor<?x{type_}> {{\n"
        f"{constant}%r = linalg.map ins(%a : tensor<?x{type_}>) outs(%a : tensor<?x{type_}>)\n"
        f"(%x: {type_}, %o: {type_}) {{ %s = {line}\nlinalg.yield %s : {type_} }}\n"
        f"return %r : tensor<?x{type_}>\n}}"
    )
    dtype = np.dtype(np.int32 if type_ == "i32" else np.float32)
    given, wanted = (np.array(numbers, dtype) for numbers in OPERATIONS[line])
    np.testing.assert_array_equal(function(given), wanted)
