"""Write what examples print into the docstrings of `fusejit.transform`.

Usage: ``python -m fusejit_testing.docstring_examples tile fuse`` for two modules.
"""

from __future__ import annotations

import contextlib
import io
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

import fusejit.transform
from fusejit.transform.schedules import schedule

WIDTH = 96


def filled(docstring: str) -> str:
    """The docstring with what each of its examples prints, in lines of `WIDTH`."""
    names: dict[str, Any] = {"np": np, "schedule": schedule}
    lines: list[str] = []
    is_output = False
    for line in docstring.split("\n"):
        if line.startswith(">>> "):
            lines.append(line)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(line[4:], names)
            for text in printed.getvalue().splitlines():
                indent = " " * (len(text) - len(text.lstrip()))
                lines += textwrap.wrap(
                    text.strip(),
                    WIDTH,
                    initial_indent=indent,
                    subsequent_indent=indent + "    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            is_output = True
        elif not line.strip() or not is_output:
            is_output = False
            lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Fill in the modules that are named."""
    for name in sys.argv[1:]:
        (path,) = Path(*fusejit.transform.__path__).rglob(f"{name}.py")
        source = path.read_text("utf-8")
        begin = source.index('"""') + 3
        end = source.index('"""', begin)
        path.write_text(source[:begin] + filled(source[begin:end]) + source[end:], "utf-8")


if __name__ == "__main__":
    main()
