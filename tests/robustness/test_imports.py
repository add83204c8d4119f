"""The import rules of docs/design.md."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Callable
from inspect import ismodule
from pathlib import Path
from typing import Any

import pytest

import fusejit

PACKAGE = Path(fusejit.__file__).parent
STAGES = ("tracer", "fuse", "codegen")
# modules that anyone may import
FREE = ("dataclass", "errors", "options", "outcome", "path_resolver", "support")
COMPILERS = {"numba", "llvmlite"}

# who may import which parts of the package
ALLOWED = {
    "ir": {"dataclass", "ir", "errors", "options"},
    "tracer": {"tracer", "structured", "ir", *FREE},
    "structured": {"api", "notices", "structured", "ir", *FREE},
    "linalg": {"api", "ir", "linalg", "structured", *FREE},
    "fuse": {"fuse", "ir", *FREE},
    "codegen": {"codegen", "ir", *FREE},
    "outcome": {"dataclass"},
    "errors": {"outcome"},
    "dataclass": set(),
    "options": {"dataclass"},
    "support": {"errors", "support"},
    "dot": {"ir"},
    "failures": {"errors", "options", "support"},
    "pipeline": {"fuse", "codegen", "failures", "ir", *FREE},
    "stages": {*STAGES, "ir", "dot", "failures", "mlir", "pipeline", *FREE},
    "explain": {
        *("reports", "variants", "segments", "tiering", "pipeline", "stages"),
        *(*STAGES, "ir", *FREE),
    },
    "tiering": {"stages", *STAGES, "ir", *FREE},
    "segments": {"entry_stubs", "codegen", "ir", "tiering", "tracer", *FREE},
    "dispatch": {
        *("entry_stubs", "failures", "notices", "stages", "tiering"),
        *("segments", "variants", "codegen", "tracer", "ir", "dispatch", *FREE),
    },
    "variants": {"stages", "reports", "segments", "tiering", "codegen", "ir", "warm_up"},
    "decorated": {
        *("dispatch", "entry_stubs", "codegen", "notices", "segments", "variants", "warm_up"),
        *FREE,
    },
    "entry_stubs": {"codegen", "dataclass", "outcome", "support", "tracer"},
    "reports": {"ir", "reports", "support"},
    "warm_up": {"entry_stubs", "codegen", "ir", "tracer", *FREE},
    "notices": {"support"},
    "numpy": {"api", "codegen", "options", "support"},  # when they are needed
    "transform": {"stages", "notices", "tracer", "fuse", "ir", "mlir", "transform", *FREE},
    "mlir": {"stages", *STAGES, "linalg", "structured", "ir", *FREE},
}


@functools.cache
def parsed(path: Path) -> ast.Module:
    """A file of the package, parsed once for all tests."""
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def imports_of(path: Path) -> set[str]:
    """Dotted names that a file imports; those under ``if TYPE_CHECKING`` too."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def part_of(path: Path) -> str:
    """The stage or top-level module a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))


def test_the_parts_exist() -> None:
    assert {part_of(f) for f in FILES} >= {*ALLOWED, "api"}


@pytest.mark.parametrize("part", ALLOWED)
def test_parts_import_only_what_they_may(part: str) -> None:
    for path in FILES:
        if part_of(path) != part:
            continue
        for name in imports_of(path):
            if name.startswith("fusejit."):
                imported = name.split(".")[1]
                assert imported in ALLOWED[part] or imported == part, f"{path}: {name}"


def module_of(path: Path) -> str:
    """The dotted name under which a file of the package is imported."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {module_of(path) for path in FILES}


@functools.cache
def imported(path: Path, *, first: bool) -> set[str]:
    """The modules of the package that a file imports.

    With ``first`` those that must be there before it can be imported: what functions and type
    checkers need is later.
    """
    found = set()
    for node in parsed(path).body if first else ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in names}
    return (found & MODULES) - {module_of(path)}


def room_of(module: str) -> str:
    """``fusejit.ir.text`` for what is in that folder; other modules are rooms of their own.

    NumPy's functions are one room, as they call each other.
    """
    if module.startswith("fusejit.tracer.np"):
        return "fusejit.tracer.np"
    path = PACKAGE.parent.joinpath(*module.split("."))
    return module if path.is_dir() or module.count(".") == 1 else module.rpartition(".")[0]


def test_no_module_needs_itself() -> None:
    """No circle of any kind: what functions and type checkers import counts too."""
    graph = {module_of(path): imported(path, first=False) for path in FILES}
    assert len([*graphlib.TopologicalSorter(graph).static_order()]) == len(graph)


def test_no_room_needs_itself() -> None:
    graph: dict[str, set[str]] = {}
    for path in FILES:
        room = room_of(module_of(path))
        graph.setdefault(room, set()).update({*map(room_of, imported(path, first=True))} - {room})
    assert len(graph) > 20
    assert [*graphlib.TopologicalSorter(graph).static_order()]


def test_rooms_are_small() -> None:
    """A newcomer can read the list of a folder of the compiler."""
    rooms = {path.parent for path in FILES}
    sizes = {room.name: len([*room.glob("[a-z]*.py")]) for room in rooms}
    assert len(sizes) > 25
    assert max(sizes.values()) <= 25, sizes


def test_files_are_short() -> None:
    """About 400 lines: a file that grows beyond has two ideas, or a class too many."""
    long = {f.name: n for f in FILES if (n := len(f.read_text("utf-8").splitlines())) > 475}
    assert not long


def test_only_codegen_imports_a_compiler() -> None:
    users = {part_of(f) for f in FILES if {n.split(".")[0] for n in imports_of(f)} & COMPILERS}
    assert users == {"codegen"}


def test_nothing_but_tests_imports_the_testing_tools() -> None:
    for path in FILES:
        assert not any(n.startswith("fusejit_testing") for n in imports_of(path)), path


def test_importing_and_decorating_load_no_compiler(
    run_python: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "lean.py"
    script.write_text(
        "import sys\n"
        "import fusejit\n"
        "import fusejit.numpy\n"
        "@fusejit.fuse_jit(fusion='none')\n"
        "def f(x):\n"
        "    return x + 1\n"
        "assert len(f.variants) == 0\n"
        "loaded = {name for name in sys.modules if name.startswith('fusejit')}\n"
        "stages = ('fuse', 'stages', 'segments', 'dispatch', 'tiering', 'explain', 'mlir')\n"
        "assert not loaded & {f'fusejit.{name}' for name in stages}, loaded\n"
        "assert not [n for n in loaded if '.lower' in n or '.tracer.values' in n], loaded\n"
        "assert 'fusejit.ir.ops' not in loaded\n"
        "packages = {name.split('.')[0] for name in sys.modules}\n"
        "assert not packages & {'numba', 'llvmlite', 'tbb'}, packages\n"
        "import numpy as np\n"
        "assert ' in 1 loop' in f.explain(np.ones(3))\n"
        "import threading\n"
        "assert threading.active_count() == 1\n"
    )
    run_python(script)


def test_names_that_load_the_compiler_are_there() -> None:
    for name in fusejit.__all__:
        found = getattr(fusejit, name)
        assert found.__name__ == f"fusejit.{name}" if ismodule(found) else found.__module__
    with pytest.raises(AttributeError, match="no attribute 'fuse_jet'"):
        fusejit.fuse_jet  # noqa: B018
