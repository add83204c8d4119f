"""Functions and kernels that differ in the places of elements alone take those as arguments.

A loop that is unrolled writes one function of text for each iteration, and where a library is
called in between one kernel: the same text with other integers in its subscripts. With names for
these integers the functions are one to LLVM, and the kernels are compiled once.

    def chunk1(lo, hi, p, q):           def chunk1(lo, hi, p, q, place0):
        for d0 in range(lo, hi):            for d0 in range(lo, hi):
            put(q, d0, get(p, d0 + 8))  ->      put(q, d0, get(p, d0 + place0))
    ...                                 ...
    parallel_for(chunk1, n, 9, p, q)    parallel_for(chunk1, n, 9, p, q, 8)

Only what is added to a subscript or to a bound of a loop gets a name, and factors of sizes in it:
steps through memory and numbers of iterations are worth knowing when loops become vectors. So are
distances within one memory that is read and written.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from fusejit.codegen.backend.text_names import Form, text_form
from fusejit.dataclass import dataclass
from fusejit.syntax import parse, walk

MANY = 3
"""Functions or kernels that must be alike: fewer cost less than knowing the integers may gain."""

_LAUNCHES = {"parallel_for": 3, "uneven_for": 3, "stream_for": 5}
"""What runs a chunk function -> the place of the first argument that it hands on."""

_NOT_OUTLINE = re.compile(r"[\w\s+\-()]+")
"""What may differ in functions that are alike: names, integers, and how their text is laid out."""

_HOLE = "?"  # in place of an integer while texts are compared


@dataclass(frozen=True)
class Shared:
    """The text of a kernel, and integers that it is given behind its other arguments."""

    text: str
    numbers: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class _Edit:
    """Text to put in place of what stands at some columns of a line."""

    line: int
    start: int
    end: int
    text: str


def share_functions(text: str) -> str:
    """A kernel's text whose chunk functions are fewer but for their names.

    Parameters
    ----------
    text : str
        Chunk functions, each launched at one place, and ``kernel``.

    Examples
    --------
    >>> chunk = "def chunk{0}(lo, hi, p):\\n    put(p, lo + {1}, 1.0)\\n\\n\\n"
    >>> call = "    parallel_for(chunk{0}, 1, 0, p)\\n"
    >>> parts = [f(k, k + 5) for f in (chunk.format, call.format) for k in range(3)]
    >>> parts.insert(3, "def kernel(p):\\n")
    >>> print(share_functions("".join(parts)).split("\\n\\n\\n")[2])
    def chunk2(lo, hi, p, place0):
        put(p, lo + place0, 1.0)
    >>> print(share_functions("".join(parts)).split("\\n\\n\\n")[3])
    def kernel(p):
        parallel_for(chunk0, 1, 0, p, 5)
        parallel_for(chunk1, 1, 0, p, 6)
        parallel_for(chunk2, 1, 0, p, 7)
    <BLANKLINE>
    """
    outlines = Counter(_NOT_OUTLINE.sub("", part) for part in text.split("\ndef chunk"))
    if max(outlines.values()) < MANY:  # most kernels are not worth a tree
        return text
    tree = parse(text)
    definitions = _definitions(tree)
    launches = _launches(tree)
    groups: dict[Any, list[tuple[ast.FunctionDef, list[ast.Constant], list[int]]]] = {}
    for node in definitions.values():
        if node.name not in launches:
            continue
        places = list(_places(node))
        values = _made_holes(places)
        if places:
            form = Form.of(node)
            groups.setdefault((form.text, form.order), []).append((node, places, values))
    edits: list[_Edit] = []
    prefix = _unused("place", [text])
    for members in groups.values():
        if len(members) < MANY:
            continue
        columns = _columns([values for _, _, values in members], prefix)
        for node, places, values in members:
            given = {name: values[at] for at, name in columns.items()}
            edits += _named(places, columns)
            edits += _with_parameters(text, node, launches[node.name], given)
    return _edited(text, edits)


def share_kernels(texts: Sequence[str], signatures: Sequence[Any]) -> list[Shared]:
    """Kernels, those that are alike as one text but for the names in it.

    Parameters
    ----------
    texts : sequence of str
        One of each kernel of a program.
    signatures : sequence
        What each takes; only kernels that take the same are alike.
    """
    result = [Shared(text) for text in texts]
    if len(texts) < MANY:
        return result
    groups: dict[Any, list[tuple[int, ast.Module, list[ast.Constant], list[int]]]] = {}
    sizes = Counter((text.count("\n"), signature) for text, signature in _pairs(texts, signatures))
    for at, (text, signature) in enumerate(_pairs(texts, signatures)):
        if sizes[text.count("\n"), signature] < MANY:
            continue
        tree = parse(text)
        launches = _launches(tree).values()
        places = [p for node in _definitions(tree).values() for p in _places(node)]
        places += [p for call in launches for p in _handed_on(call)]
        values = _made_holes(places)
        key = (text_form(tree), signature)
        groups.setdefault(key, []).append((at, tree, places, values))
    for members in groups.values():
        if len(members) < MANY:
            continue
        prefix = _unused("place", [texts[at] for at, *_ in members])
        columns = _columns([values for *_, values in members], prefix)
        for at, tree, places, values in members:
            given = {name: values[column] for column, name in columns.items()}
            handed = _handed_down(texts[at], tree, places, columns)
            if handed is not None:
                text = _edited(texts[at], [*_named(places, columns), *handed])
                result[at] = Shared(text, tuple(given.items()))
    return result


def _pairs(texts: Sequence[str], signatures: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    return zip(texts, signatures, strict=True)


def _definitions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _launches(tree: ast.Module) -> dict[str, ast.Call]:
    """Chunk function -> the one call that launches it; without those that are launched twice."""
    found: dict[str, list[ast.Call]] = {}
    for node in walk(tree):
        match node:
            case ast.Call(ast.Name(name), [ast.Name(body), *_]) if name in _LAUNCHES:
                found.setdefault(body, []).append(node)
    return {name: calls[0] for name, calls in found.items() if len(calls) == 1}


def _places(node: ast.FunctionDef) -> Iterator[ast.Constant]:
    """Integers of a function that may get a name."""
    calls: list[tuple[str, list[ast.expr]]] = []
    assigned = {"lo", "hi"}
    for each in walk(node):
        match each:
            case ast.Name(name, ast.Store()):
                assigned.add(name)
            case ast.Call(ast.Name("get" | "put" | "range" as called), arguments):
                calls.append((called, arguments))
    sizes = {a.arg for a in node.args.args} - assigned
    pointers: dict[str, set[str]] = {"get": set(), "put": set()}
    for function, (pointer, *_) in calls:
        if isinstance(pointer, ast.Name):
            pointers.get(function, set()).add(pointer.id)
    both = pointers["get"] & pointers["put"]
    for function, arguments in calls:
        if function == "range":
            for bound in arguments[:2]:
                if isinstance(bound, ast.BinOp):
                    yield from _added(bound, sizes)
        elif isinstance(arguments[0], ast.Name) and arguments[0].id not in both:
            yield from _added(arguments[1], sizes)


def _added(node: ast.expr, sizes: set[str]) -> Iterator[ast.Constant]:
    """Integers that are added in an expression, and factors of sizes."""
    match node:
        case ast.Constant(int(number)) if not isinstance(number, bool):
            yield node
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            yield from _added(left, sizes)
            yield from _added(right, sizes)
        case ast.BinOp(ast.Constant(int()) as factor, ast.Mult(), other):
            names = {each.id for each in walk(other) if isinstance(each, ast.Name)}
            if names and names <= sizes:
                yield factor


def _handed_on(call: ast.Call) -> Iterator[ast.Constant]:
    """Integers that a chunk function is given."""
    assert isinstance(call.func, ast.Name)
    for each in call.args[_LAUNCHES[call.func.id] :]:
        if isinstance(each, ast.Constant) and type(each.value) is int:
            yield each


def _made_holes(places: Sequence[ast.Constant]) -> list[int]:
    """The integers of a tree, which has holes in place of them from now on."""
    values = [int(node.value) for node in places]  # type: ignore[arg-type]
    for node in places:
        node.value = _HOLE
    return values


def _columns(rows: Sequence[Sequence[int]], prefix: str) -> dict[int, str]:
    """Names for the integers that differ, by their place; equal columns have one name."""
    names: dict[tuple[int, ...], str] = {}
    found = {}
    for at, column in enumerate(zip(*rows, strict=True)):
        if len(set(column)) > 1:
            found[at] = names.setdefault(column, f"{prefix}{len(names)}")
    return found


def _unused(prefix: str, texts: Sequence[str]) -> str:
    while any(prefix in text for text in texts):
        prefix += "_"
    return prefix


def _named(places: Sequence[ast.Constant], columns: dict[int, str]) -> list[_Edit]:
    return [_replaced(places[at], name) for at, name in columns.items()]


def _replaced(node: ast.expr, text: str) -> _Edit:
    assert node.end_col_offset is not None
    return _Edit(node.lineno, node.col_offset, node.end_col_offset, text)


def _with_parameters(
    text: str, node: ast.FunctionDef, call: ast.Call, given: dict[str, Any]
) -> list[_Edit]:
    """A function has more parameters, and its launch gives them."""
    if not given:
        return []
    end = text.splitlines()[node.lineno - 1].rindex(")")
    assert call.end_lineno is not None
    assert call.end_col_offset is not None
    last = call.end_col_offset - 1
    return [
        _Edit(node.lineno, end, end, "".join(f", {name}" for name in given)),
        _Edit(call.end_lineno, last, last, "".join(f", {value}" for value in given.values())),
    ]


def _handed_down(
    text: str, tree: ast.Module, places: Sequence[ast.Constant], columns: dict[int, str]
) -> list[_Edit] | None:
    """``kernel`` has more parameters, and hands them to the functions that read them.

    None where it does not launch all of those itself.
    """
    definitions, launches = _definitions(tree), _launches(tree)
    kernel = definitions.pop("kernel")
    end = text.splitlines()[kernel.lineno - 1].rindex(")")
    names = "".join(f", {name}" for name in dict.fromkeys(columns.values()))
    edits = [_Edit(kernel.lineno, end, end, names)]
    for node in definitions.values():
        lines = _lines(node)
        inside = {name: name for at, name in columns.items() if places[at].lineno in lines}
        if inside:
            if node.name not in launches or launches[node.name].lineno not in _lines(kernel):
                return None
            edits += _with_parameters(text, node, launches[node.name], inside)
    return edits


def _lines(node: ast.FunctionDef) -> range:
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def _edited(text: str, edits: Sequence[_Edit]) -> str:
    """The text with all edits made, the last one of a line first."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e.line, e.start), reverse=True):
        line = lines[edit.line - 1]
        lines[edit.line - 1] = line[: edit.start] + edit.text + line[edit.end :]
    return "\n".join(lines)
