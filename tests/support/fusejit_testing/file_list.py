"""The folders and modules of the package, each with the first line of its docstring.

``python -m fusejit_testing.file_list [FOLDER]`` prints the modules.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = (ROOT / "fusejit", ROOT / "tests" / "support" / "fusejit_testing")


def packages_below(folder: Path) -> Iterator[Path]:
    """Yield a package and the packages in it, each before its own subpackages."""
    yield folder
    for inner in sorted(folder.iterdir()):
        if (inner / "__init__.py").exists():
            yield from packages_below(inner)


def first_line(path: Path) -> str:
    """The first line of a module's docstring, or of the docstring of a package's `__init__`."""
    if path.is_dir():
        path /= "__init__.py"
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def modules_text(folder: Path) -> str:
    """One line for each package and module below a folder."""
    lines: list[str] = []
    for package in packages_below(folder):
        lines.append(f"{package.relative_to(ROOT).as_posix()}/  {first_line(package)}")
        for path in sorted(set(package.glob("*.py")) - {package / "__init__.py"}):
            lines.append(f"  {path.name:<23} {first_line(path)}")
    return "\n".join(lines)


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or PACKAGES
    print("\n".join(map(modules_text, chosen)))
