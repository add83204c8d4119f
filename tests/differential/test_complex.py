"""Complex numbers: arithmetic, parts as views, stores, sums, numbers, and what is declined."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import FuseWarning, UnsupportedError, fuse_jit
from fusejit.ir.scalar_ops.evaluation import complex_of, fused_multiply_add
from fusejit.tracer.np.numbers import complex_ufuncs
from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.oracle import check, decorate, run

DTYPES = ("c8", "c16")
SUM = Bound(ulps=64)
CORNERS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e300, 1e-300)


def numbers(*shape: int, dtype: str = "c16", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, *shape])
    made: np.ndarray = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return made


def corners(dtype: str) -> np.ndarray:
    """Every corner beside every corner."""
    with np.errstate(all="ignore"):
        parts = np.array(CORNERS, f"f{int(dtype[1:]) // 2}")
    return complex_of(parts[:, None], parts).reshape(-1)  # type: ignore[no-any-return]


# ----------------------------------------------------------------------------------- arithmetic
def arithmetic(a: Any, b: Any) -> Any:
    return a + b, a - b, a * b, a / b, -a, +a, a == b, a != b


def of_one(a: Any) -> Any:
    return (
        np.square(a),
        a**2,
        a**3,
        a**7,
        np.power(a, 2),
        1 / a,
        np.reciprocal(a),
        a.conj(),
        np.conjugate(a),
        np.isnan(a),
        np.isinf(a),
        np.isfinite(a),
        a.astype(bool),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_has_numpy_s_bits(dtype: str) -> None:
    check(
        arithmetic,
        (numbers(41, dtype=dtype), numbers(41, dtype=dtype, seed=1)),
        (numbers(7, dtype=dtype), numbers(7, dtype=dtype, seed=1)),
        jit=True,
    )
    check(of_one, (numbers(41, dtype=dtype),), (numbers(6, dtype=dtype),), jit=True)
    check(lambda a: abs(a), (numbers(41, dtype=dtype),), (numbers(5, dtype=dtype),), jit=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_corners_have_numpy_s_bits(dtype: str) -> None:
    """Zeros of both signs, infinities and NaN in each part."""
    x = corners(dtype)
    a, b = (g.copy() for g in np.meshgrid(x, x))
    check(arithmetic, (a, b), jit=True)
    check(lambda a: (abs(a), *of_one(a)), (x,), jit=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials(dtype: str) -> None:
    """Within 16 ulp of the absolute value; the limits are those of C's ``cexp``."""

    def waves(a: Any) -> Any:
        return np.exp(a), np.exp(1j * a.real)

    close = Bound(ulps=16)
    check(waves, (3 * numbers(500, dtype=dtype),), jit=True, bound=close, inner_bound=close)
    large = np.array([709.5 + 1j, 720 + 1e-12j, 800 + 1e-40j, 2000 + 1j, -800 + 1j, 88.5 + 2j])
    check(lambda a: np.exp(a), (large.astype(dtype),), bound=Bound(ulps=64))
    limits = corners(dtype)  # the sign of a zero at -inf and NaN is nobody's
    check(lambda a: np.exp(a), (limits,), bound=Bound(ulps=16, zero_sign=False))


def test_promotion_is_numpy_s() -> None:
    def mixed(a: Any, c: Any, x: Any, k: Any) -> Any:
        return a + c, a * 2, a * 2.5, a * 1j, 3 - a, c * x, a * x, a * k, c + k, x + 1j, k * 2j

    f4, i4 = np.linspace(-1, 1, 9, dtype="f4"), np.arange(9, dtype="i4")
    check(mixed, (numbers(9, dtype="c8"), numbers(9), f4, i4), jit=True)
    check(mixed, (numbers(9), numbers(9, dtype="c8"), np.linspace(-1, 1, 9), i4.astype("i8")))
    check(lambda a: (a.astype("c8"), a.astype("c16"), a.astype(np.complex64) * a), (numbers(5),))
    check(lambda x: (x.astype(complex), np.complex64(x[0]), np.complex128(x[1])), (f4,))


