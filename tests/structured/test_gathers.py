"""Reads at places that are data: embedding lookups, products with sparse matrices."""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.structured import DefinitionError, Output, Tensor, structured_op
from fusejit.structured import reference as interpreter


@structured_op
def embedding(E: Tensor["T", "V", "D"], J: Tensor["I", "B", "L"], O: Output["T", "B", "L", "D"]):
    O[b, l, d] = E[J[b, l], d]


@structured_op
def sparse_product(V: Tensor["T", "N", "K"], J: Tensor["I", "N", "K"], x: Tensor["T", "M"],
                   y: Output["T", "N"]):  # fmt: skip
    """A matrix in the form of ELLPACK times a vector."""
    y[n] += V[n, k] * x[J[n, k]]


@structured_op
def pairs(A: Tensor["T", "M", "N"], I: Tensor["U", "P"], J: Tensor["W", "P"], O: Output["T", "P"]):
    O[p] = A[I[p], J[p]] - A[J[p], I[p]]


@pytest.mark.parametrize("index_dtype", ["i8", "i4", "i2", "u1", "u8"])
def test_against_numpy(index_dtype):
    rng = np.random.default_rng(0)
    low = 0 if index_dtype[0] == "u" else -6
    table, vector = rng.random((6, 4)), rng.random(6)
    square = rng.integers(0, 99, (6, 6))
    for size in (0, 1, 5):
        places = rng.integers(low, 6, (size, 3)).astype(index_dtype)
        values = rng.random((size, 3))
        for run in (embedding, embedding.reference):
            np.testing.assert_array_equal(run(table, places), table[places])
        for run in (sparse_product, sparse_product.reference):
            expected = (values * vector[places]).sum(1)
            np.testing.assert_allclose(run(values, places, vector), expected, rtol=1e-12)
        i, j = places[:, 0], places[:, 1]
        for run in (pairs, pairs.reference):
            np.testing.assert_array_equal(run(square, i, j), square[i, j] - square[j, i])


def test_it_fuses():
    rng = np.random.default_rng(0)
    table, places = rng.random((6, 4)), rng.integers(-6, 6, (5, 3))

    @fuse_jit(fullgraph=True)
    def f(table, places):
        return np.exp(embedding(table, places)) + 1

    np.testing.assert_allclose(f(table, places), np.exp(table[places]) + 1, rtol=1e-12)
    text = f.explain(table, places)
    assert "embedding" in text
    found = embedding.general_form(embedding.bound((table, places), {}))
    np.testing.assert_array_equal(found(embedding.bound((table, places), {})), table[places])


@pytest.mark.parametrize("bad", [6, -7])
def test_a_place_out_of_bounds(bad):
    table, places = np.ones((6, 4)), np.zeros((2, 3), int)
    out = np.zeros((2, 3, 4))
    embedding(table, places)
    places[1, 2] = bad
    text = f"embedding: index {bad} of J is out of bounds for axis 0 of E with size 6"
    for run in (embedding, embedding.reference):
        for keywords in ({}, {"out": out}):
            with pytest.raises(IndexError, match=text):
                run(table, places, **keywords)
    assert not out.any()
    with pytest.raises(IndexError, match="of E with size 0"):
        embedding(np.ones((0, 4)), np.zeros((1, 1), int))
    with pytest.raises(TypeError, match="E is indexed by integers, not by float64"):
        embedding(table, np.zeros((2, 3)))


def test_calls_are_not_interpreted(monkeypatch):
    monkeypatch.setattr(interpreter, "computed", None)
    for rows in range(1, 12):
        embedding(np.ones((rows, rows)), np.zeros((rows, 1), int))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("O[m] = X[J[m] + 1]", "a place is a dim or an element of an input"),
        ("O[m] = X[J[m + 1]]", "a place is a dim or an element of an input"),
        ("O[m] = O[J[m]]", "O is an output, and is read where it is written"),
        ("O[m] = Y[J[m], m + 1]", "beside elements of inputs stand dims alone"),
    ],
)
def test_what_is_no_place(formula, text):
    scope = {"Tensor": Tensor, "Output": Output, "structured_op": structured_op}
    with pytest.raises(DefinitionError, match=text):
        exec(
            "@structured_op\ndef op(X: Tensor['T', 'N'], Y: Tensor['T', 'N', 'M'], "
            f"J: Tensor['I', 'M'], O: Output['T', 'M']):\n    {formula}\n",
            scope,
        )
