"""Calls of host functions: the text of a call, the function after a name, the sizes it defines.

    %r, %i = host_call "numpy.unique"(%x) as "{0}, return_index=True" sizes (at0)

``{k}`` stands for the k-th argument, ``{o0}`` for the first of the outside objects after ``with``;
everything else is literals of Python. A size is the length of an axis of a result that is known
only after the call, and a symbol from there on.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from fusejit.ir.graph import Graph
from fusejit.ir.ops import Assert, Block, HostCall, Loop, Op, Write, walk

# what the literals of a call's text may mention
NAMES: dict[str, Any] = {"nan": np.nan, "inf": np.inf, "dtype": np.dtype, "np": np}


SHUFFLED = "fusejit.ir.host_calls.shuffled"
"""What ``rng.shuffle(x)`` calls."""

GLOBAL_RANDOM: Any = getattr(np.random.rand, "__self__", None)
"""What ``np.random.rand`` draws from."""


def host_function(name: str) -> Callable[..., Any]:
    """The function by its dotted name: ``numpy.sort``, ``numpy.random.Generator.normal``."""
    module, _, attribute = name.rpartition(".")
    try:
        owner: Any = importlib.import_module(module)
    except ModuleNotFoundError:
        owner = host_function(module)
    function: Callable[..., Any] = getattr(owner, attribute)
    return function


def argument_text(op: HostCall) -> str:
    """The text between the parentheses, with ``{k}`` for arguments."""
    return op.call or ", ".join(f"{{{k}}}" for k in range(len(op.arguments)))


def call_with(
    op: HostCall,
    function: Callable[..., Any],
    arguments: Sequence[Any],
    objects: Sequence[Any] = (),
) -> Any:
    """Make the call with the given objects as arguments."""
    names = {f"argument_{k}": a for k, a in enumerate(arguments)}
    outside = {f"object_{k}": o for k, o in enumerate(objects)}
    text = argument_text(op).format(*names, **object_texts(list(outside)))
    return eval(f"function({text})", {**NAMES, **names, **outside, "function": function})


def object_texts(texts: Sequence[str]) -> dict[str, str]:
    """What stands for the outside objects of a call, by their names in its text."""
    return {f"o{k}": text for k, text in enumerate(texts)}


def shuffled(rng: Any, array: np.ndarray, axis: int = 0) -> np.ndarray:
    """A copy of ``array`` that ``rng`` has shuffled."""
    copy = array.copy(order="K")
    if isinstance(rng, np.random.Generator):
        rng.shuffle(copy, axis=axis)
    else:
        rng.shuffle(copy)
    return copy


def with_selected(array: np.ndarray, mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A copy of ``array`` with ``copy[mask] = values``."""
    copy = array.copy(order="K")
    copy[mask] = values
    return copy


FIRST_ITEMS = "fusejit.ir.host_calls.first_items"
"""What host calls name the function below: a part of a list, not of the program."""


def first_items(column: np.ndarray, length: int) -> np.ndarray:
    """The items of a list, of a column that may have room for more."""
    return column[:length].copy()


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


def is_host_call(op: Op) -> bool:
    """Whether Python makes a call between kernels."""
    return isinstance(op, HostCall) and not op.inline


def is_effect(op: Op) -> bool:
    """Whether the caller can see that the op has run: a store to their memory, a draw, a text."""
    if isinstance(op, HostCall):
        return not op.pure
    return isinstance(op, Write) and op.view.buffer.root.origin is not None


def is_draw(op: Op) -> TypeGuard[HostCall]:
    """Whether it draws from a generator of random numbers, whose state can be put back."""
    is_call = isinstance(op, HostCall) and not op.pure
    return is_call and op.function.startswith(("numpy.random.", "random.Random.", SHUFFLED))  # type: ignore[attr-defined]


def can_undo(graph: Graph) -> bool:
    """Whether all that a call does can be undone: stores and draws can, texts cannot."""
    return not effects_for_good(graph)


def effects_for_good(graph: Graph) -> list[HostCall]:
    """The effects that cannot be undone: what was printed, or written to an object.

    Those at the end, behind which nothing fails any more, are not meant.
    """
    last: set[Op] = set()
    for op in reversed(graph.block.ops):
        if isinstance(op, HostCall) and is_effect(op):
            last.add(op)
        elif any(isinstance(one, Assert | HostCall) for one in walk(Block(ops=[op]))):
            break
    calls = [op for op in walk(graph.block) if isinstance(op, HostCall) and op not in last]
    return [op for op in calls if is_effect(op) and not is_draw(op)]


def deferred_ops(graph: Graph) -> frozenset[Op]:
    """The ops that may run after the caller could see something: NumPy cannot take over there.

    Inside a loop that is every op, if any op of the loop is an effect.
    """
    deferred: set[Op] = set()
    _collect_deferred(graph.block, False, deferred)
    return frozenset(deferred)


def deferred_assertions(graph: Graph) -> list[Assert]:
    """The checks that end a call after an effect, in program order."""
    return [op for op in walk(graph.block) if isinstance(op, Assert) and op.is_deferred]


def _collect_deferred(block: Block, is_deferred: bool, deferred: set[Op]) -> bool:
    for op in block.ops:
        if is_deferred:
            deferred.add(op)
        in_loop = isinstance(op, Loop) and any(is_effect(o) for b in op.blocks for o in walk(b))
        after = [_collect_deferred(inner, is_deferred or in_loop, deferred) for inner in op.blocks]
        is_deferred = is_deferred or is_effect(op) or any(after)
    return is_deferred
