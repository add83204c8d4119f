"""THE table of host functions: what NumPy itself runs between kernels, one row per function.

A function that has a handler of its own (it became loops) is not taken from here.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.host_calls import host_function
from fusejit.tracer.builder.primitives import HOST_PRIMITIVES, PRIMITIVES
from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.host.inline_linalg import linalg_in_kernel
from fusejit.tracer.np.numpy_source import primitive_of
from fusejit.tracer.ops.stores import assign_operand, stored_into
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.symbolic_number import SymbolicNumber


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A row: the function by its dotted name, where sizes come from.

    ``by_data`` says that extents of the results depend on the elements, ``multiplies`` that the
    work is the product of all sizes. With ``refusal`` it is not taken, for that reason.
    """

    name: str
    by_data: bool = False
    refusal: str = ""
    multiplies: bool = False


_MAYBE_COMPLEX = "returns complex numbers for some matrices and real ones for others"


def _rows(module: str, names: str, **options: Any) -> Iterator[HostFunction]:
    """A row for each of some functions of a module."""
    return (HostFunction(f"{module}.{name}", **options) for name in names.split())


ROWS: tuple[HostFunction, ...] = (
    # order
    *_rows(
        "numpy",
        "sort argsort partition argpartition lexsort searchsorted digitize argmax argmin",
    ),
    # sizes that depend on the elements
    *_rows(
        "numpy",
        "unique nonzero flatnonzero argwhere bincount compress extract union1d intersect1d "
        "setdiff1d setxor1d",
        by_data=True,
    ),
    *_rows("numpy", "isin"),
    *_rows("numpy", "unique_values unique_counts unique_inverse unique_all delete", by_data=True),
    *_rows(
        "numpy",
        "resize sort_complex tril_indices triu_indices tril_indices_from triu_indices_from "
        "diag_indices diag_indices_from unravel_index ravel_multi_index",
    ),
    # bits and integers
    *_rows("numpy", "gcd lcm bitwise_count packbits unpackbits"),
    # elements of floats
    *_rows(
        "numpy",
        "frexp ldexp modf nextafter spacing logaddexp logaddexp2 i0 iscomplex isreal array_equiv",
    ),
    # windows
    *_rows("numpy", "hanning hamming blackman bartlett kaiser"),
    # tables and curves
    *_rows("numpy", "histogram2d", by_data=True),
    *_rows("numpy", "poly polyadd polysub polymul"),
    *_rows("numpy", "polydiv", by_data=True),
    *_rows("numpy", "polyder polyint"),
    *_rows("numpy", "histogram histogram_bin_edges", by_data=True),
    *_rows("numpy", "interp convolve correlate polyfit polyval trapezoid unwrap gradient ediff1d"),
    # running and order statistics
    *_rows(
        "numpy",
        "cumsum cumprod nancumsum nancumprod median nanmedian percentile nanpercentile "
        "quantile nanquantile nanargmax nanargmin nanprod prod cov corrcoef average",
    ),
    # of complex numbers, and products of floats, whose order is NumPy's
    *_rows("numpy", "prod max min ptp var std round clip matmul dot"),
    # linear algebra
    *_rows(
        "numpy.linalg",
        "solve inv pinv det slogdet norm cond svd svdvals eigh eigvalsh qr cholesky",
    ),
    *_rows("numpy.linalg", "lstsq", by_data=True),
    *_rows("numpy.linalg", "matrix_rank matrix_power multi_dot"),
    *_rows("numpy", "einsum", multiplies=True),
    *_rows("numpy", "tensordot inner outer vdot kron cross matvec vecmat"),
    *_rows("numpy.linalg", "tensordot vecdot vector_norm matrix_norm tensorsolve tensorinv"),
    # transforms
    *_rows(
        "numpy.fft",
        "fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 rfftn irfftn hfft ihfft fftn ifftn "
        "fftfreq rfftfreq fftshift ifftshift",
    ),
    # results of a dtype that depends on the elements: refused with that reason
    *_rows("numpy.linalg", "eig eigvals", refusal=_MAYBE_COMPLEX),
    *_rows("numpy", "roots", refusal=_MAYBE_COMPLEX),
)


_OWN_RULES_FOR_OUT = ("numpy.dot", "numpy.fft.")
"""Names of functions for which ``out=`` is more, or less, than where the result is stored."""


def is_traced(obj: Any) -> bool:
    """Whether something known only when the program runs occurs in an argument."""
    if isinstance(obj, list | tuple):
        return any(map(is_traced, obj))
    return isinstance(obj, TracedArray | SymbolicNumber | MaskedElements)


