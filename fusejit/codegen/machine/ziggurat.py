"""NumPy's tables of the ziggurat, by which it draws normal and exponential numbers."""

from __future__ import annotations

import functools
import importlib
from typing import Any

_TAILS = ("nor_r", "nor_inv_r", "exp_r")


@functools.cache
def ziggurat_tables() -> dict[str, Any]:
    """NumPy's tables of the ziggurat, which Numba has copied; empty where it has none.

    ``wi``, ``ki``, ``fi`` of the normal and ``we``, ``ke``, ``fe`` of the exponential distribution,
    and ``nor_r``, ``nor_inv_r``, ``exp_r``, where their tails begin.
    """
    try:
        constants = importlib.import_module("numba.np.random._constants")
        arrays = {
            n: getattr(constants, f"{n}_double") for n in ("wi", "ki", "fi", "we", "ke", "fe")
        }
        numbers = {n: float(getattr(constants, f"ziggurat_{n}")) for n in _TAILS}
    except (ImportError, AttributeError):
        return {}
    if any(a.shape != (256,) or a.dtype.str not in ("<f8", "<u8") for a in arrays.values()):
        return {}
    return {**arrays, **numbers}
