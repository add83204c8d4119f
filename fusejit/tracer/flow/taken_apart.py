"""Unpacks lists of the kernel: ``a, (b, c) = obj`` and ``for a, (b, c) in objects``.

``parts`` describes a target: None for a name, a tuple with an item for each target of a tuple. A
list of the kernel becomes a tuple of its items if it has as many items as the target.
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
