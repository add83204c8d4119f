"""Where native code finds the fields of arrays and functions: byte offsets from an object's start.

Those of arrays are NumPy's ABI, stable since 2.0; those of functions are read off a function. Each
is compared with what Python says of a sample before anything relies on it.

Source
------
``PyArrayObject_fields`` and ``_PyArray_Descr`` in numpy/ndarraytypes.h; ``PyFunctionObject`` in
CPython's funcobject.h.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from types import FunctionType
from typing import Any, cast

import numpy as np

from fusejit.support.identity import parts_of

WORD = 8
OB_TYPE, DATA, NDIM, SHAPE, STRIDES, DESCR = 8, 16, 24, 32, 40, 56
BYTEORDER, TYPE_NUM, METADATA = 26, 28, 56


@functools.cache
def layout_is_known() -> bool:
    """Whether this NumPy's arrays have their fields where native code reads them."""
    sample = np.zeros((3, 5), np.float32)[:, ::2]
    told = np.dtype(np.float32, metadata={"known": True})
    (metadata,) = gc.get_referents(told.metadata)
    start = id(sample)

    def word(at: int, kind: Any = ctypes.c_int64) -> int:
        return int(kind.from_address(at).value)

    descr = word(start + DESCR)
    return (
        ctypes.sizeof(ctypes.c_void_p) == 8
        and word(start + OB_TYPE) == id(np.ndarray)
        and word(start + DATA) == sample.__array_interface__["data"][0]
        and word(start + NDIM, ctypes.c_int32) == 2
        and [word(word(start + SHAPE) + 8 * k) for k in range(2)] == [3, 3]
        and [word(word(start + STRIDES) + 8 * k) for k in range(2)] == [20, 8]
        and descr == id(sample.dtype)
        and word(descr + TYPE_NUM, ctypes.c_int32) == sample.dtype.num
        and chr(word(descr + BYTEORDER, ctypes.c_uint8)) in "=|"
        and word(descr + METADATA) == 0
        and word(id(told) + METADATA) == id(metadata)
    )


def _sample(a: Any = 1, *, b: Any = 2) -> None:
    """A function with default values of both kinds."""


@functools.cache
def offsets_of_parts() -> tuple[int, ...]:
    """Where a function has its `parts_of`, null for None; nothing if that cannot be told."""
    count = FunctionType.__basicsize__ // WORD
    words = (ctypes.c_int64 * count).from_address(id(_sample))
    found = [
        [k for k in range(count) if words[k] == id(part)]
        for part in parts_of(cast(FunctionType, _sample))
    ]
    return tuple(k[0] * WORD for k in found) if all(len(k) == 1 for k in found) else ()
