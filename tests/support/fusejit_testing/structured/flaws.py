"""Calls that cannot be computed: each has an error, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

import numpy as np

from fusejit_testing.structured.op_case import OpCase
from fusejit_testing.structured.random_subscripts import OperandText

SHARE = 0.07  # of all ops

Operands = Mapping[str, OperandText]


def add_flaw(rng: Random, case: OpCase, inputs: Operands) -> None:
    """Give some calls a flaw, which is the same for all sizes."""
    if rng.random() > SHARE:
        return
    kinds = [*_FLAWS]
    rng.shuffle(kinds)
    for kind in kinds:
        if _FLAWS[kind](case, inputs):
            case.flaw = kind
            return


def _arrays(case: OpCase) -> list[str]:
    return [n for n in case.arguments if isinstance(case.arguments[n], np.ndarray)]


def _another_axis(case: OpCase, inputs: Operands) -> bool:
    for name in case.inputs:
        if isinstance(case.arguments[name], np.ndarray):
            case.arguments[name] = case.arguments[name][None]
            return True
    return False


def _another_type(case: OpCase, inputs: Operands) -> bool:
    for name in case.inputs:
        if inputs[name].role == "Tensor":
            case.arguments[name] = np.ones(inputs[name].shape, np.float16)
            return True
    return False


def _another_extent(case: OpCase, inputs: Operands) -> bool:
    """Two axes along one dim that have other extents."""
    seen: set[str] = set()
    for name in case.inputs:
        for at, axis in enumerate(inputs[name].axes):
            if axis.subscript in seen:
                array = case.arguments[name]
                widths = [(0, int(k == at)) for k in range(array.ndim)]
                case.arguments[name] = np.pad(array, widths)
                return True
            if axis.subscript.isalpha():
                seen.add(axis.subscript)
    return False


def _unknown_attribute(case: OpCase, inputs: Operands) -> bool:
    case.call = case.call[:-1] + (", " if case.call[-2] != "(" else "") + "nonsense=2)"
    return True


def _zero_stride(case: OpCase, inputs: Operands) -> bool:
    subscripts = " ".join(operand.subscripts for operand in inputs.values())
    if "strides[" not in subscripts:
        return False
    case.call = re.sub(r", strides=\(.*?\)", "", case.call)[:-1] + ", strides=0)"
    return True


def _read_only(case: OpCase, inputs: Operands) -> bool:
    if not case.outs:
        return False
    case.arguments[case.outs[-1]].flags.writeable = False
    return True


def _overlap(case: OpCase, inputs: Operands) -> bool:
    """An output in the memory of an input."""
    names = [n for n in case.inputs if inputs[n].role == "Tensor"]
    if not case.outs or not names:
        return False
    arrays = [case.arguments[case.outs[0]], case.arguments[names[0]]]
    if not all(a.size for a in arrays):
        return False
    memory = np.zeros(max(a.nbytes for a in arrays), np.uint8)
    for name, array in zip((case.outs[0], names[0]), arrays, strict=True):
        case.arguments[name] = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
    return True


def _missing_argument(case: OpCase, inputs: Operands) -> bool:
    if not case.is_formula or not case.inputs:
        return False
    case.call = re.sub(r"\((\w+)(, )?", "(", case.call, count=1)
    return True


_FLAWS: dict[str, Callable[[OpCase, Operands], bool]] = {
    "another axis": _another_axis,
    "another type": _another_type,
    "another extent": _another_extent,
    "unknown attribute": _unknown_attribute,
    "stride 0": _zero_stride,
    "read-only output": _read_only,
    "output overlaps input": _overlap,
    "missing argument": _missing_argument,
}
