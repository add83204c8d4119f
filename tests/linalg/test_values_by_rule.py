"""The results of the ops that the dialect gives by a rule, against independent references."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.linalg.elementwise import KINDS
from fusejit.linalg.winograd import TABLE
from fusejit_testing.linalg import pointwise, relayout
from fusejit_testing.linalg.cases import assert_result, sample

DTYPES = ("f8", "f4", "i4", "c16", "?", "u1")


def both(op, *args, **kwargs):
    """By the interpreter and compiled, inside a function that is traced to the end."""
    yield "reference", op.reference(*args, **kwargs)
    yield "compiled", compiled(op, *args, **kwargs)


def compiled(op, *args, **kwargs):
    @fuse_jit(fullgraph=True)
    def run(arrays):
        return op(*arrays, **kwargs)

    return run(args)


def rng(number=0):
    return np.random.default_rng(number)


# ---------------------------------------------------------------------------------------- movement
@pytest.mark.parametrize("rank", range(4))
def test_transpose(rank):
    for number, order in enumerate(itertools.permutations(range(rank))):
        x = sample(rng(rank), (3, 2, 4)[:rank], DTYPES[number])
        expected = x.transpose(order)
        assert_result(linalg.transpose.reference(x, permutation=order), expected, str(order))
        if number == 1:
            assert_result(compiled(linalg.transpose, x, permutation=order), expected, str(order))
        out = np.zeros(expected.shape, x.dtype)
        assert linalg.transpose(x, permutation=order, out=out) is out or not rank
        assert_result(out, expected, f"{order} out=")
        assert not np.shares_memory(out, x)


@pytest.mark.parametrize("new", [(), (1,), (0, 2), (2, 0), (0, 1, 2)])
def test_broadcast(new):
    full = (3, 2, 4)
    kept = [k for k in range(3) if k not in new]
    for dtype in DTYPES[: 2 if len(new) == 1 else 6]:
        x = sample(rng(), [full[k] for k in kept], dtype)
        shape = [full[k] if k in kept else 1 for k in range(3)]
        expected = np.broadcast_to(x.reshape(shape), full).copy()
        init = np.ones(full, dtype)
        run = linalg.broadcast.reference
        assert_result(run(x, dimensions=new, init=init), expected, f"{new} {dtype}")
    for how, got in both(linalg.broadcast, x, dimensions=new, init=np.ones(full, x.dtype)):
        assert_result(got, expected, how)


def test_broadcast_does_not_stretch():
    with pytest.raises(ValueError, match=r"broadcast: .*input"):
        linalg.broadcast(np.zeros((1, 3)), dimensions=(0,), init=np.zeros((2, 5, 3)))


@pytest.mark.parametrize(("shape", "tiling"), relayout.TILINGS)
def test_pack_and_unpack(shape, tiling):
    for number, dtype in enumerate(DTYPES[:5]):
        x = sample(rng(number), shape, dtype)
        value = x.dtype.type(1)
        tiles = relayout.packed(x, value, **tiling)
        got = linalg.pack.reference(x, padding_value=value, **tiling)
        assert_result(got, tiles, f"pack {dtype}")
        plain = {k: v for k, v in tiling.items() if v is not None}
        whole = linalg.unpack.reference(tiles, init=np.zeros_like(x), **plain)
        assert_result(whole, x, f"unpack {dtype}")
        out = np.zeros(tiles.shape, dtype)
        assert linalg.pack.reference(x, padding_value=value, out=out, **tiling) is out
        assert_result(out, tiles, f"pack out= {dtype}")
    x = sample(rng(), shape, "f8")
    tiles = relayout.packed(x, -1.0, **tiling)
    assert_result(compiled(linalg.pack, x, padding_value=-1.0, **tiling), tiles, "pack")
    got = compiled(linalg.unpack, tiles, init=np.zeros_like(x), **tiling)
    assert_result(got, x, "unpack")


def test_pack_without_padding_takes_whole_tiles_only():
    tiling = {"inner_dims_pos": (0, 1), "inner_tiles": (4, 3)}
    x = sample(rng(), (8, 9), "f8")
    expected = relayout.packed(x, 0.0, **tiling)
    for how, got in both(linalg.pack, x, **tiling):
        assert_result(got, expected, how)
    for how, got in both(linalg.unpack, expected, **tiling):  # all that the tiles hold
        assert_result(got, x, how)
    for run in (linalg.pack, linalg.pack.reference):
        with pytest.raises(ValueError, match=r"^pack: .*source"):
            run(x[:7], **tiling)


@pytest.mark.parametrize("run", ["call", "reference"])
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"inner_dims_pos": (0, 0), "inner_tiles": (2, 2)}, "inner_dims_pos"),
        ({"inner_dims_pos": (2,), "inner_tiles": (2,)}, "inner_dims_pos"),
        ({"inner_dims_pos": (0,), "inner_tiles": (0,)}, "inner_tiles"),
        ({"inner_dims_pos": (0,), "inner_tiles": (2, 3)}, "inner_tiles"),
        ({"outer_dims_perm": (0,)}, "outer_dims_perm"),
        ({"outer_dims_perm": (1, 1)}, "outer_dims_perm"),
    ],
)
def test_tilings_that_are_none(options, what, run):
    x, packed = np.ones((4, 6)), np.ones((2, 6) + (2,) * len(options.get("inner_tiles", ())))
    for op, name, source in ((linalg.pack, "pack", x), (linalg.unpack, "unpack", packed)):
        call = op if run == "call" else op.reference
        with pytest.raises(ValueError, match=f"^{name}: .*{what}"):
            call(source, **options)


def test_artificial_padding_is_refused():
    tiling = {"inner_dims_pos": (0,), "inner_tiles": (4,)}
    x = np.arange(9.0)
    out = np.full((4, 4), 7.0)  # three tiles hold all
    for run in (linalg.pack, linalg.pack.reference):
        with pytest.raises(ValueError, match=r"^pack: .*dest"):
            run(x, padding_value=0.0, out=out, **tiling)
    assert (out == 7).all()
    back = np.full(4, 7.0)
    for run in (linalg.unpack, linalg.unpack.reference):
        with pytest.raises(ValueError, match=r"^unpack: .*(source|dest)"):
            run(np.zeros((3, 4)), out=back, **tiling)
    assert (back == 7).all()


# ------------------------------------------------------------------------------ map, reduce, kinds
def test_map():
    for dtype in DTYPES[:4]:
        x, y = (sample(rng(n), (3, 5), dtype) for n in range(2))
        for how, got in both(linalg.map, lambda a, b: a * b + a, x, y):
            assert_result(got, x * y + x, f"{how} {dtype}")
    init = np.zeros((4, 3), np.int64)
    at = np.indices(init.shape)
    for how, got in both(
        linalg.map, lambda: linalg.index("d0") * 10 + linalg.index("d1"), init=init
    ):
        assert_result(got, at[0] * 10 + at[1], how)


def test_reduce():
    x = sample(rng(), (3, 4, 5), "f8")
    for reduced in ((0,), (1,), (2,), (0, 2), (0, 1, 2), ()):
        start = sample(rng(1), [n for k, n in enumerate(x.shape) if k not in reduced], "f8")
        expected = start + x.sum(reduced) if reduced else start + x
        for how, got in both(linalg.reduce, lambda v, total: total + v, x, start, reduced):
            assert_result(got, expected, f"{how} {reduced}")
    for dtype in ("f4", "i4", "u1", "i1"):
        x, start = sample(rng(), (4, 5), dtype), sample(rng(1), (4,), dtype)
        got = linalg.reduce.reference(lambda v, m: np.maximum(m, v), x, start, (1,))
        assert_result(got, np.maximum(start, x.max(1)), dtype)


def test_reduce_of_several_inputs_and_in_order():
    x, y = sample(rng(), (3, 4), "f8"), sample(rng(1), (3, 4), "i4")
    starts = np.zeros(3), np.full(3, 100, np.int32)
    for how, (total, least) in both(
        linalg.reduce, lambda a, b, s, m: (s + a, np.minimum(m, b)), (x, y), starts, (1,)
    ):
        assert_result(total, x.sum(1), how)
        assert_result(least, y.min(1), how)
    expected = np.zeros(3)
    for column in x.T:
        expected = expected * 0.5 + column
    for how, got in both(linalg.reduce, lambda a, s: s * 0.5 + a, x, np.zeros(3), (1,)):
        assert_result(got, expected, how)


@pytest.mark.parametrize("dimensions", [(1, 0), (0, 0), (2,), (-1,)])
def test_reduce_refuses_dimensions_that_do_not_increase(dimensions):
    with pytest.raises(ValueError, match=r"^reduce: dimensions"):
        linalg.reduce(lambda a, s: s + a, np.zeros((2, 3)), np.zeros(2), dimensions)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_kinds_of_elementwise(kind):
    name = kind.removesuffix("_signed")
    if kind == "select":
        case = pointwise.selections()[0]
        inputs, expected = case.inputs, case.alone
    elif name in pointwise.UNARY or name in pointwise.BINARY:
        count = 1 if name in pointwise.UNARY else 2
        dtype = "f8" if count == 1 else pointwise.BINARY[name][1].split()[0]
        inputs = pointwise.operands(name, count, (3, 5), dtype)
        expected = pointwise.expected_of(name, inputs)
    else:
        function = getattr(np, kind if kind[0] != "a" else f"arc{kind[1:]}")
        inputs = [np.abs(sample(rng(), (3, 5), "f8")) % 0.9 + (kind == "acosh")]
        expected = function(inputs[0])
    for how, got in both(linalg.elementwise, *inputs, kind=kind):
        assert_result(got, expected, f"{kind} {how}")
    out = np.zeros_like(expected)
    assert linalg.elementwise.reference(*inputs, kind=kind, out=out) is out
    assert_result(out, expected, f"{kind} out=")


def test_elementwise_with_maps():
    x, y = sample(rng(), (4, 3), "f4"), sample(rng(1), (3,), "f4")
    maps = ["(a, b) -> (b, a)", "(a, b) -> (a)", "(a, b) -> (a, b)"]
    for how, got in both(linalg.elementwise, x, y, kind="mul", indexing_maps=maps):
        assert_result(got, x.T * y[:, None], how)
    for how, got in both(linalg.elementwise, 2.5, x, kind="sub"):
        assert_result(got, np.float32(2.5) - x, how)
    for run in (linalg.elementwise, linalg.elementwise.reference):
        with pytest.raises(TypeError, match=r"^add: in0 is of type float32 and in1 of float64"):
            run(x, x.astype("f8"), kind="add")


# ---------------------------------------------------------------------------------- fill and random
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3)])
def test_fill(shape):
    for value, dtype, expected in (
        (7.9, "i4", 7),
        (-3, "f4", -3.0),
        (True, "i4", -1),
        (2.5, "f8", 2.5),
    ):
        given = np.bool_(value) if value is True else value
        wanted = np.full(shape, expected, dtype)
        for how, got in both(linalg.fill, given, init=np.zeros(shape, dtype)):
            assert_result(got, wanted, f"{how} {value} {dtype}")
    out = np.zeros(shape, np.complex128)
    assert linalg.fill(1 + 2j, out=out) is out or not shape
    assert_result(out, np.full(shape, 1 + 2j), "out=")


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("seed", [0, -123456789, 2**31 - 1])
def test_fill_rng_2d(dtype, seed):
    expected = pointwise.random_numbers(-10.0, 30.0, seed, (5, 7)).astype(dtype)
    for how, got in both(linalg.fill_rng_2d, -10.0, 30.0, seed, init=np.zeros((5, 7), dtype)):
        assert_result(got, expected, how)
    assert linalg.fill_rng_2d(0.0, 1.0, 5, out=np.zeros((0, 3))).shape == (0, 3)


# -------------------------------------------------------------------------------- softmax, winograd
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_softmax(dtype):
    x = sample(rng(), (3, 4, 2), dtype) * 50
    for dimension in range(3 if dtype == "f8" else 1):
        powers = np.exp(x - x.max(dimension, keepdims=True))
        expected = powers / powers.sum(dimension, keepdims=True)
        assert_result(linalg.softmax(x, dimension=dimension), expected, f"dimension {dimension}")
    out = np.zeros_like(x)
    assert linalg.softmax(x, dimension=dimension, out=out) is out
    assert_result(out, expected, "out=")
    assert_result(linalg.softmax(x[:0], dimension=1), x[:0], "no rows")
    assert_result(linalg.softmax(x[:, :0], dimension=1), x[:, :0], "empty rows")


@pytest.mark.parametrize(
    ("args", "keywords", "error", "what"),
    [
        ((np.ones((2, 3)),), {"dimension": 2}, ValueError, "dimension 2 is not one of the 2 axes"),
        ((np.ones((2, 3)),), {"dimension": -1}, ValueError, "dimension -1"),
        ((np.ones((2, 3), int),), {"dimension": 0}, TypeError, "input is of type int64"),
        ((5.0,), {"dimension": 0}, TypeError, "input is of type float"),
        ((np.ones(3),), {"dimension": 0, "out": np.ones(4)}, ValueError, "out has the shape"),
        ((np.ones(3),), {"dimension": 0, "out": np.ones(3, "f4")}, TypeError, "out is of type"),
    ],
)
def test_softmax_refuses(args, keywords, error, what):
    with pytest.raises(error, match=f"^softmax: .*{what}"):
        linalg.softmax(*args, **keywords)
    assert "out" not in keywords or (keywords["out"] == 1).all()


@pytest.mark.parametrize("fmr", TABLE)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_winograd_is_the_direct_convolution(fmr, dtype):
    w = TABLE[fmr]
    for number, (kh, kw) in enumerate(((w.r, w.r), (w.r, 1), (1, w.r))):
        image = sample(rng(), (2, *(2 * w.m + k - 1 if k > 1 else 3 for k in (kh, kw)), 3), dtype)
        if kh == 1 or kw == 1:  # an axis that is not transformed has extent 1
            image = image[:, : None if kh > 1 else 1, : None if kw > 1 else 1]
        filters = sample(rng(1), (4, kh, kw, 3), dtype)
        direct = relayout.convolved(image, filters)
        start = sample(rng(2), direct.shape, dtype)
        for how in ("reference", "compiled")[: 2 if number == 0 and dtype == "f8" else 1]:
            run = (lambda op: op.reference) if how == "reference" else (lambda op: op)
            u = run(linalg.winograd_filter_transform)(filters, fmr=fmr)
            v = run(linalg.winograd_input_transform)(image, fmr=fmr)
            y = np.einsum("xyijnc,xycf->xyijnf", v, u)
            got = run(linalg.winograd_output_transform)(y, fmr=fmr, init=start)
            near = 1e-4 if dtype == "f4" else 1e-11
            np.testing.assert_allclose(got, start + direct, near, near, err_msg=how)
            assert got.dtype == u.dtype == v.dtype == np.dtype(dtype)


def test_winograd_refuses_other_windows_and_names():
    op = linalg.winograd_filter_transform
    for run in (op, op.reference):
        with pytest.raises(ValueError, match=r"^winograd_filter_transform: axis 1 of filter"):
            run(np.zeros((1, 2, 3, 1)), fmr="F_2_3")
        with pytest.raises(ValueError, match=r"^winograd_filter_transform: fmr is one of F_2_3"):
            run(np.zeros((1, 3, 3, 1)), fmr="F_3_3")
    op = linalg.winograd_output_transform
    with pytest.raises(ValueError, match=r"^winograd_output_transform: .*output"):
        op(np.zeros((4, 4, 2, 2, 1, 3)), fmr="F_2_3", init=np.zeros((1, 5, 4, 3)))


# ---------------------------------------------------------------------------- generic, index, yield
def test_generic_with_index_and_yield():
    init = np.zeros((2, 3), np.int64)
    identity = "(i, j) -> (i, j)"

    def payload(a, b):
        return linalg.OPS["yield"](linalg.index("i"), linalg.index("j"))

    rows, columns = np.indices((2, 3))
    for how, got in both(
        linalg.generic, [], [init, init], [identity] * 2, ["parallel"] * 2, payload
    ):
        assert_result(got[0], rows, how)
        assert_result(got[1], columns, how)
