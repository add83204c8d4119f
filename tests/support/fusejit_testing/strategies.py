"""Hypothesis strategies for affine expressions, maps and the graphs of `random_graphs`."""

from __future__ import annotations

from hypothesis import strategies as st

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit_testing.graphs.random_graphs import RandomProgram, random_graph

SYMBOLS = ("s0", "s1", "i0")
symbol_values = st.fixed_dictionaries({name: st.integers(1, 9) for name in SYMBOLS})


def affine_exprs(num_dims: int) -> st.SearchStrategy[AffineExpr]:
    """Expressions over ``num_dims`` dims and `SYMBOLS`, with quotients and remainders."""
    leaves = [
        st.integers(-9, 9).map(AffineExpr.const),
        st.sampled_from(SYMBOLS).map(AffineExpr.symbol),
    ]
    if num_dims:
        leaves += [st.integers(0, num_dims - 1).map(AffineExpr.dim)] * 2
    denominators: st.SearchStrategy[int | AffineExpr] = st.one_of(
        st.integers(1, 6), st.integers(-4, -1), st.sampled_from(SYMBOLS).map(AffineExpr.symbol)
    )

    def deeper(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        return st.one_of(
            st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
            st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
            st.tuples(inner, st.integers(-4, 4)).map(lambda p: p[0] * p[1]),
            st.tuples(inner, denominators).map(lambda p: p[0].floordiv(p[1])),
            st.tuples(inner, denominators).map(lambda p: p[0].mod(p[1])),
        )

    return st.recursive(st.one_of(leaves), deeper, max_leaves=6)


def indexing_maps(num_dims: int, rank: int | None = None) -> st.SearchStrategy[IndexingMap]:
    """Maps from ``num_dims`` dims to ``rank`` (or up to 4) axes."""
    results = st.lists(
        affine_exprs(num_dims), min_size=rank or 0, max_size=4 if rank is None else rank
    )
    return results.map(lambda exprs: IndexingMap(num_dims, tuple(exprs)))


def points(num_dims: int) -> st.SearchStrategy[list[int]]:
    """Points of a domain of ``num_dims`` dims."""
    return st.lists(st.integers(-20, 20), min_size=num_dims, max_size=num_dims)


def random_programs(num_ops: int = 8, stores: bool = True) -> st.SearchStrategy[RandomProgram]:
    """Graphs of `random_graph` with arguments."""
    seeds = st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: random_graph(seed, num_ops=num_ops, stores=stores))
