"""Types and numbers that have no meaning for an op are refused, never converted silently."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import linalg
from fusejit_testing.linalg.cases import assert_result


def refused(op, error, what, *args, **keywords):
    for run in (op.reference, op):
        with pytest.raises(error, match=what):
            run(*args, **keywords)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_complex_numbers_are_not_cast_to_other_kinds(dtype):
    z = np.array([[1 + 2j, 3]])
    refused(linalg.copy, TypeError, "^copy: O: complex128 is not cast to", z, dtype=dtype)
    what = "^matmul: C: complex128 is not cast to"
    refused(linalg.matmul, TypeError, what, z, z.T, dtype=dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "i1"])
def test_bools_become_minus_one_and_a_positive_zero(dtype):
    given = np.array([True, False])
    for run in (linalg.copy, linalg.copy.reference):
        got = run(given, dtype=dtype)
        assert_result(got, np.array([-1, 0], dtype), dtype)
        assert not np.signbit(got.real[1])


def test_python_numbers_are_not_truncated():
    integers, floats = np.arange(3), np.arange(3.0)
    refused(linalg.add, TypeError, "^add: rhs is a float, not of type int64", integers, 2.5)
    refused(linalg.mul, TypeError, "^mul: lhs is a complex, not of type float64", 2j, floats)
    refused(linalg.mul, TypeError, "^mul: rhs is a int, not of type bool", integers > 1, 2)
    bytes_ = np.ones((2, 2), np.int8)
    what = "^quantized_matmul: AZp is a float, not of type int32"
    refused(linalg.quantized_matmul, TypeError, what, bytes_, bytes_, 1.5, 0, dtype=np.int32)
    what = "^pack: padding_value is a float, not of type int64"
    tiling = {"inner_dims_pos": (0,), "inner_tiles": (2,)}
    refused(linalg.pack, TypeError, what, integers, padding_value=0.5, **tiling)
    what = "^add: in1 is a float, not of type int64"
    refused(linalg.elementwise, TypeError, what, integers, 2.5, kind="add")
    for run in (linalg.add, linalg.add.reference):
        assert_result(run(floats, 2), floats + 2, "an int is a float")


def test_attributes_are_integers():
    x = np.ones((2, 3))
    image, window = np.ones((1, 7, 1)), np.ones(2)
    pool = linalg.pooling_nwc_sum
    refused(
        pool, TypeError, "strides takes integers, not array", image, window, strides=np.ones(1, int)
    )
    for run in (pool, pool.reference):
        assert run(image, window, strides=np.int64(2)).shape == (1, 3, 1)
        assert run(image, window, strides=[2], dilations=3).shape == (1, 2, 1)
    tiles = {"inner_dims_pos": (0,), "inner_tiles": (1.5,)}
    refused(linalg.pack, TypeError, "^pack: inner_tiles takes integers", x, **tiles)
    tiles = {"inner_dims_pos": (0.5,), "inner_tiles": (1,)}
    refused(linalg.pack, TypeError, "^pack: inner_dims_pos takes integers", x, **tiles)
    what = "^transpose: permutation takes integers"
    refused(linalg.transpose, TypeError, what, x, permutation=(1.0, 0))
    what = "^reduce: dimensions takes integers"
    refused(linalg.reduce, TypeError, what, lambda a, s: s + a, x, np.zeros(2), (1.5,))


@pytest.mark.parametrize("op", [linalg.copy, linalg.matmul, linalg.batch_reduce_matmul])
def test_casts_that_are_none(op):
    x = np.ones((2, 2, 2)[: 3 if op is linalg.batch_reduce_matmul else 2])
    inputs = (x,) if op is linalg.copy else (x, x)
    what = f"^{op.__name__}: cast is one of cast_signed and cast_unsigned, not 'cast_float'"
    refused(op, ValueError, what, *inputs, cast="cast_float")


def test_winograd_is_for_floats():
    for op, shape in (
        (linalg.winograd_filter_transform, (1, 3, 3, 1)),
        (linalg.winograd_input_transform, (1, 4, 4, 1)),
        (linalg.winograd_output_transform, (4, 4, 1, 1, 1, 1)),
    ):
        what = rf"^{op.__name__}: \w+ is of type int64, not of floats"
        refused(op, TypeError, what, np.ones(shape, np.int64))
        what = rf"^{op.__name__}: \w+ has 1 axes, too few"
        refused(op, ValueError, what, np.ones(3))
