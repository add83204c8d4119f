"""Addresses of the inner loops of NumPy's ufuncs, for kernels that call them.

They are read from the struct of the ufunc, which is part of NumPy's public C interface. The names
and numbers in it that Python can see as well are compared first.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_DTYPES: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}


class _UfuncStruct(ctypes.Structure):
    """The first members of ``PyUFuncObject`` (numpy/ufuncobject.h)."""

    _fields_ = (
        ("ob_refcnt", ctypes.c_ssize_t),
        ("ob_type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_ubyte)),
    )


def ufunc_loops(ufunc: np.ufunc) -> dict[str, int]:
    """Addresses of the loops of a ufunc, under ``f32`` and ``f64``.

    Empty where the struct is not as declared: in a debugging or free-threaded Python, say.
    """
    head = ctypes.sizeof(ctypes.c_ssize_t) + ctypes.sizeof(ctypes.c_void_p)
    if object.__basicsize__ != head or type(ufunc).__basicsize__ < ctypes.sizeof(_UfuncStruct):
        return {}
    struct = _UfuncStruct.from_address(id(ufunc))
    numbers = (struct.nin, struct.nout, struct.nargs, struct.ntypes)
    expected = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    if numbers != expected or struct.name != ufunc.__name__.encode():
        return {}
    found = {}
    for name, dtype in _DTYPES.items():
        text = f"{dtype.char * ufunc.nin}->{dtype.char * ufunc.nout}"
        if text not in ufunc.types:
            return {}
        wanted, nargs = ufunc.types.index(text), ufunc.nargs
        if struct.types[nargs * wanted : nargs * (wanted + 1)] != [dtype.num] * nargs:
            return {}
        found[name] = struct.functions[wanted] or 0
    return found if all(found.values()) else {}
