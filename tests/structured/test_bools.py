"""Booleans in ops of users are NumPy's: True is 1, max is or, comparisons and casts are NumPy's."""

from __future__ import annotations

import itertools
import textwrap
from typing import Any

import numpy as np
import pytest

from fusejit import linalg, structured
from fusejit.structured import generic
from fusejit.structured.op import StructuredOp
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

BOOL = np.dtype(bool)
X = np.array([[True, False, True], [True, True, True], [False, False, False], [False, True, False]])
Y = np.array([[True, True, False], [False, True, True], [True, False, False], [False, False, True]])
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
DTYPES = f"bool {_INTEGERS} float32 float64 complex64 complex128".split()
NUMBERS = np.array([0, 1, 2, 3, 4, 100])


def op_of(body: str, *, output: str, **options: Any) -> StructuredOp:
    """The op ``op`` of matrices; the output has their rows, or all their axes."""
    axes = '"N", "M"' if "O[n, m]" in body else '"N"'
    given = [name for name in "XY" if f"{name}[" in body or f"{name}.at" in body]
    parameters = [f'{name}: Tensor["T{name}", "N", "M"]' for name in given]
    text = f"def op({', '.join(parameters)}, O: Output[{output}, {axes}]):\n"
    scope = {name: getattr(structured, name) for name in structured.__all__} | {"np": np}
    exec(text + textwrap.indent(body, "    "), scope)
    made: StructuredOp = structured.structured_op(scope["op"], **options)
    return made


@pytest.fixture(autouse=True)
def unjitted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run in Python, but for the tests that say ``jitted``."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", str(int("jitted" not in request.node.name)))


def every_way(op: StructuredOp, *args: Any, **kwargs: Any) -> Any:
    """The result of a call; it is that of the reference, and in a traced function."""
    result = op(*args, **kwargs)
    assert op.entry.variants.compiled
    assert not op.entry.variants.fallbacks
    assert_same(op.reference(*args, **kwargs), result)

    def program(*args: Any) -> Any:
        return np.copy(op(*(np.copy(a) for a in args), **kwargs))

    assert_same(result, decorate(program, jit=False, fullgraph=True)(*args))
    return result


# ------------------------------------------------------------------------------------- reductions
REDUCTIONS = {
    "O[n] += {}": np.add,
    "O[n] = O[n] + {}": np.add,
    "O[n] = np.add({}, O[n])": np.add,
    "O[n] *= {}": np.multiply,
    "O[n] = max(O[n], {})": np.maximum,
    "O[n] = max({}, O[n])": np.maximum,
    "O[n] = np.maximum(O[n], {})": np.maximum,
    "O[n] = max_unsigned(O[n], {})": np.maximum,
    "O[n] = min(O[n], {})": np.minimum,
    "O[n] = np.minimum(O[n], {})": np.minimum,
    "O[n] = min_unsigned({}, O[n])": np.minimum,
    "O[n] |= {}": np.bitwise_or,
    "O[n] &= {}": np.bitwise_and,
    "O[n] = np.logical_or(O[n], {})": np.logical_or,
    "O[n] = np.logical_and(O[n], {})": np.logical_and,
    # without a combiner, in order
    "O[n] = np.fmax(O[n], {})": np.fmax,
    "O[n] = np.fmin(O[n], {})": np.fmin,
    "O[n] = O[n] ^ {}": np.logical_xor,
    "O[n] = ~~max(O[n], {})": np.maximum,
    "O[n] = ~~min(O[n], {})": np.minimum,
    "O[n] = where(O[n] < {0}, {0}, O[n])": np.maximum,
    "O[n] = where(O[n] > {0}, {0}, O[n])": np.minimum,
}


