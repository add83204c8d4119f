"""Calls of structured ops: alone, in traced functions, with starts and memory, and wrong ones."""

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.structured import Number, Output, Tensor, _, generic, index, structured_op


@structured_op
def conv_1d(I: Tensor["T1", _], K: Tensor["T2", "KW"], O: Output["U", "OW"]):
    O[ow] += cast(U, I[ow + kw]) * cast(U, K[kw])


@structured_op
def horner(A: Tensor["T", "N"], x: Number["T"], O: Output["T"]):
    O[()] = O[()] * x + A[i]


signal, kernel = np.arange(6.0), np.array([1.0, 0.0, -1.0])


def test_alone_and_traced_it_is_one_op():
    @fuse_jit(fullgraph=True)
    def f(signal, kernel):
        return conv_1d(signal, kernel)

    expected = np.correlate(signal, kernel)
    np.testing.assert_array_equal(conv_1d(signal, kernel), expected)
    np.testing.assert_array_equal(f(signal, kernel), expected)
    ops = [op for op in f.trace(signal, kernel).graph.block.ops if hasattr(op, "payload")]
    assert [op.name for op in ops] == ["conv_1d"]


def test_it_fuses_with_what_is_around_it():
    @fuse_jit(fullgraph=True)
    def f(signal, kernel):
        return np.abs(conv_1d(signal * 2, kernel)) + 1

    fused = f.trace(signal, kernel).fuse().graph.block.ops
    assert len([op for op in fused if hasattr(op, "payload")]) == 1
    assert "conv_1d" in f.explain(signal, kernel, detail=True)
    np.testing.assert_array_equal(f(signal, kernel), np.abs(np.correlate(signal * 2, kernel)) + 1)


def test_starts_and_memory():
    expected = np.correlate(signal, kernel)
    start = np.full(4, 10.0)
    np.testing.assert_array_equal(conv_1d(signal, kernel, init=start), expected + 10)
    np.testing.assert_array_equal(start, 10)
    np.testing.assert_array_equal(conv_1d(signal, kernel, init=10), expected + 10)
    assert conv_1d(signal, kernel, out=start) is start
    np.testing.assert_array_equal(start, expected + 10)
    assert horner(np.array([1.0, 2.0, 3.0]), 2.0, init=1.0) == ((1 * 2 + 1) * 2 + 2) * 2 + 3


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_sequential_dims_are_run_in_order_along_rows_and_columns(steps):
    rng = np.random.default_rng(steps)

    @structured_op
    def rows(A: Tensor["T", "M", "N", "K"], O: Output["T", "M"]):
        O[m] = where(A[m, n, k] > O[m], O[m] * 0.5 + A[m, n, k], O[m] + 0.25)

    @structured_op
    def columns(A: Tensor["T", "N", "K", "M"], O: Output["T", "M"]):
        O[m] = where(A[n, k, m] > O[m], O[m] * 0.5 + A[n, k, m], O[m] + 0.25)

    for op in (rows, columns):
        a, start = rng.random((4, 4, 4)), rng.random(4)
        np.testing.assert_array_equal(op(a, init=start), op.reference(a, init=start))


def test_the_type_of_the_result():
    a, b = np.ones(5, np.int8), np.full(2, 100, np.int8)
    assert conv_1d(a, b).dtype == np.int8
    np.testing.assert_array_equal(conv_1d(a, b, dtype=np.int32), [200] * 4)
    assert conv_1d(a, b, init=np.zeros(4, np.float32)).dtype == np.float32


squares = np.ones((2, 2), np.int64)

