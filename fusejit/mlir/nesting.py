"""How deeply MLIR text is nested: MLIR's parser calls itself for each level, and has no bound.

A text that is nested too deeply would end the process. So it is measured before MLIR sees it:
brackets, and operators of one affine expression (``d0 + 1 + 1`` is a sum of a sum).

Examples
--------
>>> deepest("module { func.func @f(%a: tensor<4xf64>) { return } }")[0]
3
>>> deepest("affine_map<(d0) -> (d0 + 1 + 1)>")[0]
4
"""

from __future__ import annotations

import re

from fusejit.errors import ParseError

MAX_LEVELS = 1000
"""MLIR itself needs about 1 KiB of stack for each; threads may have less than 8 MiB."""

_TOKEN = re.compile(
    r"""
    (?P<skipped> "(?:[^"\\\n]|\\.)*" | //[^\n]* | -> | >= | <= | == )
    | (?P<opening> [(\[{<] )
    | (?P<closing> [)\]}>] )
    | (?P<operator> [-+*] | \b(?:floordiv|ceildiv|mod)\b )
    | (?P<end> [,=:;] )
    """,
    re.VERBOSE,
)


def deepest(text: str) -> tuple[int, int]:
    """The most levels that are open at once, and the line where they are."""
    operators = [0]  # of the expression that is being read, for each open bracket
    levels = deepest = at = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "opening":
            operators.append(0)
            levels += 1
        elif kind == "closing" and len(operators) > 1:
            levels -= 1 + operators.pop()
        elif kind == "operator":
            operators[-1] += 1
            levels += 1
        elif kind == "end":
            levels -= operators[-1]
            operators[-1] = 0
        if levels > deepest:
            deepest, at = levels, token.start()
    return deepest, text.count("\n", 0, at) + 1


def require_few_levels(text: str) -> None:
    """Raise if MLIR's parser might not come back from a text.

    Raises
    ------
    ParseError
        If it is nested more than `MAX_LEVELS` deep; the message names the line.
    """
    levels, line = deepest(text)
    if levels > MAX_LEVELS:
        raise ParseError(
            f"line {line}: the text is nested {levels} levels deep, and MLIR's parser is trusted "
            f"with {MAX_LEVELS}: take it apart, or let a pass fold what is nested"
        )
