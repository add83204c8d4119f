"""What reshapes are traced to: aliases, affine maps, reshapes of values; and what they guard."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from fusejit.errors import NeedsPython
from fusejit.ir.ops import Alias, GenericOp, ReshapeOp
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.ir.values import View
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback


def grid(*shape: int) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape)


def graph_of(function: Any, *args: Any) -> Any:
    graph = trace_function(function, args, {}).graph
    text = print_graph(graph)
    assert print_graph(parse_graph(text)) == text
    return graph


def body_of(function: Any, *args: Any) -> str:
    lines = print_graph(graph_of(function, *args)).splitlines()
    return textwrap.dedent("\n".join(lines[lines.index("{") + 1 : -1]))


def test_a_store_through_a_reshape_goes_to_an_alias() -> None:
    def f(x: Any) -> None:
        x.reshape(-1)[1:] = 0.0

    assert body_of(f, grid(4, 6)) == textwrap.dedent(
        """\
        %v0 = generic "full" domain (s2 - 1) ins () outs (write) { t0 = const 0.0 : f64; yield t0 } : (s2 - 1) x f64
        alias @x_r : s2 x f64 of @x collapse [[0, 1]] class 0
        store @x_r v1 [(d0) -> (d0 + 1)] (s2 - 1) = %v0
        return"""  # noqa: E501
    )


def test_a_slice_of_the_first_axis_merges_with_an_offset() -> None:
    def f(x: Any) -> Any:
        return x[2:].reshape(-1)

    assert body_of(f, grid(4, 6)) == textwrap.dedent(
        """\
        alias @x_r : s2 x f64 of @x collapse [[0, 1]] class 0 readonly
        return @x_r [(d0) -> (d0 + 2 * s1)] (-2 * s1 + s2)"""
    )


def test_a_split_by_constants_is_an_affine_map() -> None:
    def f(x: Any) -> Any:
        return x.reshape(x.shape[0] // 2, 2, x.shape[1] // 3, 3)

    graph = graph_of(f, grid(4, 6))
    (result,) = graph.results
    assert isinstance(result, View)
    assert str(result.map) == "(d0, d1, d2, d3) -> (2 * d0 + d1, 3 * d2 + d3)"
    assert [str(g.expr) for g in graph.guards] == ["eq(s0, mul(s4, 2))", "eq(s1, mul(s5, 3))"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(-1) + 1,
        lambda x: x.reshape(x.shape[0] * x.shape[1], -1) + 1,
        lambda x: x.reshape(x.shape[2], x.shape[0], x.shape[1]) + 1,
        lambda x: (x + 1).reshape(-1).reshape(x.shape),
        lambda x: x[:, 1:].reshape(-1) + 1,
        lambda x: x.reshape(x.size) + 1,
    ],
)
def test_equal_polynomials_need_no_guard(function: Any) -> None:
    reasons = {g.reason for g in graph_of(function, grid(2, 4, 6)).guards}
    assert reasons <= {
        "a size of 0 leaves -1 undetermined",
        "a slice does not end before it starts",
        "an axis of length 1 has no stride",
        "",
    }


def test_sizes_that_have_to_divide_are_guarded() -> None:
    graph = graph_of(lambda x: x.reshape(-1, 5) + 1, grid(4, 10))
    assert [str(g.expr) for g in graph.guards] == ["eq(mul(s3, 5), s2)"]


def test_a_reshape_back_is_the_array_again() -> None:
    graph = graph_of(lambda x: x.reshape(-1).reshape(x.shape) + 1, grid(4, 6))
    assert not any(isinstance(op, ReshapeOp | Alias) for op in graph.block.ops)


def test_where_numpy_copies_there_is_a_copy() -> None:
    graph = graph_of(lambda x: x.T.reshape(-1) + 1, grid(4, 6))
    names = [op.name for op in graph.block.ops if isinstance(op, GenericOp)]
    assert names == ["copy", "add"]


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        (lambda x: x[:, ::2].T.reshape(2, -1, 4), "cannot reshape"),
        (lambda x: x.reshape(5, -1), "not divisible"),
        (lambda x: x.reshape(-1, -1), "one unknown dimension"),
        (lambda x: x.reshape(x.shape[0] + 1, x.shape[1]), "cannot reshape"),
        (lambda x: np.reshape(x.T, -1, copy=False), "unable to avoid creating a copy"),
        (lambda x: x[:, 2:].reshape(x.shape[0], 2, -1), "was copied"),
    ],
)
def test_declined(function: Any, cause: str) -> None:
    with pytest.raises(Fallback, match=cause):
        trace_function(function, (grid(4, 6),), {})


def test_of_a_broadcast_array() -> None:
    with pytest.raises(NeedsPython, match="broadcast array"):
        trace_function(lambda x: np.broadcast_to(x[0, 0], x.shape).reshape(-1), (grid(4, 6),), {})


def test_a_copied_view_is_not_read_after_a_store_to_its_base() -> None:
    def f(x: Any) -> Any:
        parts = x[::-1].reshape(x.shape[0], 2, x.shape[1] // 2)
        flat = x[:, ::-1].reshape(x.shape[0], x.shape[1] // 3, -1)
        x[0] = 1.0
        return parts + 1, flat + 1

    with pytest.raises(Fallback, match="read after a store to its base"):
        trace_function(f, (grid(4, 6),), {})
