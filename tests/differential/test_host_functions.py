"""Functions that NumPy runs between kernels: every row of the table, mixed with fused chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import UnsupportedError, fuse_jit
from fusejit.tracer.np.host_functions import ROWS
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

Case = tuple[Callable[..., Any], str]  # a program, and the kinds of its arguments
SUM = Bound(ulps=1e5, absolute=1e-9)

# v, w: floats of the same length; u: floats of another; i: small integers; b: bools;
# a: a matrix; q: a square one; p: a positive definite one; r: a right side for q; t: rank 3
CASES: dict[str, list[Case]] = {
    "numpy.sort": [
        (lambda v: np.sort(v * 2) + 1, "v"),
        (lambda a: np.sort(a - 1, axis=0) * 2, "a"),
        (lambda t: np.sort(t, axis=None), "t"),
        (lambda i: np.sort(i[::-1], kind="stable"), "i"),
    ],
    "numpy.argsort": [
        (lambda v: np.argsort(v) * 2, "v"),
        (lambda a: (a + 0).argsort(axis=0), "a"),
        (lambda v: v[v.argsort()] + 1, "v"),
    ],
    "numpy.partition": [(lambda v: np.partition(v, v.shape[0] // 2)[v.shape[0] // 2] * 2, "v")],
    "numpy.argpartition": [(lambda v: np.sort(v[np.argpartition(v, 2)[:2]]), "v")],
    "numpy.lexsort": [(lambda v, i: np.lexsort((v, i)) + 1, "vi")],
    "numpy.searchsorted": [
        (lambda v, u: np.searchsorted(np.sort(u), v * 1.5, side="right") * 2, "vu"),
        (lambda u: u.searchsorted(0.5) + 1, "u"),
    ],
    "numpy.digitize": [(lambda v: np.digitize(v, np.array([-1.0, 0.0, 1.0])) + 1, "v")],
    "numpy.argmax": [(lambda a: np.argmax(a * 2, axis=1) + 1, "a"), (lambda v: v.argmax(), "v")],
    "numpy.argmin": [(lambda a: np.argmin(a, axis=0) + 1, "a")],
    "numpy.unique": [
        (lambda i: np.unique(i * 2) + 1, "i"),
        (lambda i: np.unique(i, return_inverse=True, return_counts=True), "i"),
        (lambda i: np.multiply(*np.unique(i, return_counts=True)), "i"),
    ],
    "numpy.nonzero": [
        (lambda a: np.add(*np.nonzero(a > 0)), "a"),
        (lambda v: (v > 0).nonzero()[0] * 2, "v"),
    ],
    "numpy.flatnonzero": [(lambda v: v[np.flatnonzero(v > 0)] * 2, "v")],
    "numpy.argwhere": [(lambda a: np.argwhere(a > 0) * 2, "a")],
    "numpy.bincount": [
        (lambda i: np.bincount(i + 1) * 2, "i"),
        (lambda i, v: np.bincount(i, weights=v * 2), "iv"),
    ],
    "numpy.compress": [
        (lambda v: np.compress(v > 0, v * 2) + 1, "v"),
        (lambda v: v.compress(v > 0), "v"),
    ],
    "numpy.extract": [(lambda v: np.extract(v > 0, v * 2) + 1, "v")],
    "numpy.union1d": [(lambda i: np.union1d(i, i * 2) + 1, "i")],
    "numpy.intersect1d": [(lambda i: np.intersect1d(i, i * 2) + 1, "i")],
    "numpy.setdiff1d": [(lambda i: np.setdiff1d(i * 2, i) + 1, "i")],
    "numpy.setxor1d": [(lambda i: np.setxor1d(i, i * 2) + 1, "i")],
    "numpy.isin": [(lambda i: ~np.isin(i * 2, i), "i")],
    "numpy.histogram": [
        (lambda v: np.histogram(v * 2, bins=7)[0] / 3, "v"),
        (lambda v: np.histogram(v, bins="auto")[0] * 2, "v"),
    ],
    "numpy.histogram_bin_edges": [(lambda v: np.histogram_bin_edges(v, 5)[1:] * 2, "v")],
    "numpy.interp": [(lambda v, u: np.interp(v * 2, np.sort(u), u) + 1, "vu")],
    "numpy.convolve": [
        (lambda v, u: np.convolve(v * 2, u) + 1, "vu"),
        (lambda v, u: np.convolve(v, u[:3], "same") * v, "vu"),
    ],
    "numpy.correlate": [(lambda v, w: np.correlate(v, w + 1, "full") * 2, "vw")],
    "numpy.polyfit": [(lambda v: np.polyfit(np.sort(v), v * 2, 1) * 2, "v")],
    "numpy.polyval": [(lambda v: np.polyval(np.array([1.0, 2.0]), v * 2) + 1, "v")],
    "numpy.trapezoid": [(lambda a: np.trapezoid(a * 2, axis=1) + 1, "a")],
    "numpy.unwrap": [(lambda v: np.unwrap(v * 9) * 2, "v")],
    "numpy.gradient": [(lambda v: np.gradient(v * 2) + 1, "v")],
    "numpy.ediff1d": [(lambda v: np.ediff1d(v * 2) + 1, "v")],
    "numpy.cumsum": [
        (lambda a: np.cumsum(a * 2, axis=1) + 1, "a"),
        (lambda i: i.cumsum() * 2, "i"),
    ],
    "numpy.cumprod": [(lambda v: v.cumprod() + 1, "v")],
    "numpy.nancumsum": [(lambda v: np.nancumsum(v * 2) + 1, "v")],
    "numpy.nancumprod": [(lambda v: np.nancumprod(v) + 1, "v")],
    "numpy.median": [
        (lambda v: v - np.median(v * 2), "v"),
        (lambda a: a - np.median(a, axis=0), "a"),
        (lambda a: np.median(a, axis=1, keepdims=True) * a, "a"),
    ],
    "numpy.nanmedian": [(lambda a: np.nanmedian(a, axis=0) + 1, "a")],
    "numpy.percentile": [(lambda v: v - np.percentile(v * 2, 30), "v")],
    "numpy.nanpercentile": [(lambda v: np.nanpercentile(v, [5, 50]) * 2, "v")],
    "numpy.quantile": [(lambda a: np.quantile(a, [0.1, 0.5], axis=0) * 2, "a")],
    "numpy.nanquantile": [(lambda v: np.nanquantile(v, 0.5) * v, "v")],
    "numpy.cov": [(lambda a: np.cov(a * 2) + 1, "a")],
    "numpy.corrcoef": [(lambda a: np.corrcoef(a * 2) + 1, "a")],
    "numpy.average": [(lambda v, w: np.average(v, weights=w * w + 1) * 2, "vw")],
    "numpy.linalg.solve": [
        (lambda p, r: np.linalg.solve(p + 1, r * 2) - 1, "pr"),
        (lambda p: np.linalg.solve(p, p * 2) - 1, "p"),
    ],
    "numpy.linalg.inv": [(lambda p: np.linalg.inv(p * 2) + 1, "p")],
    "numpy.linalg.pinv": [(lambda a: np.linalg.pinv(a * 2) + 1, "a")],
    "numpy.linalg.det": [(lambda q: np.linalg.det(q / 9) * q, "q")],
    "numpy.linalg.slogdet": [(lambda p: np.linalg.slogdet(p * 2), "p")],
    "numpy.linalg.norm": [
        (lambda v: v / np.linalg.norm(v + 1), "v"),
        (lambda a: np.linalg.norm(a, axis=1) * 2, "a"),
    ],
    "numpy.linalg.cond": [(lambda p: np.linalg.cond(p) * 2, "p")],
    "numpy.linalg.svd": [
        (lambda a: np.linalg.svd(a * 2, compute_uv=False) + 1, "a"),
        (lambda a: np.abs(np.linalg.svd(a, full_matrices=False).U) * 2, "a"),
    ],
    "numpy.linalg.svdvals": [(lambda a: np.linalg.svdvals(a * 2) + 1, "a")],
    "numpy.linalg.eigh": [(lambda p: np.linalg.eigh(p + p.T).eigenvalues * 2, "p")],
    "numpy.linalg.eigvalsh": [(lambda p: np.linalg.eigvalsh(p * 2) + 1, "p")],
    "numpy.linalg.qr": [(lambda a: np.abs(np.linalg.qr(a * 2)[1]) + 1, "a")],
    "numpy.linalg.cholesky": [(lambda p: np.linalg.cholesky(p * 2) + 1, "p")],
    "numpy.linalg.lstsq": [(lambda p, r: np.linalg.lstsq(p, r * 2)[0] + 1, "pr")],
    "numpy.linalg.matrix_rank": [(lambda a: np.linalg.matrix_rank(a * 2) + 1, "a")],
    "numpy.linalg.matrix_power": [(lambda q: np.linalg.matrix_power(q / 9, 3) + 1, "q")],
    "numpy.linalg.multi_dot": [(lambda q: np.linalg.multi_dot([q, q * 2, q]) + 1, "q")],
    "numpy.einsum": [
        (lambda a: np.einsum("ij,kj->ik", a, a * 2) + 1, "a"),
        (lambda q: np.einsum("ii", q) * q, "q"),
    ],
    "numpy.tensordot": [(lambda a: np.tensordot(a, a * 2, axes=([1], [1])) + 1, "a")],
    "numpy.inner": [(lambda a: np.inner(a, a * 2) + 1, "a")],
    "numpy.outer": [(lambda v, u: np.outer(v, u * 2) + 1, "vu")],
    "numpy.vdot": [(lambda v, w: np.vdot(v, w * 2) * v, "vw")],
    "numpy.kron": [(lambda v, u: np.kron(v, u * 2)[:3] + 1, "vu")],
    "numpy.cross": [(lambda a: np.cross(a[:, :3] * 2, a[:, 1:4]) + 1, "a")],
    "numpy.unique_values": [(lambda i: np.sort(np.unique_values(i * 2)) + 1, "i")],
    "numpy.unique_counts": [(lambda i: np.unique_counts(i).counts * 2, "i")],
    "numpy.unique_inverse": [(lambda i: np.unique_inverse(i * 2).inverse_indices + 1, "i")],
    "numpy.delete": [
        (lambda v: np.delete(v * 2, 3) + 1, "v"),
        (lambda v: np.delete(v, v > 0) * 2, "v"),
        (lambda a: np.delete(a, [0, 2], axis=1) * 2, "a"),
    ],
    "numpy.tril_indices": [(lambda a: a[np.tril_indices(a.shape[0])] * 2, "a")],
    "numpy.triu_indices": [(lambda a: a[np.triu_indices(a.shape[0], k=1)] * 2, "a")],
    "numpy.tril_indices_from": [(lambda q: q[np.tril_indices_from(q)] + 1, "q")],
    "numpy.triu_indices_from": [(lambda q: q[np.triu_indices_from(q, k=1)] + 1, "q")],
    "numpy.diag_indices": [(lambda q: q[np.diag_indices(q.shape[0])] * 2, "q")],
    "numpy.diag_indices_from": [(lambda q: q[np.diag_indices_from(q)] * 2, "q")],
    "numpy.unravel_index": [
        (lambda i: np.add(*np.unravel_index(i * 2, (4, 5))) + 1, "i"),
        (lambda a: np.unravel_index(np.argmax(a * 2), a.shape), "a"),
    ],
    "numpy.ravel_multi_index": [
        (lambda i: np.ravel_multi_index((i, i[::-1]), (6, 7), mode="clip") + 1, "i"),
    ],
    "numpy.gcd": [(lambda i: np.gcd(i * 6, 4) + 1, "i")],
    "numpy.lcm": [(lambda i: np.lcm(i, i[::-1]) + 1, "i")],
    "numpy.bitwise_count": [(lambda i: np.bitwise_count(i * 3) + 1, "i")],
    "numpy.packbits": [(lambda v: np.packbits(v > 0) + 1, "v")],
    "numpy.unpackbits": [(lambda i: np.unpackbits(i.astype(np.uint8)) * 2, "i")],
    "numpy.frexp": [(lambda v: np.multiply(*np.frexp(v * 9)) + 1, "v")],
    "numpy.ldexp": [(lambda v, i: np.ldexp(v, i) + 1, "vi")],
    "numpy.modf": [(lambda v: np.multiply(*np.modf(v * 9)) + 1, "v")],
    "numpy.nextafter": [(lambda v, w: np.nextafter(v * 2, w) - v, "vw")],
    "numpy.spacing": [(lambda v: np.spacing(v * 2) + 1, "v")],
    "numpy.logaddexp": [(lambda v, w: np.logaddexp(v * 2, w) + 1, "vw")],
    "numpy.logaddexp2": [(lambda v, w: np.logaddexp2(v * 2, w) + 1, "vw")],
    "numpy.i0": [(lambda v: np.i0(v * 2) + 1, "v")],
    "numpy.resize": [(lambda v: np.resize(v * 2, 5) + 1, "v")],
    "numpy.sort_complex": [(lambda v: np.sort_complex(v * 2), "v")],
    "numpy.hanning": [(lambda v: np.hanning(v.shape[0]) * v, "v")],
    "numpy.hamming": [(lambda v: np.hamming(len(v)) * v, "v")],
    "numpy.blackman": [(lambda v: np.blackman(v.size) * v, "v")],
    "numpy.bartlett": [(lambda v: np.bartlett(len(v)) * v, "v")],
    "numpy.kaiser": [(lambda v: np.kaiser(len(v), 14.0) * v, "v")],
    "numpy.histogram2d": [(lambda v, w: np.histogram2d(v, w * 2, bins=4)[0] / 3, "vw")],
    "numpy.iscomplex": [(lambda v: np.iscomplex(v * 2) | (v > 0), "v")],
    "numpy.isreal": [(lambda v: np.isreal(v * 1j) & (v > 0), "v")],
    "numpy.array_equiv": [(lambda v: np.array_equiv(v, v + 0), "v")],
    "numpy.unique_all": [(lambda i: np.unique_all(i * 2).counts + 1, "i")],
    "numpy.fft.rfftn": [(lambda a: np.fft.rfftn(a).real + 1, "a")],
    "numpy.fft.irfftn": [(lambda a: np.fft.irfftn(a + 1j) * 2, "a")],
    "numpy.fft.hfft": [(lambda v: np.fft.hfft(v * 2) + 1, "v")],
    "numpy.fft.ihfft": [(lambda v: np.fft.ihfft(v).imag * 2, "v")],
    "numpy.poly": [(lambda v: np.poly(v[:4]) + 1, "v")],
    "numpy.polyadd": [(lambda v, u: np.polyadd(v * 2, u) + 1, "vu")],
    "numpy.polysub": [(lambda v, u: np.polysub(v * 2, u) + 1, "vu")],
    "numpy.polymul": [(lambda v, u: np.polymul(v * 2, u) + 1, "vu")],
    "numpy.polydiv": [(lambda u: np.polydiv(u, u[:3] * 2)[0] + 1, "u")],
    "numpy.polyder": [(lambda v: np.polyder(v * 2) + 1, "v")],
    "numpy.polyint": [(lambda v: np.polyint(v * 2) + 1, "v")],
    "numpy.nanargmax": [(lambda a: np.nanargmax(a * 2, axis=1) + 1, "a")],
    "numpy.nanargmin": [(lambda v: v[np.nanargmin(v * 2)] + 1, "v")],
    "numpy.nanprod": [(lambda a: np.nanprod(a, axis=0) + 1, "a")],
    "numpy.prod": [(lambda a: np.prod(a, axis=0) + 1, "a")],
    "numpy.max": [(lambda v, w: np.max(v + 1j * w) + 1, "vw")],
    "numpy.min": [(lambda v, w: (v + 1j * w).min() + 1, "vw")],
    "numpy.ptp": [(lambda v, w: np.ptp(v + 1j * w) + 1, "vw")],
    "numpy.var": [(lambda v, w: np.var(v + 1j * w) + 1, "vw")],
    "numpy.std": [(lambda v, w: (v + 1j * w).std(ddof=1) + 1, "vw")],
    "numpy.round": [(lambda v, w: np.round(v + 1j * w, 2) + 1, "vw")],
    "numpy.clip": [(lambda v, w: np.clip(v + 1j * w, 0, 1) + 1, "vw")],
    "numpy.matmul": [(lambda a: (a + 1j) @ a.T + 1, "a")],
    "numpy.dot": [(lambda v, w: np.dot(v + 1j, w) + 1, "vw")],
    "numpy.matvec": [(lambda q, v: np.matvec(q * 2, v) + 1, "qv")],
    "numpy.vecmat": [(lambda q, v: np.vecmat(v, q * 2) + 1, "qv")],
    "numpy.linalg.tensordot": [(lambda a: np.linalg.tensordot(a.T, a * 2, axes=1) + 1, "a")],
    "numpy.linalg.vecdot": [(lambda a: np.linalg.vecdot(a, a * 2) + 1, "a")],
    "numpy.linalg.vector_norm": [(lambda a: a / np.linalg.vector_norm(a * 2), "a")],
    "numpy.linalg.matrix_norm": [(lambda a: a / np.linalg.matrix_norm(a * 2), "a")],
    "numpy.linalg.tensorsolve": [(lambda p, r: np.linalg.tensorsolve(p, r * 2) - 1, "pr")],
    "numpy.linalg.tensorinv": [(lambda p: np.linalg.tensorinv(p * 2, ind=1) + 1, "p")],
    "numpy.fft.fft": [(lambda v: abs(np.fft.fft(v * 2)) + 1, "v")],
    "numpy.fft.ifft": [(lambda v, w: np.fft.ifft(np.fft.fft(v) * np.fft.fft(w)).real, "vw")],
    "numpy.fft.rfft": [(lambda v: np.fft.rfft(v).conj() * 2, "v")],
    "numpy.fft.fft2": [(lambda a: np.fft.fft2(a, axes=(0, 1)) * 1j, "a")],
    "numpy.fft.ifft2": [(lambda a: np.fft.ifft2(a * 1j).imag + 1, "a")],
    "numpy.fft.rfft2": [(lambda a: np.fft.rfft2(a).real + 1, "a")],
    "numpy.fft.irfft2": [(lambda a: np.fft.irfft2(a + 1j) * 2, "a")],
    "numpy.fft.fftn": [(lambda a: np.fft.fftn(a * 2) + 1, "a")],
    "numpy.fft.ifftn": [(lambda a: np.fft.ifftn(a * 2).real, "a")],
    "numpy.fft.irfft": [(lambda v: np.fft.irfft(v * 2) + 1, "v")],
    "numpy.fft.fftfreq": [(lambda v: np.fft.fftfreq(v.shape[0]) * v, "v")],
    "numpy.fft.rfftfreq": [(lambda v: np.fft.rfftfreq(v.shape[0]) * 2, "v")],
    "numpy.fft.fftshift": [(lambda v: np.fft.fftshift(v * 2) + 1, "v")],
    "numpy.fft.ifftshift": [(lambda a: np.fft.ifftshift(a * 2, axes=0) + 1, "a")],
}
REFUSED: dict[str, Case] = {
    "numpy.linalg.eig": (lambda q: np.linalg.eig(q), "q"),
    "numpy.linalg.eigvals": (lambda q: np.linalg.eigvals(q), "q"),
    "numpy.roots": (lambda v: np.roots(v), "v"),
}


def arguments(kinds: str, n: int, dtype: str = "f8") -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n)
    q = rng.normal(size=(n, n)) + 5 * np.eye(n)
    made = {
        "v": rng.normal(size=n),
        "w": rng.normal(size=n),
        "u": rng.normal(size=n + 3),
        "a": rng.normal(size=(n, n + 2)),
        "q": q,
        "p": q @ q.T,
        "r": rng.normal(size=n),
        "t": rng.normal(size=(2, n, 3)),
    }
    integers = rng.integers(0, 6, n)
    return tuple(integers if k == "i" else made[k].astype(dtype) for k in kinds)


def test_every_row_has_a_case() -> None:
    assert {row.name for row in ROWS} == CASES.keys() | REFUSED.keys()


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, cases in CASES.items() for at in range(len(cases))]
)
def test_row(name: str, at: int) -> None:
    """Beside fused operations, at two sizes with one compilation."""
    program, kinds = CASES[name][at]
    check(program, arguments(kinds, 9), arguments(kinds, 14), bound=SUM, inner_bound=SUM)


@pytest.mark.parametrize(
    "name", ["numpy.sort", "numpy.median", "numpy.linalg.solve", "numpy.interp"]
)
def test_single_precision(name: str) -> None:
    program, kinds = CASES[name][0]
    loose = Bound(ulps=1e4, absolute=1e-4)
    check(program, arguments(kinds, 9, "f4"), bound=loose, inner_bound=loose)


@pytest.mark.parametrize("name", REFUSED)
def test_complex_results_are_refused(name: str) -> None:
    program, kinds = REFUSED[name]
    with pytest.raises(UnsupportedError, match=r"test_host_functions.*complex"):
        fuse_jit(program, fullgraph=True)(*arguments(kinds, 5))


# ------------------------------------------------------------------------------ corners of calls
def test_nan_and_empty_and_strided() -> None:
    def f(x: Any) -> Any:
        return np.sort(x), np.unique(x * 2) + 1, np.cumsum(x), np.argsort(x)

    x = np.random.default_rng(0).normal(size=30)
    holes = x.copy()
    holes[::4] = np.nan
    check(f, (x,), (holes,), (x[:0],))
    check(f, (x[::2],), (holes[::3],))
    check(f, (x[::-1],))


def test_orders_of_axes() -> None:
    def f(a: Any) -> Any:
        return np.sort(a, axis=0) + 1, np.cumsum(a, axis=1), np.median(a, axis=0)

    a = np.random.default_rng(0).normal(size=(7, 9))
    check(f, (a,), (a[:4],), bound=SUM)
    check(f, (np.asfortranarray(a),), bound=SUM)
    check(f, (a[::2, ::3],), bound=SUM)


def test_sorting_in_place_is_a_store() -> None:
    def f(x: Any, y: Any) -> Any:
        x += 1
        x.sort()
        part = y[2:]
        part.sort()
        part.partition(3)
        return x[0] + y

    x, y = np.random.default_rng(0).normal(size=(2, 12))
    check(f, (x, y), (x[:8], y[:8]), jit=True)


def test_calls_of_calls() -> None:
    """Sizes of one result are the sizes of the next call's arguments."""

    def f(x: Any) -> Any:
        values, counts = np.unique(np.floor(x * 3), return_counts=True)
        chosen = values[counts > 1]
        return np.median(chosen) + values, np.cumsum(chosen * 2), chosen[:, None] - chosen

    x = np.random.default_rng(0).normal(size=40)
    check(f, (x,), (np.repeat(x, 3),), jit=True)


