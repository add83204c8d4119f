"""Methods of `random.Random` that the standard library writes with ``try``, in plain Python.

The functions are traced like those of the program.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations


def randrange(rng, start, stop, step):
    """``rng.randrange(start, stop, step)`` of integers."""
    require(step != 0)
    if step > 0:
        count = (stop - start + step - 1) // step
    else:
        count = (stop - start + step + 1) // step
    require(count > 0)
    return start + step * rng._randbelow(count)


def require(condition):
    """Leave the call to Python where the condition does not hold: it raises."""
    raise NotImplementedError
