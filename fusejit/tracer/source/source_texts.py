"""Find the texts in which the source of a function may stand.

`linecache` has files, cells of notebooks and examples of doctests. Other texts are where tools keep
them. A text may be a wrong one: `source_text` compares bytecodes.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from fusejit.support.syntax import parse, walk
from fusejit.tracer.source.dataclass_texts import dataclass_texts

_OPTIONS = re.compile(r"\s*(?:-(?:[nrp]\s*\d+|v\s*\w+|[tcqo]+)\s+)*")  # of the magic %timeit
_CONTINUES = re.compile(r"\s|[)\]}]|(?:else|elif|except|finally)\b")
_MAX_LINES = 2000  # of an interactive session that are searched

Place = tuple[int, str]
"""The first line of a function and its name."""

_carried: dict[Place, list[str]] = {}


def texts_for(function: FunctionType) -> Iterator[str]:
    """Yield the texts in which the source of ``function`` may stand, the likeliest first."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        lines = _lines_of_interpreter(code)
    if lines:
        yield "".join(lines)
    yield from reversed(_carried.get((code.co_firstlineno, code.co_name), ()))
    if code.co_filename == "<string>":
        yield from dataclass_texts(code)
    if code.co_filename.startswith("<"):
        yield from _texts_of_magics()
        yield from _texts_of_command_line()
        yield from _texts_of_prompt(code.co_filename)


def carry(filename: str, text: str, places: Iterable[Place]) -> None:
    """Note a text that came with functions from another process.

    They are known by their places, as cloudpickle does not keep the names of files.
    """
    for place in places:
        known = _carried.setdefault(place, [])
        if text not in known:
            known.append(text)
    if not linecache.getlines(filename):  # tracebacks show its lines
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)


def _lines_of_interpreter(code: CodeType) -> list[str]:
    """The lines that Python 3.13 and later keeps for code typed at its prompt."""
    find: Any = getattr(linecache, "_getlines_from_code", None)
    return [] if find is None else list(find(code))


def _texts_of_command_line() -> Iterator[str]:
    """Yield the text of ``python -c``."""
    for option, text in zip(sys.orig_argv[1:], sys.orig_argv[2:], strict=False):
        if re.fullmatch("-[a-zA-Z]*c", option):
            yield text


# -- magics of IPython ---------------------------------------------------------------------------
def _texts_of_magics() -> Iterator[str]:
    """Yield the texts that cells of IPython hand to magics, such as ``%%time``, the newest first.

    A magic compiles its text under a name of its own; the cell has it as an argument.
    """
    for entry in reversed([*linecache.cache.values()]):
        if len(entry) == 4 and entry[1] is None:
            text = "".join(entry[2])
            if "get_ipython().run_" in text:
                yield from map(_transformed, _arguments_of_magics(text))


@functools.lru_cache(maxsize=64)
def _arguments_of_magics(text: str) -> tuple[str, ...]:
    try:
        tree = parse(text, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found: list[str] = []
    for node in walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="run_cell_magic"),
                args=[_, ast.Constant(value=str(line)), ast.Constant(value=str(cell))],
            ):
                found += [cell, line]
            case ast.Call(
                func=ast.Attribute(attr="run_line_magic"),
                args=[_, ast.Constant(value=str(line))],
            ):
                found.append(line)
    return tuple(_OPTIONS.sub("", one, count=1) if "\n" not in one else one for one in found)


def _transformed(text: str) -> str:
    """The text as the magic compiles it: without leading blank lines and shell commands."""
    of_ipython: Any = sys.modules.get("IPython")
    shell = None if of_ipython is None else of_ipython.get_ipython()
    return text if shell is None else str(shell.transform_cell(text))


# -- Python's prompt -----------------------------------------------------------------------------
def _texts_of_prompt(filename: str) -> Iterator[str]:
    """Yield the statements that were typed at the prompt, the newest first.

    Each is compiled by itself, and its lines are numbered from 1.
    """
    readline: Any = sys.modules.get("readline")
    if readline is None or filename not in ("<stdin>", "<console>"):
        return
    last = readline.get_current_history_length()
    statements: list[str] = []
    is_decorated = False
    for at in range(max(1, last + 1 - _MAX_LINES), last + 1):
        line = str(readline.get_history_item(at) or "")
        if statements and (is_decorated or _CONTINUES.match(line)):
            statements[-1] += f"{line}\n"
        else:
            statements.append(f"{line}\n")
        is_decorated = line.startswith("@")
    yield from reversed(statements)
