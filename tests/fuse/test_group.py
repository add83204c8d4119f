"""Grouping: which ops share outer loops, along which dims, and what stays in tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit, pipeline
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.grouping.group import form_groups
from fusejit.fuse.tiling import tile_groups
from fusejit.ir.execution_plan import FusionReport, Group, KernelStep
from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.verifier.verify import verify
from fusejit_testing.compare import Bound, assert_same, assert_same_results
from fusejit_testing.graphs.random_graphs import random_graph
from fusejit_testing.oracle import decorate

F64 = np.arange(12.0).reshape(3, 4)


def groups_of(function: Callable[..., Any], *args: Any) -> tuple[Group, ...]:
    steps = fuse_jit(function).trace(*args).fuse().schedule.steps
    return tuple(g for s in steps if isinstance(s, KernelStep) for g in s.groups)


def text(group: Group) -> str:
    """``op dims, op dims; in tiles: names of the ops whose results are local``."""
    parts = [
        f"{op.name} {' '.join(f'd{d}' for d in dims)}"
        for op, dims in zip(group.ops, group.shared_dims, strict=True)
    ]
    makers = [op.name for op in group.ops if any(r in group.local for r in op.results)]
    return f"{', '.join(parts)}; in tiles: {', '.join(makers)}"


# ------------------------------------------------------------------------------------ user programs
def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def log_softmax(x: Any) -> Any:
    z = x - np.max(x, axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def layer_norm(x: Any) -> Any:
    d = x - x.mean(axis=-1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5)


def rms_norm(x: Any) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


def standardise(x: Any) -> Any:
    d = x - x.mean(axis=0)
    return d / np.sqrt((d * d).mean(axis=0))


def softmax_of_columns(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True)


def row_statistics(x: Any) -> Any:
    """Siblings over one array: some results are handed out, some only read inside."""
    total, e = x.sum(axis=-1), np.exp(x)
    return total, e, e.max(axis=-1), (e * total[..., None]).sum(axis=-1)


def both_ways(x: Any) -> Any:
    """Groups by columns and by rows in one function, with a view of a group's own value."""
    centred = np.sqrt(abs(x - x.mean(axis=-2, keepdims=True)))
    weights = centred.sum(axis=-2)
    return centred / weights[..., None, :] - x, centred.T.sum(axis=0)


BY_ROWS = [softmax, log_softmax, layer_norm, rms_norm, row_statistics]
PROGRAMS = [*BY_ROWS, standardise, softmax_of_columns, both_ways]


def test_softmax_is_one_group_with_its_intermediates_in_tiles() -> None:
    (group,) = groups_of(softmax, F64)
    assert text(group) == "max d0, exp+1 d0, sum d0, divide d0; in tiles: max, exp+1, sum"


def test_layer_norm_is_one_group() -> None:
    (group,) = groups_of(layer_norm, F64)
    assert set(group.shared_dims) == {(0,)}
    assert len(group.local) == len(group.ops) - 1


def test_columns_are_a_band_too() -> None:
    (group,) = groups_of(standardise, F64)
    assert group.shared_dims == ((1,), (0,), (1,), (0,), (1,))


def test_sums_over_two_axes_join() -> None:
    def centred(x: Any) -> Any:
        return x - x.mean(axis=(-2, -1), keepdims=True)

    (group,) = groups_of(centred, np.zeros((2, 3, 4)))
    assert text(group) == ("mean d0, mean d0, subtract d0; in tiles: mean, mean")
    x = np.random.default_rng(0).random((5, 6, 7))
    assert_same(centred(x), decorate(centred, jit=False)(x))


def test_batched_rows_have_two_bands() -> None:
    (group,) = groups_of(softmax, np.zeros((2, 3, 4)))
    assert set(group.shared_dims) == {(0, 1)}


def test_results_are_not_local() -> None:
    (group,) = groups_of(row_statistics, F64)
    assert not set(group.local) & set(fuse_jit(row_statistics).trace(F64).graph.results)
    assert text(group).endswith("in tiles: ")


# --------------------------------------------------------------------------------- what must not be
def rows_then_columns(x: Any) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=1).sum()


