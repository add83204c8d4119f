"""`check_equivalent`: a step keeps what it says, on small arrays with special values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fusejit.errors import ScheduleError
from fusejit.ir.graph import Graph
from fusejit.ir.host import Path
from fusejit.ir.interpreter.interpret import check_guards, interpret
from fusejit.path_resolver import resolver
from fusejit.stages import Traced
from fusejit.support.identity import own_signature

SMALL = (7, 5, 9, 3, 11, 4, 6, 8)
"""What the distinct sizes of the traced arguments become."""

NUM_SIZES = 3
"""How many choices of such sizes are tried."""

LARGEST = 17
"""The largest size of the last choice, for guards that small sizes do not satisfy."""

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)

RELATIVE = {"f": 1e-4, "c": 1e-4}


def check_equivalent(
    stage: Traced,
    args: tuple[Any, ...],
    before: Graph,
    after: Graph,
    tag: str,
    call: str,
    tolerance: float = 1e-3,
) -> int:
    """Interpret both graphs on small arrays and compare; return how many inputs were compared.

    Inputs for which the guards of the trace do not hold, or an index is out of bounds, are left
    out. Every other input has integers that are small enough for an index. Results of a step that
    is ``approx`` may differ by ``tolerance`` times the largest number of the result.

    Raises
    ------
    ScheduleError
        If results differ by more than the tag allows. That is an internal error.
    """
    rng = np.random.default_rng(0)
    compared = 0
    for (number, sizes), with_special in itertools.product(enumerate(_sizes(args)), (False, True)):
        if number == NUM_SIZES and compared:  # sizes that fit were found among the others
            break
        integers = (0, 2) if with_special else (-9, 10)
        has_special = with_special and tag == "bits"
        given = [array_like(arg, sizes, rng, has_special, integers) for arg in args]
        results = []
        for graph in (before, after):
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
            paths = paths_of(stage, tuple(copies))
            if check_guards(graph, paths) is not None:
                break
            try:
                results.append((interpret(graph, paths), copies))
            except IndexError as error:
                if results:
                    raise ScheduleError(f"{call} raises {error} (an internal error)") from error
                break
        if len(results) == 2:
            compared += 1
            _compare(results[0], results[1], tag, call, tolerance)
    return compared


def paths_of(stage: Traced, args: tuple[Any, ...]) -> Callable[[Path], Any]:
    """How objects are found in a call with positional arguments."""
    bound = own_signature(stage.function).bind(*args)
    bound.apply_defaults()
    return resolver(stage.function, bound.arguments, stage.traced)


def _sizes(args: tuple[Any, ...]) -> list[Mapping[int, int]]:
    """What the sizes of the arguments become: equal ones stay equal, 1 stays 1.

    The last choice keeps small sizes as they are, for guards that hold for some only.
    """
    found = {n for arg in args if isinstance(arg, np.ndarray) for n in arg.shape if n > 1}
    ordered = sorted(found)
    maps: list[Mapping[int, int]] = []
    for shift in range(NUM_SIZES):
        small = [SMALL[(k + shift) % len(SMALL)] for k in range(len(ordered))]
        maps.append({n: min(n, new) for n, new in zip(ordered, small, strict=True)})
    return [*maps, {n: min(n, LARGEST) for n in ordered}]


def array_like(
    arg: Any,
    sizes: Mapping[int, int],
    rng: np.random.Generator,
    special: bool,
    integers: tuple[int, int] = (-9, 10),
) -> Any:
    """An array like an argument, with other extents; other arguments as they are."""
    if not isinstance(arg, np.ndarray):
        return arg
    shape = [sizes.get(n, n) for n in arg.shape]
    is_fortran = arg.flags.f_contiguous and not arg.flags.c_contiguous
    values: Any = rng.integers(*(integers if arg.dtype.kind != "b" else (0, 2)), shape)
    if arg.dtype.kind in "fc":
        values = values + rng.random(shape)
    made: Any = np.array(values, arg.dtype, order="F" if is_fortran else "C")
    if special and arg.dtype.kind == "f" and made.size:
        made.flat[rng.integers(0, made.size, 2)] = rng.choice(SPECIAL, 2)
    return made


def _compare(expected: Any, actual: Any, tag: str, call: str, tolerance: float) -> None:
    for old, new in zip(_flat(expected), _flat(actual), strict=True):
        same = old.dtype == new.dtype and old.shape == new.shape
        if same and tag == "bits":
            same = same_bits(old, new)
        elif same:
            error = tolerance if tag == "approx" else RELATIVE.get(old.dtype.kind, 0.0)
            largest = np.max(np.abs(old), initial=0.0, where=np.isfinite(old))
            same = np.allclose(old, new, rtol=error, atol=error * largest, equal_nan=True)
        if not same:
            raise ScheduleError(f"{call} changes a result (an internal error): {old} became {new}")


def same_bits(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether arrays have the same bits; one NaN is as good as another."""
    return old.tobytes() == new.tobytes() or _differ_in_nan_only(old, new)


def _differ_in_nan_only(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether all numbers have the same bits, the sign of zeros included."""
    if old.dtype.kind not in "fc":
        return False
    old, new = (a.view(f"f{a.dtype.itemsize // (1 + (a.dtype.kind == 'c'))}") for a in (old, new))
    numbers = ~np.isnan(old)
    same_nan = np.array_equal(np.isnan(old), np.isnan(new))
    return same_nan and old[numbers].tobytes() == new[numbers].tobytes()


def _flat(results: Any) -> list[np.ndarray]:
    values, copies = results
    return [
        np.asarray(v)
        for v in (*values, *copies)
        if isinstance(v, np.ndarray | np.generic | int | float)
    ]
