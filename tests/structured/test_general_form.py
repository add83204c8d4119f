"""Calls without a variant of their own: the general form computes them, never the interpreter."""

import itertools
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit, linalg
from fusejit.linalg.registry import OPS
from fusejit.structured import (
    Number,
    Output,
    Shape,
    StructuredOp,
    Tensor,
    _,
    general,
    generic,
    op,
    reference,
    structured_op,
)
from fusejit_testing.linalg import contractions, windows
from fusejit_testing.linalg.cases import assert_result

RNG = np.random.default_rng(0)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the ops that the interpreter has computed."""
    names: list[str] = []
    computed = reference.computed

    def counted(call: Any) -> Any:
        names.append(call.definition.name)
        return computed(call)

    for module in (reference, general):
        monkeypatch.setattr(module, "computed", counted)
    return names


def fresh(name: str) -> Any:
    """A named op without variants: those of `fusejit.linalg` are shared by all tests."""
    known = OPS[name]
    return StructuredOp(known.definition, known._specialize)


def in_general(called: Any, *args: Any, **kwargs: Any) -> Any:
    """A call by the general form."""
    call = called.bound(args, kwargs)
    return called.general_form(call)(call)


def convolved(image: Any, kernel: Any, stride: int, dilation: int) -> Any:
    windows_ = np.lib.stride_tricks.sliding_window_view(
        image, [(k - 1) * dilation + 1 for k in kernel.shape[:2]], (1, 2)
    )[:, ::stride, ::stride, :, ::dilation, ::dilation]
    return np.einsum("nhwcij,ijcf->nhwf", windows_, kernel)


@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_eighteen_configurations_in_turn(dtype: str, interpreted: list[str]) -> None:
    conv = fresh("conv_2d_nhwc_hwcf")
    image = RNG.integers(0, 9, (1, 12, 13, 3)).astype(dtype)
    kernels = [RNG.integers(0, 9, (k, k, 3, 4)).astype(dtype) for k in (1, 2, 3)]
    for _pass, stride, dilation, kernel in itertools.product(range(2), (1, 2, 3), (1, 2), kernels):
        found = conv(image, kernel, strides=(stride, stride), dilations=(dilation, dilation))
        np.testing.assert_array_equal(found, convolved(image, kernel, stride, dilation))
    assert interpreted == []
    assert len(conv.entry.variants) == 8
    (form,) = conv._general.values()
    assert len(form.op.entry.variants) <= 4  # by the order of the axes of the views


def test_sizes_and_extents_of_one_of_a_contraction(interpreted: list[str]) -> None:
    mmt4d = fresh("mmt4d")
    shapes = [*itertools.product((1, 2, 5), (1, 3, 4), (8,), (1, 2))]
    for shape in [*shapes, (33, 70, 8, 1), (34, 70, 8, 1)]:
        x, y = RNG.random(shape), RNG.random((3, *shape[1:]))
        expected = np.einsum("mkac,nkbc->mnab", x, y)
        np.testing.assert_allclose(mmt4d(x, y), expected, rtol=1e-12)
        np.testing.assert_allclose(in_general(mmt4d, x, y), expected, rtol=1e-12)
    assert interpreted == []
    assert mmt4d.entry.variants.segmented is None
    assert not any("reshape" in why for why in mmt4d.entry.variants.fallbacks)


NAMES = [
    "conv_2d_nchw_fchw_q",
    "conv_2d_ngchw_gfchw",
    "depthwise_conv_2d_nhwc_hwcm",
    "pooling_nchw_max",
    "pooling_nhwc_min_unsigned",
    "batch_mmt4d",
    "contract",
    "dot",
]


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_the_expected_numbers(name: str, interpreted: list[str]) -> None:
    called = fresh(name)
    cases = windows.convolutions if "conv" in name else windows.poolings
    cases = contractions.cases if name in [*contractions.EINSUM, "contract"] else cases
    for case in itertools.islice(cases(name), 4):
        keywords = {k: v for k, v in case.keywords.items() if k != "dtype"}
        if case.alone is not None:
            assert_result(in_general(called, *case.inputs, **case.keywords), case.alone, case.label)
        kept = case.start.copy()
        started = in_general(called, *case.inputs, **keywords, init=case.start)
        assert_result(started, case.started, f"{case.label} init=")
        assert_result(case.start, kept, f"{case.label}: init is not written")
        out = np.array(case.start)
        assert in_general(called, *case.inputs, **keywords, out=out) is out
        assert_result(out, case.started, f"{case.label} out=")
    assert interpreted == []


@structured_op
def spread(I: Tensor["T", _], K: Shape["W", "KW"], w: Number["T"], A: Output["T", "OW"],
           B: Output["T", "OW", "KW"], step=(1,), shift=0):  # fmt: skip
    """Reads one operand at two places, with a dim that is no axis of any input."""
    K[kw]
    A[ow] += I[ow * step[0] + kw + shift] * w
    B[ow, kw] = I[ow * step[0] + kw + shift] / KW + I[kw + step[0]]


@structured_op
def diagonal(A: Tensor["T", "N", "N"], v: Tensor["T", "2 * N"], O: Output["T", "N"]):
    """Reads a diagonal, and an operand whose extent is an expression of another one."""
    O[i] = A[i, i] + v[2 * i + 1] * N


@structured_op
def shifted(X: Tensor["T", "N"], O: Output["T", "N"], by=0):
    """Reads outside of its operand, at a place that an attribute gives."""
    O[i] = X.at(i + by, outside=-1)


def test_views_of_ops_of_ones_own(interpreted: list[str]) -> None:
    x, window = np.arange(20.0), np.empty(3)
    for step, shift in itertools.product((1, 2, 3), (0, 2)):
        keywords = {"step": (step,), "shift": shift, "init": (np.ones(5), np.ones((5, 3)))}
        found = in_general(spread, x, window, 2.0, **keywords)
        at = np.arange(5)[:, None] * step + np.arange(3) + shift
        np.testing.assert_array_equal(found[0], 1 + 2 * x[at].sum(1))
        np.testing.assert_array_equal(found[1], x[at] / 3 + x[step : step + 3])
    square = np.arange(16).reshape(4, 4)
    for a in (square, square.T, np.asfortranarray(square), np.repeat(square, 2, 1)[:, ::2]):
        expected = a.diagonal() + np.arange(8)[1::2] * 4
        np.testing.assert_array_equal(in_general(diagonal, a, np.arange(8)), expected)
    for by in (-2, 0, 1):
        padded = np.pad(x, 3, constant_values=-1)[3 + by :][:20]
        np.testing.assert_array_equal(in_general(shifted, x, by=by), padded)
    assert interpreted == []


@structured_op
def leaky(X: Tensor["T", "N"], O: Output["T", "N"], slope=0.5, name="x"):
    """A formula with numbers of the call, which decide about it too."""
    O[i] = where(X[i] > slope, X[i], X[i] * (1 / slope) + 0.25) if slope < 9 else X[i] ** 2.0


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_that_differ_in_each_call(dtype: str, interpreted: list[str]) -> None:
    x = np.linspace(-1, 1, 9, dtype=dtype)
    for slope in (0.1, 0.2, 0.25, 0.3, 1e-3):
        found = in_general(leaky, x, slope=slope)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.where(x > slope, x, x * (1 / slope) + 0.25))
        np.testing.assert_array_equal(found, leaky(x, slope=slope))
    np.testing.assert_array_equal(in_general(leaky, x, slope=10.0), x**2)
    assert interpreted == []
    assert len(leaky._general_ops) == 2
    assert all(len(o.entry.variants) <= 2 for o in leaky._general_ops.values())


def test_lists_and_numbers(interpreted: list[str]) -> None:
    np.testing.assert_array_equal(in_general(linalg.add, [1, 2], [3, 4]), [4, 6])
    assert in_general(linalg.dot, [1.0, 2.0], np.array([3.0, 4.0]), init=0.5) == 11.5
    assert type(in_general(linalg.dot, [1, 2], [3, 4])) is np.int64
    assert interpreted == []


def test_a_new_variant_of_the_general_form_replaces_the_oldest(
    interpreted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(op, "_MAX_GENERAL_VARIANTS", 2)
    pool = fresh("pooling_nwc_max")
    for dtype in ("i1", "i2", "i4", "i1"):
        x = np.arange(12, dtype=dtype).reshape(1, 6, 2)
        np.testing.assert_array_equal(in_general(pool, x, np.empty(2)), x[:, 1:])
    (form,) = pool._general.values()
    assert interpreted == []
    assert len(form.op.entry.variants) == 2


def test_a_wrong_call_changes_nothing_for_others() -> None:
    conv = fresh("conv_1d")
    memory = np.arange(12.0)
    for _again in range(3):
        with pytest.raises(ValueError, match="the output O overlaps I"):
            conv(memory[:6], np.ones(3), out=memory[1:5])
    np.testing.assert_array_equal(conv(memory, np.ones(3)), 3 * memory[1:-1])
    assert len(conv.entry.variants) == 1
    assert conv.entry.variants.segmented is None


def test_explain_says_which_form_a_call_takes() -> None:
    conv = fresh("conv_1d_nwc_wcf")
    image, kernel = np.ones((1, 20, 2)), np.ones((3, 2, 4))
    assert "conv_1d_nwc_wcf: " in conv.explain(image, kernel)
    for length in range(1, 9):
        conv(image, np.ones((length, 2, 4)))
    assert "general form" not in conv.explain(image, np.ones((8, 2, 4)))
    text = conv.explain(image, np.ones((9, 2, 4)))
    assert text.startswith("conv_1d_nwc_wcf takes its general form for this call: there are 8")
    assert "BLAS on a copy of the windows" in text
    pool = fresh("pooling_nwc_max")
    for length in range(1, 9):
        pool(image, np.ones(length))
    text = pool.explain(image, np.ones(9), detail=True)
    assert "takes its general form" in text
    assert "loop over" in text


def test_explain_of_any_function_says_that_a_call_gets_no_variant() -> None:
    @fuse_jit(warn=False)
    def f(x: Any, n: Any) -> Any:
        return x * n[0] if n[0] > 100 else np.sum(x) + len(n)

    x = np.ones(4)
    assert "runs as plain NumPy" not in f.explain(x, [1])
    for length in range(1, 3):
        f(x, [1] * length)
    assert "f runs as plain NumPy for this call: a string or a length" in f.explain(x, [1] * 9)
    assert "runs as plain NumPy" not in f.explain(np.ones(1), [1])  # the variant for 4 serves it


def test_constants_of_a_trace(interpreted: list[str]) -> None:
    pool, dot = fresh("pooling_nwc_max"), fresh("dot")

    @fuse_jit(fullgraph=True)
    def f(x: Any) -> Any:
        return x * dot([1.0, 2.0], [3.0, 4.0]) + pool(np.array([[[1], [5], [2]]]), np.empty(2))

    np.testing.assert_array_equal(f(np.ones(3)), np.full((1, 2, 3), 16.0))
    assert interpreted == []


def test_the_interpreter_is_announced(
    interpreted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSEJIT_COMPILE_SECONDS", "0")
    called = fresh("conv_1d")
    image, kernel = np.arange(6), np.ones(3, int)
    with pytest.warns(FuseWarning, match="conv_1d is computed point by point by an interpreter"):
        np.testing.assert_array_equal(called(image, kernel), [3, 6, 9, 12])
    assert interpreted == ["conv_1d"]


def test_ops_of_generic_and_their_symbols(interpreted: list[str]) -> None:
    x = np.arange(30.0)
    for length in range(1, 12, 2):
        taps = np.arange(1.0, length + 1)
        found = generic(
            [x, taps],
            [np.zeros(31 - length)],
            ["(m, n)[N] -> (m + n + N // 2 - N // 2)", "(m, n) -> (n)", "(m, n) -> (m)"],
            ["parallel", "reduction"],
            lambda s, k, o: o + s * k,
            symbols={"N": (1, 0)},
        )
        np.testing.assert_allclose(found, np.correlate(x, taps), rtol=1e-12)
    assert interpreted == []
