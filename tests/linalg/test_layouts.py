"""Inputs and outputs of every memory layout: Fortran order, steps, backwards, repeated."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit.linalg.registry import OPS
from fusejit_testing.linalg import contractions, pointwise, windows
from fusejit_testing.linalg.cases import assert_result

LAYOUTS = {
    "fortran": np.asfortranarray,
    "steps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "offset": lambda x: np.concatenate([x[:1], x])[1:],
}
NAMES = ["matmul", "batch_mmt4d", "conv_2d_nchw_fchw", "depthwise_conv_1d_nwc_wcm", "div", "select"]
NAMES += ["pooling_nhwc_min", "contract"]


def case_of(name):
    if name in contractions.EINSUM or name == "contract":
        return contractions.cases(name)[0]
    if name.startswith("pooling"):
        return windows.poolings(name)[0]
    if "conv" in name:
        return windows.convolutions(name)[0]
    return pointwise.selections()[0] if name == "select" else pointwise.cases(name)[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_layout(name, layout):
    op, case, change = OPS[name], case_of(name), LAYOUTS[layout]
    inputs = [change(x) for x in case.inputs]
    keywords = {k: v for k, v in case.keywords.items() if k != "dtype"}
    for run in (op.reference, op) if layout != "offset" else (op.reference,):
        memory = change(case.start)
        kept = memory.base.copy() if memory.base is not None else None
        assert run(*inputs, **keywords, out=memory) is memory
        assert_result(memory, case.started, f"{name} {layout}")
        if layout == "steps":  # what lies between the elements is not written
            assert np.array_equal(memory.base[..., 1::2], kept[..., 1::2])
        assert_result(run(*inputs, **keywords, init=change(case.start)), case.started, layout)


@pytest.mark.parametrize("name", ["matmul", "add", "pooling_nwc_sum"])
def test_inputs_that_repeat_one_element(name):
    op = OPS[name]
    x = np.broadcast_to(np.float64(3), (4, 4, 4) if name == "pooling_nwc_sum" else (4, 4))
    inputs = (x, np.empty(2)) if name == "pooling_nwc_sum" else (x, x)
    dense = [np.array(v) for v in inputs]
    for run in (op.reference, op):
        assert_result(run(*inputs), op.reference(*dense), name)


def test_an_output_beside_an_input_in_one_array():
    """They are parts of one memory, and share none of it."""
    memory = np.arange(32.0)
    source, out = memory[:16].reshape(4, 4), memory[16:].reshape(4, 4)
    expected = source @ source + out
    assert_result(OPS["matmul"].reference(source, source, init=out), expected, "init=")
    assert OPS["matmul"].reference(source, source, out=out) is out
    assert_result(out, expected, "out=")


def test_two_names_of_one_input():
    x = np.arange(9.0).reshape(3, 3)
    for run in (OPS["matmul"], OPS["matmul"].reference):
        assert_result(run(x, x), x @ x, f"{run}")
        assert_result(run(x, x, init=x), x @ x + x, f"{run} init=")