def of_the_neighbour(x: Any) -> Any:
    e = np.exp(x)
    return e[1:] / e.sum(axis=1, keepdims=True)[:-1]


def transposed_reader(x: Any) -> Any:
    e = np.exp(x)
    return e + e.T.max(axis=1, keepdims=True)


def store_between(x: Any) -> Any:
    e = np.exp(x)
    x[0] = 1
    return e / x.max(axis=1, keepdims=True), e.sum(axis=1)


def small_next_to_large(x: Any) -> Any:
    return x.sum(axis=1) / 3 + 1


def through_a_reshape(x: Any) -> Any:
    e = np.exp(x)
    pairs = e.reshape(2, -1).sum(axis=1)
    return e / e.sum(axis=1, keepdims=True), pairs, e.reshape(-1, 2).max(axis=0)


@pytest.mark.parametrize(
    ("function", "forbidden"),
    [
        # everything is needed before anything can be divided
        (rows_then_columns, [("exp", "divide")]),
        # element (i, j) reads the maximum of column i
        (transposed_reader, [("max", "add")]),
        # axes that were merged are no bands
        (through_a_reshape, [("exp", "max")]),
        # the maximum sees the store, the exponential does not
        (store_between, [("exp", "divide"), ("exp", "max")]),
    ],
)
def test_ops_that_must_stay_apart(
    function: Callable[..., Any], forbidden: list[tuple[str, str]]
) -> None:
    x = np.random.default_rng(0).random((4, 4))
    for group in groups_of(function, x.copy()):
        names = {part for op in group.ops for part in op.name.split("+")}
        for pair in forbidden:
            assert not names.issuperset(pair), text(group)
    assert_same(function(x.copy()), decorate(function, jit=False)(x.copy()), Bound(ulps=8))


def test_a_value_per_row_is_not_worth_a_group() -> None:
    assert groups_of(small_next_to_large, F64) == ()


# -------------------------------------------------------------------------------------------- halos
def smooth_thrice(x: Any) -> Any:
    a = np.sqrt(0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:])  # expensive: not computed three times
    b = np.sqrt(0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:])
    return 0.25 * b[:-2] + 0.5 * b[1:-1] + 0.25 * b[2:]


def smooth_plane(u: Any) -> Any:
    a = np.sqrt(u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]


def sums_of_neighbouring_rows(u: Any) -> Any:
    weights = np.exp(u).sum(axis=1)
    return u[1:-1] / (weights[:-2] + weights[2:])[:, None]


def the_middle_is_handed_out(x: Any) -> Any:
    a = np.exp(x[1:]) - np.exp(x[:-1])
    return a, np.exp(a[1:]) - np.exp(a[:-1])


def in_place_with_neighbours(x: Any) -> Any:
    a = np.sqrt(x[1:]) + np.sqrt(x[:-1])
    x[1:-1] = np.sqrt(a[1:]) * np.sqrt(a[:-1])


def halos(function: Callable[..., Any], *args: Any) -> list[str]:
    return [str(g.halos) for g in groups_of(function, *args)]


def test_ops_run_as_far_around_a_tile_as_they_are_read() -> None:
    assert halos(smooth_thrice, np.ones(20)) == ["(((0, 4),), ((0, 2),), ((0, 0),))"]
    # rows alone are cut: tiles with halos on all sides would compute too much twice
    assert halos(smooth_plane, np.ones((9, 9))) == ["(((0, 2),), ((0, 0),))"]


def test_what_leaves_the_group_has_no_halo() -> None:
    for group in groups_of(the_middle_is_handed_out, np.ones(9)):
        assert set(group.halos) == {((0, 0),)}


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (smooth_thrice, (7,)),
        (smooth_thrice, (30_001,)),
        (smooth_plane, (6, 900)),
        (smooth_plane, (900, 6)),
        (smooth_plane, (70, 5000)),
        (of_the_neighbour, (300, 40)),
        (sums_of_neighbouring_rows, (3, 3)),
        (sums_of_neighbouring_rows, (2000, 17)),
        (the_middle_is_handed_out, (9001,)),
        (in_place_with_neighbours, (9001,)),
    ],
)
def test_tiles_with_halos(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).random(shape)
    for each in (x, x[::-1], np.asfortranarray(x)):
        fused = decorate(function, jit=max(shape) > 1000, fullgraph=True)
        one, other = each.copy(), each.copy()
        assert_same(function(one), fused(other), Bound(ulps=64, absolute=1e-12))
        assert_same(one, other, Bound(ulps=64))


