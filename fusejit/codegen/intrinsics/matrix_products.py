"""Matrix products in kernels: NumPy's own inner loops, called through their addresses.

    matmul_into(a, at, step_m, step_k,  b, at, step_k, step_n,  o, at, step_m, step_n,  m, k, n)

writes ``o[m, n] = sum_k a[m, k] * b[k, n]``; offsets and steps count elements, as with `get`. It
is the very loop that `np.matmul` runs, so it takes the same routine of the same BLAS for the same
strides (gemm, gemv, syrk for ``a @ a.T``, a copy where no axis has unit stride), on the same
threads: a product of a kernel has NumPy's bits. An axis that a vector lacks has length 1 and step
0, as NumPy passes it.

    dot_into(a, at, step,  b, at, step,  o,  n)

writes the product of two vectors to ``o[0]`` by the loop of `np.vecdot`, which is what `np.matmul`
comes to as well, in half the time.

The loops are found in the struct of the ufunc, which is part of NumPy's public C interface; names
and numbers in it that Python can see as well are compared first. Machine code knows them under
symbols that are given their addresses in each process (`native_loader.register_symbols`).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.raw_memory import Flat

PRODUCT_SYMBOL, DOT_SYMBOL = "fusejit_matmul_", "fusejit_vecdot_"
"""LLVM symbols of NumPy's loops, before ``f32`` or ``f64``."""

_DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


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


@functools.cache
def product_loops() -> dict[str, int]:
    """Addresses of NumPy's loops, by symbol; empty where the struct is not as declared.

    Examples
    --------
    >>> sorted(product_loops())
    ['fusejit_matmul_f32', 'fusejit_matmul_f64', 'fusejit_vecdot_f32', 'fusejit_vecdot_f64']
    """
    loops = {
        **_loops_of(np.matmul, PRODUCT_SYMBOL),
        **_loops_of(np.vecdot, DOT_SYMBOL),
    }
    return loops if len(loops) == 2 * len(_DTYPES) else {}


def _loops_of(ufunc: np.ufunc, symbol: str) -> dict[str, int]:
    head = ctypes.sizeof(ctypes.c_ssize_t) + ctypes.sizeof(ctypes.c_void_p)
    if object.__basicsize__ != head or type(ufunc).__basicsize__ < ctypes.sizeof(_UfuncStruct):
        return {}  # a debugging or free-threaded Python
    struct = _UfuncStruct.from_address(id(ufunc))
    numbers = (struct.nin, struct.nout, struct.nargs, struct.ntypes)
    if numbers != (2, 1, 3, ufunc.ntypes) or struct.name != ufunc.__name__.encode():
        return {}
    found = {}
    for name, dtype in _DTYPES.items():
        wanted = ufunc.types.index(f"{dtype.char * 2}->{dtype.char}")
        if struct.types[3 * wanted : 3 * wanted + 3] != [dtype.num] * 3:
            return {}
        found[symbol + name] = struct.functions[wanted] or 0
    return found if all(found.values()) else {}


@python_implementation
def matmul_into(*operands: Any) -> None:
    """One matrix product by NumPy; dimensions that are not positive count as 0."""
    m, k, n = (max(length, 0) for length in operands[12:])
    if m and n:
        left, right, out = (
            _matrix(pointer, at, shape, steps)
            for (pointer, at, *steps), shape in zip(
                (operands[:4], operands[4:8], operands[8:12]), ((m, k), (k, n), (m, n)), strict=True
            )
        )
        np.matmul(left, right, out=out)


@python_implementation
def dot_into(
    a: Flat, a_at: int, a_step: int, b: Flat, b_at: int, b_step: int, o: Flat, n: int
) -> None:
    """One product of vectors by NumPy; a length that is not positive counts as 0."""
    n = max(n, 0)
    left = _matrix(a, a_at, (1, n), (0, a_step))
    right = _matrix(b, b_at, (1, n), (0, b_step))
    o.memory[o.index(0)] = np.vecdot(left, right)[0]


def _matrix(pointer: Flat, at: int, shape: tuple[int, int], steps: Sequence[int]) -> np.ndarray:
    """The elements as an array, all of them inside the memory of the pointer."""
    dtype = pointer.memory.dtype
    if not all(shape):
        return np.empty(shape, dtype)
    reach = [(length - 1) * step for length, step in zip(shape, steps, strict=True)]
    pointer.index(at + sum(r for r in reach if r < 0))
    pointer.index(at + sum(r for r in reach if r > 0))
    strides = tuple(step * dtype.itemsize for step in steps)
    start = pointer.memory[pointer.index(at) :]
    return np.lib.stride_tricks.as_strided(start, shape, strides)
