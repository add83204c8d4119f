"""The results of the named ops against independent references, by the interpreter and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.linalg.registry import OPS
from fusejit_testing.linalg import contractions, facts, pointwise, windows
from fusejit_testing.linalg.cases import assert_result

CONTRACTIONS = [*contractions.EINSUM, "contract"]
CONVOLUTIONS = [n for n in facts.ORDER if n.removeprefix("depthwise_").startswith("conv_")]
POOLINGS = [n for n in facts.ORDER if n.startswith("pooling_")]
POINTWISE = [n for n in facts.ORDER if n in pointwise.UNARY or n in pointwise.BINARY]
NAMES = [*CONTRACTIONS, *CONVOLUTIONS, *POOLINGS, *POINTWISE, "select", "copy"]


def cases_of(name):
    if name in CONTRACTIONS:
        return contractions.cases(name)
    if name in CONVOLUTIONS:
        return windows.convolutions(name)
    if name in POOLINGS:
        return windows.poolings(name)
    own = {"select": pointwise.selections, "copy": pointwise.copies}
    return own[name]() if name in own else pointwise.cases(name)


def test_the_ops_that_are_compared_here():
    assert (len(CONTRACTIONS), len(CONVOLUTIONS), len(POOLINGS)) == (13, 30, 17)
    assert len(POINTWISE) == 21


def keywords_of(case):
    """The keywords beside ``init`` or ``out``, which give the type of the result."""
    return {k: v for k, v in case.keywords.items() if k != "dtype"}


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_gives_the_expected_numbers(name):
    op = OPS[name]
    for case in cases_of(name):
        keywords = keywords_of(case)
        if case.alone is not None:
            alone = op.reference(*case.inputs, **case.keywords)
            assert_result(alone, case.alone, case.label)
        kept = case.start.copy()
        started = op.reference(*case.inputs, **keywords, init=case.start)
        assert_result(started, case.started, f"{case.label} init=")
        assert_result(case.start, kept, f"{case.label}: init is not written")
        out = np.array(case.start)
        assert op.reference(*case.inputs, **keywords, out=out) is out
        assert_result(out, case.started, f"{case.label} out=")


@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_call_gives_the_expected_numbers(name):
    """One case, into memory that holds the start."""
    op = OPS[name]
    several = cases_of(name)
    case = several[len(several) // 2]
    out = np.array(case.start)
    assert op(*case.inputs, **keywords_of(case), out=out) is out
    assert_result(out, case.started, f"{case.label} out=")


@pytest.mark.parametrize(
    "name", ["dot", "matmul", "contract", "conv_1d", "conv_2d_nhwc_hwcf", "pooling_nhwc_max"]
)
def test_all_cases_of_some_ops_are_compiled(name):
    op = OPS[name]
    for number, case in enumerate(cases_of(name)):
        kept = case.start.copy()
        if number % 2 and case.alone is not None:
            assert_result(op(*case.inputs, **case.keywords), case.alone, case.label)
            continue
        started = op(*case.inputs, **keywords_of(case), init=case.start)
        assert_result(started, case.started, f"{case.label} init=")
        assert_result(case.start, kept, f"{case.label}: init is not written")


@pytest.mark.parametrize("name", NAMES)
def test_an_op_between_elementwise_work_gives_the_expected_numbers(name, monkeypatch):
    """All of it is one graph; the numbers are those of NumPy around the reference.

    Kernels of every fourth op are jitted. Others run as Python: the test above jits each op alone.
    """
    if NAMES.index(name) % 4:
        monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    op = OPS[name]
    case = next(c for c in cases_of(name) if c.start.dtype.kind in "fi")
    keywords = keywords_of(case)

    @fuse_jit(fullgraph=True)
    def around(first, rest, start):
        return np.abs(op(first + first, *rest, **keywords, init=start * 2)) + 1

    first, *rest = case.inputs
    doubled = first + first
    middle = op.reference(doubled, *rest, **keywords, init=case.start * 2)
    expected = np.abs(middle) + 1
    with np.errstate(all="ignore"):
        assert_result(around(first, tuple(rest), case.start), expected, case.label)
