"""Functions that store into an argument, given a number that only the kernel knows.

Found by the campaign (identities, seed 37503569): ``np.copyto(q, 1)`` of a counter ``q`` stored
into it, where NumPy raises a TypeError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

STORES = {
    "copyto": lambda number: np.copyto(number, 1),
    "copyto by name": lambda number: np.copyto(dst=number, src=1, casting="unsafe"),
    "put": lambda number: np.put(number, 0, 1),
    "place": lambda number: np.place(number, True, 1),
    "putmask": lambda number: np.putmask(number, True, 1),
    "put_along_axis": lambda number: np.put_along_axis(number, np.array([0]), 1, 0),
    "fill_diagonal": lambda number: np.fill_diagonal(number, 1),
    "at": lambda number: np.add.at(number, 0, 1),
    "out of a ufunc": lambda number: np.add([1.0, 2.0], 1, out=number),
    "out of a sum": lambda number: np.sum([1.0, 2.0], out=number),
    "out of a product": lambda number: np.dot([1.0, 2.0], [1.0, 2.0], out=number),
}


def outcome(function: Any, x: np.ndarray) -> tuple[Any, ...]:
    """What a call returns, or raises."""
    try:
        return ("returns", function(x))
    except (TypeError, ValueError, AttributeError, np.exceptions.AxisError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", ["counter", "element"])
@pytest.mark.parametrize("name", STORES)
def test_stores_into_numbers_of_the_kernel(name: str, kind: str) -> None:
    store = STORES[name]

    def counted(x: np.ndarray) -> Any:
        number, last = 0, x[0]
        while number < len(x):
            last = x[number]
            number += 1
        store(number if kind == "counter" else last)
        return number, last

    decorated = decorate(counted, jit=False)
    for n in (3, 4, 5):
        x = np.arange(1.0, n + 1)
        assert outcome(decorated, x) == outcome(counted, x)
