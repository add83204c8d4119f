"""Graphs as MLIR text: what it says, what MLIR's verifier says of it, what is refused."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit, linalg
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.types import DTYPES, IteratorType, TensorType
from fusejit.mlir.export.mlir_op_table import cast_lines, literal
from fusejit.mlir.export.module_printer import mlir_text
from fusejit_testing import mlir_oracle
from fusejit_testing.graphs.one_op import one_op
from fusejit_testing.graphs.random_graphs import random_graph
from fusejit_testing.graphs.random_reshapes import random_graph_with_reshapes

BOOL = np.dtype(np.bool_)
# Rows of one meaning in both, for every dtype that has them.
CORE = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "absolute",
    "sqrt",
    "square",
    "reciprocal",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "invert",
    "isnan",
    "select",
]
OPS = tuple(row for name, row in SCALAR_OPS.items() if row.exact and name in CORE)


def needs_mlir():
    pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")


# ------------------------------------------------------------------------------------ the text
def test_an_elementwise_function_in_full():
    @fuse_jit
    def f(x, k):
        return (x + 1) * k

    assert f.mlir(np.ones(3), 2.0, fused=True) == (
        'func.func @f(%arg0: tensor<?xf64> loc("x"), %arg1: f64 loc("k")) -> tensor<?xf64> {\n'
        "  %c0 = arith.constant 0 : index\n"
        "  %s0 = tensor.dim %arg0, %c0 : tensor<?xf64>\n"
        "  %0 = tensor.empty(%s0) : tensor<?xf64>\n"
        "  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,"
        ' affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} '
        "ins(%arg0, %arg1 : tensor<?xf64>, f64) outs(%0 : tensor<?xf64>) {\n"
        "  ^bb0(%in0: f64, %in1: f64, %out0: f64):\n"
        "    %t0 = arith.constant 1.00000000000000000e+00 : f64\n"
        "    %t1 = arith.addf %in0, %t0 : f64\n"
        "    %t2 = arith.mulf %t1, %in1 : f64\n"
        "    linalg.yield %t2 : f64\n"
        "  } -> tensor<?xf64>\n"
        "  return %1 : tensor<?xf64>\n"
        "}\n"
    )


def test_unfused_and_fused_have_the_ops_of_their_graphs():
    @fuse_jit
    def f(x):
        return np.exp(x) + x, x.sum()

    x = np.ones(4)
    assert f.mlir(x) == f.trace(x).mlir()
    assert f.mlir(x, fused=True) == f.trace(x).fuse().mlir()
    assert f.mlir(x).count("linalg.generic") == 3
    assert f.mlir(x, fused=True).count("linalg.generic") == 2


def test_a_matrix_product_and_its_fill_are_named_operations():
    @fuse_jit
    def f(a, b):
        return a @ b

    text = f.mlir(np.ones((2, 3)), np.ones((3, 4)))
    assert "linalg.matmul ins(%arg0, %arg1 : tensor<?x?xf64>, tensor<?x?xf64>)" in text
    assert "linalg.fill ins(%0 : f64)" in text
    assert "linalg.generic" not in text


def test_a_slice_is_cut_out_and_a_flip_is_read_in_the_body():
    @fuse_jit
    def f(x):
        return x[1:] * 2, x[::-1] * 2

    assert "tensor.extract_slice %arg0[1] [%0] [1]" in f.mlir(np.ones(4))
    text = f.mlir(np.ones(4), fused=True)
    assert "affine_map<(d0) -> (d0 + 1)>" in text
    assert "affine.apply affine_map<(d0)[s0] -> (-d0 + s0 - 1)>(%t0)[%s0]" in text
    assert "tensor.extract %arg0[%t1]" in text


def test_a_domain_that_no_operand_has_gets_an_operand_with_a_shape():
    graph = one_op(lambda b: b.index(AffineExpr.dim(0)), [], np.dtype(np.int64))
    (op,) = (o for o in graph.block.ops if isinstance(o, GenericOp))
    op.iterators = (IteratorType.REDUCTION,)
    op.inits = (Init(IndexingMap(1, ()), "add"),)
    op.results[0].type = TensorType(np.dtype(np.int64))
    text = mlir_text(graph)
    assert re.search(r"ins\(%\d : tensor<\?xi64>\) outs\(%\d : tensor<i64>\)", text)


@pytest.mark.parametrize(
    ("number", "dtype", "text"),
    [
        (np.inf, "f8", "0x7FF0000000000000"),
        (-np.inf, "f4", "0xFF800000"),
        (np.nan, "f4", "0x7FC00000"),
        (-0.0, "f8", "-0.00000000000000000e+00"),
        (0.1, "f4", "1.000000015e-01"),
        (255, "u1", "-1"),
        (True, "?", "true"),
    ],
)
def test_numbers(number, dtype, text):
    assert literal(number, np.dtype(dtype)) == text


# ----------------------------------------------------------------------------------- refusals
def test_a_store_is_refused_with_the_op_and_the_line():
    @fuse_jit
    def f(x):
        x[1:] = 0.0
        return x

    line = f.__wrapped__.__code__.co_firstlineno + 2
    with pytest.raises(
        UnsupportedError, match=rf'store into an array .*`store .*test_emit.py":{line}'
    ):
        f.mlir(np.ones(3))


def test_a_sequential_dim_is_refused():
    graph = one_op(lambda b: 0, [np.dtype(np.float64)], np.dtype(np.float64))
    op = graph.block.ops[-1]
    op.iterators = (IteratorType.SEQUENTIAL,)
    with pytest.raises(UnsupportedError, match="linalg has no sequential dims"):
        mlir_text(graph)


# -------------------------------------------------------------------------------- the verifier
def scalar_graphs():
    """A graph for each row of the table and each dtype, and for each cast."""
    reals = [dtype for dtype in DTYPES.values() if dtype.kind != "c"]
    for row in SCALAR_OPS.values():
        for dtype in reals if row.function is None or row.mlir else ():  # no complex numbers
            operands = [BOOL, dtype, dtype] if row.name == "select" else [dtype] * row.arity
            if row.template(operands[0]) is None:
                continue
            result = dtype
            if row.ufunc is not None:
                try:
                    loop = row.ufunc.resolve_dtypes((*operands, None))
                except TypeError:
                    continue
                if loop[:-1] != tuple(operands):
                    continue
                result = loop[-1]
            refs = range(row.arity)
            yield (
                row.name,
                one_op(lambda b, r=refs, n=row.name, t=result: b.op(n, r, t), operands, result),
            )
    for source in reals:
        for target in reals:
            yield "cast", one_op(lambda b, t=target: b.cast(0, t), [source], target)


def test_each_scalar_op_has_a_form_that_mlir_accepts_or_is_refused_by_name():
    needs_mlir()
    texts, refused = [], {}
    for name, graph in scalar_graphs():
        try:
            texts.append(mlir_text(graph))
        except UnsupportedError as error:
            refused[name] = str(error)
    assert all(text.startswith(f"{name} of") for name, text in refused.items())
    assert len(texts) > 250
    assert not any(mlir_oracle.verify(texts))


def test_the_table_has_a_form_for_what_mlir_can_say_of_add_to_select():
    wanted = ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "not_equal"]
    for name in wanted:
        assert set(SCALAR_OPS[name].mlir) >= set("iuf"), name
    assert cast_lines(np.dtype(np.uint32), np.dtype(np.int32)) == ()


def zoo():
    @fuse_jit
    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    @fuse_jit
    def layer_norm(x, w, b):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + b

    @fuse_jit
    def stencil(x):
        return (x[:-2] + x[1:-1] + x[2:]) / 3

    @fuse_jit
    def dense(x, w, b):
        return np.maximum(x @ w + b, 0)

    @fuse_jit
    def views(x):
        return x.T[::-1, 1:], x[None, :, 0], x[::2].sum(axis=0), x

    @fuse_jit
    def bools(x, i):
        return np.where((x > 0) & ~np.isnan(x), x, -x), i & 3, i.max(), (x > 1).any()

    @fuse_jit
    def merged(x):
        flat = np.sqrt(x).reshape(-1)
        return flat[1:] - flat[:-1], x.reshape(-1).sum(), (x.T * 2).reshape(-1).max()

    @fuse_jit
    def split(x):
        halves = (x + 1).reshape(x.shape[0], 2, -1)
        return halves.max(axis=2), x.sum(axis=0).reshape(3, -1), x.reshape(2, -1, 3).max(axis=1)

    @fuse_jit
    def several(x):
        return x + 1, (x + 1) * x, x.max(axis=0), x.min(axis=0)

    @fuse_jit
    def strided_pooling(image):
        window = np.empty((2, 2))
        sums = linalg.pooling_nhwc_sum(image, np.empty((3, 2)), strides=(2, 3), dilations=(2, 1))
        return linalg.pooling_nhwc_max(image, window, strides=(2, 2)), sums

    @fuse_jit
    def convolution_with_relu(image, kernel, bias):
        y = linalg.conv_2d_nhwc_hwcf(image, kernel, strides=(2, 2))
        return np.maximum(y + bias, 0), np.maximum(linalg.conv_2d_nhwc_hwcf(image, kernel), 0)

    @fuse_jit
    def channels_first_with_relu(image, kernel):
        return np.maximum(linalg.conv_2d_nchw_fchw(image, kernel), 0)

    image, kernel = np.ones((1, 9, 9, 2), np.float32), np.ones((3, 3, 2, 4), np.float32)
    yield strided_pooling, (image,)
    yield convolution_with_relu, (image, kernel, kernel[0, 0, 0])
    yield channels_first_with_relu, (np.ones((1, 2, 9, 9)), np.ones((4, 2, 3, 3)))
    x = np.ones((4, 6))
    yield from ((f, (x,)) for f in (softmax, stencil, views, merged, split, several))
    yield layer_norm, (x, x[0], x[0])
    yield dense, (x, x.T.copy(), x[:, 0].copy())
    yield bools, (x, np.arange(4))


# Maps and results that no function of the zoo has: windows, constants, quotients, several results.
WRITTEN = """graph @written
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:w, 0)
  buffer @x : s0 x 4 x f64 = arg:x class 0 readonly
  buffer @w : s1 x f64 = arg:w class 1 readonly
  guard ge(s0, s1) is true "the window fits"
{
  %x = load @x v0 : s0 x 4 x f64
  %w = load @w v0 : s1 x f64
  %c = generic "windows" domain (s0 - s1 + 1, s1) iterators (parallel, reduction) ins (%x [(d0, d1) -> (d0 + d1, 2)], %w [(d0, d1) -> (d1)]) outs (max [(d0, d1) -> (d0)]) { t0 = multiply in0, in1 : f64; yield t0 } : (s0 - s1 + 1) x f64
  %q, %m = generic "quotients" domain (s0, 4) iterators (reduction, parallel) ins (%x [(d0, d1) -> (d0, d1 floordiv 2)], %x [(d0, d1) -> (0, 3)]) outs (max [(d0, d1) -> (d1)], min [(d0, d1) -> (d1)]) { t0 = multiply in0, in1 : f64; yield t0, in0 } : 4 x f64, 4 x f64
  return %c, %q, %m
}
"""  # noqa: E501
# What the texts must have been tested with.
FORMS = (
    r"tensor\.collapse_shape", r"tensor\.expand_shape", r"tensor\.extract_slice",
    r"tensor\.extract ", r"linalg\.fill", r"linalg\.matmul", r'"reduction"',
    r":2 = linalg\.generic", r"-> \(tensor<.*, tensor", r"\(d0, d1\) -> \(d0 \+ d1",
    r"-> \(d0, \(d1\) floordiv 2\)", r"-> \(\d", r"-> \(\)", r"arith\.muli %s",
)  # fmt: skip


def emitted_texts():
    texts = [f.mlir(*args, fused=fused) for f, args in zoo() for fused in (False, True)]
    return [*texts, mlir_text(parse_graph(WRITTEN)), mlir_text(canonicalize(parse_graph(WRITTEN)))]


@pytest.mark.parametrize("form", FORMS)
def test_the_texts_that_are_tested_have_every_form(form):
    assert any(re.search(form, text) for text in emitted_texts())


def test_texts_of_functions_pass_the_verifier_and_load_to_the_same_text():
    needs_mlir()
    from fusejit.mlir import load

    texts = emitted_texts()
    assert not any(mlir_oracle.verify(texts))
    for text in texts:
        assert load(text).mlir() == text


def test_reshapes_have_the_numbers_of_numpy_in_every_layout(monkeypatch):
    needs_mlir()
    from fusejit.mlir import load

    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    x = np.arange(96.0).reshape(8, 12)
    arrays = (x[:4, :6].copy(), np.asfortranarray(x[:4, :6]), x[::2, ::-2], x[:4:2, :6])
    for f, args in zoo():
        if f.__name__ not in ("merged", "split"):
            continue
        for fused in (False, True):
            function = load(f.mlir(*args, fused=fused))
            for array in arrays:
                for ours, numpys in zip(function(array), f.__wrapped__(array), strict=True):
                    np.testing.assert_array_equal(ours, numpys)


def test_random_graphs_with_reshapes_load_to_the_same_text():
    needs_mlir()
    from fusejit.mlir import load

    texts = []
    for seed in range(60):
        with contextlib.suppress(UnsupportedError):  # rows of the table without a form
            texts.append(mlir_text(random_graph_with_reshapes(seed).graph))
    texts = [text for text in texts if "tensor.collapse_shape" in text]
    assert len(texts) > 15
    assert not any(mlir_oracle.verify(texts))
    for text in texts:
        assert load(text).mlir() == text


def test_texts_of_random_graphs_pass_the_verifier_and_load_to_the_same_text():
    needs_mlir()
    from fusejit.mlir import load

    texts = [mlir_text(random_graph(seed, stores=False, ops=OPS).graph) for seed in range(150)]
    assert not any(mlir_oracle.verify(texts))
    same = 0
    for text in texts:
        try:
            again = load(text).mlir()
        except UnsupportedError as error:
            assert "is not reduced by one of" in str(error)  # noqa: PT017  unsigned max and min
            assert "ui %out" in text
            continue
        assert again == text
        same += 1
    assert same >= 145
