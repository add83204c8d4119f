"""Linear algebra in kernels: the loops of NumPy's gufuncs, called through their addresses.

    linalg_inv(a, o, n)            o = inv(a)
    linalg_cholesky(a, o, n)       o = cholesky(a)
    linalg_solve(a, b, o, n, k)    o = solve(a, b), for k right-hand sides
    linalg_det(a, n)               det(a)

Matrices are dense and in C order: ``a`` has n x n elements, ``b`` and ``o`` of `linalg_solve` have
n x k. The first three return whether NumPy would raise no `LinAlgError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, register
from fusejit.codegen.intrinsics.raw_memory import Flat
from fusejit.ir.inline_calls import inline_linalg
from fusejit.ir.inline_calls.inline_linalg import INLINE_LINALG, InlineLinalg


def _dense(pointer: Flat, rows: int, columns: int) -> np.ndarray:
    """The elements as a matrix, all of them inside the memory of the pointer."""
    if not rows * columns:
        return np.empty((rows, columns), pointer.memory.dtype)
    first, end = pointer.index(0), pointer.index(rows * columns - 1) + 1
    return pointer.memory[first:end].reshape(rows, columns)


def _python_form(row: InlineLinalg) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(inline_linalg, row.name)

    def determinant(a: Flat, n: int) -> Any:
        return function(_dense(a, n, n))

    def matrix(*operands: Any) -> bool:
        *matrices, out = operands[: row.num_operands + 1]
        n, k = operands[row.num_operands + 1], operands[-1]
        given = [_dense(matrices[0], n, n), *(_dense(b, n, k) for b in matrices[1:])]
        result, is_regular = function(*given)
        _dense(out, n, k)[...] = result
        return bool(is_regular)

    return matrix if row.error else determinant


for _row in INLINE_LINALG:
    register(
        _row.intrinsic,
        _python_form(_row),
        jit_path(__name__, _row.intrinsic),
        f"`numpy.linalg.{_row.name}` of dense matrices.",
    )
