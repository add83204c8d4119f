"""Dictionaries from outside in which a kernel looks for keys that only it knows.

Their keys are part of the variant, so that Python looks for all others; where the key is the
kernel's, each call puts keys and values into a `TracedDict` before its loops.
"""

from __future__ import annotations

from typing import Any

from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.keyed.argument_tables import ask_for_table
from fusejit.tracer.keyed.traced_dict import TracedDict
from fusejit.tracer.lists.displays import needs_kernel_keys


class KnownDicts(dict[int, tuple[dict[Any, Any], TracedDict]]):
    """The dictionaries from outside of one trace, by id, and those that kernels look into."""


def known_dict(obj: Any, keys: tuple[Any, ...]) -> TracedDict | None:
    """What a kernel looks into, if a dictionary is from outside and only the kernel knows a key."""
    if type(obj) is not dict or not needs_kernel_keys(keys):
        return None
    trace = current_trace()
    path = next((at for copy, _, at in trace.captured_reads.containers if copy is obj), None)
    if path is None:
        return None
    if any(type(value) in (list, dict) for value in obj.values()):
        ask_for_table(trace, path)
    known = trace.owned(KnownDicts)
    if id(obj) not in known:
        with trace.before_regions():
            made = TracedDict(trace, ("known dict", len(known)))
            for key, value in obj.items():
                made[key] = value
        known[id(obj)] = (obj, made)
    return known[id(obj)][1]
