# ruff: noqa: E501
"""Identities of scalar ops: those that hold, the tempting ones that do not, every bit of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.fuse.canonical.identities import IDENTITIES
from fusejit.fuse.canonical.simplify_payload import simplify
from fusejit.ir.payload import Payload, PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.text.payload_parser import parse_payload
from fusejit.ir.text.tokens import Cursor
from fusejit.ir.types import DTYPES
from fusejit_testing.compare import difference
from fusejit_testing.oracle import check

BOOL = np.dtype(np.bool_)
FLOATS = [0.0, -0.0, 1.5, -3.25, 1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e308, 2.5]


def special(dtype: np.dtype) -> np.ndarray:
    """Numbers at which identities fail: limits, both zeros, infinities, NaN."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array(FLOATS, dtype)
    info = np.iinfo(dtype)
    return np.unique(np.array([info.min, info.min + 1, 0, 1, 2, 3, 100, info.max], dtype))


def values(payload: Payload) -> list[np.ndarray]:
    """The results for all pairs of special numbers."""
    dtypes = payload.arguments[: payload.num_inputs]
    grid = np.meshgrid(*map(special, dtypes), indexing="ij")
    arguments = [*grid, *[None] * (payload.num_arguments - payload.num_inputs)]
    with np.errstate(all="ignore"):
        results = payload.evaluate(arguments, None, None)  # type: ignore[arg-type]
    return [np.broadcast_to(np.asarray(r), grid[0].shape) for r in results]


def assert_same_bits(before: Payload, after: Payload) -> None:
    for a, b in zip(values(before), values(after), strict=True):
        assert difference(b, a) is None, f"{before}\n{after}: {difference(b, a)}"


def simplified(payload: Payload) -> Payload:
    """Simplified until nothing changes."""
    for _ in range(20):
        payload, before = simplify(payload), payload
        if payload is before:
            return payload
    raise AssertionError(f"still changing: {payload}")


def payload_of(text: str, dtype: str) -> Payload:
    """A payload of two inputs of one dtype; T in the text is that dtype."""
    return parse_payload(
        Cursor("{ " + text.replace(": T", f": {dtype}") + " }"), [DTYPES[dtype]] * 2, 1
    )


