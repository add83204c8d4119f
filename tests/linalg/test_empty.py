"""Extents of 0: no points, and sums, maxima and minima of nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit.linalg.registry import OPS
from fusejit_testing.linalg import contractions, facts, windows
from fusejit_testing.linalg.cases import assert_result

CONVOLUTIONS = [n for n in facts.ORDER if n.removeprefix("depthwise_").startswith("conv_")]
POOLINGS = [n for n in facts.ORDER if n.startswith("pooling_")]


COMPILED = ["dot", "matmul", "conv_2d_nhwc_hwcf", "conv_2d_nhwc_hwcf_q", "pooling_nhwc_max"]
"""The ops that are compiled here; of the others the reference is compared."""


def keywords_of(case):
    return {k: v for k, v in case.keywords.items() if k != "dtype"}


def assert_empty_case(name, case, is_compiled):
    op = OPS[name]
    is_compiled &= name in COMPILED
    for run in (op.reference, op) if is_compiled else (op.reference,):
        if case.alone is not None:
            assert_result(run(*case.inputs, **case.keywords), case.alone, case.label)
        started = run(*case.inputs, **keywords_of(case), init=case.start)
        assert_result(started, case.started, f"{case.label} init=")


@pytest.mark.parametrize("name", [*contractions.EINSUM, "contract"])
def test_contractions(name):
    """The sum over no terms is zero, or what it starts from."""
    for number, empty in enumerate(("k", "m", "mn", "mnk", "b")):
        several = contractions.cases(name, empty)
        for case in several[:3]:
            assert_empty_case(name, case, is_compiled=number == 0 and case is several[0])


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    image, kernel, _ = windows.letters_of(name)
    empties = [x for x in dict.fromkeys(image + kernel) if x in windows.SIZES]
    for empty in empties:
        several = windows.convolutions(name, empty)
        for case in several[:3]:
            assert_empty_case(name, case, is_compiled=empty == "c" and case is several[0])


@pytest.mark.parametrize("name", POOLINGS)
def test_poolings(name):
    for empty in ("n", "c", "nc"):
        several = windows.poolings(name, empty)
        for case in several[:3]:
            assert_empty_case(name, case, is_compiled=empty == "n" and case is several[0])


@pytest.mark.parametrize("name", [n for n in POOLINGS if "nhwc" in n])
def test_a_window_of_no_elements_leaves_the_start(name):
    op = OPS[name]
    image, window = np.ones((2, 4, 4, 3), np.int32), np.empty((0, 2))
    start = np.full((2, 3, 3, 3), -7, np.int32)
    for run in (op.reference, op):
        assert_result(run(image, window, init=start), start, name)


@pytest.mark.parametrize("name", ["conv_1d_nwc_wcf", "pooling_nwc_sum"])
def test_an_image_that_no_window_fits_in(name):
    op = OPS[name]
    image = np.ones((2, 2, 3))
    kernel = np.ones((3, 3, 4)) if name.startswith("conv") else np.ones(3)
    channels = 4 if name.startswith("conv") else 3
    for run in (op.reference, op):
        assert run(image, kernel).shape == (2, 0, channels)  # one element is missing
        with pytest.raises(ValueError, match=rf"^{name}: axis 1 of I has 1 elements, too few"):
            run(image[:, :1], kernel)