def test_strided_and_transposed_operands_are_close() -> None:
    """NumPy takes other loops for some strides: the last bits may differ."""
    a, b = numbers(6, 8), numbers(8, 6, seed=3)
    check(lambda a, b: (a * b.T, a[:, ::-1] * 2j, abs(a[::2])), (a, b), bound=Bound(ulps=2))
    check(lambda a, b: (a + b.T, a[:, ::-1] / 2j, a[::-2] - 1), (a, b), jit=True)


def test_made_arrays() -> None:
    def made(x: Any, y: Any) -> Any:
        n = len(x)
        z = np.empty(n, complex)
        z[:] = x
        z[1:] += 1j * y[1:]
        return (
            z,
            np.zeros(n, np.complex64),
            np.ones((2, n), complex),
            np.full(n, 1 - 2j),
            np.full(n, 3, "c8"),
            np.zeros_like(z) + z,
            np.array([1j, 2.0]),
            np.where(x > 0, z, 0),
            np.where(x > 0, 1j, x),
            np.concatenate([z, x]),
            z.reshape(-1, 1).T.copy(),
            z[::-1],
        )

    x, y = np.linspace(-1, 1, 6), np.linspace(3, 4, 6)
    check(made, (x, y), (np.r_[x, 1.0], np.r_[y, 2.0]), jit=True)


# ---------------------------------------------------------------------------------------- parts
def test_parts_are_views() -> None:
    def persistent(a: Any) -> Any:
        b = a * 2
        r, s = b.real, b.T.imag
        r[0] = 5
        b[1] = 1j
        s[..., 2] += r.T[..., 2]
        return r, s, b, r.sum(axis=0), np.real(a), np.imag(a)

    check(persistent, (numbers(4, 5),), (numbers(3, 6),), jit=True)


def test_stores_through_parts_reach_the_caller() -> None:
    def stores(a: Any, v: Any) -> None:
        a.real[1:] = v[1:]
        a.imag[...] *= 2
        a.T.real[0] = a.T.imag[1]
        a[::2].imag[:, 1] = 7
        a.real, a.imag = a.imag.copy(), 3
        a.imag += v
        np.real(a)[0] -= 1

    check(stores, (numbers(4, 5), np.ones((4, 5))), (numbers(3, 3), np.ones((3, 3))), jit=True)
    check(stores, (numbers(4, 5).T, np.ones((5, 4))))
    check(stores, (numbers(8, 10)[::2, ::-2], np.ones((4, 5))))


def test_parts_that_overlap_what_they_are_computed_from() -> None:
    def overlapping(a: Any) -> None:
        a.real[1:] = a.imag[:-1] + a.real[:-1]
        a.imag[:-1] = abs(a[1:])
        a.real = a.imag[::-1]

    check(overlapping, (numbers(9),), (numbers(4),), jit=True, bound=Bound(ulps=2))


def test_parts_in_loops() -> None:
    def rotate(z: Any, w: Any, n: Any) -> Any:
        for k in range(n):
            re = z.real.copy()
            z.real = re * w.real - z.imag * w.imag
            z.imag[k % 3 :] *= 0.5
            z.imag += 0.25 * w.imag
        return z.real.mean()

    check(rotate, (numbers(7), numbers(7, seed=2), 6), jit=True, bound=SUM)


def test_parts_reshaped_and_under_masks() -> None:
    def reshaped(a: Any) -> Any:
        flat = a.real.reshape(-1)
        flat[3] = 9
        copy = a.imag.ravel()
        copy[0] = -1
        a[a.real > 0] = 2j
        a[a.imag < 0] *= 1 + 1j
        return flat, copy, a[a.real < 1].sum()

    check(reshaped, (numbers(3, 4),), jit=True, bound=SUM)


def test_arrays_bound_anew_in_loops() -> None:
    def swapped(a: Any, b: Any, n: Any) -> Any:
        for _ in range(n):
            a, b = b * 1j + a * 0.5, a - b * 0.25
            a.real[1:] += b.imag[:-1]
        return a, b

    check(swapped, (numbers(9, 5), numbers(9, 5, seed=1), 7), jit=True)


