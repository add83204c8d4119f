"""Winograd's transforms: convolutions of small windows as products of transformed tiles.

``F_m_r`` makes m outputs per axis with a filter of r; a tile has ``a = m + r - 1``. An axis of
extent 1 is not transformed. Per tile the convolution is ``AT ((G g GT) * (BT d B)) A``, where the
product is summed over channels.

The matrices are those of MLIR's linalg dialect, scaled so that most entries are powers of two; the
output transform multiplies by the scale of each transformed axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.linalg.registry import register
from fusejit.structured.generic import OpFamily, Resolved
from fusejit.structured.notation import Output, Tensor, _, define
from fusejit.structured.op import rank_of


@dataclass(frozen=True)
class Winograd:
    """The matrices of one F(m, r)."""

    m: int
    r: int
    g: np.ndarray
    bt: np.ndarray
    at: np.ndarray
    scale: float


def _of(m: int, r: int, scale: float, g: Any, bt: Any, at: Any) -> Winograd:
    left, middle, right = (np.array(x, np.float64) for x in (g, bt, at))
    return Winograd(m, r, left, middle, right, scale)


TABLE = {
    "F_2_3": _of(
        2,
        3,
        1.0,
        [[-1, 0, 0], [1 / 2, -1 / 2, 1 / 2], [1 / 2, 1 / 2, 1 / 2], [0, 0, 1]],
        [[-1, 0, 1, 0], [0, -1, 1, 0], [0, 1, 1, 0], [0, -1, 0, 1]],
        [[1, 1, 1, 0], [0, -1, 1, 1]],
    ),
    "F_4_3": _of(
        4,
        3,
        32.0,
        [
            [1, 0, 0],
            [-1 / 3, 1 / 3, -1 / 3],
            [-1 / 3, -1 / 3, -1 / 3],
            [1 / 12, -1 / 6, 1 / 3],
            [1 / 12, 1 / 6, 1 / 3],
            [0, 0, 1],
        ],
        [
            [1 / 4, 0, -5 / 16, 0, 1 / 16, 0],
            [0, 1 / 4, -1 / 4, -1 / 16, 1 / 16, 0],
            [0, -1 / 4, -1 / 4, 1 / 16, 1 / 16, 0],
            [0, 1 / 4, -1 / 8, -1 / 4, 1 / 8, 0],
            [0, -1 / 4, -1 / 8, 1 / 4, 1 / 8, 0],
            [0, 1 / 4, 0, -5 / 16, 0, 1 / 16],
        ],
        [
            [1 / 8, 1 / 4, 1 / 4, 1 / 8, 1 / 8, 0],
            [0, -1 / 4, 1 / 4, -1 / 4, 1 / 4, 0],
            [0, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 0],
            [0, -1 / 4, 1 / 4, -1, 1, 1 / 2],
        ],
    ),
    "F_2_5": _of(
        2,
        5,
        16.0,
        [
            [1, 0, 0, 0, 0],
            [1 / 6, -1 / 6, 1 / 6, -1 / 6, 1 / 6],
            [-1 / 6] * 5,
            [-4 / 15, 2 / 15, -1 / 15, 1 / 30, -1 / 60],
            [1 / 60, 1 / 30, 1 / 15, 2 / 15, 4 / 15],
            [0, 0, 0, 0, 1],
        ],
        [
            [1 / 8, 3 / 16, -1 / 4, -3 / 16, 1 / 8, 0],
            [0, 1 / 8, 1 / 16, -5 / 16, 1 / 8, 0],
            [0, -1 / 8, -5 / 16, -1 / 16, 1 / 8, 0],
            [0, 1 / 4, -1 / 8, -1 / 4, 1 / 8, 0],
            [0, -1 / 8, -1 / 4, 1 / 8, 1 / 4, 0],
            [0, 1 / 8, 3 / 16, -1 / 4, -3 / 16, 1 / 8],
        ],
        [[1 / 2, 1, 1, 2, 1, 0], [0, -1, 1, -1, 2, 1 / 2]],
    ),
}


def _filter(
    L: Tensor[T, A1, KH],
    filter: Tensor[T, F, KH, KW, C],
    R: Tensor[T, A2, KW],
    output: Output[T, A1, A2, C, F],
):
    """The filter's transform ``G g GT``, of shape (a, a, C, F) for a filter (F, r, r, C)."""
    output[i, j, c, f] += L[i, p] * filter[f, p, q, c] * R[j, q]


