"""Numbers of a call of NumPy's from different sources: an array, a number, a list, a tuple, a loop.

``python -m fusejit_testing.argument_sources [WORD]`` makes the calls of `numpy_surface` whose
function has WORD in its name, each with each number in turn read from an array, and each sequence
as a list, as a tuple and with its items read from an array, outside and inside a loop. It prints
what differs from NumPy, and what runs as plain NumPy though the call with a number does not.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fusejit_testing.numpy_surface import KNOWN, Call, calls, functions, outcome, outcome_of

Place = int | str
_MATRICES = ("asmatrix", "bmat", "mat")  # make np.matrix


def _as_data(call: Call, place: Place, value: Any) -> Callable[..., Any]:
    """A function that makes a call with a number, or the items of a tuple, read from an array."""
    function, is_many, many = call.function, isinstance(value, tuple | list), type(value)
    count = len(value) if is_many else 1

    def called(args: Any, kwargs: Any, data: Any) -> Any:
        read = many([data[k] for k in range(count)]) if is_many else data[0]
        if isinstance(place, int):
            return function(*args[:place], read, *args[place + 1 :], **kwargs)
        return function(*args, **{**kwargs, place: read})

    return called


def _in_loop(call: Call, place: Place, value: Any) -> Callable[..., Any]:
    """The same in a loop over the array, as a sum of all results."""
    function, is_many, many = call.function, isinstance(value, tuple | list), type(value)
    count = len(value) if is_many else 1

    def called(args: Any, kwargs: Any, data: Any) -> Any:
        total = 0.0
        for _ in range(3):
            read = many([data[k] for k in range(count)]) if is_many else data[0]
            if isinstance(place, int):
                made = function(*args[:place], read, *args[place + 1 :], **kwargs)
            else:
                made = function(*args, **{**kwargs, place: read})
            total = total + np.sum(made)
        return total

    return called


def _numbers(value: Any) -> bool:
    items = value if isinstance(value, tuple | list) else (value,)
    return bool(items) and all(type(item) in (int, float) for item in items)


def forms(call: Call) -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """The forms of one call: a name, the function, and its arguments."""
    places: list[tuple[Place, Any]] = [*enumerate(call.args), *call.kwargs.items()]
    for place, value in places:
        if not _numbers(value):
            continue
        items = value if isinstance(value, tuple | list) else (value,)
        data = np.array(items)
        given = call.args, call.kwargs, data
        yield f"{place} as data", _as_data(call, place, value), given
        yield f"{place} as data in a loop", _in_loop(call, place, value), given
        if isinstance(value, tuple | list):
            other = list(value) if isinstance(value, tuple) else tuple(value)
            form = f"{place} as {type(other).__name__} of data"
            yield form, _as_data(call, place, other), given


def every_form(
    word: str = "",
) -> Iterator[tuple[Call, str, Callable[..., Any], tuple[Any, ...]]]:
    """All forms of the calls of functions with ``word`` in their names."""
    for name, function in functions():
        if word in name and name not in _MATRICES:
            for call in calls(name, function):
                if name not in KNOWN and str(call) not in KNOWN:
                    yield from ((call, *form) for form in forms(call))


def sweep(word: str = "") -> Iterator[tuple[str, str]]:
    """What becomes of each form: a kind of `numpy_surface`, and a text."""
    of_numbers: dict[str, str] = {}
    for call, form, caller, given in every_form(word):
        kind, text = outcome_of(caller, given)
        if kind in ("plain", "in part"):
            if str(call) not in of_numbers:
                of_numbers[str(call)] = outcome(call)[0]
            is_new = of_numbers[str(call)] == "compiled"
            kind = kind if is_new else f"{kind} with a number too"
        yield kind, f"{call}, {form}: {text}"


if __name__ == "__main__":
    counts: Counter[str] = Counter()
    for kind, text in sweep(*sys.argv[1:2]):
        counts[kind] += 1
        if kind in ("wrong", "plain", "in part"):
            print(f"{kind}: {text[:300]}", flush=True)
    print(dict(counts))
