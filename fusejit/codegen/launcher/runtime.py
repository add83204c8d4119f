"""What generated launchers call: misses, views of arrays, NumPy's error state."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.lower.deferred_errors import DeferredSite, raise_at, raise_deferred
from fusejit.ir.source import Location
from fusejit.ir.write_access import WriteAccess, broadcast_access, mark, strided
from fusejit.outcome import Outcome, fallback, guard_failed, numpy_raising, overlap

ERRSTATE = fallback("np.errstate asks for exceptions or callbacks")
_LARGEST_CAPACITY = 2**37
WARNS = numpy_raising("NumPy gives a warning, which a filter turns into an exception")
_BY_STATUS: dict[int, Outcome] = {
    Status.MISMATCH: guard_failed("an argument is not of the compiled type"),
    Status.GUARD: guard_failed("a guard does not hold"),
    Status.LAYOUT: guard_failed("strides or alignment differ"),
    Status.OVERLAP: overlap("arrays overlap in memory, and one of them is written"),
    Status.OUT_OF_BOUNDS_IF_RUN: numpy_raising(
        "NumPy raises IndexError: an index is out of bounds",
        "an index is out of bounds in a statement that this call does not run",
    ),
    Status.OUT_OF_BOUNDS: numpy_raising("NumPy raises IndexError: an index is out of bounds"),
    Status.BEYOND_64_BITS: fallback(
        "a Python int goes beyond 64 bits; np.int64(..) wraps around, & 0xFFFFFFFF masks"
    ),
    Status.BEYOND_53_BITS: fallback(
        "a Python int beyond 53 bits is in a list or a name that holds floats as well; hold them "
        "apart"
    ),
    Status.RAISES: numpy_raising("NumPy raises", "it raises an exception that the program catches"),
    Status.LEFT_TO_PYTHON: fallback(
        "it sorts NaN or looks for it in a list, makes an array of an empty list, asks for the "
        "kind of a character beyond ASCII, changes a container in a loop over it, has None for an "
        "index, has a string where others are numbers, asks for the code of a string that is no "
        "character, draws from an empty range, asks a generator for too many items at once, does "
        "not run a loop that alone binds a name which is read after it, or calls itself almost as "
        "deep as Python allows"
    ),
    Status.NO_ROOM: fallback("a list has too many items"),
    Status.NO_ROOM_FOR_ARRAYS: fallback("a list has too many arrays"),
    Status.COMPLEX_POWER: fallback("a power of a Python float is a complex number"),
    Status.SIZES_DIFFER: numpy_raising(
        "NumPy raises, or sizes that only the call knows are not as assumed",
        "sizes that only the call knows are not as assumed",
    ),
    Status.EXTENTS_DIFFER: numpy_raising(
        "NumPy raises, or broadcasts an extent of 1 that only the kernel knows",
        "broadcasts an extent of 1 that only the kernel knows",
    ),
}
HOST_FAILED = numpy_raising(
    "NumPy raises in a host call, or has another result than expected",
    "a host call has another result than expected",
)


@contextlib.contextmanager
def locked(*generators: np.random.Generator) -> Iterator[None]:
    """Hold the locks of several generators, taken in one order whatever the call."""
    bits = {id(rng.bit_generator): rng.bit_generator for rng in generators}
    with contextlib.ExitStack() as stack:
        for key in sorted(bits):
            stack.enter_context(bits[key].lock)
        yield


def kept(*objects: Any) -> list[tuple[Any, Any]]:
    """Arrays, each with a copy, and generators of random numbers with their states."""
    saved: list[tuple[Any, Any]] = []
    for obj in objects:
        if isinstance(obj, np.random.Generator):
            saved.append((obj, obj.bit_generator.state))
        elif isinstance(obj, np.random.RandomState):
            saved.append((obj, obj.get_state(legacy=False)))
        elif isinstance(obj, random.Random):
            saved.append((obj, obj.getstate()))
        elif type(obj) is np.ndarray:
            saved.append((obj, obj.copy()))
    return saved


def put_back(saved: list[tuple[Any, Any]]) -> None:
    """Undo what the steps of a call did to arrays and generators: NumPy runs the call instead."""
    for obj, before in saved:
        if isinstance(obj, np.random.Generator):
            obj.bit_generator.state = before
        elif isinstance(obj, np.random.RandomState):
            obj.set_state(before)
        elif isinstance(obj, random.Random):
            obj.setstate(before)
        else:
            obj[...] = before


def make_room(capacities: npt.NDArray[np.int64], capacity: int) -> bool:
    """Give each list of a variant more room than the ``capacity`` that a call had.

    Returns whether the call may start again. Another thread may have made room meanwhile.
    """
    if capacities[0] == capacity:
        if capacity >= _LARGEST_CAPACITY:
            return False
        capacities[:] = 8 * capacity
    return True


def miss(status: int, places: tuple[DeferredSite, ...]) -> Outcome:
    """The outcome that belongs to a kernel's status.

    Parameters
    ----------
    status : int
    places : tuple of DeferredSite
        Where the checks stand that end a call with an error of their own.

    Raises
    ------
    MemoryError
        If the kernel found no memory for a temporary.
    """
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    raise_deferred(status, places)
    raise MemoryError("fusejit: no memory for a temporary array of the kernel")


def raise_from(error: Exception, location: Location) -> NoReturn:
    """Raise what a call that the launcher made has raised, at the line of the user's program."""
    inside = error.__traceback__
    raise_at(error.with_traceback(inside and inside.tb_next), location)


