"""`HighsVarType(i)` gave an internal error: a constructor written in C was overlooked.

The library judge found it in ``scipy.optimize``: ``[HighsVarType(i) for i in integrality]``, of a
class made by nanobind, was reported as an internal error, since a class that neither comes with
Python nor has a constructor written in Python was taken for one without a constructor.
"""

from __future__ import annotations

import array
import warnings
from typing import Any

import numpy as np

from fusejit import FuseWarning, fuse_jit

_SEEN = array.array("q")


class Level:
    """Its constructor is a function of C, which takes integers and nothing that stands for one."""

    __init__ = _SEEN.append  # type: ignore[assignment]


def numbered(x: Any) -> Any:
    Level(len(x))  # type: ignore[call-arg]
    return x + 1


def test_constructors_of_c_are_given_numbers() -> None:
    decorated = fuse_jit(numbered)
    for size in (4, 4, 7):
        x = np.arange(size)
        del _SEEN[:]
        with warnings.catch_warnings():
            warnings.simplefilter("error", FuseWarning)
            found = decorated(x)
        assert _SEEN.tolist() == [size]
        assert np.array_equal(found, x + 1)
