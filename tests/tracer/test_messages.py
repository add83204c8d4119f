"""Messages say what a user wrote, in the user's words, and advise what a user can do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit
from fusejit import fuse_jit
from fusejit.errors import NeedsPython

INTERNAL = re.compile(
    r"\b(kernels?|captured|of this trace|fixed point|host call|traced value|payload|region)\b"
)
"""Words of the implementation that messages do without."""

SAYS = {"needs_python", "unsupported", "Fallback", "fallback", "concretization"}
TEXTS = {"what", "why", "remedy", "reason"}


def texts_of(tree: ast.AST) -> Iterator[str]:
    """The literals that are said to users: arguments of refusals, and what is named so."""
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        named = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if (called and node.func.id in SAYS) or (named and node.targets[0].id in TEXTS):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def test_no_message_of_the_tracer_uses_internal_words() -> None:
    """Messages said "a loop of more than 20 iterations is not a loop of the kernel"."""
    seen: list[str] = []
    found: list[tuple[str, str]] = []
    for file in sorted((Path(fusejit.__file__).parent / "tracer").rglob("*.py")):
        for text in texts_of(ast.parse(file.read_text())):
            seen.append(text)
            found += [(file.name, text)] if INTERNAL.search(text) else []
    assert not found
    assert len(seen) > 400


class Store:
    total = 0.0

    def __init__(self) -> None:
        self.w: Any = None
        self.items: dict[str, Any] = {}

    def attribute(self, x: Any) -> Any:
        del self.w
        return x

    def item(self, x: Any) -> Any:
        self.items["a"] = x.sum()
        return x

    def of_the_class(self, x: Any) -> Any:
        Store.total = x.sum()
        return x


@pytest.mark.parametrize(
    ("function", "subject", "advice"),
    [
        (Store.attribute, Store(), "keep this statement out of loops"),
        (Store.item, Store(), "write into an array"),
        (Store.of_the_class, Store(), "assign it where the function is called"),
    ],
)
def test_what_is_advised_can_be_done(function: Any, subject: Any, advice: str) -> None:
    """A method that writes to `self` was answered by "return the new value instead"."""
    with pytest.raises(NeedsPython, match=advice):
        fuse_jit(function, fullgraph=True)(subject, np.ones(3))
