"""Every row of the table of scalar ops against NumPy, over dtypes, layouts and special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.ir.scalar_ops.row import EXTREMA
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import DTYPES, is_supported
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled

ALL = tuple(dtype for dtype in DTYPES.values() if dtype.kind != "c")  # those: test_complex.py
MAIN = tuple(np.dtype(d) for d in ("?", "i4", "i8", "u1", "f4", "f8"))
FLOATS = tuple(np.dtype(d) for d in ("f4", "f8"))

# what a user writes for each row
CASES: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "negative": lambda x: -x,
    "absolute": lambda x: abs(x),
    "sqrt": lambda x: np.sqrt(x),
    "square": lambda x: np.square(x),
    "reciprocal": lambda x: np.reciprocal(x),
    "exp": lambda x: np.exp(x),
    "log": lambda x: np.log(x),
    "sin": lambda x: np.sin(x),
    "cos": lambda x: np.cos(x),
    "tanh": lambda x: np.tanh(x),
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x, y: np.minimum(x, y),
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "logical_and": lambda x, y: np.logical_and(x, y),
    "logical_or": lambda x, y: np.logical_or(x, y),
    "logical_not": lambda x: np.logical_not(x),
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "invert": lambda x: ~x,
    "isnan": lambda x: np.isnan(x),
    "exp2": lambda x: np.exp2(x),
    "expm1": lambda x: np.expm1(x),
    "log2": lambda x: np.log2(x),
    "log10": lambda x: np.log10(x),
    "log1p": lambda x: np.log1p(x),
    "tan": lambda x: np.tan(x),
    "arcsin": lambda x: np.arcsin(x),
    "arccos": lambda x: np.arccos(x),
    "arctan": lambda x: np.arctan(x),
    "sinh": lambda x: np.sinh(x),
    "cosh": lambda x: np.cosh(x),
    "arcsinh": lambda x: np.arcsinh(x),
    "arccosh": lambda x: np.arccosh(x),
    "arctanh": lambda x: np.arctanh(x),
    "cbrt": lambda x: np.cbrt(x),
    "floor": lambda x: np.floor(x),
    "ceil": lambda x: np.ceil(x),
    "trunc": lambda x: np.trunc(x),
    "rint": lambda x: np.rint(x),
    "fabs": lambda x: np.fabs(x),
    "sign": lambda x: np.sign(x),
    "deg2rad": lambda x: np.deg2rad(x),
    "radians": lambda x: np.radians(x),
    "rad2deg": lambda x: np.rad2deg(x),
    "degrees": lambda x: np.degrees(x),
    "isinf": lambda x: np.isinf(x),
    "isfinite": lambda x: np.isfinite(x),
    "signbit": lambda x: np.signbit(x),
    "arctan2": lambda x, y: np.arctan2(x, y),
    "hypot": lambda x, y: np.hypot(x, y),
    "fmax": lambda x, y: np.fmax(x, y),
    "fmin": lambda x, y: np.fmin(x, y),
    "fmod": lambda x, y: np.fmod(x, y),
    "copysign": lambda x, y: np.copysign(x, y),
    "heaviside": lambda x, y: np.heaviside(x, y),
    "logical_xor": lambda x, y: np.logical_xor(x, y),
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "left_shift": lambda x, y: x << y,
    "right_shift": lambda x, y: x >> y,
    "select": lambda x, y: np.where(x, x, y),
}
# 4 ulp are ours, 4 are NumPy's own
BOUNDS = {
    name: Bound(ulps=0 if row.exact else 8, zero_sign=name not in EXTREMA)
    for name, row in SCALAR_OPS.items()
}


def test_every_row_has_a_case() -> None:
    of_parts = {name for name, row in SCALAR_OPS.items() if row.function is not None}
    assert set(CASES) == set(SCALAR_OPS) - of_parts  # those: test_complex.py


def special_values(dtype: np.dtype) -> np.ndarray:
    """Values at the corners of a dtype, then ordinary ones."""
    rng = np.random.default_rng(dtype.num)
    if dtype.kind == "b":
        return np.array([True, False, True, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(info.min, -(2**15)), min(info.max, 2**15)
        corners = [info.min, info.max, info.min + 1, 0, 1, 2, info.max // 2]
        return np.array([*corners, *rng.integers(low, high, 9)], dtype)
    info_f = np.finfo(dtype)
    corners_f = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0]
    corners_f += [info_f.max, info_f.min, info_f.tiny, info_f.smallest_subnormal, -info_f.tiny / 4]
    numbers = rng.normal(size=17) * 10.0 ** rng.integers(-5, 3, 17)
    return np.concatenate([np.array(corners_f, dtype), numbers.astype(dtype)])


def all_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every value of ``x`` beside every value of ``y``."""
    pairs = np.meshgrid(x, y, indexing="ij")
    return pairs[0].copy(), pairs[1].copy()