def _handler(row: HostFunction, function: Callable[..., Any]) -> Callable[..., Any]:
    def handler(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_traced, (*args, *kwargs.values()))):
            return NotImplemented
        if row.refusal:
            raise needs_python(f"{row.name} {row.refusal}", MOVE_OUTSIDE)
        args, kwargs = _with_known_flags(function, args, kwargs)
        if _overwrites(function, args, kwargs):
            raise needs_python(f"{row.name} overwrites its argument", "leave out overwrite_input")
        options = dict(kwargs)
        out = options.pop("out", None)
        is_masked = options.get("where", True) is not True
        if out is not None and (is_masked or row.name.startswith(_OWN_RULES_FOR_OUT)):
            raise needs_python(f"{row.name} with out= is not traced", MOVE_OUTSIDE)
        made = linalg_in_kernel(row.name, args, options)
        if made is None:
            made = host_call(
                row.name, function, args, options, by_data=row.by_data, multiplies=row.multiplies
            )
        return made if out is None else stored_into(made, out, row.name)

    return handler


@functools.cache
def _flags_of(function: Callable[..., Any]) -> tuple[tuple[bool, ...], frozenset[str]]:
    """Which parameters are true or false by default: for those by position, and by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a ufunc's method
        return (), frozenset()
    flags = frozenset(p.name for p in parameters if isinstance(p.default, bool))
    given = itertools.takewhile(lambda p: p.kind in _BY_POSITION, parameters)
    return tuple(p.name in flags for p in given), flags


def _with_known_flags(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, with numbers of it that are flags as true or false.

    How many results there are, and of which rank, depends on flags; a guard asks for the same ones.
    """
    by_position, by_name = _flags_of(function)
    pairs = itertools.zip_longest(args, by_position[: len(args)], fillvalue=False)
    known = tuple(bool(arg) if is_flag and _is_number(arg) else arg for arg, is_flag in pairs)
    return known, {
        name: bool(arg) if name in by_name and _is_number(arg) else arg
        for name, arg in kwargs.items()
    }


def _is_number(obj: Any) -> bool:
    return isinstance(obj, SymbolicNumber)


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_OVERWRITES = "overwrite_input"


def _overwrites(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> bool:
    """Whether a call changes its first argument: ``np.median(x, overwrite_input=True)``."""
    if len(args) > 3 and _OVERWRITES not in kwargs:
        names = [*inspect.signature(function).parameters]
        if _OVERWRITES in names[: len(args)]:
            return bool(args[names.index(_OVERWRITES)])
    return bool(kwargs.get(_OVERWRITES))


def _in_place(name: str) -> Callable[..., None]:
    """``x.sort()`` and ``x.partition(k)``: the result is stored into the array."""

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> None:
        made = PRIMITIVES[host_function(f"numpy.{name}")](self, *args, **kwargs)
        assign_operand(self, made)

    return method


def _method(key: Any) -> Callable[..., Any]:
    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        return PRIMITIVES[key](self, *args, **kwargs)

    return method


def _compress(self: TracedArray, condition: Any, *args: Any, **kwargs: Any) -> Any:
    return PRIMITIVES[host_function("numpy.compress")](condition, self, *args, **kwargs)


_METHODS_OF_UFUNCS = ("reduce", "accumulate", "reduceat", "outer")


def _rows_of_ufuncs() -> Iterator[HostFunction]:
    """Ufuncs without a handler, and the methods of all."""
    for name in sorted(vars(np)):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or ufunc.__name__ != name:
            continue
        if ufunc not in PRIMITIVES:
            yield HostFunction(f"numpy.{name}")
        if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            yield from (HostFunction(f"numpy.{name}.{m}") for m in _METHODS_OF_UFUNCS)


def install_rows() -> None:
    """Put the rows into the dispatch table, once all functions with handlers are there."""
    for row in (*ROWS, *_rows_of_ufuncs()):
        try:
            function = host_function(row.name)
        except AttributeError:  # this NumPy has no such function
            continue
        handler = HOST_PRIMITIVES[function] = _handler(row, function)
        PRIMITIVES.setdefault(function, primitive_of(function) or handler)
    TracedArray.compress = _compress  # type: ignore[attr-defined]
    for name in ("argpartition", "argsort", "nonzero", "searchsorted"):
        setattr(TracedArray, name, _method(host_function(f"numpy.{name}")))
    for name in ("sort", "partition"):
        setattr(TracedArray, name, _in_place(name))