@pytest.mark.parametrize("start", [None, False, True])
@pytest.mark.parametrize("body", REDUCTIONS)
def test_reductions_of_booleans_are_those_of_numpy(body: str, start: bool | None) -> None:
    """``max(O[n], X[n, m])`` was and, and ``min`` was or."""
    op = op_of(body.format("X[n, m]"), output='"TX"')
    ufunc = REDUCTIONS[body]
    if start is None and op.definition.updates[0].combiner is None:
        start = False
    for x in (X, X[:, :0], X[:1], np.asfortranarray(X), np.tile(X, (3, 40))):
        begin = {} if start is None else {"init": np.full(len(x), start)}
        if start is None and not x.shape[1]:
            expected = np.full(len(x), ufunc in (np.multiply, np.minimum, np.bitwise_and))
            expected |= ufunc is np.logical_and
        else:
            expected = np.full(len(x), start) if begin else x[:, 0]
            for column in x.T[0 if begin else 1 :]:
                expected = ufunc(expected, column)
        result = every_way(op, x, **begin)
        assert_same(expected, result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "value", ["cast(U, X[n, m] > 0)", "X[n, m] > 0", "cast(U, ~(X[n, m] <= 0))"]
)
def test_counts(value: str, dtype: str) -> None:
    """``O[n] += cast(I64, X > 0)`` counted -3 for three."""
    op = op_of(f"O[n] += {value}", output='"U"')
    x = np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 5.0], [-1.0, -2.0, -3.0]])
    expected = np.array([3, 1, 0]).astype(dtype)
    assert_same(expected, every_way(op, x, dtype=np.dtype(dtype)))


@pytest.mark.parametrize("dtype", DTYPES[1:-2])
@pytest.mark.parametrize("name", ["max", "min", "np.maximum", "max_unsigned"])
def test_extrema_of_numbers_that_were_booleans(name: str, dtype: str) -> None:
    if "unsigned" in name and dtype.startswith("float"):
        return
    op = op_of(f"O[n] = {name}(O[n], cast({dtype!r}, X[n, m]))", output=repr(dtype))
    ufunc = np.minimum if name == "min" else np.maximum
    assert_same(ufunc.reduce(X.astype(dtype), axis=1), every_way(op, X))


