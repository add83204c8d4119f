"""Attributes that an object may have or not, as elements tell: ``if x > best: self.place = i``.

While one may be missing, the object holds None in its place; so a region carries a number or None.
Who reads the attribute asks first: where it is missing, Python runs the call. So does it where an
object is left that lacks one at the end, and the program stores no None of its own there.
"""

from __future__ import annotations

from typing import Any, NoReturn

from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.carried.attributes import Attribute, Objects
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.union_operators import without_none
from fusejit.tracer.ops.union_types import narrowed
from fusejit.tracer.program.locations import for_program, needs_python
from fusejit.tracer.values.union_scalar import is_union_scalar

_REMEDY = "give it a value in __init__"


def present(obj: Any, name: str, held: Any) -> Any:
    """What an attribute holds that is read now."""
    attribute = _missing(obj, name)
    return held if attribute is None else _present(attribute, held)


def require_number(obj: Any, name: str, value: Any) -> None:
    """Refuse to store what could not be told from nothing."""
    if _missing(obj, name) is not None and (value is None or is_union_scalar(value)):
        raise needs_python(f"stores None in {name!r}, which may be missing", _REMEDY)


def require_all(obj: Any, what: str) -> None:
    """Refuse to hand an object to code that would see None where an attribute is missing."""
    trace = running_trace()
    if trace is not None and not trace.owned(Objects).is_told_by_attributes(obj):
        raise needs_python(f"{what} of an object that may lack one", _REMEDY)


def end_missing(trace: Trace) -> None:
    """At the end of the program, take away what is missing, and require what may be."""
    for attribute in trace.owned(Objects).all_missing():
        held = narrowed(attribute.held())
        if held is None:
            object.__delattr__(attribute.obj, attribute.name)
        elif is_union_scalar(held) and trace.is_open(held.tag.storage.home):
            attribute.hold(_present(attribute, held))


def _missing(obj: Any, name: str) -> Attribute | None:
    trace = running_trace()
    return None if trace is None else trace.owned(Objects).missing(obj, name)


def _present(attribute: Attribute, held: Any) -> Any:
    kind = type(attribute.obj).__name__
    text = f"{kind!r} object has no attribute {attribute.name!r}"
    held = narrowed(held)
    if held is None:
        _raise(text, attribute.name)
    return without_none(held, lambda: text, LEFT_TO_PYTHON)


@for_program
def _raise(text: str, name: str) -> NoReturn:
    raise AttributeError(text, name=name)
