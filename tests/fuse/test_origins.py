"""Ops remember which traced ops went into them, whichever pass put them there."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit import fuse_jit
from fusejit.ir.ops import GenericOp, base_name, walk


def origins(function: Any, *args: Any, fusion: str = "auto") -> list[list[str]]:
    graph = fuse_jit(fusion=fusion)(function).trace(*args).fuse().graph
    return [
        sorted(o.name for o in op.origins) for op in walk(graph.block) if isinstance(op, GenericOp)
    ]


X = np.ones((4, 5))


def test_folded_producers() -> None:
    assert origins(lambda x: np.sqrt(x + 1) * 2, X) == [["add", "multiply", "sqrt"]]


def test_merged_siblings() -> None:
    assert origins(lambda x: (x + 1, x * 2), X) == [["add", "multiply"]]


def test_equal_ops_are_counted_though_computed_once() -> None:
    assert origins(lambda x: (x + 1) * (x + 1), X) == [["add", "add", "multiply"]]


def test_recomputed_producers_stand_in_each_op() -> None:
    def function(x: Any) -> Any:
        e = np.exp(x)
        return e.sum(axis=1), e.max(axis=0)

    assert origins(function, X, fusion="aggressive") == [["exp", "sum"], ["exp", "max"]]


def test_the_sum_of_rows_keeps_them_and_the_sum_of_these_does_not() -> None:
    function = lambda x: (x * x).sum(axis=(0, 2))  # noqa: E731
    assert origins(function, np.zeros((2, 3, 4))) == [["multiply", "sum"], ["sum"]]


def test_without_fusion_each_op_is_its_own() -> None:
    assert origins(lambda x: np.sqrt(x + 1) * 2, X, fusion="none") == [
        ["add"],
        ["sqrt"],
        ["multiply"],
    ]


def test_base_names() -> None:
    assert [base_name(n) for n in ("exp", "exp+2", "softmax.exp+12", "a+b")] == [
        "exp",
        "exp",
        "softmax.exp",
        "a+b",
    ]
