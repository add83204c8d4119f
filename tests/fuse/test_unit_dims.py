# ruff: noqa: E501
"""Dims of extent 1 are dropped, so that they keep nothing apart; the bits stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.folding.driver import fold_producers
from fusejit.fuse.folding.siblings import merge_siblings
from fusejit.fuse.reshaping.unit_dims import drop_unit_dims, unit_dims
from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import interpret
from fusejit.ir.ops import GenericOp, walk
from fusejit.ir.types import IteratorType
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import assert_same_results
from fusejit_testing.fold_policies import fold_always
from fusejit_testing.graphs.graph_launcher import launcher
from fusejit_testing.graphs.random_graphs import random_graph
from fusejit_testing.oracle import check

Parse = Callable[[str], Graph]
Becomes = Callable[[Callable[[Graph], Graph], str, str], None]


def num_ops(graph: Graph) -> int:
    return sum(isinstance(op, GenericOp) for op in graph.block.ops)


def test_parallel_dims(becomes: Becomes) -> None:
    becomes(
        drop_unit_dims,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "ramp" domain (s0, 1) ins (%x [(d0, d1) -> (d0 + d1)]) outs (write [(d0, d1) -> (d1, d0)]) { t0 = index (d0 + 2 * d1) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : 1 x s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "ramp" domain (s0) ins (%x) outs (write [(d0) -> (0, d0)]) { t0 = index (d0) : i64; t1 = cast t0 : f64; t2 = add in0, t1 : f64; yield t2 } : 1 x s0 x f64
        return %r
        """,
    )