def test_parts_of_reshapes_in_loops() -> None:
    """Their memory exists where the reshape was made, not where it is first stored to."""

    def stepped(z: Any, n: Any) -> Any:
        w = z * 2
        for k in range(n):
            w.real[k] = w.imag[k + 1] * 2
            w.reshape(2, -1).real[1] *= 0.5
            q = z.reshape(2, -1)
            q.real[0] = k
            z.imag[1:] += q.real[0, 0]
        return w.real, z.reshape(-1, 2).imag

    check(stepped, (numbers(8), 5), jit=True)


def test_parts_stored_element_by_element() -> None:
    def stored(z: Any, w: Any) -> None:
        for i in range(len(z)):
            z.real[i] = w[i].imag * 2
            z.imag[i] = w.real[i] + z[i].real
        for i in range(1, len(z)):
            z.real[i] = z.imag[i - 1]

    check(stored, (numbers(9), numbers(9, seed=1)), jit=True)


def test_unaligned_pairs_are_declined() -> None:
    """At half an item, or with such strides."""
    shifted = np.arange(9.0)[1:].view(complex)
    gaps = np.arange(12.0).reshape(4, 3)[:, :2].view(complex)
    for array in (shifted, gaps):
        with pytest.warns(FuseWarning, match="alignment"):
            assert_same(array * 2, decorate(lambda a: a * 2, jit=False)(array))


def test_gathers_and_scatters() -> None:
    def moved(a: Any, i: Any) -> Any:
        out = np.zeros_like(a)
        out[i] = a[i] * 1j
        out.real[i] = 4
        return out, a[i].imag, np.take(a, i)

    check(moved, (numbers(9), np.array([4, 1, 8, 1])), jit=True)


# ----------------------------------------------------------------------------------------- sums
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_and_means(dtype: str) -> None:
    def sums(a: Any) -> Any:
        return (
            a.sum(),
            a.sum(axis=0),
            a.mean(axis=1),
            a.mean(),
            np.add.reduce(a, axis=1, keepdims=True),
            a.any(axis=0),
            a.all(),
            np.sum(a * a.conj()),
            np.trace(a[:3, :3]),
        )

    check(sums, (numbers(5, 300, dtype=dtype),), (numbers(3, 7, dtype=dtype),), bound=SUM, jit=True)


def test_running_sums_and_host_calls() -> None:
    check(lambda a: (np.add.accumulate(a * 2), a.cumsum(), np.cumprod(a)), (numbers(9),), jit=True)
    check(lambda a: np.cumsum(a, axis=0), (corners("c16").reshape(9, 9),))
    check(lambda a: np.sort(a * 2) + 1, (numbers(9),), jit=True)
    check(lambda a, b: (np.vdot(a, b * 2) * a, np.linalg.norm(b + 1)), (numbers(9), numbers(9)))
    check(lambda a, b: np.linalg.solve(a, b) * 1j, (numbers(4, 4), numbers(4)), jit=True)


# -------------------------------------------------------------------------------------- numbers
def test_numbers_of_the_call() -> None:
    def scaled(a: Any, c: Any, d: Any, x: Any) -> Any:
        return a * c, a + d, c * x, d * x, c + 2, c == a, c.real, d.imag, complex(x, 2), -c

    a = numbers(5)
    check(scaled, (a, 2 + 1j, np.complex64(1 - 2j), 1.5), (a, -1j, np.complex64(3), 2.0), jit=True)

    def sizes(a: Any, c: Any, d: Any) -> Any:
        return abs(c) * a, abs(d)

    close, args = Bound(ulps=4), (np.ones(3), 2 + 1j, np.complex64(1 - 2j))
    check(sizes, args, jit=True, bound=close, inner_bound=close)


def test_scalars_are_computed_as_scalars() -> None:
    """NumPy's scalars do not fuse products, and take hypot."""

    def scalars(a: Any) -> Any:
        z, w = a[0], a[1]
        return z * w, z / w, z**2, np.square(z), z.conj(), z.real, z.imag, z == w, z * w * a

    check(scalars, (numbers(5),), (numbers(7, seed=5),), jit=True)
    close = Bound(ulps=4)
    check(lambda a: abs(a[0]), (numbers(3),), jit=True, bound=close, inner_bound=close)