ALL, INTS, FLOAT = ("f64", "f32", "i32", "u8", "i64"), ("i32", "u8", "i64"), ("f64", "f32")
HOLD = [
    # body, its simple form, dtypes
    ("t0 = maximum in0, in0 : T; yield t0", "yield in0", (*ALL, "i1")),
    ("t0 = minimum in0, in0 : T; yield t0", "yield in0", ALL),
    ("t0 = fmax in0, in0 : T; yield t0", "yield in0", ALL),
    ("t0 = const -inf : T; t1 = maximum in0, t0 : T; yield t1", "yield in0", FLOAT),
    ("t0 = const inf : T; t1 = minimum t0, in0 : T; yield t1", "yield in0", FLOAT),
    ("t0 = const 0 : T; t1 = maximum t0, in0 : T; yield t1", "yield in0", ("u8",)),
    ("t0 = const 255 : T; t1 = maximum in0, t0 : T; yield t1", "t0 = const 255 : T; yield t0", ("u8",)),
    ("t0 = const -2147483648 : T; t1 = minimum t0, in0 : T; yield t1", "t0 = const -2147483648 : T; yield t0", ("i32",)),
    ("t0 = const False : T; t1 = minimum in0, t0 : T; yield t1", "t0 = const False : T; yield t0", ("i1",)),
    ("t0 = add in0, in1 : T; t1 = subtract t0, in1 : T; yield t1", "yield in0", INTS),
    ("t0 = add in0, in1 : T; t1 = subtract t0, in0 : T; yield t1", "yield in1", INTS),
    ("t0 = add in0, in0 : T; t1 = subtract t0, in0 : T; yield t1", "yield in0", INTS),
    ("t0 = subtract in0, in1 : T; t1 = add t0, in1 : T; yield t1", "yield in0", INTS),
    ("t0 = subtract in0, in1 : T; t1 = add in1, t0 : T; yield t1", "yield in0", INTS),
    ("t0 = subtract in0, in0 : T; yield t0", "t0 = const 0 : T; yield t0", INTS),
    ("t0 = less in0, in0 : i1; t1 = cast t0 : T; yield t1", "t0 = const ZERO : T; yield t0", ALL),
    ("t0 = greater in0, in0 : i1; t1 = cast t0 : T; yield t1", "t0 = const ZERO : T; yield t0", ALL),
    ("t0 = equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", "yield in0", INTS),
    ("t0 = less_equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", "yield in0", INTS),
    ("t0 = not_equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", "yield in1", INTS),
    ("t0 = const 0 : T; t1 = subtract t0, in0 : T; yield t1", "t0 = negative in0 : T; yield t0", INTS),
    ("t0 = const 0 : T; t1 = multiply in0, t0 : T; yield t1", "t0 = const 0 : T; yield t0", INTS),
    ("t0 = const 1 : T; t1 = floor_divide in0, t0 : T; yield t1", "yield in0", INTS),
    ("t0 = const 1 : T; t1 = remainder in0, t0 : T; yield t1", "t0 = const 0 : T; yield t0", INTS),
    ("t0 = const 3 : T; t1 = add in0, t0 : T; t2 = const 100 : T; t3 = add t1, t2 : T; yield t3",
     "t0 = const 103 : T; t1 = add in0, t0 : T; yield t1", INTS),
    ("t0 = const 200 : T; t1 = add in0, t0 : T; t2 = const 100 : T; t3 = add t1, t2 : T; yield t3",
     "t0 = const 44 : T; t1 = add in0, t0 : T; yield t1", ("u8",)),
    ("t0 = const 3 : T; t1 = subtract in0, t0 : T; t2 = subtract t1, t0 : T; yield t2",
     "t0 = const 6 : T; t1 = subtract in0, t0 : T; yield t1", INTS),
    ("t0 = bitwise_xor in0, in0 : T; yield t0", "t0 = const 0 : T; yield t0", INTS),
    ("t0 = const 0 : T; t1 = bitwise_or in0, t0 : T; t2 = left_shift t1, t0 : T; yield t2",
     "yield in0", INTS),
    ("t0 = const 255 : T; t1 = bitwise_and in0, t0 : T; yield t1", "yield in0", ("u8",)),
    ("t0 = const -1 : T; t1 = bitwise_and in0, t0 : T; yield t1", "yield in0", ("i32",)),
    ("t0 = negative in1 : T; t1 = add in0, t0 : T; yield t1", "t0 = subtract in0, in1 : T; yield t0", ALL),
    ("t0 = negative in0 : T; t1 = add t0, in1 : T; yield t1", "t0 = subtract in1, in0 : T; yield t0", ALL),
    ("t0 = negative in1 : T; t1 = subtract in0, t0 : T; yield t1", "t0 = add in0, in1 : T; yield t0", ALL),
    ("t0 = negative in0 : T; t1 = negative in1 : T; t2 = multiply t0, t1 : T; yield t2",
     "t0 = multiply in0, in1 : T; yield t0", ALL),
    ("t0 = negative in0 : T; t1 = negative in1 : T; t2 = divide t0, t1 : T; yield t2",
     "t0 = divide in0, in1 : T; yield t0", FLOAT),
    ("t0 = negative in0 : T; t1 = square t0 : T; yield t1", "t0 = square in0 : T; yield t0", ALL),
    ("t0 = absolute in0 : T; t1 = square t0 : T; yield t1", "t0 = square in0 : T; yield t0", ALL),
    ("t0 = multiply in0, in0 : T; t1 = absolute t0 : T; yield t1",
     "t0 = multiply in0, in0 : T; yield t0", FLOAT),
    ("t0 = floor in0 : T; t1 = ceil t0 : T; t2 = rint t1 : T; yield t2", "t0 = floor in0 : T; yield t0", FLOAT),
    ("t0 = floor in0 : T; yield t0", "yield in0", INTS),
    ("t0 = equal in0, in1 : i1; t1 = logical_not t0 : i1; t2 = select t1, in0, in1 : T; yield t2",
     "t0 = not_equal in0, in1 : i1; t1 = select t0, in0, in1 : T; yield t1", ALL),
    ("t0 = less in0, in1 : i1; t1 = logical_not t0 : i1; t2 = select t1, in0, in1 : T; yield t2",
     "t0 = less in0, in1 : i1; t1 = select t0, in1, in0 : T; yield t1", FLOAT),
    ("t0 = less in0, in1 : i1; t1 = const True : i1; t2 = const False : i1; t3 = select t0, t2, t1 : i1; "
     "t4 = cast t3 : T; yield t4",
     "t0 = greater_equal in0, in1 : i1; t1 = cast t0 : T; yield t1", INTS),
    ("t0 = less in0, in1 : i1; t1 = const True : i1; t2 = const False : i1; t3 = select t0, t1, t2 : i1; "
     "t4 = cast t3 : T; yield t4",
     "t0 = less in0, in1 : i1; t1 = cast t0 : T; yield t1", ALL),
    ("t0 = add in0, in1 : T; t1 = add in1, in0 : T; t2 = multiply t0, t1 : T; yield t2",
     "t0 = add in0, in1 : T; t1 = multiply t0, t0 : T; yield t1", ALL),
]  # fmt: skip
TEMPTING = [
    # body, dtypes for which it looks simpler than it is
    ("t0 = const 0.0 : T; t1 = multiply in0, t0 : T; yield t1", FLOAT),  # NaN, the sign
    ("t0 = const 0.0 : T; t1 = add in0, t0 : T; yield t1", FLOAT),  # -0.0
    ("t0 = const 0.0 : T; t1 = subtract t0, in0 : T; yield t1", FLOAT),  # is not -x at 0.0
    ("t0 = subtract in0, in0 : T; yield t0", FLOAT),  # inf, NaN
    ("t0 = divide in0, in0 : T; yield t0", FLOAT),
    ("t0 = subtract in0, in1 : T; t1 = negative t0 : T; yield t1", FLOAT),  # -0.0 for equal numbers
    ("t0 = const -inf : T; t1 = fmax in0, t0 : T; yield t1", FLOAT),  # NaN
    ("t0 = equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", FLOAT),
    ("t0 = less_equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", FLOAT),
    ("t0 = not_equal in0, in0 : i1; t1 = select t0, in0, in1 : T; yield t1", FLOAT),
    ("t0 = less in0, in1 : i1; t1 = logical_not t0 : i1; t2 = cast t1 : T; yield t2", FLOAT),  # NaN
    ("t0 = const 0.1 : T; t1 = add in0, t0 : T; t2 = add t1, t0 : T; yield t2", FLOAT),  # rounding
    ("t0 = const 3.0 : T; t1 = multiply in0, t0 : T; t2 = multiply t1, t0 : T; yield t2", FLOAT),
    ("t0 = add in0, in1 : T; t1 = subtract t0, in1 : T; yield t1", FLOAT),
    ("t0 = multiply in0, in1 : T; t1 = divide t0, in1 : T; yield t1", FLOAT),
    ("t0 = const 1.0 : T; t1 = floor_divide in0, t0 : T; yield t1", FLOAT),  # inf // 1.0 is NaN
    ("t0 = sqrt in0 : T; t1 = square t0 : T; yield t1", FLOAT),
    ("t0 = square in0 : T; t1 = sqrt t0 : T; yield t1", FLOAT),
    ("t0 = sqrt in0 : T; t1 = absolute t0 : T; yield t1", FLOAT),  # sqrt(-0.0) is -0.0
    ("t0 = multiply in0, in0 : T; t1 = absolute t0 : T; yield t1", ("i32", "i64")),  # it wraps
    ("t0 = floor_divide in0, in0 : T; yield t0", INTS),  # 0 // 0 is 0
    ("t0 = add in0, in1 : T; t1 = less t0, in1 : i1; t2 = cast t1 : T; yield t2", INTS),  # it wraps
    ("t0 = const 2 : T; t1 = multiply in0, t0 : T; t2 = floor_divide t1, t0 : T; yield t2", INTS),
]


