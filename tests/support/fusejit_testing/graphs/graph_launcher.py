"""Graphs that no Python function was traced for, as callables: through every later stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fusejit.ir.graph import Graph
from fusejit.ir.results import ResultLeaf, ResultSequence
from fusejit.ir.source import UNKNOWN
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.traced import ArrayClass, CheckKind, PathCheck, TracedFunction
from fusejit.options import Options
from fusejit.stages import Traced


def launcher(
    graph: Graph,
    *,
    jit: bool,
    fusion: Any = "auto",
    numbers: Mapping[str, type] | None = None,
    target: Target = GENERIC,
) -> Callable[..., list[Any]]:
    """The generated kernels of a graph as a function that returns the list of its results.

    Parameters
    ----------
    graph : Graph
        Its buffers and scalars come from arguments (``arg:x``).
    jit : bool
        Whether kernels are compiled; else they run as plain Python, with bounds checks.
    fusion : str or callable
        The fusion policy.
    numbers : mapping of str to type
        The types of arguments that are numbers.
    target : Target
        The machine, for the cost model.

    Returns
    -------
    callable
        Takes the arrays in the order of the graph's buffers, then the numbers.
    """
    checks: list[PathCheck] = []
    names: list[str] = []
    for buffer in graph.buffers:
        if buffer.origin is None:
            continue
        rank = buffer.type.rank
        order = tuple(range(rank)) if buffer.order is None else buffer.order
        expected = ArrayClass(buffer.type.dtype, rank, order, buffer.layout, buffer.writeable)
        checks.append(PathCheck(buffer.origin.attr, CheckKind.ARRAY, expected))
        names.append(buffer.origin.attr.name)
    for scalar in graph.scalars:
        path = scalar.expr.attr
        checks.append(PathCheck(path, CheckKind.TYPE, (numbers or {})[path.name]))
        names.append(path.name)
    namespace: dict[str, Any] = {}
    exec(f"def bare({', '.join(names)}): ...", namespace)
    leaves = tuple(ResultLeaf(i) for i in range(len(graph.results)))
    traced = TracedFunction(graph, checks, ResultSequence(list, leaves), UNKNOWN)
    options = Options(jit=jit, cache=jit, fusion=fusion)
    stage = Traced(namespace["bare"], traced, options, target)
    return stage.fuse().lower().compile().launch