WRONG = [
    (lambda: conv_1d(signal[None], kernel), ValueError, "conv_1d: I has 2 axes, not 1"),
    (lambda: conv_1d(signal[:1], kernel), ValueError, "axis 0 of I has 1 elements, too few"),
    (lambda: conv_1d(signal, kernel, out=np.ones(5)), ValueError, "I reaches 6, and axis 0 has 6"),
    (lambda: conv_1d(signal, kernel, step=2), TypeError, "step"),
    (lambda: conv_1d(signal), TypeError, "K"),
    (lambda: conv_1d(signal.astype("f2"), kernel), TypeError, "I is of type float16"),
    (lambda: conv_1d(signal, kernel, dtype=np.int64, out=np.ones(4)), TypeError, "O is of type"),
    (lambda: horner(signal, 2.0), TypeError, "O is read before it is written"),
    (
        lambda: linalg.matmul(squares, squares, init=2.5),
        TypeError,
        "init= is a number of type float, which C of type int64 cannot hold",
    ),
    (lambda: linalg.matmul(squares, squares, init=np.float32(1)), TypeError, "of type float32"),
    (
        lambda: linalg.matmul(np.ones((2, 3)), np.ones((4, 2))),
        ValueError,
        "axis 1 of A has 3 .* dim k",
    ),
    (lambda: linalg.add(signal, signal[:5]), ValueError, "both are the extent D0 of dim d0"),
]


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_what_does_not_fit_is_an_error_in_one_sentence(call, kind, text):
    with pytest.raises(kind, match=text) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_nothing_is_written_before_an_error():
    memory = np.arange(8.0)
    for out in (memory[1:5], memory[:4]):
        with pytest.raises(ValueError, match="the output O overlaps I"):
            conv_1d(memory[:6], kernel, out=out)
    np.testing.assert_array_equal(memory, np.arange(8.0))
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        conv_1d(signal, kernel, out=fixed)


def test_an_error_of_a_traced_call_is_that_of_the_op():
    @fuse_jit
    def f(a, b):
        return linalg.matmul(a, b) + 1

    np.testing.assert_array_equal(f(np.eye(2), np.eye(2)), np.eye(2) + 1)
    with pytest.raises(ValueError, match=r"axis 1 of A has 2 .* axis 0 of B 3"):
        f(np.eye(2), np.eye(3))


# ------------------------------------------------------------------------------- the explicit form
def test_generic_with_symbols_and_several_results():
    taps = np.array([1.0, 2.0, 3.0])
    centred = generic(
        [signal, taps],
        [np.zeros(4)],
        ["(m, n)[N] -> (1 + m + n - N // 2)", "(m, n) -> (n)", "(m, n) -> (m)"],
        ["parallel", "reduction"],
        lambda s, k, o: o + s * k,
        symbols={"N": (1, 0)},
    )
    np.testing.assert_array_equal(centred, np.correlate(signal, taps))

    @fuse_jit(fullgraph=True)
    def f(x, limit):
        big, place = generic(
            [x],
            [np.zeros(x.shape), np.zeros(x.shape, int)],
            [lambda i, j: (i, j)] * 3,
            ["parallel", "parallel"],
            lambda a, o, p: (np.where(a > limit, np.sqrt(a), 0.0), index("i + j")),
        )
        return big * 2, place

    x = np.arange(6.0).reshape(2, 3)
    big, place = f(x, 2.0)
    np.testing.assert_array_equal(big, np.where(x > 2, np.sqrt(x), 0) * 2)
    np.testing.assert_array_equal(place, np.add.outer(np.arange(2), np.arange(3)))


BAD_GENERIC = [
    (
        ["(i, j) -> (i, j)", "(i, j) -> (i)"],
        ["parallel"] * 2,
        lambda a, o: a,
        "lacks the parallel dim j",
    ),
    (
        ["(i, j) -> (i, j)", "(i, j) -> (i)"],
        ["parallel", "reduction"],
        lambda a, o: (a, o),
        "returns 2 numbers",
    ),
    (["(i, j) -> (i, j)"], ["parallel"] * 2, lambda a, o: a, "1 indexing maps for 2 operands"),
    (["(i, j) -> (i, j)", "(i) -> (i)"], ["parallel", "reduction"], lambda a, o: a, "other dims"),
    (["(i, j) -> (i, j)", "(i, j) -> (i)"], ["parallel", "window"], lambda a, o: o + a, "window"),
    (
        ["i, j -> i", "(i, j) -> (i)"],
        ["parallel", "reduction"],
        lambda a, o: o + a,
        "not an indexing map",
    ),
]


