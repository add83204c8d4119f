"""What `explain` says first: what runs compiled, how fast, what holds it back; then each line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fusejit.dataclass import replace
from fusejit.explain.compiled_lines import note_variant
from fusejit.explain.report import VariantReport, plural
from fusejit.explain.segment_report import segment_details
from fusejit.explain.speed import has_calls_of_numpy, is_slower, speed_text, why_slower
from fusejit.explain.user_lines import NUMPY, PYTHON, UserLines
from fusejit.ir.source import Location
from fusejit.reports.answer import Answer
from fusejit.segments.parts import GAINS_NOTHING, Part, parts_of, parts_of_function
from fusejit.segments.segmented import SegmentedFunction
from fusejit.stages import Lowered
from fusejit.tiering.cost_estimate import CostEstimate, cost_of_sizes

FEWER = 1.05  # times, from which on it is said

if TYPE_CHECKING:
    from fusejit.variants import Variants


def explain_variant(
    lowered: Lowered, sizes: dict[str, int], variants: Variants, *, is_detailed: bool
) -> Answer:
    """The report of a call that is compiled whole.

    Parameters
    ----------
    lowered : Lowered
        The stages of the call.
    sizes : dict of str to int
        Those of the call: `Lowered.sizes_of_call`.
    variants : Variants
        The compiled variants and fallback calls so far.
    is_detailed : bool
        Whether to report all that the passes did.
    """
    of = VariantReport(lowered, sizes)
    function, traced = of.traced.function, of.traced.traced
    lines = UserLines(function.__code__.co_filename)
    note_variant(lines, of, itertools.count(1))
    before, after = of.bytes_moved
    less = f", {before / after:.1f}x fewer bytes moved" if 0 < FEWER * after < before else ""
    calls = f" and {plural(of.num_calls, 'call')} of BLAS or NumPy" if of.num_calls else ""
    what = f"{plural(of.report.ops_before, 'operation')} in {plural(of.num_loops, 'loop')}{calls}"
    policy = of.traced.options.fusion
    cost = variants.measured or (cost_of_sizes(traced, sizes) if policy == "auto" else None)
    asks_numpy = has_calls_of_numpy(traced.graph)
    speed = "" if cost is None else f": {speed_text(cost, asks_numpy=asks_numpy)}"
    is_slow = cost is not None and is_slower(cost)
    head = [f"{function.__name__}: compiled whole, {what}{speed}{'' if is_slow else less}"]
    others = []
    if cost is not None and is_slow:
        why = why_slower(cost, of.report.ops_before, asks_numpy=asks_numpy)
        others.append(f"slower because {why}")
    ran = variants.fallbacks.items()
    others += [f"{plural(n, 'call')} ran as plain NumPy: {cause}" for cause, n in ran]
    others += [] if policy == "auto" else [f"fusion={getattr(policy, '__name__', policy)!r}"]
    head.append(_second_line(lines, [*others, *traced.notes]))
    if is_detailed:
        return Answer.of(head, rest="".join(f"{line}\n" for line in of.details(variants)))
    return Answer.of(head, lines.rows())


def explain_interpreted(name: str, cost: object) -> Answer:
    """The report of a call that Python runs, because compiling it does not pay."""
    return Answer.of([f"{name}: Python runs it, because compiling would gain nothing: {cost}"])


def explain_segments(
    segmented: SegmentedFunction, function: Any, measured: CostEstimate | None, *, is_detailed: bool
) -> Answer:
    """The report of a function that runs as segments with Python between them.

    Parameters
    ----------
    segmented : SegmentedFunction
    function : callable
        The user's.
    measured : CostEstimate, optional
        What a call of the function costs both ways.
    is_detailed : bool
        Whether to report how the segments were fused.
    """
    name = function.__name__
    made = _SegmentLines(UserLines(function.__code__.co_filename))
    made.note(segmented)
    head = [
        f"{name}: {made.what_runs(measured)}",
        _second_line(made.lines, made.why_slower(measured)),
    ]
    if is_detailed:
        return Answer.of(head, rest=segment_details(segmented))
    return Answer.of(head, made.lines.rows())


class _SegmentLines:
    """The lines of a split function and of those it calls, and what they cost."""

    def __init__(self, lines: UserLines) -> None:
        self.lines = lines
        self._numbers = itertools.count(1)
        self._compiled: list[Part] = []
        self._waiting: list[Part] = []
        self._costs: list[CostEstimate] = []
        self._operations = 0
        self._asks_numpy = False
        self._seen: set[Any] = set()

    def note(self, segmented: SegmentedFunction) -> None:
        """Note all parts of a split function, then those of the functions that Python calls."""
        for part in parts_of(segmented):
            self._note_part(part)
        for _, state in segmented.functions():
            if state not in self._seen:
                self._seen.add(state)
                inner = parts_of_function(state)
                if isinstance(inner, Part):
                    self._note_part(inner)
                else:
                    self.note(inner)

    def _note_part(self, part: Part) -> None:
        place = Location(part.file, part.first)
        if part.reason:
            held = "" if part.reason.startswith(GAINS_NOTHING) else PYTHON
            remark = f"Python: {part.reason}"
            self.lines.add(place, remark=remark, last=part.last, held=held)
            return
        newest = None if part.state is None else part.state.newest
        for cause, n in () if part.state is None else part.state.variants.fallbacks.items():
            remark = f"ran as plain NumPy, {plural(n, 'time')}: {cause}"
            self.lines.add(place, remark=remark, held=NUMPY)
        if newest is None:
            if part.state is None or not part.state.variants.fallbacks:
                self._waiting.append(part)
                if not self.lines.knows(place):
                    self.lines.add(place, runs="not called yet", last=part.last)
            return
        lowered, sizes = newest
        self._compiled.append(part)
        traced = lowered.before.before.traced
        self._costs.append(
            part.state.variants.measured or cost_of_sizes(traced, sizes, is_segment=True)
        )
        of = VariantReport(lowered, sizes)
        self._operations += of.report.ops_before
        self._asks_numpy |= has_calls_of_numpy(traced.graph)
        note_variant(self.lines, of, self._numbers)

    def what_runs(self, measured: CostEstimate | None) -> str:
        """The first line of a report; ``measured`` is what a call of the function costs."""
        where = _ranges(self._compiled)
        if self._compiled and measured is not None:
            return f"compiled in part, {speed_text(measured)}: {where}"
        if self._compiled:
            verb = "is" if where.startswith("line ") else "are"
            speed = speed_text(self._total(), asks_numpy=self._asks_numpy)
            return f"compiled in part: {where} {verb} {speed}"
        if self._waiting:
            return f"not called yet; {_ranges(self._waiting)} can be compiled"
        return "Python runs all of it"

    def why_slower(self, measured: CostEstimate | None) -> list[str]:
        """The line that says why compiled code is slower than NumPy; empty if it is not."""
        if not self._compiled:
            return []
        cost = measured or self._total()
        if not is_slower(cost):
            return []
        why = why_slower(cost, self._operations, asks_numpy=self._asks_numpy, is_in_part=True)
        return [f"slower because {why}"]

    def _total(self) -> CostEstimate:
        """The cost of all compiled parts."""
        return replace(
            self._costs[0],
            numpy_ns=sum(cost.numpy_ns for cost in self._costs),
            compiled_ns=sum(cost.compiled_ns for cost in self._costs),
            is_measured=all(cost.is_measured for cost in self._costs),
        )


def _ranges(parts: Sequence[Part]) -> str:
    """``lines 5 to 7, 9``; for one line ``line 5``."""
    found = list(dict.fromkeys(part.lines for part in parts))
    word = "line" if len(found) == 1 and found[0].isdigit() else "lines"
    return f"{word} {', '.join(found)}"


def _second_line(lines: UserLines, others: Sequence[str]) -> str:
    held = lines.held_text()
    parts = [*([f"held back at {held}"] if held else []), *others]
    return "  " + ("; ".join(parts) or "nothing holds it back")
