"""What stands in the copy of NumPy for NumPy's own functions and classes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any


def counterparts(numpy: ModuleType, packages: Sequence[ModuleType]) -> dict[str, Any]:
    """Names of NumPy's main namespace -> what the copied modules define in their place."""
    stands_for: dict[int, Any] = {}
    for package in packages:
        root = package.__name__.partition(".")[0]
        for name, module in [*sys.modules.items()]:
            if name.startswith(package.__name__) and ".tests" not in name:
                own = sys.modules.get(f"numpy{name.removeprefix(root)}")
                stands_for |= _same_names(module, own)
    return {
        name: stands_for[id(value)]
        for name, value in vars(numpy).items()
        if id(value) in stands_for and not name.startswith("__")
    }


def _same_names(module: ModuleType, own: ModuleType | None) -> dict[int, Any]:
    """Ids of what NumPy's module defines -> what the copy defines under the same name."""
    theirs = {} if own is None else vars(own)
    return {
        id(theirs[name]): value
        for name, value in vars(module).items()
        if name in theirs and theirs[name] is not value and not name.startswith("__")
    }
