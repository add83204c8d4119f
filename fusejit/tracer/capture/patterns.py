"""What the patterns of ``match`` read natively."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.carried.missing_attributes import require_all
from fusejit.tracer.flow.same_objects import is_told_by_patterns
from fusejit.tracer.program.callables import is_traced_type
from fusejit.tracer.program.captures import CaptureRegistry
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.undefined import bound

# what traced values stand for: Python's patterns see the traced value
_NUMBERS = (t for t in np.sctypeDict.values() if issubclass(t, np.number | np.bool_))
_STOOD_FOR = (bool, int, float, complex, np.ndarray, *_NUMBERS)


def subject(captures: CaptureRegistry, obj: Any, asks_identity: bool = False) -> Any:
    """The subject of ``match``, whose patterns read natively: ``case None`` asks identity."""
    if asks_identity and not is_told_by_patterns(bound(obj)):
        what = "a pattern asks whether a computed value is None, True or False"
        raise needs_python(what, "test it with if")
    path = captures.path_of(obj)
    if path is not None and not captures.is_container_copy(obj):
        what = f"matches {captures.described(path)}"
        raise needs_python(what, "test its attributes with if")
    require_all(obj, "matches the attributes")
    return obj


def pattern_value(value: Any) -> None:
    """A class or dotted name in a pattern, which Python reads again by itself."""
    if is_traced_type(type(value)):
        raise needs_python("a pattern compares with a number from outside", "test it with if")
    if isinstance(value, type) and any(issubclass(kind, value) for kind in _STOOD_FOR):
        what = f"a pattern asks whether something is a {value.__name__}"
        raise needs_python(what, "test it with isinstance")
