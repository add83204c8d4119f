"""Squared deviations from the mean: the written-out order, its accuracy, and its plain form."""

from fractions import Fraction

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.interpreter.summation import FEWEST, ordered_deviations
from fusejit.ir.ops import GenericOp
from fusejit.mlir.export.plain_reductions import with_plain_reductions

SIZES = (1, 2, 3, 7, 39, 41, 129, 1025, 2500)


def combiners(graph):
    ops = [op for op in graph.block.ops if isinstance(op, GenericOp)]
    return {init.combiner for op in ops for init in op.inits}


def exact(values):
    numbers = [Fraction(float(v)) for v in values]
    mean = sum(numbers) / len(numbers)
    return float(sum((v - mean) ** 2 for v in numbers))


@pytest.mark.parametrize("n", [n for n in SIZES if n < 2 or n >= FEWEST])
def test_equal_numbers_have_none(n):
    for number in (0.1, 1e8, -3e-30, 1e300):
        assert ordered_deviations(np.full(n, number)) == 0
    assert ordered_deviations(np.full(n, np.float32(0.1))) == 0


@pytest.mark.parametrize("n", range(1, FEWEST))
def test_few_numbers_have_the_bits_of_numpy(n):
    rng = np.random.default_rng(n)
    for dtype in (np.float32, np.float64):
        for _ in range(20):
            values = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3, n)).astype(dtype)
            assert ordered_deviations(values) == np.square(values - values.mean()).sum()


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("n", [100, 1024, 2500])
def test_a_large_offset_costs_nothing(n, offset):
    values = np.random.default_rng(n).standard_normal(n) + offset
    assert ordered_deviations(values) == pytest.approx(exact(values), rel=1e-14)


def test_one_outlier_in_front_or_elsewhere():
    for place in (0, 1, 700, 2499):
        values = np.random.default_rng(5).standard_normal(2500)
        values[place] = 1e9
        assert ordered_deviations(values) == pytest.approx(exact(values), rel=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e3])
def test_the_error_is_about_that_of_numpy(dtype, offset):
    fused = fuse_jit(lambda x: x.var(axis=0))
    rows = (np.random.default_rng(7).standard_normal((3000, 700)) + offset).astype(dtype)
    wide = rows.astype(np.longdouble)
    truth = np.square(wide - wide.mean(axis=1, keepdims=True)).mean(axis=1)
    columns = np.ascontiguousarray(rows.T)
    ours, numpys = (np.sqrt(np.mean((y / truth - 1) ** 2)) for y in (fused(columns), rows.var(1)))
    assert ours <= 1.2 * numpys


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 5, 1500])
def test_what_is_not_finite_gives_nan(number, place):
    values = np.random.default_rng(3).standard_normal(2000)
    values[place] = number
    with np.errstate(invalid="ignore"):
        assert np.isnan(ordered_deviations(values))


@pytest.mark.parametrize("axis", [0, -2])
def test_in_plain_reductions_for_other_compilers(axis):
    x = np.random.default_rng(4).standard_normal((5, 7))
    graph = fuse_jit(lambda x: (x.var(axis), x.max(axis))).trace(x).fuse().graph
    plain = with_plain_reductions(graph)
    assert "deviations" in combiners(graph)
    assert combiners(plain) == {"add", "max", None}
    assert with_plain_reductions(plain) is plain
    results = interpret(plain, argument_paths({"x": x}, closure={"axis": axis}))
    np.testing.assert_allclose(results[0], x.var(axis), rtol=1e-13)
    np.testing.assert_array_equal(results[1], x.max(axis))
