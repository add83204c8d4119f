"""Winograd's transforms: convolutions of small windows as products of transformed tiles.

``F_m_r`` makes m outputs per axis with a filter of r; a tile has ``a = m + r - 1``. An axis of
extent 1 is not transformed. Per tile the convolution is ``AT ((G g GT) * (BT d B)) A``, where the
product is summed over channels.

The output transform multiplies by the scale of each transformed axis
(`fusejit.ir.definitions.winograd_matrices`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.definitions.winograd_matrices import TABLE
from fusejit.linalg.registry import register
from fusejit.structured.annotations import Output, Tensor, _
from fusejit.structured.generic import OpFamily, Resolved, given_only
from fusejit.structured.notation import define
from fusejit.structured.op import rank_of

_ONE = np.ones((1, 1))


def _filter(
    L: Tensor[T, A1, KH],
    filter: Tensor[T, F, KH, KW, C],
    R: Tensor[T, A2, KW],
    output: Output[T, A1, A2, C, F],
):
    """Filter transform ``G g GT``, of shape (a, a, C, F) for a filter (F, r, r, C)."""
    output[i, j, c, f] += L[i, p] * filter[f, p, q, c] * R[j, q]


def _input(
    L: Tensor[T, A1, P],
    input: Tensor[T, N, _, _, C],
    R: Tensor[T, A2, Q],
    output: Output[T, A1, A2, TH, TW, N, C],
    steps=(1, 1),
):
    """Image transform ``BT d B``, of shape (a, a, tiles, tiles, N, C)."""
    image = input[n, y * steps[0] + p, x * steps[1] + q, c]
    output[i, j, y, x, n, c] += L[i, p] * image * R[j, q]


def _output(
    L: Tensor[T, M1, A1],
    value: Tensor[T, A1, A2, TH, TW, N, F],
    R: Tensor[T, M2, A2],
    output: Output[T, N, TH * steps[0], TW * steps[1], F],
    steps=(1, 1),
):
    """Output transform ``init + scale * (AT y A)``: (N, H, W, F) of (a, a, H/m, W/m, N, F)."""
    product = L[i, p] * value[p, q, y, x, n, f] * R[j, q]
    output[n, y * steps[0] + i, x * steps[1] + j, f] += product


def _transform(formula: Callable[..., Any], axes: tuple[int, int], which: str) -> OpFamily:
    """The transform of two axes; one of extent 1 stays as it is."""
    op = f"winograd{formula.__name__}_transform"
    name = [*inspect.signature(formula).parameters][1]
    moves = "steps" in inspect.signature(formula).parameters

    def resolve(
        operand: Any, /, *, fmr: str = "F_2_3", init: Any = None, out: Any = None
    ) -> Resolved:
        if fmr not in TABLE:
            raise ValueError(f"{op}: fmr is one of {', '.join(TABLE)}, not {fmr!r}")
        if rank_of(operand) <= max(axes):
            raise ValueError(f"{op}: {name} has {rank_of(operand)} axes, too few")
        if operand.dtype.kind not in "fc":
            raise TypeError(f"{op}: {name} is of type {operand.dtype}, not of floats")
        w = TABLE[fmr]
        is_moved = [bool(operand.shape[axis] != 1) for axis in axes]
        for axis, moved in zip(axes, is_moved, strict=True):
            if which == "filter" and moved and not operand.shape[axis] == w.r:
                raise ValueError(f"{op}: axis {axis} of {name} has neither 1 nor {w.r} elements")
        matrix = getattr(w, which) * (w.scale if which == "output" else 1.0)
        left, right = (np.asarray(matrix if m else _ONE, operand.dtype) for m in is_moved)
        steps = tuple(w.m if m else 1 for m in is_moved) if moves else None
        keywords = given_only(init=init, out=out, steps=steps)
        return define(formula, name=op, numpy_bools=False), (left, operand, right), keywords

    resolve.__name__, resolve.__doc__ = op, formula.__doc__
    return OpFamily(resolve)


for _formula, _axes, _which in (
    (_filter, (1, 2), "filter"),
    (_input, (1, 2), "input"),
    (_output, (0, 1), "output"),
):
    register(_transform(_formula, _axes, _which))
