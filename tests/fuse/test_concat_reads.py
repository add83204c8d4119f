"""Ops that read joined arrays are cut into regions: when, into which, and when not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit.fuse.folding.concat_reads import split_concat_reads
from fusejit.ir.affine import AffineExpr
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.analysis.symbol_facts import SymbolFacts
from fusejit.ir.graph import Graph, Guard, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit_testing.oracle import check, decorate

X = np.arange(9.0) ** 2
M = np.arange(42.0).reshape(6, 7) ** 2


def fused(function: Any, *args: Any) -> str:
    return str(decorate(function, jit=False).trace(*args).fuse())


def local_buffers(function: Any, *args: Any) -> int:
    return len(re.findall(r"alloc @", fused(function, *args)))


def domains(function: Any, *args: Any) -> list[str]:
    return re.findall(r"domain (\(.*?\)) (?:ins|iterators|outs)", fused(function, *args))


def neighbours(x: Any) -> Any:
    return np.roll(x, 1) + np.roll(x, -1) - 2 * x


def wrapped(u: Any) -> Any:
    vertical = np.roll(u, 1, 0) + np.roll(u, -1, 0)
    return vertical + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def test_a_wrapped_stencil_has_an_inner_and_two_edges() -> None:
    assert sorted(domains(neighbours, X)) == ["()", "()", "(s0 - 2)"]
    assert local_buffers(neighbours, X) == 1  # the result
    check(neighbours, (X,), (X[:5],), (X[:2],), jit=True)


def test_a_wrapped_stencil_of_two_axes_has_nine_regions() -> None:
    assert len(domains(wrapped, M)) == 9
    assert domains(wrapped, M).count("(s0 - 2, s1 - 2)") == 1
    assert local_buffers(wrapped, M) == 1
    check(wrapped, (M,), (M[:2, :2].copy(),), jit=True)


def test_a_padded_stencil_reads_the_array_itself() -> None:
    def f(x: Any) -> Any:
        p = np.pad(x, 1, mode="edge")
        return p[2:] - 2 * p[1:-1] + p[:-2]

    def constant(x: Any) -> Any:
        p = np.pad(x, 1, constant_values=3)
        return p[2:] * p[:-2]

    for function in (f, constant):
        assert sorted(domains(function, X)) == ["()", "()", "(s0 - 2)"]
        check(function, (X,), (X[:4],))


def test_a_halo_written_as_concatenate() -> None:
    def f(x: Any) -> Any:
        p = np.concatenate((x[-1:], x, x[:1]))
        return p[2:] - p[:-2]

    assert sorted(domains(f, X)) == ["()", "()", "(s0 - 2)"]
    check(f, (X,), (X[:4],))


def test_computed_parts_fold_into_their_only_reader() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x * 2, y + 1)) * 3

    text = fused(f, X, X[:4])
    assert text.count(" = generic") == text.count("store @") == 2
    assert "load @b" not in text
    check(f, (X, X[:4]), (X[:3], X))


def test_computed_parts_with_several_readers_are_computed_once() -> None:
    def f(x: Any) -> Any:
        p = np.concatenate((np.exp(x[:1]), np.exp(x)))
        return p[1:] - p[:-1]

    assert fused(f, X).count("exp in") == 2
    check(f, (X / 99,), (X[:4] / 99,))


def test_a_result_that_is_stored_is_stored_region_by_region() -> None:
    def f(x: Any, y: Any) -> None:
        y[1:] = (np.roll(x, 1) - x)[1:]
        y[0] = -1

    def other(x: Any, y: Any) -> None:
        y[...] = np.roll(x, 1) - x

    text = fused(other, X, X.copy())
    assert "alloc" not in text
    assert text.count("store @y") == 2
    check(f, (X, X.copy()), (X[:4], X[4:8].copy()))
    check(other, (X, X.copy()), (X[:4], X[4:8].copy()), jit=True)


def test_a_result_stored_over_what_it_reads_is_computed_before() -> None:
    def f(u: Any, n: Any) -> None:
        u[...] = u + 0.25 * neighbours(u)
        u += n * neighbours(u)

    check(f, (X.copy(), 0.5), (X[:4].copy(), 2.0), jit=True)


def test_a_part_that_is_cut_itself_is_computed_before_what_reads_it() -> None:
    def f(x: Any, y: Any) -> Any:
        a = np.diff(np.where(x > y, x, y), prepend=0) + y
        return np.concatenate((a[:2] * 2, a[2:])) + x

    check(f, (X, X[::-1].copy()), (X[:5], X[4:9].copy()), variants=None)
    g = np.concatenate

    def direct(x: Any) -> Any:
        a = np.roll(x, 1) - x
        return g((a, x)) * 2

    check(direct, (X,), (X[:4],))


def test_regions_of_results_that_others_read() -> None:
    def f(x: Any) -> Any:
        a = np.roll(x, 1) - x
        b = a * np.roll(x, -1)
        return a, b, b + 1

    check(f, (X,), (X[:4],), jit=True)


# ---------------------------------------------------------------------------------------- refusals
def test_reductions_read_the_joined_array() -> None:
    def f(x: Any) -> Any:
        return ((np.roll(x, 1) - x) ** 2).sum()

    assert len(domains(f, X)) == 1
    check(f, (X,), (X[:4],))


def test_what_a_reduction_reads_is_not_cut() -> None:
    def f(u: Any) -> Any:
        a = np.roll(u, 1, axis=1) - u
        return a / a.max(axis=1, keepdims=True)

    assert "(1" not in str(domains(f, M + 1))
    check(f, (M + 1,), (M[:, :4] + 1,))


def test_a_joined_array_that_is_returned_is_read() -> None:
    def f(x: Any) -> Any:
        r = np.roll(x, 1)
        return r, r - x

    assert domains(f, X) == ["(s0)"]
    check(f, (X,), (X[:4],))


def test_bounds_of_unknown_order_are_not_cut() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.roll(x, n) - np.roll(x, -n)

    assert domains(f, X, 3) == ["(s0)"]
    check(f, (X, 3), (X, 2))


def test_a_roll_by_a_number_of_each_call_has_two_regions() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.roll(x, n) - x

    assert len(domains(f, X, 3)) == 2
    check(f, (X, 3), (X, 2), (X[:5], 0))


@pytest.mark.parametrize("axes", [(0, 1, 2)])
def test_more_than_nine_regions_are_not_cut(axes: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return sum(np.roll(x, s, axis) for axis in axes for s in (1, -1)) - x

    x = np.arange(60.0).reshape(3, 4, 5)
    assert domains(f, x) == ["(s0, s1, s2)"]
    check(f, (x,))


def test_arrays_that_are_stored_to_after_they_were_read_are_not_joined() -> None:
    def f(x: Any) -> Any:
        p = np.concatenate((x, x * 2))
        a = p[1:] - p[:-1]
        p[0] = 100
        return a + p[1:], p[:2] + 1

    check(f, (X,), (X[:4],))


def test_masked_stores_and_diagonals_are_no_parts() -> None:
    def f(x: Any) -> Any:
        p = np.concatenate((x, x))
        p[p > 9] = 1
        return p * 2, np.diag(x) * 2, np.diag(x, 1) - 1

    check(f, (X,), (X[:4],))


def test_later_stores_win() -> None:
    def f(x: Any) -> Any:
        p = np.concatenate((x, x[:2]))
        p[1:3] = x[:2]
        p[-1] = 5
        return p * 2 + 1

    check(f, (X,), (X[:5],), variants=None, jit=True)


def test_graphs_without_joined_arrays_are_left_as_they_are() -> None:
    graph = decorate(lambda x: x + 1, jit=False).trace(X).graph
    assert split_concat_reads(graph) is graph
    stored = decorate(lambda x: np.diag(x) * 2, jit=False).trace(X).graph
    assert split_concat_reads(stored) is stored


def test_without_fusion_nothing_is_cut() -> None:
    from fusejit import fuse_jit

    made = fuse_jit(neighbours, fusion="none").trace(X).fuse()
    assert "(s0 - 2)" not in re.findall(r"domain (\(.*?\))", str(made))


# ------------------------------------------------------------------------------------------- facts
def expr(text: str) -> AffineExpr:
    return parse_affine_expr(text)


def graph_of(*guards: tuple[str, str, int, bool]) -> Graph:
    """Sizes s0, s1, an argument k, and guards ``op(name, number) is expected``."""
    x = Path("arg", "x")
    graph = Graph("g")
    graph.symbols = [
        HostSymbol("s0", HostExpr.size(x, 0)),
        HostSymbol("s1", HostExpr.size(x, 1)),
        HostSymbol("k", HostExpr.path(Path("arg", "k"))),
    ]
    for op, name, number, expected in guards:
        sides = (HostExpr.named(name), HostExpr.const(number))
        graph.guards.append(Guard(HostExpr(op, sides), expected))
    return graph


@pytest.mark.parametrize(
    ("guards", "known", "unknown"),
    [
        (
            (),
            ["s0", "s0 + s1", "s0 floordiv 2", "s0 mod 3", "2 - s0 mod 3"],
            ["s0 - 1", "k", "-s0"],
        ),
        ((("ge", "s0", 2, True),), ["s0 - 2", "s0 + s1 - 1"], ["s0 - 3", "k"]),
        ((("ge", "s0", 2, False),), ["1 - s0", "2 - s0"], ["-s0", "s0 - 1"]),
        ((("gt", "k", 2, True),), ["k - 3", "k + s0 - 3"], ["k - 4"]),
        ((("lt", "k", 2, True),), ["1 - k"], ["-k", "k"]),
        ((("le", "k", 2, False),), ["k - 3"], ["k - 4"]),
        ((("eq", "s0", 0, False),), ["s0 - 1"], ["s0 - 2"]),
        ((("eq", "k", 4, True),), ["k - 4", "4 - k"], ["k - 5"]),
        ((("ge", "k", 1, True), ("le", "k", 9, True)), ["k - 1", "9 - k", "10 - k"], ["8 - k"]),
    ],
)
def test_facts(guards: Any, known: list[str], unknown: list[str]) -> None:
    facts = SymbolFacts(graph_of(*guards))
    for text in known:
        assert facts.is_nonnegative(expr(text)), text
    for text in unknown:
        assert not facts.is_nonnegative(expr(text)), text


def test_facts_about_remainders() -> None:
    graph = graph_of(("ge", "s0", 1, True))
    parts = (HostExpr.named("k"), HostExpr.named("s0"))
    graph.symbols.append(HostSymbol("r", HostExpr("mod", parts)))
    facts = SymbolFacts(graph)
    assert facts.is_nonnegative(expr("r"))
    assert facts.is_nonnegative(expr("s0 - r - 1"))
    assert not facts.is_nonnegative(expr("s0 - r - 2"))


def test_rolls_of_rolls_read_the_array_itself() -> None:
    def f(u: Any) -> Any:
        return sum(np.roll(np.roll(u, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1))

    assert local_buffers(f, M) == 1
    assert len(domains(f, M)) == 9
    check(f, (M,), (M[:4, :3].copy(),))
