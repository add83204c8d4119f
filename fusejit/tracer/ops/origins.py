"""Which object a name holds where only the kernel knows: an argument, a view of it, or a new array.

::

    while err > tol:        no iteration: x is what it was, perhaps the caller's own array
        x = x - step(x)
    return x

The trace has one array for both cases, a copy of the elements. Beside it runs a number, ``which``:
0 stands for the array itself and ``k`` for the ``k``-th object that it may be instead. The launcher
hands out that object (`fusejit.ir.traced.ChoiceLeaf`). The numbers cost something in every
iteration, so they are computed only after an attempt to trace has shown that one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fusejit.dataclass import dataclass
from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64
from fusejit.tracer.values.storage import Storage

_TRACKED = ("origins", "tracked")
IS_AN_OBJECT = "object"
"""The kind of a check that an array is its own: after a store NumPy must be able to take over."""


@dataclass(eq=False, slots=True)
class Origin:
    """What an array may be instead of itself.

    Attributes
    ----------
    array : TracedArray
        The array; its views are others.
    objects : tuple of TracedArray
        What it may be instead.
    which : TracedArray or None
        The number; None if the numbers are not computed in this attempt.
    require_own : callable or None
        Starts the trace again with a check that the array is its own; None if it often is not.
    """

    array: TracedArray
    objects: tuple[TracedArray, ...]
    which: TracedArray | None = None
    require_own: Callable[[], NoReturn] | None = None

    def roots(self) -> set[Storage]:
        """The memory of the other objects."""
        return {obj.storage.root for obj in self.objects}


def are_tracked(trace: Trace) -> bool:
    """Whether the numbers are computed in this attempt."""
    return _TRACKED in trace.table


def track(trace: Trace) -> None:
    """Ensure that the numbers are computed: start the trace again if they are not."""
    if not are_tracked(trace):
        trace.table[_TRACKED] = True
        raise Retrace


def is_captured(storage: Storage) -> bool:
    """Whether an array has, or may have, memory of the caller's or an object known elsewhere."""
    is_argument = storage.buffer is not None and storage.buffer.origin is not None
    return is_argument or storage.origin is not None


def number_of(
    obj: TracedArray, known: Callable[[TracedArray], Any], trace: Trace
) -> TracedArray | int:
    """Which object an array is, as a number of the current block.

    Parameters
    ----------
    obj : TracedArray
    known : callable
        The number of an array that is there outside of the region; None for one made in it.
    trace : Trace
    """
    number = known(obj)
    if number is not None:
        return number  # type: ignore[no-any-return]
    origin = obj.storage.root.origin
    if origin is None:
        return 0
    track(trace)
    assert origin.which is not None
    result: TracedArray | int = 0
    for k, other in enumerate(origin.objects, 1):
        result = _chosen(origin.which, k, number_of(other, known, trace), result)
    return result


def _chosen(which: TracedArray, k: int, one: Any, other: Any) -> Any:
    """``one if which == k else other``."""
    if isinstance(one, int) and isinstance(other, int) and one == other:
        return one

    def select(builder: PayloadBuilder, refs: list[int]) -> int:
        is_it = builder.op("equal", [refs[0], builder.const(k, I64)], BOOL)
        return builder.op("select", [is_it, refs[1], refs[2]], I64)

    return emit_scalar("origin", [which, one, other], [I64, I64, I64], I64, select)


def check_own(trace: Trace, which: TracedArray) -> None:
    """Ensure that an array is its own in this call."""

    def is_own(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op("equal", [refs[0], builder.const(0, I64)], BOOL)

    ok = emit_scalar("origin", [which], [I64], BOOL, is_own)
    reason = "a loop has bound an array again"
    trace.emit(Assert(condition=ok.value(), reason=reason, error=IS_AN_OBJECT))


def choices_of(array: TracedArray) -> tuple[TracedArray, ...]:
    """What an array may be instead of itself, where it is known which one."""
    origin: Origin | None = array.storage.root.origin
    if origin is None or origin.array is not array or origin.which is None:
        return ()
    return origin.objects
