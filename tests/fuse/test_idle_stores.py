# ruff: noqa: E501
"""Stores of what is there already: ``u[1:] -= v`` stores once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fusejit import fuse_jit
from fusejit.fuse.canonical.stale_loads import drop_idle_stores
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Store, walk

Becomes = Callable[[Callable[[Graph], Graph], str, str], None]

NEG = '%n = generic "negative" domain (s0) ins (%x) outs (write) { t0 = negative in0 : f64; yield t0 } : s0 x f64'


def test_a_store_of_what_was_just_loaded_from_there_is_dropped(becomes: Becomes) -> None:
    becomes(
        drop_idle_stores,
        f"""
        %x = load @x v0 : s0 x f64
        {NEG}
        store @x v1 = %n
        %t = load @x v1 : s0 x f64
        store @x v2 = %t
        %u = load @x v2 : s0 x f64
        return %u
        """,
        f"""
        %x = load @x v0 : s0 x f64
        {NEG}
        store @x v1 = %n
        %t = load @x v1 : s0 x f64
        %u = load @x v1 : s0 x f64
        return %u
        """,
    )


def test_other_places_and_older_contents_are_stored(becomes: Becomes) -> None:
    for text in (
        "%t = load @x v0 : s0 x f64\nstore @y v1 = %t\nreturn",
        "%t = load @x v0 [(d0) -> (-d0 + s0 - 1)] : s0 x f64\nstore @x v1 = %t\nreturn",
        "%t = load @x v0 : s0 x f64\n%y = load @y v0 : s0 x f64\nstore @x v1 = %y\nstore @x v2 = %t\nreturn",
    ):
        becomes(drop_idle_stores, text, text)


def relax(u, v, steps):
    for _ in range(steps):
        u[1:, :] -= 0.5 * v[:-1, :]
        v[:, 1:] += u[:, :-1]
    return u


def test_augmented_slices_store_once() -> None:
    u, v = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
    mine, theirs = (u.copy(), v.copy()), (u.copy(), v.copy())
    np.testing.assert_array_equal(fuse_jit(relax)(*mine, 6), relax(*theirs, 6))
    np.testing.assert_array_equal(mine[1], theirs[1])
    graph = fuse_jit(relax).trace(u, v, 6).fuse().graph
    assert sum(isinstance(op, Store) for op in walk(graph.block)) == 2
