"""`canonicalized`: the automatic passes begin with it."""

from __future__ import annotations

from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.fuse.tiling.illegal import illegal
from fusejit.transform.core.base import S, with_step


def canonicalized(schedule: S, *, check: bool = True) -> S:
    """Fold views into the maps of ops, compute equal ops once, simplify, drop dead ops."""
    graph = canonicalize(schedule.graph)
    if graph is schedule.graph:
        raise illegal("canonicalize()", schedule.graph.name, "nothing would change")
    what = "views folded into maps"
    return with_step(schedule, "canonicalize()", "bits", what, graph, check=check)
