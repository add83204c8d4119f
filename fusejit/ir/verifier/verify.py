"""Checks that a graph obeys the rules of the IR; run at every pass boundary.

A rule is a small function that yields a complaint for every way in which an op (or the graph)
breaks it; its name, read as a sentence, stands in the error. `RULES` lists them all.

Where two values meet, extents that differ as expressions but may be equal when the program runs
(``s0`` and ``s3``, which a guard compares) are accepted; extents that are different numbers are
not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fusejit.errors import VerificationError
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Op
from fusejit.ir.text.printer import print_op
from fusejit.ir.text.unique_names import Names
from fusejit.ir.verifier.generic_rules import GENERIC_RULES
from fusejit.ir.verifier.graph_rules import GRAPH_RULES
from fusejit.ir.verifier.op_rules import OP_RULES
from fusejit.ir.verifier.scope_rules import (
    SCOPE_RULES,
    BlockEnd,
    Scope,
    results_are_defined_where_they_are_returned,
)

RULES: tuple[Callable[..., Iterator[str]], ...] = (
    *GRAPH_RULES,
    *SCOPE_RULES,
    *OP_RULES,
    *GENERIC_RULES,
    results_are_defined_where_they_are_returned,
)


def verify(graph: Graph, known: set[Op] | None = None) -> None:
    """Check a graph.

    Parameters
    ----------
    graph : Graph
    known : set of Op, optional
        Ops of an earlier form of the graph that were found well formed, to which those of this one
        are added: passes share what they do not change.

    Raises
    ------
    VerificationError
        ``"<rule>: <what is wrong>"`` and the op it is wrong in, for the first complaint.
    """
    for complaint in complaints(graph, known):
        raise VerificationError(complaint)


def complaints(graph: Graph, known: set[Op] | None = None) -> Iterator[str]:
    """Every complaint of every rule, in program order."""
    known = set() if known is None else known
    names: Names | None = None

    def of(
        rules: Iterable[Callable[..., Iterator[str]]], op: Op | None, *given: Any
    ) -> Iterator[str]:
        nonlocal names
        for rule in rules:
            for message in rule(*given):
                names = names or Names.of_graph(graph)
                title = rule.__name__.replace("_", " ")
                where = "" if op is None else f"\n  in op: {print_op(op, names=names)}"
                yield f"{title}: {message}{where}"

    yield from of(GRAPH_RULES, None, graph)
    scope = Scope(graph)
    for site in scope.walk(graph.block):
        op = site.owner if isinstance(site, BlockEnd) else site
        yield from of(SCOPE_RULES, op, site, scope)
        if isinstance(site, BlockEnd) or site in known:
            continue
        known.add(site)
        yield from of((r for r, kind in OP_RULES.items() if isinstance(op, kind)), op, op)
        if isinstance(site, GenericOp):
            yield from of(GENERIC_RULES, op, op)
    yield from of([results_are_defined_where_they_are_returned], None, graph, scope)