# ------------------------------------------------------------------------------------------ casts
@pytest.mark.parametrize("how", ["cast", "cast_unsigned", "cast_signed"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_of_booleans(dtype: str, how: str) -> None:
    op = op_of(f"O[n, m] = {how}({dtype!r}, X[n, m])", output=repr(dtype))
    assert_same(X.astype(dtype), every_way(op, X))


@pytest.mark.parametrize("how", ["cast", "cast_unsigned", "cast_signed"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_to_booleans(dtype: str, how: str) -> None:
    """``cast(bool, 2)`` was False: the lowest bit."""
    op = op_of(f"O[n, m] = {how}(bool, X[n, m])", output="bool")
    numbers = [NUMBERS.astype(dtype)]
    if dtype.startswith("int"):
        numbers.append(-NUMBERS.astype(dtype))
    if np.dtype(dtype).kind in "fc":
        numbers.append(np.array([0.5, -0.0, np.nan, np.inf, -1e-30], dtype))
    if np.dtype(dtype).kind == "c":
        numbers.append(np.array([1j, 0j, complex(0, np.nan)], dtype))
    for x in numbers:
        with np.errstate(all="ignore"):
            assert_same(x[None].astype(bool), every_way(op, x[None]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_starts_that_are_booleans(dtype: str) -> None:
    op = op_of("O[n] += cast(U, X[n, m])", output='"U"')
    expected = (X.sum(axis=1) + 1).astype(dtype)
    assert_same(expected, every_way(op, X, init=True, dtype=np.dtype(dtype)))


# ------------------------------------------------------------------------- functions of two of them
_SYMBOLS = "< <= > >= == != + * & | ^ // % ** << >>"
_UFUNCS = "maximum minimum fmax fmin logical_xor add multiply bitwise_and not_equal"
PAIRS = [
    *(f"X[n, m] {symbol} Y[n, m]" for symbol in _SYMBOLS.split()),
    *(f"np.{name}(X[n, m], Y[n, m])" for name in _UFUNCS.split()),
    "~X[n, m] | (X[n, m] > Y[n, m])",
    "X[n, m] + 2 * Y[n, m]",
    "X[n, m] + 0.5",
    "X[n, m] * cast(np.int8, Y[n, m])",
    "X[n, m] > cast(np.int8, Y[n, m])",
    "np.where(X[n, m], Y[n, m], True)",
    "np.where(X[n, m] < Y[n, m], 3, Y[n, m])",
    "np.abs(X[n, m]) + np.square(Y[n, m])",
    "np.logical_not(X[n, m]) <= np.logical_not(Y[n, m])",
    "const(np.int16, True) + X[n, m]",
    "const(bool, 2) & X[n, m]",
    "X[n, m] < 2",
    "True > X[n, m]",
]


@pytest.mark.parametrize("value", PAIRS)
def test_functions_of_booleans_are_those_of_numpy(value: str) -> None:
    scope = {"np": np, "X": X[:, :], "Y": Y}
    scope |= {"const": lambda dtype, x: np.asarray(x).astype(dtype)[()]}
    scope |= {"cast": lambda dtype, x: np.asarray(x).astype(dtype)}
    with np.errstate(all="ignore"):
        expected = np.asarray(eval(value.replace("[n, m]", "[:, :]"), scope))
    op = op_of(f"O[n, m] = {value}", output=f"np.dtype('{expected.dtype}')")
    assert_same(expected, every_way(op, *(x for x, n in ((X, "X["), (Y, "Y[")) if n in value)))


@pytest.mark.parametrize(("name", "ufunc"), [("max", np.logical_or), ("min", np.logical_and)])
@pytest.mark.parametrize("sign", ["", "_unsigned"])
def test_extrema_of_two_booleans(name: str, sign: str, ufunc: np.ufunc) -> None:
    op = op_of(f"O[n, m] = {name}{sign}(X[n, m], Y[n, m])", output="bool")
    assert_same(ufunc(X, Y), every_way(op, X, Y))


@pytest.mark.parametrize("value", ["X[n, m] - Y[n, m]", "-X[n, m]", "np.sign(X[n, m])"])
def test_what_numpy_refuses_of_booleans_is_refused(value: str) -> None:
    op = op_of(f"Y[n, m]; O[n, m] = {value}", output="bool")
    for call in (op, op.reference):
        with pytest.raises(TypeError):
            call(X, Y)


def test_elements_outside_of_an_operand() -> None:
    op = op_of("O[n, m] = max(X.at(n + 1, m, outside=False), X[n, m])", output="bool")
    expected = X.copy()
    expected[:-1] |= X[1:]
    assert_same(expected, every_way(op, X))


def test_jitted() -> None:
    """One kernel that counts, merges, casts and compares."""
    scope = {name: getattr(structured, name) for name in structured.__all__} | {"np": np}
    text = """
    def op(
        X: Tensor["T", "N", "M"], Y: Tensor["T", "N", "M"], Z: Tensor["Z", "N", "M"],
        A: Output["int64", "N"], B: Output["bool", "N"], C: Output["bool", "N"],
        D: Output["float32", "N"], E: Output["bool", "N"], F: Output["uint8", "N"],
        G: Output["T", "N"], H: Output["T", "N"],
    ):
        A[n] += cast(int64, X[n, m])
        B[n] = max(B[n], X[n, m])
        C[n] = min(C[n], X[n, m])
        D[n] += cast("float32", max(X[n, m], Y[n, m]))
        E[n] |= cast(bool, Z[n, m])
        F[n] = max(F[n], cast_unsigned(np.uint8, X[n, m] > Y[n, m]))
        G[n] += min(X[n, m], Y[n, m])
        H[n] *= X[n, m] <= Y[n, m]
    """
    exec(textwrap.dedent(text), scope)
    op = structured.structured_op(scope["op"])
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (65, 130), (3, 0)):
        x, y = rng.random((2, *shape)) < 0.5
        x[:1] = True
        z = rng.integers(0, 2, shape) * 2
        expected = [
            *(x.sum(axis=1), x.any(axis=1), x.all(axis=1), (x | y).sum(axis=1, dtype=np.float32)),
            *(z.any(axis=1), (x > y).any(axis=1).astype(np.uint8), (x & y).any(axis=1)),
            (x <= y).all(axis=1),
        ]
        for results in (op(x, y, z), op.reference(x, y, z)):
            for e, result in zip(expected, results, strict=True):
                assert_same(e, result)
    assert not op.entry.variants.fallbacks


# -------------------------------------------------------------------------------- other notations
def test_generic_has_the_booleans_of_numpy() -> None:
    maps, iterators = ["(i, j) -> (i, j)", "(i, j) -> (i)"], ["parallel", "reduction"]

    def count(x: Any, total: Any) -> Any:
        return total + structured.cast(np.int64, x)

    start = np.zeros(4, int)
    assert_same(X.sum(axis=1), generic([X], [start], maps, iterators, count))
    assert_same(X.sum(axis=1), generic.reference([X], [start], maps, iterators, count))
    assert_same(X.sum(axis=1), linalg.reduce(count, X, start, [1]))
    nonzero = linalg.map(lambda x: structured.cast(np.bool_, x), NUMBERS, init=np.zeros(6, bool))
    assert_same(NUMBERS.astype(bool), nonzero)


def test_named_ops_keep_those_of_the_dialect() -> None:
    i8 = np.dtype(np.int64)
    assert_same(X & Y, linalg.max(X, Y))
    assert_same(X | Y, linalg.min(X, Y))
    assert_same(X & Y, linalg.elementwise(X, Y, kind="max_signed"))
    assert_same(-X.astype(i8), linalg.copy(X, dtype=i8))
    assert_same(X.astype(i8), linalg.copy(X, dtype=i8, cast="cast_unsigned"))
    assert_same(NUMBERS % 2 == 1, linalg.copy(NUMBERS, dtype=BOOL))
    image, window = X.reshape(1, 4, 3), np.empty(2)
    assert_same(image[:, :-1] & image[:, 1:], linalg.pooling_nwc_max(image, window))


def test_the_border_of_a_pooling_of_the_dialect_is_neutral() -> None:
    """The largest of signed booleans was False at the border: False was read outside, not True."""
    for op, ufunc in ((linalg.pooling_max, np.logical_and), (linalg.pooling_min, np.logical_or)):
        for x in (X, ~X):
            outside = ufunc is np.logical_and
            padded = np.pad(x, 1, constant_values=outside)
            windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
            expected = ufunc.reduce(windows, axis=(2, 3))
            assert_same(expected, op(x, np.empty((3, 3)), padding=1))
            assert_same(expected, op.reference(x, np.empty((3, 3)), padding=1))


def test_an_op_of_the_dialect_and_one_of_numpy_with_one_text_are_two() -> None:
    """The text tells them apart, by which ops of `generic` are kept."""
    numpys, dialects = (
        op_of("O[n] += cast('int64', X[n, m])", output="'int64'", numpy_bools=b)
        for b in (True, False)
    )
    assert "  booleans are signed: True is -1" in str(dialects).splitlines()
    assert "booleans" not in str(numpys)
    assert_same(X.sum(axis=1), every_way(numpys, X))
    assert_same(-X.sum(axis=1), every_way(dialects, X))
    maps, kind = ["(i) -> (i)"] * 3, ["parallel"]
    start = np.zeros(4, bool)
    for x, y in itertools.permutations((X[:, 0], Y[:, 0])):
        of_user = generic(
            [x, y], [start], maps, kind, lambda a, b, o: np.maximum(a, b), name="max_signed"
        )
        assert_same(x | y, of_user)
        assert_same(x & y, linalg.elementwise(x, y, kind="max_signed"))
