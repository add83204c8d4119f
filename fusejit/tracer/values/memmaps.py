"""Which arrays of a program that is given an `np.memmap` are plain ndarrays.

Kernels compute with a memmap's memory as with any array's. The class of what NumPy returns differs
by function: ufuncs and most reductions of a memmap are ndarrays; its views, and copies by ``copy``
and ``astype``, are memmaps. An array counts as plain only where that is known, and Python runs what
would show the class of another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.program.callables import is_numpy_function, is_traced_type
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_PLAIN = (
    "all amax amin angle any append average clip concatenate column_stack convolve copy corrcoef "
    "cov cross cumprod cumsum cumulative_prod cumulative_sum delete digitize dstack einsum "
    "fft.fft fft.ifft fft.rfft fft.irfft flatnonzero histogram hstack insert interp isclose isin "
    "kron linalg.norm linalg.qr linalg.svd linspace max mean median min nancumprod nancumsum "
    "nanmax nanmean nanmedian nanmin nanpercentile nanprod nanstd nansum nanvar nonzero outer pad "
    "percentile polyval prod ptp searchsorted select stack std sum tensordot trace trapezoid tril "
    "triu union1d unique unwrap var vstack where"
)
_PLAIN_METHODS = "all any clip cumprod cumsum max mean min prod searchsorted std sum trace var"
_BASE_CLASS = frozenset({np.array, np.asarray, np.ascontiguousarray, np.asfortranarray})
_BY_PRIORITY = frozenset({np.dot, np.inner, np.ndarray.dot})  # a memmap has the lowest


def _named(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(getattr(np, module) if module else np, last)


PLAIN_RESULTS = frozenset(
    {
        *map(_named, _PLAIN.split()),
        *(getattr(np.ndarray, name) for name in _PLAIN_METHODS.split()),
        *_BASE_CLASS,
    }
)
"""Functions whose results are ndarrays, whatever memmaps they are given."""


def with_classes(function: Any, handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a function of NumPy's, whose results are marked as plain or not."""
    owner = getattr(function, "__self__", None)
    is_method = getattr(function, "__objclass__", None) is np.ndarray
    if not (is_method or isinstance(owner, np.ufunc) or is_numpy_function(function)):
        return handler

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = handler(*args, **kwargs)
        if not current_trace().has_memmaps:
            return result
        given = [*_arrays_in((*args, *kwargs.values()))]
        return _marked(result, function, given, _makes_plain(function, given, kwargs))

    return call


def _marked(result: Any, function: Any, given: list[Any], is_ndarray: bool) -> Any:
    if type(result) in (list, tuple):
        return type(result)(_marked(obj, function, given, is_ndarray) for obj in result)
    if isinstance(result, MaskedElements) and not is_ndarray:
        result = result.selected()
    if not isinstance(result, TracedArray):
        return result
    if any(result is obj for obj in given):
        if result.is_ndarray or function not in _BASE_CLASS:
            return result
        result = result.as_view()
    result.is_ndarray = is_ndarray
    return result


def _makes_plain(function: Any, given: list[Any], kwargs: dict[str, Any]) -> bool:
    if all(isinstance(obj, TracedArray) and obj.is_ndarray for obj in given):
        return True
    if "subok" in kwargs or "like" in kwargs:
        return False
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    if function in _BY_PRIORITY:
        return any(isinstance(obj, TracedArray) and obj.is_ndarray for obj in given)
    return function in PLAIN_RESULTS


def _arrays_in(items: Any) -> Iterator[Any]:
    """The arrays of arguments, and what may hold or make others."""
    for item in items:
        if type(item) in (list, tuple):
            yield from _arrays_in(item)
        elif type(item) is dict:
            yield from _arrays_in(item.values())
        elif isinstance(item, SymbolicNumber | type):
            continue
        elif is_traced_type(type(item)) or callable(item):
            yield item