def escapes(re: Any, im: Any) -> Any:
    n = np.zeros(len(re), np.int64)
    last = np.zeros(len(re), complex)
    for i in range(len(re)):
        c = complex(re[i], im[i])
        z = 0j
        k = 0
        while abs(z) <= 2 and k < 40:
            z = z * z + c
            k += 1
        n[i] = k
        last[i] = z
    return n, last


def of_elements(points: Any) -> Any:
    out = np.zeros(points.shape, np.int64)
    for i in range(len(points)):
        z = 0
        for k in range(30):
            if abs(z) > 2:
                break
            z = z**2 + points[i]
            out[i] = k
    return out


def test_python_s_own_complex_numbers() -> None:
    """Their quotients are not NumPy's to the last bit, and they stay Python's."""

    def iterated(a: Any) -> Any:
        out = np.zeros(len(a), complex)
        total = 0
        w = complex(a[0].real, 2.0)
        for i in range(len(a)):
            w = (w * w - 1) / (w + 3) if abs(w) < 3 else w / 4
            out[i] = w + a[i]
            total += w.real * w.imag
            if w == 1j:
                break
        return out, total, w.conjugate(), -w, w**3, w / (1 + 2j), 2 / w, w - 1, 2.5 * w

    check(iterated, (numbers(30),), (numbers(9),), jit=True)

    def size(a: Any) -> Any:
        return abs(complex(a[0].real, a[0].imag))

    close = Bound(ulps=4)
    check(size, (numbers(30),), (numbers(9),), jit=True, bound=close, inner_bound=close)


def test_loops_over_single_numbers() -> None:
    rng = np.random.default_rng(3)
    re, im = rng.uniform(-2, 1, 20), rng.uniform(-1, 1, 20)
    check(escapes, (re, im), (re[:7], im[:7]), jit=True)
    check(of_elements, (re + 1j * im,), (re[:7] + 1j * im[:7],), jit=True)


# ------------------------------------------------------------------------ declined, and as text
BY_NUMPY: dict[str, Callable[[Any], Any]] = {
    "log": lambda a: np.log(a + 1) + 1,
    "sqrt": lambda a: np.sqrt(-a) * 1j,
    "sine of an element": lambda a: np.sin(a[0]) + a,
    "power": lambda a: (a + 1) ** 0.3 + 1,
    "powers": lambda a: np.power(a, a[::-1]) - a,
    "less": lambda a: (a < a[0]) & (a.real < 1),
    "maximum": lambda a: np.maximum(a + 1, 1) + 1,
    "max": lambda a: a.max() + a,
    "min": lambda a: np.min(a + 1, axis=0) * 2,
    "logical not": lambda a: ~np.logical_not(a * 2),
    "var": lambda a: np.var(a * 2) + a.var() + np.std(a) + a.std(ddof=1),
    "prod": lambda a: np.prod(a + 1) + a.prod(),
    "product under a mask": lambda a: np.prod(a, where=a.real > 0) + np.prod(a, initial=2j),
    "matmul": lambda a: a @ a + a[:, None] @ a[None],
    "dot": lambda a: np.dot(a, a.conj()) * 2,
    "round": lambda a: a.round(1) + np.round(a * 3),
    "ptp": lambda a: np.ptp(a + 1) + 1,
    "clip": lambda a: np.clip(a, 0, 1) + a.clip(1j, 2),
    "sign": lambda a: np.sign(a + 1) * 2,
    "into": lambda a: (out := np.zeros(len(a), complex), np.exp2(a, out=out), out + 1)[2],
}


@pytest.mark.parametrize("name", BY_NUMPY)
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_what_kernels_have_no_form_of_numpy_runs_between_them(name: str, dtype: str) -> None:
    check(BY_NUMPY[name], (numbers(5, dtype=dtype),), (numbers(9, dtype=dtype),))