def is_compiled(name: str, *dtypes: np.dtype) -> bool:
    """Whether fusejit promises to compile the row for these dtypes (NumPy must have a loop)."""
    arrays = [np.ones(2, d) for d in dtypes]
    try:
        with np.errstate(all="ignore"):
            result = CASES[name](*arrays)
    except TypeError:
        return False
    if not is_supported(result.dtype):
        return False
    if name == "power":  # integers to powers that may be negative: NumPy may raise
        return bool(result.dtype.kind == "f" or dtypes[1].kind in "bu")
    if name == "signbit":  # NumPy computes it of small integers in float16
        return dtypes[0].itemsize > 1
    if name == "reciprocal":
        return result.dtype.kind == "f"
    return True


def is_refused(name: str, *args: np.ndarray) -> bool:
    """Whether the function is NumPy's, values and errors, and says what is not supported."""
    check_not_compiled(CASES[name], args, "")
    return True


@pytest.mark.parametrize("name", CASES)
def test_values_of_every_dtype(name: str) -> None:
    """All corners of each dtype, in pairs for two operands; unjitted and interpreted."""
    inner = Bound(ulps=4) if not SCALAR_OPS[name].exact else Bound()
    binary = CASES[name].__code__.co_argcount == 2
    for dtype in ALL:
        values = special_values(dtype)
        args = all_pairs(values, values) if binary else (values,)
        if is_compiled(name, *(a.dtype for a in args)):
            check(CASES[name], args, bound=BOUNDS[name], inner_bound=inner)
        else:
            assert is_refused(name, *args)


@pytest.mark.parametrize("name", CASES)
def test_values_jitted(name: str) -> None:
    """The main dtypes, compiled; two sizes and one compilation."""
    row = SCALAR_OPS[name]
    inner = Bound(ulps=4) if not row.exact else Bound()
    binary = CASES[name].__code__.co_argcount == 2
    for dtype in map(np.dtype, ("?", "i4", "u1", "f4", "f8")):
        values = special_values(dtype)
        args = all_pairs(values, values) if binary else (values,)
        if is_compiled(name, *(a.dtype for a in args)):
            other = tuple(a[3:] for a in args)
            check(CASES[name], args, other, jit=True, bound=BOUNDS[name], inner_bound=inner)


MIXTURES = [
    (a, b)
    for a, b in [
        ("?", "u1"), ("?", "f4"), ("u1", "i4"), ("i4", "f4"), ("i8", "f4"), ("f4", "f8"),
        ("u1", "f4"), ("i4", "i8"), ("u8", "i8"), ("i1", "u1"), ("f8", "i8"), ("u4", "i4"),
        ("i2", "f4"), ("u8", "f4"), ("f8", "?"),
    ]
]  # fmt: skip
BINARY = [n for n, f in CASES.items() if f.__code__.co_argcount == 2]


@pytest.mark.parametrize("name", BINARY)
def test_mixed_dtypes(name: str) -> None:
    """Operands of two dtypes promote as in NumPy."""
    inner = Bound(ulps=4) if not SCALAR_OPS[name].exact else Bound()
    for left, right in MIXTURES:
        for a, b in ((left, right), (right, left)):
            args = all_pairs(special_values(np.dtype(a)), special_values(np.dtype(b)))
            if is_compiled(name, args[0].dtype, args[1].dtype):
                check(CASES[name], args, bound=BOUNDS[name], inner_bound=inner)


