"""``a, (b, c) = obj`` and ``for a, (b, c) in objects``: what targets take of lists of the kernel.

``parts`` says of a target what is taken apart: it is None for a name, and has an item for each
target in a tuple. A list of the kernel gives a tuple of its items; it must have as many.
"""

from __future__ import annotations

from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.values.containers import is_tuple

Parts = tuple[Any, ...] | None


def taken_apart(obj: Any, parts: Parts) -> Any:
    """An object, with a tuple for each list of the kernel in it that is taken apart."""
    if parts is None:
        return obj
    if isinstance(obj, AnyList):
        count = AffineExpr.const(len(parts))
        if not current_trace().decisions.checked_equal(obj.length(), count, "a list is unpacked"):
            return obj  # Python says that they are too many, or too few
        obj = tuple(obj[place] for place in range(len(parts)))
    if not is_tuple(obj) or len(obj) != len(parts):
        return obj
    found = [taken_apart(one, part) for one, part in zip(obj, parts, strict=True)]
    is_same = all(one is other for one, other in zip(found, obj, strict=True))
    return obj if is_same else tuple(found)