def test_run_time_numbers() -> None:
    def f(x: Any, p: Any, k: Any) -> Any:
        return np.percentile(x, p) * x, np.partition(x, k)[k]

    x = np.random.default_rng(0).normal(size=40)
    check(f, (x, 30.0, 2), (x[:30], 70.5, 9), (x, 1.0, 0))

    def along(a: Any, axis: Any) -> Any:
        return np.sort(a * 2, axis=axis) + 1

    a = x.reshape(5, 8)
    check(along, (a, 1), (a[:3], 0), (a, 0))


# --------------------------------------------------------------------------- errors and effects
def before(x: Any, a: Any, b: Any) -> Any:
    x *= 2
    solved = np.linalg.solve(a, b)
    x += solved
    return x


def after(x: Any, a: Any, b: Any) -> Any:
    solved = np.linalg.solve(a, b + x)
    x[:] = solved
    x *= 2
    return solved


def between(x: Any, a: Any, b: Any) -> Any:
    b[0] = 3
    first = np.linalg.solve(a, b)
    b[1] = 4
    x[:] = first
    second = np.linalg.inv(a - a.T)
    b[2] = 5
    return second + first


@pytest.mark.parametrize("program", [before, after, between])
def test_a_failing_call_leaves_arguments_as_numpy_does(program: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    a, x, b = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4)
    singular = np.zeros((4, 4))
    late = np.diag([2.0, 3, 4, 5])  # `between`: only the second call fails
    fused = check(program, (x, a, b), bound=SUM, inner_bound=SUM)
    for matrix in (singular, late, a):
        ours, theirs = ((x.copy(), matrix.copy(), b.copy()) for _ in range(2))
        errors = []
        for function, args in ((program, theirs), (fused, ours)):
            try:
                function(*args)
                errors.append("")
            except np.linalg.LinAlgError as error:
                errors.append(str(error))
        assert errors[0] == errors[1]
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_results_are_fresh_and_writeable() -> None:
    def f(x: Any) -> Any:
        y = np.sort(x)
        z = y[1:]
        z[0] = 99
        return y, z, x

    check(f, (np.random.default_rng(0).normal(size=9),))


