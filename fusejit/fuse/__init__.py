"""Fusion: Graph -> Graph -> Schedule.

Legality (`legality`), profitability (`cost`), mechanism (`fold`) and driver (`driver`) are apart.
Passes are functions of a graph that leave it as it is and return the same object when nothing
changed.
"""

from fusejit.fuse.canonicalize import canonicalize
from fusejit.fuse.cost import (
    Accept,
    ControlFusionFn,
    Reject,
    fold_always,
    fold_single_uses,
    fold_when_it_pays,
)
from fusejit.fuse.driver import fold_producers
from fusejit.fuse.group import form_groups
from fusejit.fuse.halves import split_loops
from fusejit.fuse.hoist import hoist_invariants
from fusejit.fuse.independent import mark_independent_loops
from fusejit.fuse.joined import read_parts
from fusejit.fuse.reshapes import move_reshapes_down, move_reshapes_up, note_reshapes
from fusejit.fuse.schedule import make_schedule
from fusejit.fuse.siblings import merge_siblings
from fusejit.fuse.split_reductions import split_reductions
from fusejit.fuse.unit_dims import drop_unit_dims
from fusejit.fuse.unroll import unroll_small_reductions

__all__ = [
    "Accept",
    "ControlFusionFn",
    "Reject",
    "canonicalize",
    "drop_unit_dims",
    "fold_always",
    "fold_producers",
    "fold_single_uses",
    "fold_when_it_pays",
    "form_groups",
    "hoist_invariants",
    "make_schedule",
    "mark_independent_loops",
    "merge_siblings",
    "move_reshapes_down",
    "move_reshapes_up",
    "note_reshapes",
    "read_parts",
    "split_loops",
    "split_reductions",
    "unroll_small_reductions",
]
