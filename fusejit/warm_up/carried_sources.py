"""Sources that travel with a function to other processes.

cloudpickle (joblib's loky, dask) sends a function of a notebook or of ``__main__`` as bytecode. The
other process has no cell of the notebook, and perhaps no such file. So a decorated function takes
along the statements that define it and the functions that it can reach, and the imports of their
modules. These texts keep the numbers of their lines.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType

from fusejit.support.syntax import parse
from fusejit.tracer.program.callables import is_library_file
from fusejit.tracer.source.source_text import find_source, imports_in
from fusejit.tracer.source.source_texts import Place, carry
from fusejit.warm_up.reachable_code import reachable_functions

Sources = tuple[tuple[str, str, tuple[Place, ...]], ...]
"""Names of files, texts, and the functions that stand there."""


class CarriedSources:
    """The sources that a function takes along.

    Parameters
    ----------
    function : FunctionType
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._codes: list[CodeType] = []
        self._sources: Sources = ()

    def sources(self) -> Sources:
        """Return the texts, which are made again if other functions are reached."""
        reached = [one for one in _reached(self._function) if not _is_found_by_name(one)]
        codes = [one.__code__ for one in reached]
        if codes != self._codes:
            self._codes, self._sources = codes, _texts(reached)
        return self._sources


def receive(sources: Sources) -> None:
    """Make texts from another process known in this one."""
    for filename, text, places in sources:
        carry(filename, text, places)


def _reached(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the user's functions that a function can reach.

    Its arguments may be of any class of ``__main__``.
    """
    known = function.__globals__
    classes = [v for v in [*known.values()] if isinstance(v, type) and v.__module__ == "__main__"]
    for one in reachable_functions(function, classes):
        if not is_library_file(one.__code__.co_filename):
            yield one


def _is_found_by_name(function: FunctionType) -> bool:
    """Whether another process imports a function and so has its file."""
    found: object = sys.modules.get(function.__module__)
    if found is None or function.__module__ == "__main__":
        return False
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is not None


def _texts(functions: list[FunctionType]) -> Sources:
    found: dict[tuple[str, str], list[Place]] = {}
    for function in functions:
        source = find_source(function)
        if not isinstance(source, str) and source.text:
            code = function.__code__
            place = code.co_firstlineno, code.co_name
            found.setdefault((code.co_filename, source.text), []).append(place)
    return tuple((name, _only(text, at), (*at,)) for (name, text), at in found.items())


def _only(text: str, places: list[Place]) -> str:
    """The text with nothing but imports and the statements in which some functions stand."""
    try:
        tree = parse(text, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        kept: set[int] = set()
        for statement in tree.body:
            decorators = getattr(statement, "decorator_list", ())
            first = min([statement.lineno, *(d.lineno for d in decorators)])
            span = range(first, (statement.end_lineno or first) + 1)
            if imports_in(statement) or any(line in span for line, _ in places):
                kept.update(span)
        written = text.splitlines(keepends=True)
        short = "".join(t if k in kept else "\n" for k, t in enumerate(written, 1)).rstrip() + "\n"
        parse(short, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError):  # two statements on one line
        return text
    return short
