"""`threads`: the tiles of a loop are computed by several threads.

Before and after ``threads("m.0")``::

    for m.0 = 0 to .. step 1 {

    parallel for m.0 = 0 to .. step 1 {

Rule: each tile writes elements of its own: the dim of the loop is parallel. Source: MLIR's
``tile_using_forall``, which takes reduced dims too and lets threads race.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.ir.graph import Graph
from fusejit.transform.rules import loop_of, replaced


def threads(graph: Graph, symbol: str) -> Graph:
    """Let several threads run the loop of a symbol; the same object if they do already."""
    loop = loop_of(graph, symbol)
    return graph if loop.is_parallel else replaced(graph, loop, [replace(loop, is_parallel=True)])