def test_inside_a_function_with_views_of_arguments() -> None:
    with pytest.raises(UnsupportedError, match="returns a view"):
        fuse_jit(lambda q: np.einsum("ij->ji", q), fullgraph=True)(np.eye(4))


def test_explain_shows_the_step() -> None:
    fused = decorate(lambda x: np.unique(x * 2) + 1, jit=False)
    x = np.arange(4.0)
    fused(x)
    text = fused.explain(x, detail=True)
    assert "host call numpy.unique: NumPy runs it between kernels" in text
    assert "test_host_functions.py" in text


# --------------------------------------------------------------------------------- one property
STEPS: dict[str, Callable[[Any], Any]] = {
    "sort": np.sort,
    "scale": lambda x: x * 2 + 1,
    "centre": lambda x: x - np.median(x),
    "positive": lambda x: x[x > x.max() - 3.5],
    "unique": np.unique,
    "running": np.cumsum,
    "steps": lambda x: np.ediff1d(x, to_begin=1.5),
    "clip": lambda x: np.clip(x, -2, 2) * x,
    "ranked": lambda x: x[np.argsort(x)],
}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6), st.integers(0, 99))
def test_chains_of_host_calls_and_fused_operations(names: list[str], seed: int) -> None:
    chain = [STEPS[name] for name in names]

    def f(x: Any) -> Any:
        for step in chain:
            x = step(x)
        return x + 1

    rng = np.random.default_rng(seed)
    check(f, (rng.normal(size=12),), (rng.normal(size=35),), bound=SUM, inner_bound=SUM)
