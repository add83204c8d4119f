"""Calls that are refused: the error names op and operand, and nothing is written."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.ir.definitions.definition import Role
from fusejit.linalg.registry import OPS
from fusejit_testing.linalg import contractions, facts, pointwise, windows

WINDOWED = [n for n in facts.ORDER if "strides" in facts.attributes_of(n)]
CONTRACTIONS = [*contractions.EINSUM, "contract"]
POINTWISE = [n for n in facts.ORDER if n in pointwise.UNARY or n in pointwise.BINARY]
PLAIN = ["conv_1d", "conv_2d", "conv_3d"]
NAMES = [*CONTRACTIONS, *WINDOWED, *PLAIN, *POINTWISE, "select", "copy"]


def case_of(name):
    if name in CONTRACTIONS:
        return contractions.cases(name)[0]
    if name.startswith("pooling"):
        return windows.poolings(name)[0]
    if name in WINDOWED or name in PLAIN:
        return windows.convolutions(name)[0]
    own = {"select": pointwise.selections, "copy": pointwise.copies}
    return own[name]()[0] if name in own else pointwise.cases(name)[0]


DECORATED = ["matmul", "conv_2d_nhwc_hwcf", "pooling_nhwc_max", "add", "exp", "select", "copy"]


def operands_of(name):
    """A pattern for the name of any operand."""
    return rf"\b({'|'.join(o.name for o in OPS[name].definition.operands)})\b"


def refused(name, error, what, inputs, keywords, out=None):
    """By the interpreter and by a call, of some ops in a decorated function.

    ``out`` keeps its elements. The messages are the same, but where Python writes its own.
    """
    op = OPS[name]
    keywords = {k: v for k, v in keywords.items() if k != "dtype"}
    kept = None if out is None else out.copy()
    memory = {} if out is None else {"out": out}

    @fuse_jit
    def decorated(arrays, out):
        return op(*arrays, **keywords, **({} if out is None else {"out": out}))

    pattern = f"^{name}\\b.*{what}"
    messages = []
    runs = [
        lambda: op.reference(*inputs, **keywords, **memory),
        lambda: op(*inputs, **keywords, **memory),
        lambda: decorated(tuple(inputs), out),
    ]
    for run in runs if name in DECORATED else runs[:2]:
        with pytest.raises(error, match=pattern) as caught:
            run()
        messages.append(str(caught.value))
        assert "\n" not in messages[-1]
        assert out is None or np.array_equal(out, kept, equal_nan=True)
    assert len(set(messages)) == 1 or what.startswith("'"), messages


@pytest.mark.parametrize("name", NAMES)
def test_another_rank(name):
    case = case_of(name)
    first, *rest = case.inputs
    out = np.array(case.start)
    what = rf"{operands_of(name)} has \d axes, not \d"
    refused(name, ValueError, what, [first[None], *rest], case.keywords, out)


@pytest.mark.parametrize("name", NAMES)
def test_extents_that_disagree(name):
    """One operand has an axis that is longer than those of the others."""
    case = case_of(name)
    definition = OPS[name].definition
    inputs = list(case.inputs)
    place = max(k for k, x in enumerate(inputs) if np.ndim(x))
    if definition.operands[place].role is Role.SHAPE:
        place = 0
    axis = inputs[place].ndim - 1
    if place == 0 and name.startswith("pooling"):
        axis = 0  # the batch, which the output has
    inputs[place] = np.concatenate([inputs[place]] * 2, axis)
    refused(name, ValueError, operands_of(name), inputs, case.keywords, np.array(case.start))


@pytest.mark.parametrize("name", NAMES)
def test_an_output_of_another_shape(name):
    case = case_of(name)
    out = np.zeros([n + 1 for n in case.start.shape] or [1], case.start.dtype)
    refused(name, ValueError, operands_of(name), case.inputs, case.keywords, out)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("attribute", ["strides", "dilations"])
def test_a_stride_or_dilation_of_zero(name, attribute):
    case = case_of(name)
    count = len(case.keywords[attribute])
    for axis in (0, count - 1):
        values = tuple(int(k != axis) for k in range(count))
        keywords = {**case.keywords, attribute: values}
        what = re.escape(f"{attribute}[{axis}] is 0")
        refused(name, ValueError, what, case.inputs, keywords, np.array(case.start))


@pytest.mark.parametrize("name", WINDOWED[::5])
@pytest.mark.parametrize(
    ("value", "error", "what"),
    [
        ((1,) * 4, ValueError, "strides has 4 values"),
        (1.5, TypeError, "strides takes integers, not 1.5"),
        (True, TypeError, "strides takes integers, not True"),
        ("1", TypeError, "strides takes integers, not '1'"),
        (-1, ValueError, r"of I reaches -\d, and axis \d has"),
    ],
)
def test_strides_that_are_none(name, value, error, what):
    case = case_of(name)
    keywords = {**case.keywords, "strides": value}
    refused(name, error, what, case.inputs, keywords, np.array(case.start))


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_attribute(name):
    case = case_of(name)
    keywords = {**case.keywords, "padding": 1}
    refused(name, TypeError, "'padding'", case.inputs, keywords, np.array(case.start))


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_input(name):
    case = case_of(name)
    operand = OPS[name].definition.inputs[-1].name
    refused(name, TypeError, f"'{operand}'", case.inputs[:-1], case.keywords, np.array(case.start))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_type_that_is_not_compiled(name):
    case = case_of(name)
    first, *rest = case.inputs
    operand = OPS[name].definition.operands[0].name
    inputs = [first.astype("f2"), *rest]
    refused(name, TypeError, rf"\b{operand}\b", inputs, case.keywords, np.array(case.start))


@pytest.mark.parametrize("name", [n for n in POINTWISE if n not in pointwise.UNARY])
def test_operands_of_two_types(name):
    case = case_of(name)
    first, second = case.inputs
    other = second.astype("i8" if second.dtype.kind == "f" else "i2")
    out = np.array(case.start)
    refused(name, TypeError, r"\blhs is of type .* and rhs of", [first, other], {}, out)


@pytest.mark.parametrize("name", [*pointwise.UNARY, "powf"])
def test_functions_of_floats_refuse_other_types(name):
    for dtype in ("i4", "?", "c16"):
        x = np.ones(3, dtype)
        inputs = [x, x] if name == "powf" else [x]
        refused(name, TypeError, f"not defined for {x.dtype}", inputs, {}, np.zeros(3, dtype))


@pytest.mark.parametrize("name", ["sub", "div"])
def test_bools_are_neither_subtracted_nor_divided(name):
    x = np.array([True, False])
    refused(name, TypeError, "not defined for bool", [x, x], {}, np.array([True, True]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_complex_numbers_have_no_order(name):
    x = np.ones(2, complex)
    refused(name, TypeError, "not defined for complex128", [x, x], {}, np.zeros(2, complex))


@pytest.mark.parametrize("name", NAMES)
def test_an_output_that_is_read_only(name):
    case = case_of(name)
    out = np.array(case.start)
    out.flags.writeable = False
    output = OPS[name].definition.outputs[0].name
    refused(name, ValueError, f"{output} is read-only", case.inputs, case.keywords, out)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_an_output_that_overlaps_an_input(name):
    case = case_of(name)
    first, *rest = case.inputs
    memory = np.zeros(first.nbytes + case.start.nbytes + 8, np.uint8)
    source = memory[: first.nbytes].view(first.dtype).reshape(first.shape)
    source[...] = first
    out = memory[: case.start.nbytes].view(case.start.dtype).reshape(case.start.shape)
    first_name, output = (OPS[name].definition.operands[k].name for k in (0, -1))
    what = f"output {output} overlaps {first_name}"
    refused(name, ValueError, what, [source, *rest], case.keywords, out)


@pytest.mark.parametrize("name", NAMES)
def test_a_start_and_memory_together(name):
    case = case_of(name)
    output = OPS[name].definition.outputs[0].name
    keywords = {**case.keywords, "init": case.start}
    what = f"{output} is given both by init= and out="
    refused(name, TypeError, what, case.inputs, keywords, np.array(case.start))
