"""What splitting a function gives: its segments, and the body that calls them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from fusejit.dataclass import dataclass

Place = tuple[type[ast.stmt], int, int]
"""The class, line and column of a statement."""


def place_of(node: ast.stmt) -> Place:
    """Where a statement stands."""
    return type(node), node.lineno, node.col_offset


@dataclass(frozen=True, slots=True)
class Segment:
    """Statements that are compiled, as a function.

    Attributes
    ----------
    name : str
        Under which the split function finds it: ``s0``.
    node : ast.FunctionDef
        Its parameters are the names that it needs.
    on_error : str
        What it does where it raises, if a handler, say, reads what it has bound: `fusejit.options`.
    """

    name: str
    node: ast.FunctionDef
    on_error: str


@dataclass(slots=True)
class SplitFunction:
    """A function cut into segments and statements of Python.

    Attributes
    ----------
    node : ast.FunctionDef
        The function, which calls the segments.
    helper : str
        The free name under which it finds them.
    segments : list of Segment
    boundaries : list of int
        The lines of the statements that Python runs.
    num_calls : int
        How many calls of Python ask for the fused form of a function, as ``c0``, ``c1`` ..
    parts : mapping of str to ast.expr
        What names stand for that the user's function does not have.
    """

    node: ast.FunctionDef
    helper: str
    segments: list[Segment]
    boundaries: list[int]
    num_calls: int
    parts: Mapping[str, ast.expr]


@dataclass(frozen=True, slots=True)
class InterpretedParts:
    """What of a split function runs in Python after all, as compiling it does not pay.

    Attributes
    ----------
    segments : frozenset of str
        The names of segments whose statements Python runs.
    calls : frozenset of int
        The numbers of calls of functions that are called as they are.
    """

    segments: frozenset[str] = frozenset()
    calls: frozenset[int] = frozenset()


NOTHING = InterpretedParts()
