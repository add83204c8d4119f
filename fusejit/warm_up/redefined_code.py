"""What a function calls may be defined again: a notebook's cell runs again, a module is edited.

Each variant checks the code of what it has inlined. But what calls have shown of a function holds
for that code alone: that Python runs it, that something in it is not compiled, how many variants it
has. So functions that reach other code than before begin anew: after each cell of IPython, and
where a call would be refused a variant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakSet

from fusejit.ir.raw_reads import members_of, module_of
from fusejit.warm_up.reachable_code import reachable_functions


def reached_code(function: FunctionType) -> frozenset[Any]:
    """The code of all that a function can reach by names; equal code is one.

    >>> def f():
    ...     return g()
    >>> def g():
    ...     return 1
    >>> before = reached_code(f)
    >>> def g():
    ...     return 2
    >>> reached_code(f) == before
    False
    """
    return frozenset(one.__code__ for one in reachable_functions(function, goes_far=True))


def is_outdated(kind: type) -> bool:
    """Whether a class has been defined again: its module has another one of its name."""
    names = type.__dict__["__qualname__"].__get__(kind).split(".")
    found: Any = sys.modules.get(module_of(kind))
    for name in names:
        if isinstance(found, ModuleType):
            found = ModuleType.__getattribute__(found, "__dict__").get(name)
        else:
            found = members_of(found).get(name) if isinstance(found, type) else None
    return isinstance(found, type) and found is not kind


_SHELLS: WeakSet[Any] = WeakSet()


def watch_cells(look: Callable[[], None]) -> None:
    """Have IPython, if it runs, call ``look`` after each cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or shell in _SHELLS:
        return
    _SHELLS.add(shell)
    shell.events.register("post_run_cell", lambda *result: look())
