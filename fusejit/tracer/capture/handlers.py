"""Finds the handler of a call: `PRIMITIVES`, NumPy's own source, structured ops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.host.numpy_forms import with_host_fallback
from fusejit.tracer.np import numpy_source
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import OptionalTuple, UnionScalar

_STRUCTURED = ("fusejit.structured.", "fusejit.linalg.", "fusejit.ir.definitions.")


def is_traced(obj: object) -> bool:
    """Whether ``obj`` stands for something that is known only when the kernel runs."""
    return isinstance(
        obj,
        TracedArray
        | SymbolicNumber
        | MaskedElements
        | UnionScalar
        | OptionalTuple
        | TracedContainer,
    )


def handler_of(fn: Any) -> Callable[..., Any] | None:
    """What to call instead of ``fn`` while tracing, or None."""
    try:
        found = PRIMITIVES.get(fn) or numpy_source.primitive_of(fn)
    except TypeError:  # unhashable callables
        return None
    if found is None and _owning_module(fn).startswith(_STRUCTURED):
        return _structured_handler(fn)
    return None if found is None else with_host_fallback(fn, found)


def _structured_handler(fn: Any) -> Callable[..., Any] | None:
    """The handler of a structured op; its module is loaded by programs that have such.

    The import is not watched: import callbacks are not part of the program.
    """
    watching = sys.getprofile()
    sys.setprofile(None)
    try:
        from fusejit.tracer.np import structured_ops
    finally:
        sys.setprofile(watching)
    return structured_ops.primitive_of(fn)


def _owning_module(fn: Any) -> str:
    """The module of a function, or of the class of another callable."""
    module = fn.__module__ if type(fn) is FunctionType else type(fn).__module__
    return module if type(module) is str else ""
