"""Examples of docstrings, as functions that can be decorated."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import linecache
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_SEEN = "_seen"
_MAX_CUTS = 3  # places at which one example is cut in two
_OF_CHANCE = re.compile(r"\bempty|\bndarray\(|default_rng\(\)")  # other numbers each time
_parser = doctest.DocTestParser()


@dataclass(frozen=True, slots=True)
class Example:
    """The statements of one docstring.

    Attributes
    ----------
    name : str
        Of the object that is documented.
    statements : tuple of str
        Those that do not raise; each a whole statement.
    """

    name: str
    statements: tuple[str, ...]


def documented(package: str) -> Iterator[tuple[str, Any]]:
    """Everything public in a package that may have a docstring, each once, by its name."""
    seen: set[int] = set()
    for module in _modules(package):
        for name, obj in sorted(vars(module).items()):
            home = getattr(obj, "__module__", None) or ""
            is_here = home.startswith(package.partition(".")[0])
            if name.startswith("_") or isinstance(obj, ModuleType) or not is_here:
                continue
            if not callable(obj) or id(obj) in seen:
                continue
            seen.add(id(obj))
            yield f"{module.__name__}.{name}", obj
            if inspect.isclass(obj):
                for inner, member in sorted(vars(obj).items()):
                    is_code = callable(member) or isinstance(member, property | classmethod)
                    if is_code and not inner.startswith("_") and id(member) not in seen:
                        seen.add(id(member))
                        yield f"{module.__name__}.{name}.{inner}", member


def _modules(package: str) -> Iterator[ModuleType]:
    top = importlib.import_module(package)
    yield top
    for found in pkgutil.iter_modules(getattr(top, "__path__", ()), f"{package}."):
        if found.name.rpartition(".")[2].startswith(("_", "test", "conftest", "setup")):
            continue
        try:
            yield importlib.import_module(found.name)
        except Exception:  # what needs something that is not installed
            continue


def example_of(name: str, obj: Any) -> Example | None:
    """The example in the docstring of an object; None if there is none."""
    try:
        parsed = _parser.get_examples(inspect.getdoc(obj) or "")
    except ValueError:  # not laid out as doctest wants it
        return None
    statements = []
    for one in parsed:
        if one.exc_msg is not None or doctest.SKIP in one.options:
            continue
        if _OF_CHANCE.search(one.source):
            return None
        try:
            statements += [ast.unparse(node) for node in ast.parse(one.source).body]
        except SyntaxError:
            return None
    statements = _without_figures(statements)
    return Example(name, tuple(statements)) if statements else None


def _without_figures(statements: list[str]) -> list[str]:
    """The statements that have nothing to do with what ``plt`` draws."""
    drawn, kept = {"plt"}, []
    for text in statements:
        names = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)]
        is_drawing = any(n.id in drawn for n in names) or "matplotlib" in text
        if is_drawing:
            drawn |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
        else:
            kept.append(text)
    return kept


def cuts(example: Example) -> list[int]:
    """After how many statements an example is cut in two; 0 is the whole one."""
    binding = [
        at
        for at, text in enumerate(example.statements, 1)
        if isinstance(ast.parse(text).body[0], ast.Assign | ast.AnnAssign | ast.FunctionDef)
    ]
    inner = [at for at in binding if at < len(example.statements)]
    if len(inner) > _MAX_CUTS:
        inner = [inner[0], inner[len(inner) // 2], inner[-1]]
    return [0, *inner]


def as_function(
    example: Example, cut: int, given: dict[str, Any], names: dict[str, Any]
) -> Callable[..., Any]:
    """The statements after a cut as a function of what those before it have bound.

    It returns the values of all expressions that an interpreter would have shown, and the
    variables that are bound at the end.
    """
    body = [_shown(text) for text in example.statements[cut:]]
    imports = [text for text in body if text.startswith(("import ", "from "))]
    bound = sorted(_bound(body) - {"_"})
    lines = [f"def example({', '.join(given)}):", f"    {_SEEN} = []"]
    lines += [f"    {line}" for text in body if text not in imports for line in text.split("\n")]
    results = "".join(f"{name}, " for name in bound)
    lines.append(f"    return {_SEEN}, ({results})")
    text = "\n".join([*imports, *lines]) + "\n"
    file = f"<example of {example.name}, cut at {cut}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = dict(names)
    exec(compile(text, file, "exec"), namespace)
    made: Callable[..., Any] = namespace["example"]
    return made


def _shown(text: str) -> str:
    node = ast.parse(text).body[0]
    if not isinstance(node, ast.Expr):
        return text
    return f"{_SEEN}.append({ast.unparse(node.value)})"


def _bound(body: list[str]) -> set[str]:
    """Names that the statements bind whatever happens: those that simple statements bind."""
    names: set[str] = set()
    for text in body:
        node = ast.parse(text).body[0]
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} & {
                n.id
                for n in ast.walk(target)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
    return names - {_SEEN}