# ------------------------------------------------------------------------------------------- stores
def centre_in_place(x: Any) -> Any:
    x -= x.mean(axis=1, keepdims=True)


def softmax_into_a_part(x: Any) -> Any:
    out = np.zeros((x.shape[0] + 2, x.shape[1]))
    e = np.exp(x)
    out[1:-1] = e / e.sum(axis=1, keepdims=True)
    return out


def rows_in_reverse(x: Any) -> Any:
    e = np.exp(x)
    x[::-1] = e / (e.sum(axis=1, keepdims=True) + x.max(axis=1, keepdims=True))


def shifted_rows(x: Any) -> Any:
    e = np.exp(x[:-1])
    x[1:] = e / e.sum(axis=1, keepdims=True)


def read_again_afterwards(x: Any) -> Any:
    e = np.exp(x)
    total = e.sum(axis=1, keepdims=True)
    y = x.T * 2
    x[...] = e / total
    return y, x.sum(axis=1)


def columns_into_rows(x: Any) -> Any:
    e = np.exp(x.T)
    x[...] = e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("function", "stores"),
    [
        (centre_in_place, True),
        (softmax_into_a_part, True),
        (rows_in_reverse, False),
        (shifted_rows, False),
        (read_again_afterwards, False),
        (columns_into_rows, False),
    ],
)
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_stores_of_groups(function: Callable[..., Any], stores: bool, jit: bool) -> None:
    """A tile is stored at once where no other tile reads it, and only there."""
    x = np.random.default_rng(0).random((150, 150))
    groups = groups_of(function, x.copy())
    assert any(g.store is not None for g in groups) == stores
    fused = decorate(function, jit=jit, fullgraph=True)
    one, other = x.copy(), x.copy()
    assert_same(function(one), fused(other), Bound(ulps=64))
    assert_same(one, other, Bound(ulps=64, absolute=1e-15))


# ------------------------------------------------------------------------------------ equal results
def without_groups(graph: Graph, *how: Any) -> Graph:
    return graph


SHAPES = [(1, 1), (3, 200), (300, 3), (1, 9), (129, 1), (70, 90), (2, 3000), (0, 4), (5, 2, 33)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
def test_bits_do_not_depend_on_grouping(
    program: Callable[..., Any], jit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles of many rows, of one row and of everything; every layout."""
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(s) for s in SHAPES if program in BY_ROWS or s[0] > 0]
    if jit:  # one compilation each
        inputs = [x for x in inputs if x.ndim == 2 and min(x.shape) > 1]
    else:
        inputs += [x[::-1] for x in inputs] + [np.asfortranarray(x) for x in inputs]
    grouped = decorate(program, jit=jit, fullgraph=True)
    results = [grouped(x) for x in inputs]
    monkeypatch.setattr(pipeline, "form_groups", without_groups)
    apart = decorate(program, jit=jit, fullgraph=True)
    for x, result in zip(inputs, results, strict=True):
        assert_same(apart(x), result)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@example(seed=369, tile=1)  # reads what was there before a store in front of the group
def test_grouping_keeps_the_meaning_of_random_graphs(seed: int, tile: int) -> None:
    program = random_graph(seed, num_ops=12)
    graph = canonicalize(program.graph)

    def outcome(of: Graph) -> list[object]:
        arguments = program.fresh_arguments()
        return [*interpret(of, argument_paths(arguments)), *arguments.values()]

    report = FusionReport()
    after, groups = form_groups(graph, report), report.grouped
    with mock.patch.multiple(tile_groups, TILE_POINTS=tile, STRIP_POINTS=tile, STRIP_COLUMNS=2):
        tiled = tile_groups.tile_groups(after, groups)
    verify(tiled)
    assert_same_results(outcome(tiled), outcome(graph))
    assert (after is graph) == (not groups)
    verify(after)
    assert sorted(map(id, after.block.ops)) == sorted(map(id, graph.block.ops))
    assert_same_results(outcome(after), outcome(graph))
