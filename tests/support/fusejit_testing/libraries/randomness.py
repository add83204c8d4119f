"""The global generators of random numbers, noted and put back around each call.

Their whole state takes 100 us to read, calls that are judged often 5, and hardly any of them draws.
So the memory of the generators is looked at first, and read as a state only where it has changed.
"""

from __future__ import annotations

import ctypes
import pickle
import random
from typing import Any

import numpy as np

_HEAD = object.__basicsize__  # the count of references and the class
_MERSENNE_BYTES = 624 * 4 + 4  # the key and the position in it
_OF_PYTHON: Any = vars(random)["_inst"]
_OF_NUMPY: Any = vars(np.random.mtrand)["_rand"]


class Randomness:
    """The global generators of random numbers at one moment."""

    __slots__ = ("memory", "state")
    last: Randomness | None = None  # the one that was noted last

    def __init__(self) -> None:
        self.memory = _memory()
        last = Randomness.last
        if last is not None and last.memory == self.memory:
            self.state: tuple[Any, Any] = last.state
        else:
            self.state = np.random.get_state(legacy=False), random.getstate()
            Randomness.last = self

    def restore(self) -> None:
        """Put the generators where they were."""
        if _memory() != self.memory:
            np.random.set_state(self.state[0])
            random.setstate(self.state[1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Randomness):
            return NotImplemented
        return self.memory == other.memory or pickle.dumps(self.state) == pickle.dumps(other.state)

    __hash__ = None  # type: ignore[assignment]


def _memory() -> tuple[Any, ...]:
    """What changes whenever a generator does: its own memory, and that of its bits."""
    bits = _OF_NUMPY._bit_generator
    if type(bits) is np.random.MT19937:
        key: Any = ctypes.string_at(bits.ctypes.state_address, _MERSENNE_BYTES)
    else:
        key = pickle.dumps(bits.state)
    return _bytes_of(_OF_NUMPY), key, _bytes_of(_OF_PYTHON), _OF_PYTHON.gauss_next


def _bytes_of(generator: Any) -> bytes:
    return ctypes.string_at(id(generator) + _HEAD, type(generator).__basicsize__ - _HEAD)
