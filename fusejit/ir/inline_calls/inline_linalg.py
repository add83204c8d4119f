"""Linear algebra that kernels make themselves, by the loops of NumPy's own gufuncs.

    %r, %ok = host_call "fusejit.ir.inline_calls.inline_linalg.inv"(%a) inline

`numpy.linalg` calls one gufunc for each of these functions, in float64. Kernels call its loop
through its address, so results have NumPy's bits. The second result is false where NumPy raises
`LinAlgError`; an `Assert` after the call raises it. A function without the error has one result.
"""

from __future__ import annotations

import functools
import importlib
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.inline_calls.ufunc_loops import ufunc_loops
from fusejit.ir.ops import HostCall

FE_INVALID = 1
"""The flag that a loop leaves set where NumPy raises (fenv.h of x86-64 and AArch64)."""

_MACHINES = ("x86_64", "aarch64", "arm64")


@dataclass(frozen=True, slots=True)
class InlineLinalg:
    """A function of `numpy.linalg` that kernels make themselves.

    Attributes
    ----------
    name : str
        Of the function, and of `numpy.linalg`'s.
    gufunc : str
        The ufunc of `numpy.linalg._umath_linalg`.
    error : str
        The text of the `LinAlgError`; empty if there is none.
    num_operands : int
        Of the function: a matrix, and for a system its right-hand sides.
    """

    name: str
    gufunc: str
    error: str = ""
    num_operands: int = 1

    @property
    def function(self) -> str:
        """The dotted name of the function below."""
        return f"{__name__}.{self.name}"

    @property
    def intrinsic(self) -> str:
        """The name in kernels."""
        return f"linalg_{self.name}"

    @property
    def symbol(self) -> str:
        """The LLVM symbol of the loop for float64."""
        return f"fusejit_linalg_{self.name}"


INLINE_LINALG: tuple[InlineLinalg, ...] = (
    InlineLinalg("inv", "inv", "Singular matrix"),
    InlineLinalg("solve", "solve", "Singular matrix", 2),
    InlineLinalg("cholesky", "cholesky_lo", "Matrix is not positive definite"),
    InlineLinalg("det", "det"),
)
_BY_FUNCTION = {row.function: row for row in INLINE_LINALG}
_BY_NUMPY = {f"numpy.linalg.{row.name}": row for row in INLINE_LINALG}


def inline_linalg(numpy_function: str) -> InlineLinalg | None:
    """The row of a function by its dotted name, if this NumPy has its loops."""
    row = _BY_NUMPY.get(numpy_function)
    return row if row is not None and row.symbol in linalg_loops() else None


def linalg_of(op: HostCall) -> InlineLinalg | None:
    """The row of a call that kernels make themselves; None for draws."""
    return _BY_FUNCTION.get(op.function)


@functools.cache
def linalg_loops() -> dict[str, int]:
    """Addresses of the loops, by symbol; empty where one is missing."""
    if platform.machine() not in _MACHINES or sys.platform not in ("linux", "darwin"):
        return {}
    try:
        module = importlib.import_module("numpy.linalg._umath_linalg")
        ufuncs = [(getattr(module, row.gufunc), row.symbol) for row in INLINE_LINALG]
    except (ImportError, AttributeError):
        return {}
    loops = {symbol: ufunc_loops(ufunc).get("f64", 0) for ufunc, symbol in ufuncs}
    return loops if all(loops.values()) else {}


def _checked(function: Callable[..., Any], like: Any, *operands: Any) -> tuple[Any, bool]:
    try:
        return function(*operands), True
    except np.linalg.LinAlgError:
        return np.full_like(like, np.nan), False


def inv(a: Any) -> tuple[Any, bool]:
    """The inverse of a matrix, and whether it has one."""
    return _checked(np.linalg.inv, a, a)


def solve(a: Any, b: Any) -> tuple[Any, bool]:
    """The solution of ``a @ x = b``, and whether ``a`` is regular."""
    return _checked(np.linalg.solve, b, a, b)


def cholesky(a: Any) -> tuple[Any, bool]:
    """The lower Cholesky factor of a matrix, and whether it is positive definite."""
    return _checked(np.linalg.cholesky, a, a)


def det(a: Any) -> Any:
    """The determinant of a matrix."""
    return np.linalg.det(a)