def cases(table: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(*row[:-1], dtype) for row in table for dtype in row[-1]]


@pytest.mark.parametrize(("body", "simple", "dtype"), cases(HOLD))  # type: ignore[arg-type]
def test_what_holds_is_simplified(body: str, simple: str, dtype: str) -> None:
    before = payload_of(body, dtype)
    zero = "0.0" if dtype.startswith("f") else "0"
    assert str(simplified(before)) == str(payload_of(simple.replace("ZERO", zero), dtype))
    assert_same_bits(before, simplified(before))


@pytest.mark.parametrize(("body", "dtype"), cases(TEMPTING))  # type: ignore[arg-type]
def test_what_is_tempting_stays(body: str, dtype: str) -> None:
    before = payload_of(body, dtype)
    assert simplify(before) is before


def test_every_identity_has_an_op() -> None:
    assert set(IDENTITIES) <= {*SCALAR_OPS, "cast"}


@pytest.mark.parametrize(
    ("chain", "merges"),
    [
        ("i64 i32 i16", True),  # the low bits of the low bits
        ("i64 u32 i32", True),
        ("u64 i64 u8", True),
        ("i64 i16 i32", False),  # the sign is that of the low bits
        ("i64 i32 i1", False),  # 2**32 is True
        ("i64 i32 f64", False),
        ("i32 f64 i32", True),
        ("i64 f64 i64", False),  # 2**53 + 1
        ("i32 f32 i32", False),
        ("i16 f32 i16", True),
        ("f64 i64 i32", False),
        ("f64 i64 f64", False),
        ("i1 u8 f64", True),
        ("f32 f64 i1", True),
        ("f64 f32 i1", False),  # 1e-300 is True
    ],
)
def test_casts_of_casts(chain: str, merges: bool) -> None:
    source, middle, target = (DTYPES[name] for name in chain.split())
    builder = PayloadBuilder([source], [target])
    before = builder.finish([builder.cast(builder.cast(0, middle), target)])
    after = simplify(before)
    assert (after is not before) == merges
    if not merges:
        return
    numbers = [special(source)]
    if source == DTYPES["i64"]:
        numbers.append(np.array([2**53 + 1, 2**32, 2**31 + 5, 40000], source))
    for array in numbers:
        expected = array.astype(middle).astype(target)
        with np.errstate(all="ignore"):
            actual = after.evaluate([array, None], None, None)[0]  # type: ignore[arg-type]
        assert difference(np.asarray(actual), expected) is None