def test_a_loop_around_what_numpy_runs() -> None:
    def iterated(a: Any) -> Any:
        for _ in range(7):
            a = np.sqrt(a * 1j) + 1
        return a, np.log(a[0])

    check(iterated, (numbers(5),), jit=True)


FALLBACK: dict[str, Callable[[Any], Any]] = {
    "add.at": lambda a: np.add.at(a, [0, 0], 1j),
    "float": lambda a: a.astype(float),
    "store": lambda a: np.zeros(5).__setitem__(slice(None), a),
}


@pytest.mark.parametrize("name", FALLBACK)
def test_what_is_not_compiled_is_numpy_s(name: str) -> None:
    function, a = FALLBACK[name], numbers(5)
    fused = decorate(function, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        expected, actual = run(function, (a,)), run(fused, (a,))
    assert expected.error is None
    assert_same(expected.result, actual.result)
    assert_same(expected.args, actual.args)
    assert len(fused.variants) == 0
    assert fused.variants.fallbacks or "Python runs" in repr(fused.variants)


def test_linspace_is_a_call_between_kernels() -> None:
    """It was declined."""
    check(lambda a: np.linspace(a[0], a[1], 4) * 2, (numbers(5),))


def test_types_and_parts_in_printed_ir() -> None:
    def f(a: Any) -> Any:
        a.real[1:] = 2
        return a.conj()

    text = str(fuse_jit(f).trace(numbers(4)))
    assert "buffer @a : s0 x c128 = arg:a" in text
    assert "@a_real : s0 x f64 of @a real" in text
    assert "t2 = negative t1 : f64; t3 = complex t0, t2 : c128" in text


def test_mlir_text_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="complex128"):
        fuse_jit(lambda a: a + 1).trace(numbers(4)).fuse().mlir()


def test_without_fused_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy's vectors do not fuse products, neither do kernels."""
    monkeypatch.setattr(complex_ufuncs, "fuses_products", lambda: False)
    a = numbers(9)
    plain = complex_of(a.real * a.real - a.imag * a.imag, a.real * a.imag + a.imag * a.real)
    assert_same(plain, decorate(lambda a: a * a, jit=False)(a))


def test_fused_multiply_add_rounds_once() -> None:
    for dtype, tiny in ((np.float64, 2.0**-30), (np.float32, 2.0**-13)):
        a, b = dtype(1 + tiny), dtype(-1)
        assert fused_multiply_add(a, a, b) == dtype(2 * tiny + tiny * tiny) != a * a + b


# -------------------------------------------------------------------------------------- random
UNARY = ("-{}", "{}.conj()", "np.square({})", "{} * (1 - 2j)", "{} + 1", "{}.real + 1j * {0}.imag")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.where({}.real > {}.imag, {0}, {1})")
STORES = ("x.real[{}] = y.imag[{}]", "x.imag[{}] -= 0.5", "x[{}] = y[{}] * 1j", "y[{}] += x[{}]")


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines, names = [], ["x", "y"]
    for k in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from((UNARY, BINARY, STORES)))
        text = draw(st.sampled_from(kind))
        if kind is STORES:
            at = draw(st.sampled_from((":", "1:", ":-1", "::2", "::-1", "2")))
            lines.append(text.format(at, at))
            continue
        chosen = [draw(st.sampled_from(names)) for _ in range(2)]
        text = text.replace("{}", "{0}", 1).replace("{}", "{1}" if kind is BINARY else "{0}")
        names.append(f"t{k}")
        lines.append(f"t{k} = {text.format(*chosen)}")
    body = "\n".join(f"    {line}" for line in lines)
    return f"def f(x, y):\n{body}\n    return {', '.join(names)}\n"


@settings(max_examples=60, deadline=None)
@given(programs(), st.sampled_from(DTYPES))
def test_random_programs(text: str, dtype: str) -> None:
    """Products of reversed arrays alone may differ from NumPy's, by an ulp for each."""
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, "<random>", "exec"), namespace)
    args = (numbers(7, dtype=dtype), numbers(7, dtype=dtype, seed=1))
    check(namespace["f"], args, bound=Bound(ulps=64), variants=None)
