"""Values that are computed where a loop stores them, and read there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.bufferize.bufferization import assign_buffers
from fusejit_testing.oracle import check


def rows_and_their_sums(x: Any) -> Any:
    out, sums = np.empty_like(x), np.empty(len(x))
    for i in range(len(x)):
        row = np.sqrt(x[i])
        out[i] = row
        sums[i] = row.sum()
    return out, sums


def steps_until_small(x: Any) -> Any:
    out = np.zeros_like(x)
    left = x.sum()
    while left > 1e-3:
        x = x * 0.25
        out[:] = x + 1
        left = x.sum()
    return out


def read_before_it_is_stored(x: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        row = np.sqrt(x[i]) + 1
        before = out[i].sum() + out[i - 1].sum()
        out[i] = row
        out[i, 0] = before + row[1]
    return out


def stored_twice(x: Any) -> Any:
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        row = np.sqrt(x[i])
        out[i] = row
        out[i - 1] = 2 * row
        out[0, 0] += row.sum()
    return out


def of_the_caller(x: Any) -> Any:
    for i in range(1, len(x)):
        row = np.sqrt(x[i]) + x[i - 1]
        x[i] = row
        x[i, 0] = row.sum()
    return x


def made_after_the_value(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        row = np.sqrt(x[i])
        out = np.empty_like(x)
        out[0] = row
        total += row.sum() + out[0, 1]
    return total


def read_by_a_host_call(x: Any) -> Any:
    out, sums = np.empty_like(x), np.empty(len(x))
    for i in range(len(x)):
        row = np.sqrt(x[i])
        spectrum = np.fft.fft(row)
        out[i] = row
        sums[i] = spectrum[0].real + row.sum()
    return out, sums


def stored_before_a_host_call(x: Any) -> Any:
    out, sums = np.empty_like(x), np.empty(len(x))
    for i in range(len(x)):
        row = np.sqrt(x[i]) + 1
        out[i] = row
        sums[i] = np.linalg.norm(np.linalg.inv(x @ x.T + np.eye(len(x)) + 0j)) + (row * row).sum()
    return out, sums


def stored_from_the_end(x: Any) -> Any:
    out, sums, i = np.empty_like(x), np.empty(len(x)), 0
    while i < len(x):
        row = np.sqrt(x[i])
        out[-1 - i] = row
        sums[i] = row.sum()
        i += 1
    return out, sums


def stored_at_elements(x: Any, places: Any) -> Any:
    out, total = np.empty_like(x), 0.0
    for i in range(len(x)):
        row = np.sqrt(x[i])
        out[places[i]] = row
        total += row.sum()
    return out, total


@pytest.mark.parametrize(
    ("function", "at_home"),
    [
        (rows_and_their_sums, ["sqrt"]),
        (read_before_it_is_stored, []),
        (stored_twice, []),
        (of_the_caller, []),
        (made_after_the_value, []),
        (read_by_a_host_call, []),
        (stored_before_a_host_call, []),
        (stored_from_the_end, []),
    ],
)
def test_where_rows_live(function: Callable[..., Any], at_home: list[str]) -> None:
    x = np.random.default_rng(0).random((5, 4))
    assignment = assign_buffers(fuse_jit(function).trace(x).fuse().graph)
    assert [assignment.defining[v].name for v in assignment.homes] == at_home  # type: ignore[attr-defined]
    check(
        function,
        (x.copy(),),
        (x[:1].copy(),),
        (x[:, ::-1].copy(),),
        (np.asfortranarray(x),),
        variants=None,
    )


def test_a_copy_less_in_a_loop() -> None:
    x = np.random.default_rng(0).random((5, 4))
    source = fuse_jit(rows_and_their_sums).trace(x).fuse().lower().source
    assert "# sqrt\n" in source
    assert "# store" not in source
    check(steps_until_small, (x,), (x * 1e-9,), variants=None)


def test_an_index_is_checked_before_the_row_is_written() -> None:
    x = np.random.default_rng(0).random((5, 400))
    graph = fuse_jit(stored_at_elements).trace(x, np.arange(5)).fuse().graph
    assert not assign_buffers(graph).homes
    calls = [
        (x, np.array(places)) for places in ([4, 2, 0, 1, 3], [0, 1, 2, 3, -9], [5, 1, 2, 3, 4])
    ]
    check(stored_at_elements, *calls, variants=None)