def test_operands_that_are_equal_then_are_read_once(becomes: Becomes) -> None:
    becomes(
        drop_unit_dims,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "add" domain (1, s0) ins (%x [(d0, d1) -> (d1)], %x [(d0, d1) -> (d0 + d1)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : 1 x s0 x f64
        return %r
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "add" domain (s0) ins (%x) outs (write [(d0) -> (0, d0)]) { t0 = add in0, in0 : f64; yield t0 } : 1 x s0 x f64
        return %r
        """,
    )


def test_a_reduction_beside_another_one_goes_and_the_last_one_stays(becomes: Becomes) -> None:
    becomes(
        drop_unit_dims,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "sum" domain (1, s0, 1) iterators (reduction, reduction, parallel) ins (%x [(d0, d1, d2) -> (d1)]) outs (add [(d0, d1, d2) -> (d2)]) { yield in0 } : 1 x f64
        %q = generic "sum" domain (1, s0, 1) iterators (reduction, parallel, reduction) ins (%x [(d0, d1, d2) -> (d1)]) outs (add [(d0, d1, d2) -> (d1)]) { yield in0 } : s0 x f64
        return %r, %q
        """,
        """
        %x = load @x v0 : s0 x f64
        %r = generic "sum" domain (s0) iterators (reduction) ins (%x) outs (add [(d0) -> (0)]) { yield in0 } : 1 x f64
        %q = generic "sum" domain (s0, 1) iterators (parallel, reduction) ins (%x [(d0, d1) -> (d0)]) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
        return %r, %q
        """,
    )


def test_sequential_dims_and_library_calls_stay(becomes: Becomes) -> None:
    body = """
        %m = load @m v0 : s0 x s1 x f64
        %z = load @z v0 : s1 x f64
        %r = generic "matvec" domain (1, s1) iterators (parallel, reduction) ins (%m, %z [(d0, d1) -> (d1)]) outs (add [(d0, d1) -> (d0)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : 1 x f64
        return %r
        """
    becomes(drop_unit_dims, body, body)


def test_siblings_that_differ_in_such_a_dim_are_merged(parse: Parse) -> None:
    graph = parse(
        """
        %x = load @x v0 : s0 x f64
        %p = generic "sqrt" domain (s0, 1) ins (%x [(d0, d1) -> (d0)]) outs (write) { t0 = sqrt in0 : f64; yield t0 } : s0 x 1 x f64
        %q = generic "square" domain (s0) ins (%x) outs (write) { t0 = multiply in0, in0 : f64; yield t0 } : s0 x f64
        return %p, %q
        """
    )
    assert num_ops(merge_siblings(graph)) == 2
    assert num_ops(merge_siblings(drop_unit_dims(graph))) == 1


def test_a_producer_that_repeats_its_write_along_such_a_dim_folds(parse: Parse) -> None:
    graph = parse(
        """
        %x = load @x v0 : s0 x f64
        %p = generic "negative" domain (1, s0) ins (%x [(d0, d1) -> (d1)]) outs (write [(d0, d1) -> (d1)]) { t0 = negative in0 : f64; yield t0 } : s0 x f64
        %c = generic "sqrt" domain (s0) ins (%p) outs (write) { t0 = sqrt in0 : f64; yield t0 } : s0 x f64
        return %c
        """
    )
    assert num_ops(fold_producers(graph, control=fold_always)) == 2
    assert num_ops(fold_producers(drop_unit_dims(graph), control=fold_always)) == 1


def test_a_dropped_dim_is_folded_through(parse: Parse) -> None:
    graph = drop_unit_dims(
        parse(
            """
            %x = load @x v0 : s0 x f64
            %m = load @m v0 : s0 x s1 x f64
            %p = generic "negative" domain (s0, 1) ins (%x [(d0, d1) -> (d0)]) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x 1 x f64
            %c = generic "add" domain (s0, s1) ins (%m, %p [(d0, d1) -> (d0, 0)]) outs (write) { t0 = add in0, in1 : f64; yield t0 } : s0 x s1 x f64
            return %c
            """
        )
    )
    assert num_ops(fold_producers(graph, control=fold_always)) == 1


def columns(x: np.ndarray) -> object:
    mean = x.mean(axis=1, keepdims=True)
    spread = np.abs(x - mean).max(axis=1, keepdims=True)
    return mean, np.sqrt(spread), spread[:, 0] + 1, (x - mean) / spread


def rows_of_one(x: np.ndarray) -> object:
    one = x[None, :, None]
    return one + 1, (one * 2).sum(axis=(0, 2)), (one - x[None, :, None].max()).ravel(), one.T


@pytest.mark.parametrize("function", [columns, rows_of_one])
def test_functions_have_the_bits_and_strides_of_numpy(function: Callable[..., object]) -> None:
    shape = (7, 5) if function is columns else 6
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float64)  # sums are exact
    check(function, (x,), (x[::-1],), variants=None)
    graph = fuse_jit(function).trace(x).fuse().graph
    assert not any(unit_dims(op) for op in walk(graph.block) if isinstance(op, GenericOp))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_graphs_keep_their_bits_and_lose_every_such_dim(seed: int) -> None:
    program = random_graph(seed, num_ops=10)
    graph = canonicalize(program.graph)
    result = drop_unit_dims(graph)
    verify(result)
    assert drop_unit_dims(result) is result
    for op in walk(result.block):
        if isinstance(op, GenericOp) and IteratorType.SEQUENTIAL not in op.iterators:
            units = [d for d, e in enumerate(op.domain) if e.as_constant() == 1]
            assert len(units) <= 1
            assert set(units) <= set(op.reduction_dims)
    if result is graph:
        return
    arguments, again = program.fresh_arguments(), program.fresh_arguments()
    expected = interpret(graph, lambda path: arguments[path.name])
    assert_same_results(interpret(result, lambda path: again[path.name]), expected)
    assert_same_results(list(again.values()), list(arguments.values()))


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_kernels_write_through_zeros(parse: Parse, jit: bool) -> None:
    graph = parse(
        """
        %x = load @x v0 : s0 x f64
        %m = load @m v0 : s0 x s1 x f64
        %p = generic "sqrt" domain (1, s0, 1) ins (%x [(d0, d1, d2) -> (d1)]) outs (write [(d0, d1, d2) -> (d2, d1, d0)]) { t0 = absolute in0 : f64; t1 = sqrt t0 : f64; yield t1 } : 1 x s0 x 1 x f64
        %s = generic "sum" domain (s0, 1, s1, 1) iterators (parallel, parallel, reduction, reduction) ins (%m [(d0, d1, d2, d3) -> (d0, d2)]) outs (add [(d0, d1, d2, d3) -> (d1, d0)]) { yield in0 } : 1 x s0 x f64
        %q = generic "one" domain (1, 1) ins (%x [(d0, d1) -> (d0 + d1)]) outs (write) { t0 = negative in0 : f64; yield t0 } : 1 x 1 x f64
        return %p, %s, %q
        """
    )
    rng = np.random.default_rng(2)
    arrays = {b.name: np.zeros((), b.type.dtype) for b in graph.buffers}
    arrays |= {"m": rng.normal(size=(5, 200)), "w": np.zeros((5, 200)), "z": np.zeros(200)}
    arrays |= {"x": rng.normal(size=5), "y": np.zeros(5)}
    expected = interpret(graph, lambda path: arrays[path.name])
    for fusion in ("none", "aggressive"):
        made = launcher(graph, jit=jit, fusion=fusion)(*arrays.values())
        assert_same_results(made, expected, f"{fusion}: ")
