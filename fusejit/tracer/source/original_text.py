"""What the user wrote instead of names that are none of the user's.

A part that is taken out of a statement (see `fusejit.tracer.breaks.hoisting`) gets a name.
Messages have the expression instead: ``x.astype(np.float16) has dtype float16``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fusejit.ir.analysis.lines import shortened
from fusejit.support.syntax import fields_of

_LIMIT = 60  # characters


class WrittenTexts(Mapping[str, str]):
    """The text for each name, made when it is asked for.

    >>> import ast
    >>> parts = {"_part0": ast.parse("np.exp(x)").body[0].value}
    >>> parts["_part1"] = ast.parse("_part0 * 2").body[0].value
    >>> WrittenTexts(parts)["_part1"]
    'np.exp(x) * 2'
    """

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return shortened(ast.unparse(_written(self._values[name], self._values)), _LIMIT)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _written(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression with the expressions that its names stand for."""
    made = type(node)()
    for name, value in fields_of(node):
        if isinstance(value, ast.expr):
            value = _written(value, values)
        elif isinstance(value, list):
            value = [_written(v, values) if isinstance(v, ast.expr) else v for v in value]
        setattr(made, name, value)
    if isinstance(made, ast.Name) and made.id in values:
        return _written(values[made.id], values)
    return made