def _input(
    L: Tensor[T, A1, P],
    input: Tensor[T, N, _, _, C],
    R: Tensor[T, A2, Q],
    output: Output[T, A1, A2, TH, TW, N, C],
    steps=(1, 1),
):
    """The image's transform ``BT d B``, of shape (a, a, tiles, tiles, N, C)."""
    image = input[n, y * steps[0] + p, x * steps[1] + q, c]
    output[i, j, y, x, n, c] += L[i, p] * image * R[j, q]


def _output(
    L: Tensor[T, M1, A1],
    value: Tensor[T, A1, A2, TH, TW, N, F],
    R: Tensor[T, M2, A2],
    output: Output[T, N, TH * steps[0], TW * steps[1], F],
    steps=(1, 1),
):
    """``output + scale * (AT y A)``, of shape (N, H, W, F) for tiles (a, a, H / m, W / m, N, F)."""
    product = L[i, p] * value[p, q, y, x, n, f] * R[j, q]
    output[n, y * steps[0] + i, x * steps[1] + j, f] += product


def _matrices(
    op: str, fmr: str, name: str, operand: Any, axes: tuple[int, int]
) -> tuple[Winograd, list[bool]]:
    """The matrices by name, and whether each of two axes is transformed: not if its extent is 1."""
    if fmr not in TABLE:
        raise ValueError(f"{op}: fmr is one of {', '.join(TABLE)}, not {fmr!r}")
    if rank_of(operand) <= max(axes):
        raise ValueError(f"{op}: {name} has {rank_of(operand)} axes, too few")
    if operand.dtype.kind not in "fc":
        raise TypeError(f"{op}: {name} is of type {operand.dtype}, not of floats")
    return TABLE[fmr], [bool(operand.shape[axis] != 1) for axis in axes]


def _resolved(
    formula: Callable[..., Any], operand: Any, matrices: list[np.ndarray], keywords: dict[str, Any]
) -> Resolved:
    left, right = (np.asarray(m, operand.dtype) for m in matrices)
    return (
        define(formula, name=f"winograd{formula.__name__}_transform"),
        (left, operand, right),
        {k: v for k, v in keywords.items() if v is not None},
    )


@OpFamily
def winograd_filter_transform(
    filter: Any, *, fmr: str = "F_2_3", init: Any = None, out: Any = None
) -> Resolved:
    """The filter's transform ``G g GT``, of shape (a, a, C, F) for a filter (F, r, r, C)."""
    op = "winograd_filter_transform"
    w, transformed = _matrices(op, fmr, "filter", filter, (1, 2))
    for axis, is_transformed in zip((1, 2), transformed, strict=True):
        if is_transformed and not filter.shape[axis] == w.r:
            raise ValueError(f"{op}: axis {axis} of filter has neither 1 nor {w.r} elements")
    one = np.ones((1, 1))
    matrices = [w.g if is_transformed else one for is_transformed in transformed]
    return _resolved(_filter, filter, matrices, {"init": init, "out": out})


@OpFamily
def winograd_input_transform(
    input: Any, *, fmr: str = "F_2_3", init: Any = None, out: Any = None
) -> Resolved:
    """The image's transform ``BT d B``: tiles of a, which overlap by r - 1."""
    w, transformed = _matrices("winograd_input_transform", fmr, "input", input, (1, 2))
    one = np.ones((1, 1))
    matrices = [w.bt if is_transformed else one for is_transformed in transformed]
    steps = tuple(w.m if is_transformed else 1 for is_transformed in transformed)
    return _resolved(_input, input, matrices, {"init": init, "out": out, "steps": steps})


@OpFamily
def winograd_output_transform(
    value: Any, *, fmr: str = "F_2_3", init: Any = None, out: Any = None
) -> Resolved:
    """``output + scale * (AT y A)``; the output has m elements per tile."""
    w, transformed = _matrices("winograd_output_transform", fmr, "value", value, (0, 1))
    one = np.ones((1, 1))
    matrices = [w.at * w.scale if is_transformed else one for is_transformed in transformed]
    steps = tuple(w.m if is_transformed else 1 for is_transformed in transformed)
    return _resolved(_output, value, matrices, {"init": init, "out": out, "steps": steps})


for _family in (winograd_filter_transform, winograd_input_transform, winograd_output_transform):
    register(_family)