def host_parts(made: Any, num_results: int) -> tuple[Any, ...]:
    """Return the results of a host function as a tuple.

    Raises
    ------
    RuntimeError
        If there are not as many as when the function was traced.
    """
    parts = made if isinstance(made, tuple) else (made,)
    if len(parts) != num_results:
        raise RuntimeError(f"fusejit: a host function returned {len(parts)}, not {num_results}")
    return parts


def host_array(result: Any, dtype: np.dtype, rank: int) -> npt.NDArray[Any]:
    """What a host function returned, as it is: no kernel reads it.

    Raises
    ------
    RuntimeError
        If it is not of the dtype and rank that was found when the function was traced.
    """
    array = np.asarray(result)
    if array.dtype != dtype or array.ndim != rank:
        raise RuntimeError(
            f"fusejit: a host function returned {array.dtype} of rank {array.ndim} instead of "
            f"{dtype} of rank {rank}"
        )
    return array


def host_result(
    result: Any, dtype: np.dtype, rank: int, order: tuple[int, ...] | None, is_deferred: bool
) -> npt.NDArray[Any]:
    """What a host function returned, as the array that kernels read: dense in its axis order.

    Raises
    ------
    RuntimeError
        As `host_array`; or if it lies in another order, which would be that of what is computed
        from it. It is copied instead if it ``is_deferred``: the call cannot start again.
    """
    array = host_array(result, dtype, rank)
    found = array if order is None else array.transpose(order)
    if found.flags.c_contiguous:
        return array
    if not is_deferred and not np.empty_like(found).flags.c_contiguous:
        raise RuntimeError("fusejit: a host function returned an array in another axis order")
    if order is None:
        return np.ascontiguousarray(array)
    inverse = tuple(order.index(axis) for axis in range(len(order)))
    return np.ascontiguousarray(found).transpose(inverse)


