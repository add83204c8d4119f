"""Payloads against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import I64, Payload, PayloadBuilder, drop_dead
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.row import EXTREMA
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.text.payload_parser import parse_payload
from fusejit.ir.text.tokens import Cursor
from fusejit.ir.types import DTYPES
from fusejit_testing.compare import difference

F32, F64, BOOL = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)
VALUES = {
    "f": [0.0, -0.0, 1.0, -2.5, 3.0, np.inf, -np.inf, np.nan],
    "i": [0, 1, -1, 2, 7, -8, 100, -100],
    "u": [0, 1, 2, 7, 8, 100, 200, 255],
    "b": [False, True, True, False, True, False, False, True],
}


def nothing(*_):
    raise AssertionError("no index and no extract here")


def columns(dtypes):
    """Every pair of values, one array per operand."""
    grids = np.meshgrid(*(np.array(VALUES[d.kind], d) for d in dtypes), indexing="ij")
    return [g.reshape(-1) for g in grids]


COMPILED = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name, row in SCALAR_OPS.items()
    for dtype in DTYPES.values()
    if row.ufunc is not None and row.template(dtype) is not None
]


@pytest.mark.parametrize(("name", "dtype"), COMPILED)
def test_a_row_computes_what_its_ufunc_does(name, dtype):
    row = SCALAR_OPS[name]
    operands = columns([dtype] * row.arity)
    if name == "power" and dtype.kind == "i":
        operands[1] = abs(operands[1])  # NumPy raises for negative ones
    with np.errstate(all="ignore"):
        expected = row.ufunc(*operands)
        payload = PayloadBuilder([dtype] * row.arity, [expected.dtype])
        payload = payload.finish([payload.op(name, range(row.arity), expected.dtype)])
        (actual,) = payload.evaluate([*operands, None], nothing, nothing)
        (one,) = payload.evaluate([o[0] for o in operands] + [None], nothing, nothing)
    if name in EXTREMA:
        np.testing.assert_array_equal(actual, expected)  # the sign of zero is our own
    else:
        assert difference(actual, expected) is None
    assert np.asarray(one).dtype == expected.dtype


@pytest.mark.parametrize("dtype", [F32, F64])
def test_a_positive_zero_is_larger_than_a_negative_one(dtype):
    left, right = np.array([0.0, -0.0, 0.0, -0.0], dtype), np.array([-0.0, 0.0, 0.0, -0.0], dtype)
    larger = SCALAR_OPS["maximum"].evaluate((left, right), dtype)
    smaller = SCALAR_OPS["minimum"].evaluate((left, right), dtype)
    assert np.signbit(larger).tolist() == [False, False, False, True]
    assert np.signbit(smaller).tolist() == [True, True, False, True]
    assert larger.dtype == smaller.dtype == dtype


@pytest.mark.parametrize("combiner", COMBINERS.values(), ids=COMBINERS)
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_the_identity_of_a_combiner_changes_nothing(combiner, dtype):
    if combiner.name in ("and", "or"):  # they combine bools only
        dtype = BOOL
    if combiner.name in ("bitwise_and", "bitwise_or") and dtype.kind not in "iu":
        return
    if dtype.kind == "c":  # sums of them are sums of their parts
        return
    values = np.array(VALUES[dtype.kind], dtype)
    identity = np.full(values.shape, combiner.identity(dtype), dtype)
    merged = combiner.ufunc(values, identity, dtype=dtype)
    np.testing.assert_array_equal(merged, values)


@given(st.sampled_from(list(DTYPES.values())), st.sampled_from([-1, 0, 1, 2, 100]))
def test_a_constant_has_its_dtype(dtype, number):
    if dtype.kind == "u" and number < 0:
        return
    builder = PayloadBuilder([], [dtype])
    payload = builder.finish([builder.const(number, dtype)])
    (value,) = payload.evaluate([None], nothing, nothing)
    assert value.dtype == dtype
    assert value == dtype.type(number)


def test_constants_that_print_alike_stay_apart():
    builder = PayloadBuilder([], [F64])
    zeros = [builder.const(z, F64) for z in (0.0, -0.0, 0.0)]
    assert zeros[0] == zeros[2] != zeros[1]


def test_index_and_extract_are_asked_for():
    builder = PayloadBuilder([F64], [F64])
    at = builder.index(AffineExpr.dim(0) + 1)
    payload = builder.finish([builder.extract(0, [at], F64)])
    assert payload.has_index()
    assert payload.has_extract()
    table = np.arange(10.0)
    (value,) = payload.evaluate(
        [None, None],
        lambda expr: np.array(expr.evaluate([np.arange(3)])),
        lambda number, subscripts: table[subscripts[0]],
    )
    assert value.tolist() == [1.0, 2.0, 3.0]


def test_what_nothing_needs_is_dropped():
    builder = PayloadBuilder([F64, F64], [F64])
    builder.op("add", [0, 1], F64)
    used = builder.op("multiply", [0, 1], F64)
    payload = builder.finish([used])
    assert str(payload) == "{ t0 = multiply in0, in1 : f64; yield t0 }"
    assert drop_dead(payload) is payload


PAYLOADS = [
    "{ yield in0 }",
    "{ t0 = const -0.0 : f64; t1 = const inf : f32; t2 = const nan : f64; yield in1, t0 }",
    "{ t0 = const True : i1; t1 = const -3 : i8; yield t0, t1 }",
    "{ t0 = index (-d0 + 2 * s0 - 1) : i64; t1 = index (4) : i64; yield t0, t1 }",
    "{ t0 = cast in1 : i64; t1 = extract in0[t0, t0] : f64; t2 = add t1, out1 : f64; yield t2 }",
]


@pytest.mark.parametrize("text", PAYLOADS)
def test_a_payload_is_read_back_as_it_was(text):
    payload = parse_payload(Cursor(text), [F64, F32], 2)
    assert isinstance(payload, Payload)
    assert str(payload) == text
    assert payload.num_arguments == 4
    assert all(i.dtype == I64 for i in payload.instrs if i.op == "index")