SCALARS = [2, -3, 0, 2.5, True, -0.0, float("inf"), np.float32(0.1), np.float64(0.1), np.int8(5),
           np.int64(-7), np.uint8(200), np.bool_(True)]  # fmt: skip


def _with_scalar(x: Any, p: Any) -> Any:
    return x + p, p * x, x < p, np.maximum(x, p), np.where(x > 0, x, p), p - x


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_scalar_operands(dtype: str, scalar: Any) -> None:
    """Python numbers are weak, NumPy scalars are strong; the next number needs no new variant."""
    values = special_values(np.dtype(dtype))
    bound = Bound(zero_sign=False)
    other = type(scalar)(1) if not isinstance(scalar, bool | np.bool_) else scalar
    check(_with_scalar, (values, scalar), (values[:5], other), bound=bound)


@pytest.mark.parametrize("exponent", [2, 0.5, -1, 1, 0, 3, -2, 1.5, 2.0, -0.5])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exponents(exponent: Any, dtype: np.dtype) -> None:
    """The exponents that NumPy computes without pow are exact, as constants and as arguments."""
    exact = exponent in (2, 0.5, -1, 1, 0)
    bound = Bound() if exact else Bound(ulps=8)
    inner = Bound() if exact else Bound(ulps=4)
    values = special_values(dtype)
    check(lambda x: x**exponent, (values,), bound=bound, inner_bound=inner)
    check(lambda x, p: x**p, (values, exponent), jit=True, bound=bound, inner_bound=inner)


@pytest.mark.parametrize("source", MAIN, ids=str)
def test_casts(source: np.dtype) -> None:
    """``astype`` of every value the target can hold."""
    values = special_values(source)
    for target in ALL:
        kept = values
        if source.kind == "f" and target.kind in "iu":
            info = np.iinfo(target)
            limit = 2.0**31 if source == np.float32 else 2.0**53
            low, high = max(info.min, -limit), min(info.max, limit)
            kept = values[(values >= low) & (values <= high)]
        check(lambda x, target=target: x.astype(target), (kept,), jit=source == np.float64)


def test_integer_arithmetic_wraps() -> None:
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        x, y = all_pairs(special_values(np.dtype(dtype)), special_values(np.dtype(dtype)))
        check(lambda x, y: (x + y * x - y, -x, abs(x), np.square(x)), (x, y), jit=True)


def test_integers_beyond_the_dtype_compare_exactly() -> None:
    x = special_values(np.dtype("u1"))
    check(lambda x: (x < 300, x > -1, x == 1000, x != -5, x >= 256), (x,), jit=True)


def test_int64_and_uint64_are_compared_as_integers() -> None:
    x, y = all_pairs(special_values(np.dtype("i8")), special_values(np.dtype("u8")))
    y[::7] = x.astype("u8")[::7]

    def f(x: Any, y: Any) -> Any:
        return x < y, x <= y, x > y, x >= y, x == y, x != y, y < x, y <= x, y > x, y >= x, y == x

    check(f, (x, y), (x[:9], y[:9]), jit=True)
    check(lambda x, s: (x < s, s <= x, x == s), (x, np.uint64(2**63)), (x, np.uint64(3)))


def test_constants_keep_the_dtype() -> None:
    """``0.1`` beside float32 is float32's 0.1."""
    x = np.linspace(-2, 2, 101, dtype=np.float32)
    check(lambda x: (x * 0.1 + 0.7) / 3.3 - 1, (x,), (x[:7],), jit=True)


def test_no_contraction() -> None:
    """``a * b + c`` is rounded twice, as in NumPy."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5000))
    check(lambda a, b: a * b - a * b * (1 + 1e-16) + a * b, (a, b), jit=True)
    check(lambda a, b: a * b + a, (a.astype("f4"), b.astype("f4")), jit=True)
