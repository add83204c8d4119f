"""Routines of libraries: used where they say that they may be, by their own results."""

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.structured import Output, Tensor, register_library_call, structured_op
from fusejit.structured.library_calls import ROUTINES

CALLS: list[tuple[int, ...]] = []


def _product(A, B):
    CALLS.append(A.shape)
    return A @ B


@pytest.fixture
def op():
    register_library_call("test_product", _product, lambda b: b.dtypes["T"] == np.float64)
    CALLS.clear()

    @structured_op(library_call="test_product")
    def product(A: Tensor["T", "M", "K"], B: Tensor["T", "K", "N"], C: Output["T", "M", "N"]):
        C[m, n] += A[m, k] * B[k, n]

    yield product
    del ROUTINES["test_product"]


def test_it_is_called_where_it_is_legal(op):
    a, b = np.ones((2, 3)), np.ones((3, 4))
    np.testing.assert_array_equal(op(a, b), np.full((2, 4), 3.0))
    assert CALLS == [(2, 3)]
    np.testing.assert_array_equal(op(a, b, init=np.ones((2, 4))), np.full((2, 4), 4.0))
    assert len(CALLS) == 2
    np.testing.assert_array_equal(op(a.astype("f4"), b.astype("f4")), np.full((2, 4), 3, "f4"))
    assert len(CALLS) == 2
    assert "test_product" in op.explain(a, b)
    assert "library call test_product" in str(op)


def test_in_a_function_it_is_called_between_kernels(op):
    @fuse_jit
    def f(a, b):
        return op(a * 2, b) + 1

    a, b = np.ones((40, 50)), np.ones((50, 30))
    np.testing.assert_array_equal(f(a, b), np.full((40, 30), 101.0))
    assert CALLS[-1] == (40, 50)


def test_names_of_routines():
    with pytest.raises(ValueError, match="cannot name"):
        register_library_call("contraction", _product, lambda b: True)
    with pytest.raises(ValueError, match="cannot name"):
        register_library_call("a b", _product, lambda b: True)


CONTRACTIONS = [
    (linalg.dot, "m,m->", {}),
    (linalg.matvec, "mn,n->m", {}),
    (linalg.vecmat, "m,mn->n", {}),
    (linalg.matmul, "mk,kn->mn", {}),
    (linalg.matmul, "km,nk->mn", {"indexing_maps": ("km", "nk", "mn")}),
    (linalg.matmul, "mk,kn->nm", {"indexing_maps": ("mk", "kn", "nm")}),
    (linalg.batch_matmul, "bmk,bkn->bmn", {}),
    (linalg.batch_reduce_matmul, "bmk,bkn->mn", {}),
    (linalg.batch_matvec, "bmk,bk->bm", {}),
    (linalg.batch_vecmat, "bk,bkn->bn", {}),
    (linalg.mmt4d, "mkxz,nkyz->mnxy", {}),
    (linalg.batch_mmt4d, "bmkxz,bnkyz->bmnxy", {}),
    (linalg.contract, "bikj,kjb->jbi", {"indexing_maps": ("bik", "kjb", "jbi")}),
]


@pytest.mark.parametrize(("op", "letters", "options"), CONTRACTIONS, ids=lambda x: str(x)[:40])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_contractions_are_products_of_blas(op, letters, options, dtype):
    if op is linalg.contract:
        letters = "bik,kjb->jbi"
    left, right, result = letters.replace("->", ",").split(",")
    size = dict(zip("bikjmnxyz", (2, 3, 4, 5, 6, 7, 2, 3, 4), strict=True))
    rng = np.random.default_rng(0)
    a, b = (rng.random([size[c] for c in part]).astype(dtype) for part in (left, right))
    if options:
        order = {"contract": "bikj"}.get(op.__name__, "mnk")
        maps = [f"({', '.join(order)}) -> ({', '.join(m)})" for m in options["indexing_maps"]]
        options = {"indexing_maps": maps}
    expected = np.einsum(f"{left},{right}->{result}", a, b)
    np.testing.assert_allclose(op(a, b, **options), expected, rtol=1e-5)
    start = rng.random(expected.shape).astype(dtype)
    np.testing.assert_allclose(op(a, b, init=start, **options), expected + start, rtol=1e-5)
    ops = op.trace(a, b, **options).graph.block.ops
    calls = [o for o in ops if getattr(o, "library_call", None)]
    assert [o.name for o in calls] == [op.__name__]
