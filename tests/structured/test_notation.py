"""Index notation: what a formula defines, and what is no formula."""

import pydoc

import numpy as np
import pytest

from fusejit import linalg
from fusejit.structured import (
    DefinitionError,
    Number,
    Output,
    Shape,
    Tensor,
    _,
    cast,
    structured_op,
)

n = 5  # a number of the module: a dim in a subscript, a constant where a number is computed
SCALE = 3.0


def test_a_formula_prints_domain_maps_and_payload():
    @structured_op
    def conv_1d(I: Tensor["T1", _], K: Tensor["T2", "KW"], O: Output["U", "OW"], strides=(1,)):
        """A convolution."""
        O[ow] += cast(U, I[ow * strides[0] + kw]) * cast(U, K[kw])

    assert str(conv_1d).splitlines() == [
        "structured op conv_1d",
        "  attributes strides=(1,)",
        "  input I: T1[(OW - 1) * strides[0] + (KW - 1) + 1]",
        "  input K: T2[KW]",
        "  output O: U[OW]",
        "  domain (ow: parallel, kw: reduction)",
        "  map I: (ow, kw) -> (ow * strides[0] + kw)",
        "  map K: (ow, kw) -> (kw)",
        "  map O: (ow, kw) -> (ow)",
        "  O[ow] = add(O[ow], multiply(cast(U, I[ow * strides[0] + kw]), cast(U, K[kw])))",
    ]
    assert conv_1d.__doc__ == "A convolution."
    assert list(conv_1d.__signature__.parameters) == ["I", "K", "strides", "init", "out", "dtype"]


@pytest.mark.parametrize(
    ("update", "combiner"),
    [
        ("O[i] += A[i, j]", "add"),
        ("O[i] -= A[i, j]", "add"),
        ("O[i] *= A[i, j]", "multiply"),
        ("O[i] &= A[i, j] > 0", "bitwise_and"),
        ("O[i] |= A[i, j] > 0", "bitwise_or"),
        ("O[i] = max(O[i], A[i, j])", "max"),
        ("O[i] = np.minimum(A[i, j], O[i])", "minimum"),
        ("O[i] = O[i] + A[i, j]", "add"),
        ("O[i] = max_unsigned(O[i], A[i, j])", "max_unsigned"),
        ("O[i] = O[i] * 2 + A[i, j]", None),
        ("O[i] = where(A[i, j] > O[i], A[i, j], O[i])", None),
    ],
)
def test_combiners_are_seen_in_the_update(update, combiner):
    scope = {"np": np, "Tensor": Tensor, "Output": Output, "structured_op": structured_op}
    exec(
        f"@structured_op\ndef op(A: Tensor['T', 'M', 'N'], O: Output['U', 'M']):\n    {update}\n",
        scope,
    )
    (found,) = scope["op"].definition.updates
    assert found.combiner == combiner
    assert scope["op"].definition.runs_in_order() == (combiner is None)


def test_numbers_of_the_module_are_dims_in_subscripts_and_constants_elsewhere():
    @structured_op
    def scaled(A: Tensor["T", "N"], O: Output["T", "N"]):
        O[n] = A[n] * SCALE + n

    a = np.arange(3.0)
    np.testing.assert_array_equal(scaled.reference(a), a * 3 + 5)


def test_numbers_of_the_enclosing_function_are_too():
    k, offset = 7, 2

    @structured_op
    def moved(A: Tensor["T", "N"], O: Output["T", "N"]):
        O[k] = A[k] + offset

    np.testing.assert_array_equal(moved.reference(np.arange(3)), [2, 3, 4])


def test_extents_are_numbers_in_the_payload():
    @structured_op
    def mean(A: Tensor["T", "M", "N"], O: Output["T", "M"]):
        O[m] += A[m, k] / N

    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(mean(a), a.mean(1))


def test_several_outputs_and_an_index():
    @structured_op
    def largest(A: Tensor["T", "N"], best: Output["T"], place: Output["I64"]):
        place[()] = where(A[i] > best[()], index(i), place[()])
        best[()] = max(best[()], A[i])

    value, where = largest(np.array([3.0, 9.0, 4.0]), init=(-np.inf, 0))
    assert (value, where) == (9.0, 1)


def test_shapes_and_numbers():
    @structured_op
    def window_sum(A: Tensor["T", _], K: Shape["W", "KW"], s: Number["T"], O: Output["T", "OW"]):
        K[kw]
        O[ow] += A[ow + kw] * s

    np.testing.assert_array_equal(window_sum(np.arange(4), np.empty(2), 10), [10, 30, 50])


def test_annotations_without_quotes():
    scope: dict[str, object] = {}
    exec(
        "from __future__ import annotations\n"
        "from fusejit.structured import Output, Tensor, structured_op, _\n"
        "@structured_op\n"
        "def op(A: Tensor[T, M + K - 1], B: Tensor[T, K], O: Output[T, M]):\n"
        "    O[m] += A[m + k] * B[k]\n",
        scope,
    )
    a, b = np.arange(5.0), np.ones(2)
    np.testing.assert_array_equal(scope["op"].reference(a, b), np.correlate(a, b))


