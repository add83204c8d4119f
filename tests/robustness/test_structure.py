"""The structure of the package as numbers, which may only fall.

Whoever lowers one writes the new number here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fusejit
from fusejit.tracer.values.array import ARRAY_OPS
from fusejit.tracer.values.symbolic_number import NUMBER_OPS
from fusejit.tracer.values.union_scalar import UNION_OPS

PACKAGE = Path(fusejit.__file__).parent
LONG = 400  # lines of a file

# the folders of the tracer, lowest last: each imports lower ones only
FLOORS = (
    *(
        "capture",
        "rewriting",
        "flow",
        "carried",
        "containers",
        "strings",
        "keyed",
        "lists",
        "np",
        "host",
        "indexing",
        "ops",
        "values",
        "builder",
        "program",
    ),
    *("breaks", "source"),
)
LONG_FILES = 22

TEXTS = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def floor_of(parts: tuple[str, ...]) -> str:
    """The folder of the tracer that a module belongs to; empty for others."""
    return parts[1] if len(parts) > 2 and parts[0] == "tracer" else ""


def imported(path: Path, text: str) -> Iterator[str]:
    """The modules of the package that a file imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fusejit."):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                is_module = (PACKAGE.parent / f"{name.replace('.', '/')}.py").exists()
                yield name if is_module else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("fusejit."))


def imports_that_go_up() -> list[tuple[str, str]]:
    """Imports of a floor of the tracer by one below it."""
    found = []
    for path, text in TEXTS.items():
        own = floor_of(path.relative_to(PACKAGE).parts)
        for module in sorted(set(imported(path, text))) if own else ():
            other = floor_of((*module.split(".")[1:], ""))
            if other and FLOORS.index(other) < FLOORS.index(own):
                found.append((path.stem, module))
    return found


def test_no_import_goes_up() -> None:
    assert not imports_that_go_up()


def test_string_keys_and_orders_of_imports() -> None:
    keys = [path.stem for path, text in TEXTS.items() if re.search(r'PRIMITIVES\[\s*"', text)]
    assert not keys
    assert not any("its handlers are there first" in text for text in TEXTS.values())


def test_long_files() -> None:
    assert sum(text.count("\n") > LONG for text in TEXTS.values()) == LONG_FILES


def test_every_operation_of_a_value_is_bound() -> None:
    import fusejit.tracer.capture.entry  # noqa: F401  binds them

    for operations in (ARRAY_OPS, NUMBER_OPS, UNION_OPS):
        assert vars(operations).keys() == type(operations).__annotations__.keys()