@st.composite
def payloads(draw: st.DrawFn) -> Payload:
    """Random programs of the ops that have identities, on one dtype and what comes of it."""
    names = ("f64", "f32", "i64", "i32", "i8", "u8", "i1")
    dtype = DTYPES[draw(st.sampled_from(names))]
    builder = PayloadBuilder([dtype, dtype], [dtype])
    refs = [0, 1]
    ops = sorted(set(IDENTITIES) - {"cast", "select"})
    for _ in range(draw(st.integers(1, 10))):
        kind = draw(st.sampled_from(["op", "op", "op", "const", "cast", "select"]))
        first = draw(st.sampled_from(refs))
        of = builder.dtype_of(first)
        alike = [r for r in refs if builder.dtype_of(r) == of]
        if kind == "const":
            numbers = [0, 1, 2] if of.kind in "biu" else [0.0, -0.0, 1.0, 2.0, 3.0, np.inf]
            refs.append(builder.const(draw(st.sampled_from(numbers)), of))
        elif kind == "cast" and of.kind != "f":
            refs.append(builder.cast(first, DTYPES[draw(st.sampled_from(names))]))
        elif kind == "select" and any(builder.dtype_of(r) == BOOL for r in refs):
            condition = draw(st.sampled_from([r for r in refs if builder.dtype_of(r) == BOOL]))
            refs.append(builder.op("select", [condition, first, draw(st.sampled_from(alike))], of))
        elif kind == "op":
            row = SCALAR_OPS[draw(st.sampled_from(ops))]
            operands = [first, draw(st.sampled_from(alike))][: row.arity]
            assert row.ufunc is not None
            try:
                loop = row.ufunc.resolve_dtypes((*[of] * row.arity, None))
            except TypeError:
                continue
            if loop[0] == of and row.template(of) is not None:
                refs.append(builder.op(row.name, operands, loop[-1]))
    return builder.finish([refs[-1]])


@settings(max_examples=600, deadline=None)
@given(payloads())
def test_random_payloads_keep_every_bit_and_settle(payload: Payload) -> None:
    assert_same_bits(payload, simplified(payload))


# ------------------------------------------------------------------------------------ as functions
def tempting(x: Any, i: Any) -> Any:
    return (
        *(x * 0, x + 0.0, x - 0.0, x - x, x / x, 0 - x, -(x - 1.0), np.maximum(x, x)),
        *(x == x, x < x, ~(x < 1.0), np.fmax(x, -np.inf), np.maximum(x, -np.inf), x // 1.0),
        *(np.abs(x * x), np.where(~(x < 0.0), x, -x), np.floor(np.ceil(x)), (x + 0.1) + 0.2),
        *(i * 0, i - i, 0 - i, i == i, ~(i < 3), (i + 3) + 4, i // 1, i % 1, i & i, i ^ i, i | 0),
        *(i.astype(np.float64).astype(np.int64), i.astype(np.int32).astype(np.int8)),
        *(i.astype(np.int32).astype(np.float64).astype(np.int32), i.astype(np.int32).astype(bool)),
        *(np.abs(i * i), -i * -i, i + -i, i - -i),
    )


def test_functions_give_the_bits_of_numpy() -> None:
    x = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -2.5, 5e-324])
    i = np.array([0, 1, -1, 5, -7, 2**40, 2**31 + 5, 2**62 + 3])
    check(tempting, (x, i), (x[::-1], i[::2].repeat(2)), jit=True, variants=None)