def require_shape(array: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    """Check that a host function returned the expected extents.

    Raises
    ------
    RuntimeError
        If it did not.
    """
    if array.shape != shape:
        raise RuntimeError(f"fusejit: a host function returned shape {array.shape}, not {shape}")


def errors_raise() -> bool:
    """Whether np.errstate turns floating-point conditions into more than a warning."""
    return any(v not in ("ignore", "warn") for v in np.geterr().values())


def _error_state_reader() -> Callable[[], Any]:
    """What tells apart np.errstate contexts: an identity check costs 11 ns, np.geterr() 1 us."""
    try:
        from numpy._core.umath import _extobj_contextvar
    except ImportError:  # a NumPy that moved it: the slow test is always made
        return object
    read: Callable[[], Any] = _extobj_contextvar.get
    return read


error_state = _error_state_reader()

DEFAULT_ERROR_STATE: Any = error_state()


def marked(
    array: npt.NDArray[Any], access: WriteAccess, whole: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """A view that nobody else has of ``whole``, marked as NumPy does for stores into it."""
    if access is WriteAccess.WARNS:
        access = broadcast_access(WriteAccess.of(whole))
    mark(array, access)
    return array


def axis_slice(start: int, step: int, length: int) -> slice:
    """The slice that selects ``start, start + step, ...``, ``length`` elements."""
    if length <= 0:
        return slice(0, 0)
    stop = start + step * length
    return slice(start, stop if stop >= 0 else None, step)


def strided_view(
    array: npt.NDArray[Any],
    corner: tuple[int, ...],
    steps: list[list[int]],
    shape: tuple[int, ...],
) -> npt.NDArray[Any]:
    """A real view that starts at ``corner`` and whose axis ``d`` moves ``steps[d][k]`` on axis k.

    Axes that split an axis of the array move along it together: ``(2, 0)`` and ``(1, 0)``. The axis
    of a diagonal moves along two: ``(1, 1)``; windows that slide overlap on one.
    """
    diagonal = _diagonal(array, corner, steps, shape)
    if diagonal is not None:
        return diagonal
    strides = tuple(sum(n * s for n, s in zip(step, array.strides, strict=True)) for step in steps)
    return strided(array, shape, strides, corner)


def _diagonal(
    array: npt.NDArray[Any],
    corner: tuple[int, ...],
    steps: list[list[int]],
    shape: tuple[int, ...],
) -> npt.NDArray[Any] | None:
    """The view as NumPy makes it, with its base, if one axis is a diagonal and none of the others.

    Each axis of the array is cut so that the view moves on it from its first element, one by one.
    """
    moved = [[k for k, step in enumerate(of_axis) if step] for of_axis in steps]
    used = [k for axes in moved for k in axes]
    lengths = sorted(map(len, moved))
    if lengths != [1] * (len(steps) - 1) + [2] or len({*used}) != len(used):
        return None
    if 0 in shape and len(used) < array.ndim:
        return None  # no element is at the corner
    by_axis = [sum(of_axis[k] for of_axis in steps) for k in range(array.ndim)]
    index = [slice(c, None, s) if s else c for c, s in zip(corner, by_axis, strict=True)]
    first, second = (sorted(used).index(k) for axes in moved if len(axes) == 2 for k in axes)
    found = array[tuple(index)].diagonal(0, first, second)
    kept = [k for n, k in enumerate(sorted(used)) if n not in (first, second)]
    order = [kept.index(axes[0]) if len(axes) == 1 else len(kept) for axes in moved]
    return found.transpose(order)[tuple(slice(n) for n in shape)]


def view(
    array: npt.NDArray[Any],
    index: tuple[Any, ...],
    axes: tuple[int, ...],
    added: tuple[Any, ...],
    shape: tuple[int, ...] | None,
) -> npt.NDArray[Any]:
    """A real view: sliced, transposed, with axes added, broadcast where a shape is given."""
    result: npt.NDArray[Any] = array[index]
    if axes != tuple(range(len(axes))):
        result = result.transpose(axes)
    result = result[added]
    if shape is None:
        return result
    if all(n <= 1 for n, new in zip(shape, added[1:], strict=True) if new is None):
        return result[tuple(slice(n) for n in shape)]  # ``x[None][1:]`` stays writeable
    repeated = np.broadcast_to(result, shape)
    if 0 in shape:  # a reshape of nothing: no element is seen twice
        return strided(result, shape, repeated.strides)
    return repeated