@pytest.mark.parametrize(("maps", "iterators", "payload", "text"), BAD_GENERIC)
def test_what_is_no_generic_op(maps, iterators, payload, text):
    with pytest.raises(ValueError, match=text):
        generic([np.ones((2, 3))], [np.zeros(2)], maps, iterators, payload)


# ---------------------------------------------------------------------------------- named ops
def test_elementwise_ops_compile_to_the_text_of_the_numpy_function():
    pairs = [
        (linalg.exp, np.exp), (linalg.sqrt, np.sqrt), (linalg.floor, np.floor),
        (linalg.ceil, np.ceil), (linalg.tanh, np.tanh), (linalg.log, np.log),
        (linalg.abs, np.abs), (linalg.negf, np.negative), (linalg.square, np.square),
    ]  # fmt: skip
    pairs += [(linalg.add, np.add), (linalg.sub, np.subtract), (linalg.mul, np.multiply)]
    pairs += [(linalg.div, np.divide), (linalg.max, np.maximum), (linalg.min, np.minimum)]
    pairs += [(linalg.powf, np.power)]
    x = np.ones((3, 4), np.float32)
    for op, function in pairs:
        given = (x,) * function.nin
        names = ["lhs", "rhs"] if function.nin == 2 else ["I"]
        plain = _numpy_function(function.__name__, names)
        assert _kernel(op, given) == _kernel(plain, given), op


def _numpy_function(name, parameters):
    scope = {"np": np}
    arguments = ", ".join(parameters)
    exec(f"def f({arguments}):\n    return np.{name}({arguments})\n", scope)
    return fuse_jit(scope["f"])


def _kernel(function, given):
    """The text of its kernels without the comments, which name the ops."""
    source = str(function.trace(*given).fuse().lower().source)
    return [line for line in source.splitlines() if not line.strip().startswith("#")]


def test_conv_bias_relu_pool_keeps_only_what_cost_says():
    @fuse_jit(fullgraph=True)
    def net(image, weights, bias):
        y = linalg.conv_2d_nhwc_hwcf(image, weights)
        y = np.maximum(y + bias, 0)
        return linalg.pooling_nhwc_max(y, np.empty((2, 2)), strides=(2, 2))

    rng = np.random.default_rng(0)
    image, weights = rng.random((2, 8, 8, 3), np.float32), rng.random((3, 3, 3, 4), np.float32)
    bias = rng.random(4, np.float32) - 5
    report = net.explain(image, weights, bias, detail=True)
    assert "add into maximum" in report
    assert "maximum into pooling_nhwc_max" in report
    names = [
        op.name
        for op in net.trace(image, weights, bias).fuse().graph.block.ops
        if hasattr(op, "payload")
    ]
    assert names == ["windows", "conv_2d_nhwc_hwcf", "pooling_nhwc_max+2"]
    y = np.maximum(linalg.conv_2d_nhwc_hwcf.reference(image, weights) + bias, 0)
    expected = y.reshape(2, 3, 2, 3, 2, 4).max((2, 4))
    np.testing.assert_allclose(net(image, weights, bias), expected, rtol=1e-5)


def test_softmax_is_one_kernel_with_what_is_around_it():
    @fuse_jit(fullgraph=True)
    def f(x):
        return linalg.softmax(x * 2, dimension=1)

    x = np.random.default_rng(0).random((5, 9))
    e = np.exp(2 * x - (2 * x).max(1, keepdims=True))
    np.testing.assert_allclose(f(x), e / e.sum(1, keepdims=True), rtol=1e-12)
    assert "in 1 kernel" in f.explain(x, detail=True)
    assert "one loop over tiles" in f.explain(x, detail=True)
