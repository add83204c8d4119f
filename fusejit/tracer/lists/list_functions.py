"""Python's functions on lists that loops change: ``sorted``, ``list``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.lists import list_methods
from fusejit.tracer.values.containers import TracedContainer


def _written_out(function: Any, as_python: Callable[..., Any]) -> None:
    """A function of one container as Python writes it."""

    @primitive(function, complex=True)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not args or not is_of_kernel(args[0]):
            return NotImplemented
        return current_trace().inlined(as_python, args, kwargs)

    call.__name__ = function.__name__


def is_of_kernel(obj: Any) -> bool:
    """Whether an object is a container of the kernel, or what a loop over one runs over."""
    return isinstance(obj, TracedContainer) or (isinstance(obj, Items) and bool(obj.containers))


_written_out(sorted, list_methods.ordered)
_written_out(list, list_methods.copied)
