"""THE table of host functions: what NumPy itself runs between kernels, one row per function.

A function that has a handler of its own (it became loops) is not taken from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import fusejit.tracer.elementwise.composed
import fusejit.tracer.elementwise.ufuncs
import fusejit.tracer.reductions.contraction
import fusejit.tracer.reductions.outer_products  # noqa: F401  its handlers are there first
from fusejit.dataclass import dataclass
from fusejit.ir.host_calls import host_function
from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.indexing.masked import MaskedElements
from fusejit.tracer.indexing.stores import assign_operand, stored_into
from fusejit.tracer.library.numpy_source import primitive_of
from fusejit.tracer.runtime.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.runtime.primitives import PRIMITIVES
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A row: the function by its dotted name, the method that means it, where sizes come from.

    ``by_data`` says that extents of the results depend on the elements, ``multiplies`` that the
    work is the product of all sizes. With ``refusal`` it is not taken, for that reason.
    """

    name: str
    method: str = ""
    by_data: bool = False
    refusal: str = ""
    multiplies: bool = False


_MAYBE_COMPLEX = "returns complex numbers for some matrices and real ones for others"
ROWS: tuple[HostFunction, ...] = (
    # order
    HostFunction("numpy.sort"),
    HostFunction("numpy.argsort", "argsort"),
    HostFunction("numpy.partition"),
    HostFunction("numpy.argpartition", "argpartition"),
    HostFunction("numpy.lexsort"),
    HostFunction("numpy.searchsorted", "searchsorted"),
    HostFunction("numpy.digitize"),
    HostFunction("numpy.argmax", "argmax"),
    HostFunction("numpy.argmin", "argmin"),
    # sizes that depend on the elements
    HostFunction("numpy.unique", by_data=True),
    HostFunction("numpy.nonzero", "nonzero", by_data=True),
    HostFunction("numpy.flatnonzero", by_data=True),
    HostFunction("numpy.argwhere", by_data=True),
    HostFunction("numpy.bincount", by_data=True),
    HostFunction("numpy.compress", "compress", by_data=True),
    HostFunction("numpy.extract", by_data=True),
    HostFunction("numpy.union1d", by_data=True),
    HostFunction("numpy.intersect1d", by_data=True),
    HostFunction("numpy.setdiff1d", by_data=True),
    HostFunction("numpy.setxor1d", by_data=True),
    HostFunction("numpy.isin"),
    HostFunction("numpy.unique_values", by_data=True),
    HostFunction("numpy.unique_counts", by_data=True),
    HostFunction("numpy.unique_inverse", by_data=True),
    HostFunction("numpy.unique_all", by_data=True),
    HostFunction("numpy.delete", by_data=True),
    HostFunction("numpy.resize"),
    HostFunction("numpy.sort_complex"),
    HostFunction("numpy.tril_indices"),
    HostFunction("numpy.triu_indices"),
    HostFunction("numpy.tril_indices_from"),
    HostFunction("numpy.triu_indices_from"),
    HostFunction("numpy.diag_indices"),
    HostFunction("numpy.diag_indices_from"),
    HostFunction("numpy.unravel_index"),
    HostFunction("numpy.ravel_multi_index"),
    # bits and integers
    HostFunction("numpy.gcd"),
    HostFunction("numpy.lcm"),
    HostFunction("numpy.bitwise_count"),
    HostFunction("numpy.packbits"),
    HostFunction("numpy.unpackbits"),
    # elements of floats
    HostFunction("numpy.frexp"),
    HostFunction("numpy.ldexp"),
    HostFunction("numpy.modf"),
    HostFunction("numpy.nextafter"),
    HostFunction("numpy.spacing"),
    HostFunction("numpy.logaddexp"),
    HostFunction("numpy.logaddexp2"),
    HostFunction("numpy.i0"),
    HostFunction("numpy.iscomplex"),
    HostFunction("numpy.isreal"),
    HostFunction("numpy.array_equiv"),
    # windows
    HostFunction("numpy.hanning"),
    HostFunction("numpy.hamming"),
    HostFunction("numpy.blackman"),
    HostFunction("numpy.bartlett"),
    HostFunction("numpy.kaiser"),
    # tables and curves
    HostFunction("numpy.histogram2d", by_data=True),
    HostFunction("numpy.poly"),
    HostFunction("numpy.polyadd"),
    HostFunction("numpy.polysub"),
    HostFunction("numpy.polymul"),
    HostFunction("numpy.polydiv", by_data=True),
    HostFunction("numpy.polyder"),
    HostFunction("numpy.polyint"),
    HostFunction("numpy.histogram", by_data=True),
    HostFunction("numpy.histogram_bin_edges", by_data=True),
    HostFunction("numpy.interp"),
    HostFunction("numpy.convolve"),
    HostFunction("numpy.correlate"),
    HostFunction("numpy.polyfit"),
    HostFunction("numpy.polyval"),
    HostFunction("numpy.trapezoid"),
    HostFunction("numpy.unwrap"),
    HostFunction("numpy.gradient"),
    HostFunction("numpy.ediff1d"),
    # running and order statistics
    HostFunction("numpy.cumsum", "cumsum"),
    HostFunction("numpy.cumprod", "cumprod"),
    HostFunction("numpy.nancumsum"),
    HostFunction("numpy.nancumprod"),
    HostFunction("numpy.median"),
    HostFunction("numpy.nanmedian"),
    HostFunction("numpy.percentile"),
    HostFunction("numpy.nanpercentile"),
    HostFunction("numpy.quantile"),
    HostFunction("numpy.nanquantile"),
    HostFunction("numpy.nanargmax"),
    HostFunction("numpy.nanargmin"),
    HostFunction("numpy.nanprod"),
    HostFunction("numpy.prod"),
    HostFunction("numpy.cov"),
    HostFunction("numpy.corrcoef"),
    HostFunction("numpy.average"),
    # of complex numbers, and products of floats, whose order is NumPy's
    HostFunction("numpy.prod"),
    HostFunction("numpy.max"),
    HostFunction("numpy.min"),
    HostFunction("numpy.ptp"),
    HostFunction("numpy.var"),
    HostFunction("numpy.std"),
    HostFunction("numpy.round"),
    HostFunction("numpy.clip"),
    HostFunction("numpy.matmul"),
    HostFunction("numpy.dot"),
    # linear algebra
    HostFunction("numpy.linalg.solve"),
    HostFunction("numpy.linalg.inv"),
    HostFunction("numpy.linalg.pinv"),
    HostFunction("numpy.linalg.det"),
    HostFunction("numpy.linalg.slogdet"),
    HostFunction("numpy.linalg.norm"),
    HostFunction("numpy.linalg.cond"),
    HostFunction("numpy.linalg.svd"),
    HostFunction("numpy.linalg.svdvals"),
    HostFunction("numpy.linalg.eigh"),
    HostFunction("numpy.linalg.eigvalsh"),
    HostFunction("numpy.linalg.qr"),
    HostFunction("numpy.linalg.cholesky"),
    HostFunction("numpy.linalg.lstsq", by_data=True),
    HostFunction("numpy.linalg.matrix_rank"),
    HostFunction("numpy.linalg.matrix_power"),
    HostFunction("numpy.linalg.multi_dot"),
    HostFunction("numpy.einsum", multiplies=True),
    HostFunction("numpy.tensordot"),
    HostFunction("numpy.inner"),
    HostFunction("numpy.outer"),
    HostFunction("numpy.vdot"),
    HostFunction("numpy.kron"),
    HostFunction("numpy.cross"),
    HostFunction("numpy.matvec"),
    HostFunction("numpy.vecmat"),
    HostFunction("numpy.linalg.tensordot"),
    HostFunction("numpy.linalg.vecdot"),
    HostFunction("numpy.linalg.vector_norm"),
    HostFunction("numpy.linalg.matrix_norm"),
    HostFunction("numpy.linalg.tensorsolve"),
    HostFunction("numpy.linalg.tensorinv"),
    # transforms
    HostFunction("numpy.fft.fft"),
    HostFunction("numpy.fft.ifft"),
    HostFunction("numpy.fft.rfft"),
    HostFunction("numpy.fft.irfft"),
    HostFunction("numpy.fft.fft2"),
    HostFunction("numpy.fft.ifft2"),
    HostFunction("numpy.fft.rfft2"),
    HostFunction("numpy.fft.irfft2"),
    HostFunction("numpy.fft.rfftn"),
    HostFunction("numpy.fft.irfftn"),
    HostFunction("numpy.fft.hfft"),
    HostFunction("numpy.fft.ihfft"),
    HostFunction("numpy.fft.fftn"),
    HostFunction("numpy.fft.ifftn"),
    HostFunction("numpy.fft.fftfreq"),
    HostFunction("numpy.fft.rfftfreq"),
    HostFunction("numpy.fft.fftshift"),
    HostFunction("numpy.fft.ifftshift"),
    # results of a dtype that depends on the elements: refused with that reason
    HostFunction("numpy.linalg.eig", refusal=_MAYBE_COMPLEX),
    HostFunction("numpy.linalg.eigvals", refusal=_MAYBE_COMPLEX),
    HostFunction("numpy.roots", refusal=_MAYBE_COMPLEX),
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
        if _overwrites(function, args, kwargs):
            raise needs_python(f"{row.name} overwrites its argument", "leave out overwrite_input")
        options = dict(kwargs)
        out = options.pop("out", None)
        is_masked = options.get("where", True) is not True
        if out is not None and (is_masked or row.name.startswith(_OWN_RULES_FOR_OUT)):
            raise needs_python(f"{row.name} with out= is not traced", MOVE_OUTSIDE)
        made = host_call(
            row.name, function, args, options, by_data=row.by_data, multiplies=row.multiplies
        )
        return made if out is None else stored_into(made, out, row.name)

    return handler


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
        assign_operand(self, Operand(made.dtype, array=made))

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


def _install() -> None:
    for row in (*ROWS, *_rows_of_ufuncs()):
        try:
            function = host_function(row.name)
        except AttributeError:  # this NumPy has no such function
            continue
        handler = PRIMITIVES["host", function] = _handler(row, function)
        PRIMITIVES.setdefault(function, primitive_of(function) or handler)
        if row.method and row.method not in vars(TracedArray):
            setattr(TracedArray, row.method, _method(function))
    TracedArray.compress = _compress  # type: ignore[attr-defined]
    for name in ("sort", "partition"):
        if name not in vars(TracedArray):
            setattr(TracedArray, name, _in_place(name))


_install()
