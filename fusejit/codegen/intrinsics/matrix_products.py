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

Machine code knows the loops under symbols that are given their addresses in each process
(`native_loader.register_symbols`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.raw_memory import Flat
from fusejit.ir.inline_calls.ufunc_loops import ufunc_loops

PRODUCT_SYMBOL, DOT_SYMBOL = "fusejit_matmul_", "fusejit_vecdot_"
"""LLVM symbols of NumPy's loops, before ``f32`` or ``f64``."""


@functools.cache
def product_loops() -> dict[str, int]:
    """Addresses of NumPy's loops, by symbol; empty where the struct is not as declared.

    Examples
    --------
    >>> sorted(product_loops())
    ['fusejit_matmul_f32', 'fusejit_matmul_f64', 'fusejit_vecdot_f32', 'fusejit_vecdot_f64']
    """
    loops = {
        symbol + dtype: address
        for ufunc, symbol in ((np.matmul, PRODUCT_SYMBOL), (np.vecdot, DOT_SYMBOL))
        for dtype, address in ufunc_loops(ufunc).items()
    }
    return loops if len(loops) == 4 else {}


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
