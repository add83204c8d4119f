"""Functions that NumPy itself has written in Python: they are traced like helpers of the user's.

What NumPy makes of operations that are traced needs no code of ours: its own statements are traced
and traced, and fuse with what stands around them. In the table stand those that come out whole for
the arguments they are mostly given. Where one does not (weights of `np.average`, say), NumPy runs
the call between kernels, or Python runs the statement, as for any function that is not traced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.program.callables import is_numpy_source
from fusejit.tracer.program.locations import as_graph_break
from fusejit.tracer.values.operand_types import contains_traced

_BY_MODULE = {
    "numpy": "apply_over_axes asarray_chkfinite average i0 iscomplex isreal polyder polyint "
    "real_if_close unwrap",
    "numpy.fft": "fftfreq fftshift ifftshift rfftfreq",
    "numpy.lib._function_base_impl": "_weights_are_valid",
    "numpy.linalg": "matmul matrix_norm trace vector_norm",
    "numpy.polynomial.polynomial": "polyvalfromroots",
    "numpy.polynomial.polyutils": "_as_int _gridnd _valnd",
}
_SERIES = {
    "chebyshev": "cheb",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
    "legendre": "leg",
    "polynomial": "poly",
}
_OF_SERIES = ["val", "val2d", "val3d", "grid2d", "grid3d", "der", "int", "vander"]
NAMES = frozenset(
    [f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split()]
    + [f"numpy.polynomial.{m}.{kind}{n}" for m, kind in _SERIES.items() for n in _OF_SERIES]
)
"""The functions, by module and name. Modules are not imported for them."""

_FUNCTIONS = (FunctionType, type(np.average))  # any other object may answer as it likes


def primitive_of(function: Any) -> Callable[..., Any] | None:
    """What traces a function of NumPy's through its own source; None if it is not in the table."""
    if type(function) not in _FUNCTIONS:
        return None
    if f"{function.__module__}.{function.__name__}" not in NAMES:
        return None
    is_wrapped = type(function) is not FunctionType  # NumPy's own dispatcher
    source = function.__wrapped__ if is_wrapped else function
    return PRIMITIVES.setdefault(function, _traced(source)) if is_numpy_source(source) else None


def _traced(function: FunctionType) -> Callable[..., Any]:
    """A handler that traces what a function of NumPy's does."""

    @functools.wraps(function)
    def handler(*args: Any, **kwargs: Any) -> Any:
        if not contains_traced([*args, *kwargs.values()]):
            return NotImplemented
        try:
            return current_trace().inlined(function, args, kwargs)
        except (UnsupportedError, ConcretizationError) as error:
            raise as_graph_break(error) from error

    return handler
