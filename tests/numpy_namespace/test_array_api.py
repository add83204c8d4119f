"""The functions of the array API standard (2024.12) on `Array` objects, each against NumPy.

The list of names is the standard's; each has a call below, or several, that is made by NumPy, by
the namespace with recorded operations, and by the namespace without.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import fusejit.numpy as np

# what the calls use: two matrices of floats, integers, bools, complex numbers, a vector
NAMES = "x y i j b c z v"

CALLS = """
abs(x); acos(x / 20); acosh(x + 1); add(x, y); all(b, axis=0); any(b); arange(2, 9, 2)
argmax(x, axis=1); argmin(x); argsort(x, axis=0); asarray(x)
asarray([[1, 2], [3, 4]], dtype=float32); asin(x / 20); asinh(x); astype(i, float32); atan(x)
atan2(x, y); atanh(x / 20); bitwise_and(i, j); bitwise_invert(i); bitwise_left_shift(i, 2)
bitwise_or(i, j); bitwise_right_shift(i, 1); bitwise_xor(i, j); broadcast_arrays(x, v)
broadcast_to(v, (2, 4)); can_cast(int32, float64); ceil(x); clip(x, 2, 5)
concat([x, y], axis=1); conj(c); copysign(x, -y); cos(x); cosh(x); count_nonzero(b, axis=0)
cumulative_prod(x, axis=0); cumulative_sum(x, axis=1, include_initial=True); diff(x, axis=1)
divide(x, y); empty((2, 3)).shape; empty_like(x).shape; equal(x, y); exp(x)
expand_dims(x, axis=1); expm1(x); eye(3, k=1); finfo(float32).bits; flip(x, axis=0); floor(x)
floor_divide(i, j); from_dlpack(x); full((2, 2), 7); full_like(x, 3); greater(x, y)
greater_equal(x, y); hypot(x, y); iinfo(int16).max; imag(c); isdtype(float32, "real floating")
isfinite(x); isinf(x / 0); isnan(x / 0); less(x, y); less_equal(i, j); linspace(0, 1, 5); log(x)
log10(x); log1p(x); log2(x); logaddexp(x, y); logical_and(b, x > 2); logical_not(b)
logical_or(b, x > 2); logical_xor(b, x > 2); matmul(x, y.T); matrix_transpose(z); max(x, axis=0)
maximum(x, y); mean(x, axis=1); meshgrid(v, v, indexing="ij"); min(x); minimum(x, y)
moveaxis(z, 0, -1); multiply(x, 2); negative(x); nextafter(x, y); nonzero(b); not_equal(x, y)
ones((2, 3)); ones_like(x); permute_dims(z, (2, 0, 1)); positive(x); pow(x, 2); pow(x, y)
prod(x, axis=0); real(c); reciprocal(x + 1); remainder(i, j); repeat(x, 2, axis=0)
reshape(x, (4, 2)); reshape(x.T, (2, 4)); result_type(x, i); roll(x, 1, axis=1); round(x)
searchsorted(v, 2.5); sign(x - 3); signbit(x - 3); sin(x); sinh(x); sort(x, axis=0, stable=True)
sqrt(x); square(x); squeeze(x[None], axis=0); stack([x, y], axis=1); std(x, axis=0)
subtract(x, y); sum(i, axis=0); take(x, [0, 2], axis=1)
take_along_axis(x, argsort(x, axis=1), axis=1); tan(x); tanh(x)
tensordot(x, y, axes=([1], [1])); tile(x, (2, 1)); tril(z); triu(z, k=1); trunc(x)
unique_all(i); unique_counts(i); unique_inverse(i); unique_values(i); unstack(x); var(x, axis=1)
vecdot(x, y); where(b, x, y); zeros((2, 3)); zeros_like(x); fft.fft(x); fft.ifft(c); fft.fftn(z)
fft.ifftn(c); fft.rfft(x); fft.irfft(c); fft.rfftn(x); fft.irfftn(c); fft.hfft(c); fft.ihfft(x)
fft.fftfreq(5); fft.rfftfreq(5); fft.fftshift(x); fft.ifftshift(x)
linalg.cholesky(x @ x.T + eye(2) * 9); linalg.cross(x[:, :3], y[:, :3]); linalg.det(x[:, :2])
linalg.diagonal(z); linalg.eigh(x @ x.T); linalg.eigvalsh(x @ x.T); linalg.inv(x[:, :2])
linalg.matmul(x, y.T); linalg.matrix_norm(x); linalg.matrix_power(x[:, :2], 3)
linalg.matrix_rank(x); linalg.matrix_transpose(z); linalg.outer(v, v); linalg.pinv(x)
linalg.qr(x); linalg.slogdet(x[:, :2]); linalg.solve(x[:, :2], x[:, 2:])
linalg.svd(x, full_matrices=False); linalg.svdvals(x); linalg.tensordot(x, y, axes=([1], [1]))
linalg.trace(z); linalg.vecdot(x, y); linalg.vector_norm(x); +x; -x; ~i; abs(x); x + y; x - y
x * y; x / y; x // y; x % y; x ** y; x @ y.T; i & j; i | j; i ^ j; i << 1; i >> 1; x < y; x <= y
x == y; x != y; x > y; x >= y; 2 + x; 2 - x; 2 * x; 2 / x; 2 // (x + 1); 2 % (x + 1); 2 ** x
1 & i; 1 | i; 1 ^ i; 1 << i; 64 >> i; bool(b[0, 0]); int(i[0, 0]); float(x[1, 1])
complex(c[0, 0]); x[0]; x[..., 1]; x[:, None, 1:3]; x[::-1, ::2]; x[b]; x[i[0, :1]]; x.T; z.mT
x.shape; x.ndim; x.size; x.dtype; x.device; x.to_device("cpu"); x.__dlpack_device__()
x.__array_namespace__().sin(x)
""".replace("\n", ";").split(";")

IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>=", "@=")


def arrays(namespace: Any) -> dict[str, Any]:
    """Return what the calls use, made by a namespace."""
    x = namespace.arange(1.0, 9.0).reshape(2, 4)
    i = namespace.arange(1, 9).reshape(2, 4)
    return {
        **{name: getattr(namespace, name) for name in numpy.__all__},
        "x": x,
        "y": x[::-1] + 0.5,
        "i": i,
        "j": i[:, ::-1] + 0,
        "b": x > 3,
        "c": x + 1j * x[::-1],
        "z": namespace.arange(12.0).reshape(2, 2, 3),
        "v": namespace.arange(4.0),
    }


def described(value: Any) -> Any:
    """Return a result as something that can be compared."""
    if isinstance(value, tuple | list):
        return [described(item) for item in value]
    if isinstance(value, numpy.ndarray | numpy.generic):
        real = numpy.asarray(value)
        return real.dtype, real.shape, real.tobytes()
    return value


def three_results(program: str, result: str) -> list[Any]:
    found = []
    for namespace, most_operations in ((numpy, 0), (np, 64), (np, 0)):
        with np.threshold(0), np.window(most_operations), numpy.errstate(all="ignore"):
            names = arrays(namespace)
            exec(program, names)
            found.append(described(eval(result, names)))
    return found


@pytest.mark.parametrize("call", [c.strip() for c in CALLS if c.strip()])
def test_a_call(call: str) -> None:
    by_numpy, recorded, at_once = three_results("", call)
    assert recorded == by_numpy
    assert at_once == by_numpy


@pytest.mark.parametrize("operator", IN_PLACE)
def test_an_operator_in_place(operator: str) -> None:
    name, other = ("i", "j") if operator in ("&=", "|=", "^=", "<<=", ">>=") else ("x", "y")
    if operator == "@=":
        name, other = "x", "eye(4)"
    program = f"alias = {name}; before = id({name}); {name} {operator} {other}"
    by_numpy, recorded, at_once = three_results(program, f"alias, id({name}) == before")
    assert recorded == at_once == by_numpy


def test_stores() -> None:
    program = "x[0] = 5; x[:, 1] = y[:, 0]; x[b] = 0; x[1, 2] = 9; x[..., 3:] += 1"
    by_numpy, recorded, at_once = three_results(program, "x")
    assert recorded == at_once == by_numpy


def test_the_list_is_numpy_s() -> None:
    """The calls cover all functions of the standard that NumPy has in its main namespace."""
    called = {c.strip().partition("(")[0] for c in CALLS}
    standard = (
        "abs acos add all any arange argmax argsort asarray astype atan2 bitwise_and broadcast_to "
        "ceil clip concat conj copysign cumulative_sum diff divide empty equal exp expand_dims eye "
        "flip floor full greater hypot isdtype isfinite less linspace log logaddexp logical_and "
        "matmul max mean meshgrid minimum moveaxis nextafter nonzero ones permute_dims pow prod "
        "repeat reshape result_type roll round searchsorted sign signbit sort stack std take "
        "take_along_axis tensordot tile tril unique_all unstack vecdot where zeros"
    )
    assert set(standard.split()) <= called


def test_the_namespace_describes_itself() -> None:
    info = np.__array_namespace_info__()
    assert info.capabilities() == numpy.__array_namespace_info__().capabilities()
    with np.threshold(0):
        x = np.zeros(3)
    assert x.__array_namespace__() is np
    assert x.__array_namespace__(api_version="2024.12") is np
    with pytest.raises(ValueError, match="Version"):
        x.__array_namespace__(api_version="1999.01")
