"""Payload simplification: what is rewritten, what must not be, and every bit of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.fuse.canonical.identities import is_exact_cast
from fusejit.fuse.canonical.simplify_payload import simplify
from fusejit.ir.payload import Payload, PayloadBuilder
from fusejit.ir.types import DTYPES

F64, F32, I64, BOOL = (np.dtype(d) for d in ("f8", "f4", "i8", "?"))
SPECIAL = np.array([0.0, -0.0, 1.5, -3.25, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e308])


def binary(name: str, constant: float, dtype: np.dtype, constant_first: bool = False) -> Payload:
    builder = PayloadBuilder([dtype], [dtype])
    number = builder.const(constant, dtype)
    operands = [number, 0] if constant_first else [0, number]
    return builder.finish([builder.op(name, operands, dtype)])


def values(payload: Payload, inputs: list[np.ndarray]) -> list[np.ndarray]:
    num_inits = payload.num_arguments - payload.num_inputs
    with np.errstate(all="ignore"):
        results = payload.evaluate([*inputs, *([None] * num_inits)], None, None)  # type: ignore[arg-type]
    return [np.broadcast_to(np.asarray(r), inputs[0].shape) for r in results]


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":
        known = ~np.isnan(a)
        np.testing.assert_array_equal(np.signbit(a)[known], np.signbit(b)[known])


@pytest.mark.parametrize(
    ("name", "constant", "first"),
    [
        ("multiply", 1.0, False),
        ("multiply", 1.0, True),
        ("divide", 1.0, False),
        ("subtract", 0.0, False),
        ("add", -0.0, False),
        ("add", -0.0, True),
    ],
)
def test_neutral_constants_disappear(name: str, constant: float, first: bool) -> None:
    payload = binary(name, constant, F64, first)
    assert str(simplify(payload)) == "{ yield in0 }"
    assert_same_bits(values(payload, [SPECIAL])[0], SPECIAL)


@pytest.mark.parametrize(
    ("name", "constant", "first"),
    [
        ("add", 0.0, False),  # -0.0 + 0.0 is 0.0
        ("subtract", -0.0, False),  # -0.0 - -0.0 is 0.0
        ("subtract", 0.0, True),  # 0.0 - x is not -x for x = 0.0
        ("multiply", 0.0, False),  # NaN, and the sign of the zero
        ("multiply", -1.0, False),
        ("divide", 3.0, False),
        ("divide", 0.0, False),
        ("divide", 2.0**-1074, False),  # the inverse overflows
        ("divide", 2.0**1023, False),  # the inverse is subnormal: flushed by some machines
        ("divide", 1.0, True),
    ],
)
def test_what_is_not_exact_stays(name: str, constant: float, first: bool) -> None:
    payload = binary(name, constant, F64, first)
    assert simplify(payload) is payload


@pytest.mark.parametrize("divisor", [2.0, -4.0, 0.125, 2.0**-1020])
def test_division_by_a_power_of_two_becomes_a_multiplication(divisor: float) -> None:
    payload = binary("divide", divisor, F64)
    simplified = simplify(payload)
    assert "multiply" in str(simplified)
    assert "divide" not in str(simplified)
    assert_same_bits(values(simplified, [SPECIAL])[0], values(payload, [SPECIAL])[0])


def test_integers_simplify_further() -> None:
    assert str(simplify(binary("multiply", 0, I64))) == "{ t0 = const 0 : i64; yield t0 }"
    assert str(simplify(binary("add", 0, I64))) == "{ yield in0 }"


def test_constants_fold_through_exact_rows_only() -> None:
    builder = PayloadBuilder([], [F64])
    third = builder.op("divide", [builder.const(1.0, F64), builder.const(3.0, F64)], F64)
    text = str(simplify(builder.finish([third])))
    assert text == "{ t0 = const 0.3333333333333333 : f64; yield t0 }"
    builder = PayloadBuilder([], [F64])
    payload = builder.finish([builder.op("exp", [builder.const(1.0, F64)], F64)])
    assert simplify(payload) is payload


def test_constants_do_not_fold_into_nan_or_undefined_casts() -> None:
    builder = PayloadBuilder([], [F64])
    inf = builder.const(np.inf, F64)
    payload = builder.finish([builder.op("subtract", [inf, inf], F64)])
    assert simplify(payload) is payload
    builder = PayloadBuilder([], [I64])
    payload = builder.finish([builder.cast(builder.const(1e30, F64), I64)])
    assert simplify(payload) is payload


def test_float32_constants_fold_in_float32() -> None:
    builder = PayloadBuilder([], [F32])
    tenth = builder.const(0.1, F32)
    folded = simplify(builder.finish([builder.op("add", [tenth, tenth], F32)]))
    assert folded.instrs[-1].attr == float(np.float32(0.1) + np.float32(0.1))


def test_double_negation_and_double_cast() -> None:
    builder = PayloadBuilder([F64], [F64])
    payload = builder.finish([builder.op("negative", [builder.op("negative", [0], F64)], F64)])
    assert str(simplify(payload)) == "{ yield in0 }"
    builder = PayloadBuilder([F32], [F32])
    payload = builder.finish([builder.cast(builder.cast(0, F64), F32)])
    assert str(simplify(payload)) == "{ yield in0 }"


@pytest.mark.parametrize(
    ("source", "middle", "target", "merges"),
    [
        ("i32", "f64", "f32", True),
        ("i64", "f64", "f32", False),  # rounded twice
        ("f64", "f32", "f64", False),
        ("i8", "f32", "u8", False),  # -1.0 in uint8 is the machine's business
        ("i8", "i64", "u8", True),
        ("u8", "f32", "i64", True),
        ("f32", "f64", "i32", False),
        ("i1", "f64", "i64", True),
    ],
)
def test_casts_of_casts(source: str, middle: str, target: str, merges: bool) -> None:
    builder = PayloadBuilder([DTYPES[source]], [DTYPES[target]])
    payload = builder.finish([builder.cast(builder.cast(0, DTYPES[middle]), DTYPES[target])])
    simplified = simplify(payload)
    assert (len(simplified.instrs) < 2) == merges


REALS = [name for name in DTYPES if name[0] != "c"]  # casts of the others are taken apart


@pytest.mark.parametrize("source", REALS)
@pytest.mark.parametrize("target", REALS)
def test_exact_casts_keep_the_extreme_numbers(source: str, target: str) -> None:
    dtype = DTYPES[source]
    if dtype.kind == "b":
        numbers = np.array([False, True])
    elif dtype.kind == "f":
        limit = np.finfo(dtype)
        numbers = np.array([limit.max, limit.smallest_subnormal, 1 + limit.eps, -0.0], dtype)
    else:
        info = np.iinfo(dtype)
        numbers = np.array([info.min, info.max, info.max - 1, info.min + 1], dtype)
    with np.errstate(all="ignore"):
        there = numbers.astype(DTYPES[target])
    # Python compares integers and floats exactly; NumPy would convert them first.
    holds = [a == b for a, b in zip(numbers.tolist(), there.tolist(), strict=True)]
    assert is_exact_cast(dtype, DTYPES[target]) == all(holds) or dtype.kind == "b"


@st.composite
def payloads(draw: st.DrawFn) -> Payload:
    builder = PayloadBuilder([F64, F64], [F64])
    floats, bools = [0, 1], []
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["const", "unary", "binary", "compare", "logic", "select"]))
        one, other = draw(st.sampled_from(floats)), draw(st.sampled_from(floats))
        if kind == "const":
            number = draw(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, np.inf]))
            floats.append(builder.const(number, F64))
        elif kind == "unary":
            name = draw(st.sampled_from(["negative", "absolute", "sqrt", "square"]))
            floats.append(builder.op(name, [one], F64))
        elif kind == "binary":
            name = draw(st.sampled_from(["add", "subtract", "multiply", "divide"]))
            floats.append(builder.op(name, [one, other], F64))
        elif kind == "compare":
            bools.append(builder.op("less", [one, other], BOOL))
        elif kind == "logic" and bools:
            name = draw(st.sampled_from(["logical_and", "logical_or"]))
            pair = [draw(st.sampled_from(bools)), draw(st.sampled_from(bools))]
            bools.append(builder.op("logical_not", [builder.op(name, pair, BOOL)], BOOL))
        elif bools:
            floats.append(builder.op("select", [draw(st.sampled_from(bools)), one, other], F64))
    return builder.finish([floats[-1]])


@settings(max_examples=300, deadline=None)
@given(payloads())
def test_simplified_payloads_give_the_same_bits(payload: Payload) -> None:
    simplified = simplify(payload)
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    for before, after in zip(values(payload, [a, b]), values(simplified, [a, b]), strict=True):
        assert_same_bits(before, after)


@settings(max_examples=100, deadline=None)
@given(payloads())
def test_simplification_ends(payload: Payload) -> None:
    for _ in range(20):
        payload, before = simplify(payload), payload
        if payload is before:
            return
    pytest.fail(f"still changing: {payload}")
