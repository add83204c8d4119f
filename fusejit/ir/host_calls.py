"""Calls of host functions: the text of a call, the function behind a name, the sizes it defines.

    %r, %i = host_call "numpy.unique"(%x) as "{0}, return_index=True" sizes (at0)

``{k}`` stands for the k-th argument; everything else is literals of Python. A size is the length
of an axis of a result that is known only after the call, and a symbol from there on.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.graph import Graph, HostCall, Store, walk

# what the literals of a call's text may mention
NAMES: dict[str, Any] = {"nan": np.nan, "inf": np.inf, "dtype": np.dtype, "np": np}


def host_function(name: str) -> Callable[..., Any]:
    """The function by its dotted name: ``numpy.linalg.solve``, ``operator.getitem``."""
    module, _, attribute = name.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def argument_text(op: HostCall) -> str:
    """The text between the parentheses, with ``{k}`` for arguments."""
    return op.call or ", ".join(f"{{{k}}}" for k in range(len(op.arguments)))


def call_with(op: HostCall, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Make the call with the given objects as arguments."""
    names = {f"argument_{k}": a for k, a in enumerate(arguments)}
    text = argument_text(op).format(*names)
    return eval(f"function({text})", {**NAMES, **names, "function": function})


def with_selected(array: np.ndarray, mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A copy of ``array`` with ``copy[mask] = values``."""
    copy = array.copy(order="K")
    copy[mask] = values
    return copy


def sizes_of(op: HostCall) -> list[tuple[str, int, int]]:
    """The symbols that the op defines, each with the result and the axis that it is the length of.

    Raises
    ------
    ValueError
        If a symbol is the length of no axis.
    """
    found = []
    for name in op.sizes:
        for at, result in enumerate(op.results):
            axes = [str(e) for e in result.type.extents]
            if name in axes:
                found.append((name, at, axes.index(name)))
                break
        else:
            raise ValueError(f"{name} is the length of no axis of a result")
    return found


def sizes_defined(graph: Graph) -> list[str]:
    """All symbols that host calls define, in program order."""
    return [name for op in walk(graph.block) if isinstance(op, HostCall) for name in op.sizes]


def is_after_stores(graph: Graph, op: HostCall) -> bool:
    """Whether memory of the caller may have been modified in front of the op."""
    for each in walk(graph.block):
        if each is op:
            return False
        if isinstance(each, Store) and each.view.buffer.root.origin is not None:
            return True
    return False