def _define(parameters, *body):
    scope = {"Tensor": Tensor, "Output": Output, "structured_op": structured_op, "cast": cast}
    lines = "\n    ".join(body)
    exec(f"@structured_op\ndef op({parameters}):\n    {lines}\n", scope)
    return scope["op"]


@pytest.mark.parametrize(
    ("parameters", "body", "text"),
    [
        ("A: Tensor['T', 'N']", "A[i]", "op has no output"),
        ("A, O: Output['T', 'N']", "O[i] = A[i]", "annotate A with"),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "O[i] = 1", "A is never subscripted"),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "A[i]", "does not write its output O"),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "O[i] = A[i, i]", "A has 1 axes and 2"),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "A[i] = O[i]", "A is not an output"),
        (
            "A: Tensor['T', 'N'], O: Output['T', 'N']",
            "O[i] = A[i]; O[i] = A[i]",
            "O is written twice",
        ),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "O[i] = A[i] + O[i + 1]", "O is read at"),
        ("A: Tensor['T', 'N'], O: Output['T', 'N']", "O[i] = A[i] + index(j)", "no dim"),
    ],
)
def test_what_is_no_formula_is_an_error_that_names_the_operand(parameters, body, text):
    with pytest.raises(DefinitionError, match=text):
        _define(parameters, body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("O[i] = A[i] if A[i] > 0 else 0", "no branches"),
        ("O[i] = A[i] + i", "index"),
        ("O[i] = A[1.5]", "subscript"),
    ],
)
def test_payloads_that_are_no_payloads(body, text):
    with pytest.raises(TypeError, match=text):
        _define("A: Tensor['T', 'N'], O: Output['T', 'N']", body)


def test_an_output_without_axes_needs_no_subscript():
    @structured_op
    def norm(A: Tensor["T", "N"], total: Output["T"], product: Output["T"]):
        total += A[i] * A[i]
        product *= A[i]

    a = np.array([1.0, 2.0, 3.0])
    assert norm(a) == (14.0, 6.0)
    assert [u.combiner for u in norm.definition.updates] == ["add", "multiply"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("O[i] = A[i] + B[i]", "B is not defined: it is subscripted, but is no parameter"),
        ("O[i] = A[i] + A", r"A has axes, or is an output: give its subscripts, A\[..\]"),
        ("O += A[i]", "O has axes: give its subscripts"),
    ],
)
def test_what_lacks_a_definition_or_subscripts_is_named(body, text):
    with pytest.raises(DefinitionError, match=text):
        _define("A: Tensor['T', 'N'], O: Output['T', 'N']", body)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8"])
def test_conjugates(dtype):
    @structured_op
    def products(A: Tensor["T", "N"], B: Tensor["T", "N"], O: Output["T", "N"]):
        O[i] = np.conj(A[i]) * B[i].conj() + A[i].conjugate()

    rng = np.random.default_rng(1)
    a, b = ((rng.integers(-9, 9, 7) + 1j * rng.integers(-9, 9, 7)).astype("c16") for _k in "ab")
    a, b = (x.astype(dtype) if dtype[0] == "c" else x.real.astype(dtype) for x in (a, b))
    expected = a.conj() * b.conj() + a.conj()
    for run in (products, products.reference):
        found = run(a, b)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f4"), ("i4", "f8")])
def test_logarithms_of_sums(dtypes):
    @structured_op
    def total(A: Tensor["T", "N"], B: Tensor["U", "N"], O: Output["V", "N"], P: Output["V", "N"]):
        O[i] = np.logaddexp(A[i], B[i])
        P[i] = np.logaddexp2(A[i], B[i])

    numbers = [0.0, -1.0, 3.0, 700.0, -700.0]
    special = [] if "i4" in dtypes else [np.inf, -np.inf, np.nan]
    grid = np.array([(x, y) for x in numbers + special for y in numbers + special]).T
    a, b = (x.astype(dtype) for x, dtype in zip(grid, dtypes, strict=True))
    with np.errstate(all="ignore"):
        expected = np.logaddexp(a, b), np.logaddexp2(a, b)
    for run in (total, total.reference):
        for found, one in zip(run(a, b), expected, strict=True):
            assert found.dtype == one.dtype
            np.testing.assert_allclose(found, one, rtol=1e-5 if "f4" in dtypes else 1e-12)


def test_help_shows_whole_signatures():
    convolution = pydoc.plain(pydoc.render_doc(linalg.conv_2d_nhwc_hwcf))
    assert (
        "conv_2d_nhwc_hwcf(I, K, *, strides=(1, 1), dilations=(1, 1), init=None, out=None, "
        "dtype=None)\n    2-D convolution, channels last."
    ) in convolution
    family = pydoc.plain(pydoc.render_doc(linalg.reduce))
    assert "reduce(payload, inputs, inits, dimensions, *, out=None)" in family
    assert "matmul(A, B, *, indexing_maps=None, cast='cast_signed'" in pydoc.plain(
        pydoc.render_doc(linalg)
    )

    class Holder:
        op = linalg.matmul

    assert Holder().op is Holder.op is linalg.matmul
