"""Lists from outside that the program changes: ``xs.append(x)``, ``xs[i], xs[j] = xs[j], xs[i]``.

The kernel works on a list of its own that has the items, and the call gives them to the very list
at its end: ``xs[:] = made``. So nobody else may have the list meanwhile: each call looks whether
another list that it is given is the same object.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any, NamedTuple

from fusejit.ir.host import HostExpr, Path
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.argument_list import CHANGES, ArgumentList, is_part, key_of
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.program.fallback import Retrace

LEAST_LIMIT, GROWTH = 256, 8
"""A variant serves lists up to so many times as long: each call takes all items out and puts them
back, which pays for a sort and not for an append; longer ones are estimated anew.
"""
_HOLDS_LISTS = "changes a list from outside beside lists that hold others"


class _Changed(NamedTuple):
    path: Path
    given: ArgumentList | None  # the items, if there are some
    made: TracedList


class ChangedLists(list[_Changed]):
    """The lists of one trace that are changed."""

    def path_of(self, obj: Any) -> Path | None:
        """Where a list was found, if it is one of them."""
        return next((one.path for one in self if one.made is obj), None)


def changed_list(
    trace: Trace, path: Path, items: list[Any], given: ArgumentList | None
) -> TracedList | ArgumentList | None:
    """The list that the program sees at a path where ``given`` are the items, if there are some."""
    key = key_of(path)
    holds_others = bool(items) if given is None else given.holds_lists()
    may_change = (key, CHANGES) in trace.table and not holds_others
    if not may_change or type(trace.table.get((key, "list"))) is tuple:
        return given
    if given is None:
        trace.captured_reads.check(PathCheck(path, CheckKind.TYPE, list))
        trace.captured_reads.check(PathCheck(path, CheckKind.KEYS, 0))
        trace.table[key, "list"] = True
    else:
        size = HostExpr.size(given.path, 0)
        most = HostExpr.const(max(LEAST_LIMIT, GROWTH * len(items)))
        trace.decisions.condition(HostExpr("le", (size, most)), True, "the list is not much longer")
    made = TracedList(trace, key)
    made.is_callers = True
    trace.owned(ChangedLists).append(_Changed(path, given, made))
    return made


def ask_to_change(path: Path, obj: Any) -> None:
    """Start again with a list that may be changed, where the program changes one of few items."""
    trace = running_trace()
    if trace is None or type(obj) is not list or is_part(path) or trace.is_segment:
        return
    key = key_of(path)
    is_known = (key, CHANGES) in trace.table or type(trace.table.get((key, "list"))) is tuple
    if not is_known:
        trace.table[key, CHANGES] = True
        raise Retrace


def fill_changed(trace: Trace) -> None:
    """Give them their items, before all loops and conditionals."""
    for one in trace.owned(ChangedLists):
        if one.given is not None:
            trace.inlined(_fill, (one.made, one.given))


def _fill(made, given):
    for k in range(len(given)):
        made.append(given[k])


def written_lists(trace: Trace) -> dict[tuple[Path, str], Any]:
    """What the lists hold at the end of the program."""
    _require_alone(trace)
    return {
        (one.path, ""): trace.inlined(list_methods.copied, (one.made,))
        for one in trace.owned(ChangedLists)
    }


def _require_alone(trace: Trace) -> None:
    """Have each call look whether lists are the same object."""
    lists = trace.captured_reads.lists
    for changed in trace.owned(ChangedLists):
        for path, other in lists.items():
            if path == changed.path:
                continue
            items = other.values() if type(other) is dict else other
            is_other = other is not lists[changed.path]
            if not is_other or any(type(item) in (list, dict) for item in items):
                trace.table[key_of(changed.path), "list"] = (_HOLDS_LISTS, "change a copy: xs[:]")
                raise Retrace
            expr = HostExpr("is_not", (HostExpr.path(changed.path), HostExpr.path(path)))
            trace.decisions.condition(expr, True, "two lists are not one")
