"""Symbols in a block are replaced wherever they stand: the text is that with other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.dataclass import replace
from fusejit.fuse.new_names import symbols_defined
from fusejit.fuse.substitute_symbols import SymbolSubstitution
from fusejit.ir.affine import AffineExpr
from fusejit.ir.text.printer import print_graph
from fusejit.ir.verifier.verify import verify
from fusejit.options import options_from_environment
from fusejit.transform import schedule


def numbers(a: Any, n: Any, k: Any) -> Any:
    t = np.zeros(a.shape[0])
    for i in range(k):
        t[n[i]] += a[i] * i
        t[: i + 1] = a[: i + 1] * 2 + t[: i + 1]
    return t


def scattered(a: Any, n: Any, k: Any) -> Any:
    t = np.zeros((a.shape[0], 4))
    for i in range(k):
        t[n, i % 4] = a[i]
        np.add.at(t[:, 0], n, a[i : i + 1])
        t[0, 0] = np.unique(a[: i + 1]).sum()
    return t


def local(a: Any, n: Any, k: Any) -> Any:
    for i in range(1, k):
        t = np.zeros((i, 3))
        t[:, 1] = a[:i]
        t[:, 2] = t[:, 1] * i
        a[:i] = t.sum(axis=1)
    return a


@pytest.mark.parametrize("function", [numbers, scattered, local])
def test_other_names(function: Callable[..., Any]) -> None:
    options = options_from_environment(fullgraph=False)
    graph = schedule(function, np.ones(9), np.array([1, 2, 3]), 3, options=options).graph
    names = sorted(symbols_defined(graph.block))
    assert names
    new = {name: AffineExpr.symbol(f"b{name}") for name in names}
    substitution = SymbolSubstitution(new)
    block = substitution.block(graph.block)
    buffers = [substitution.buffers.get(b, b) for b in graph.buffers]
    renamed = replace(graph, block=block, buffers=buffers)
    verify(renamed)
    expected = print_graph(graph)
    for name in reversed(names):
        expected = expected.replace(name, f"b{name}")
    assert print_graph(renamed) == expected


def test_what_does_not_mention_the_symbol_stays() -> None:
    graph = schedule(lambda a: np.exp(a) + 1, np.ones(3)).graph
    substitution = SymbolSubstitution({"i0": AffineExpr.const(3)})
    ops = substitution.block(graph.block).ops
    assert [op.results for op in ops] == [op.results for op in graph.block.ops]
    assert not substitution.values
