"""Finding the object at a path: what launchers do in generated code, for `explain` and `check`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from fusejit.ir.host import Path
from fusejit.ir.traced import TracedFunction


def resolver(
    function: Callable[..., Any], arguments: Mapping[str, Any], traced: TracedFunction
) -> Callable[[Path], Any]:
    """A function from paths to objects, for a call of ``function`` with bound ``arguments``."""
    closure = closure_cells(function)
    made: dict[str, Any] = {}  # by the call, each once

    def find(path: Path) -> Any:
        if path.root == "arg":
            found = arguments[path.name]
        elif path.root == "const":
            found = traced.constants[path.name]
        elif path.root == "made":
            if path.name not in made:
                made[path.name] = traced.made[path.name].evaluate(find, {})
            found = made[path.name]
        elif path.root == "closure":
            found = closure[path.name].cell_contents
        elif path.name in function.__globals__:
            found = function.__globals__[path.name]
        else:
            found = getattr(builtins, path.name)
        return path.found_from(found)

    return find


def closure_cells(function: Callable[..., Any]) -> dict[str, Any]:
    """The cells of a function's free variables, by name."""
    cells = getattr(function, "__closure__", None) or ()
    return dict(zip(function.__code__.co_freevars, cells, strict=True))
