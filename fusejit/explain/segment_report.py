"""The details of a function that runs as segments with Python between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fusejit.explain.report import VariantReport
from fusejit.explain.user_lines import MAX_SOURCE
from fusejit.ir.analysis.lines import shortened
from fusejit.ir.source import Location
from fusejit.segments.segmented import Boundary, SegmentCall, SegmentedFunction


def segment_details(segmented: SegmentedFunction) -> str:
    """Which lines Python runs and why, and how the segments between them were fused so far."""
    return "".join(f"{line}\n" for line in _lines(segmented, "  ", set()))


def _lines(segmented: SegmentedFunction, indent: str, seen: set[Any]) -> Iterator[str]:
    """Boundaries and segments in the order of their lines."""
    parts: list[tuple[int, int, Boundary | SegmentCall]] = []
    parts += [(b.line, 1, b) for b in segmented.boundaries]
    parts += [(s.lines[0], 0, s) for s in segmented.segments]
    for _, _, part in sorted(parts, key=lambda p: p[:2]):
        if isinstance(part, Boundary):
            location = Location(part.file, part.line)
            yield f"{indent}Python: {location.short}  {shortened(location.text, MAX_SOURCE)}"
            yield f"{indent}  {part.reason}"
        else:
            yield from _segment(part, indent, seen)
    for function, state in segmented.functions():
        if state in seen:
            continue
        seen.add(state)
        yield f"{indent}{function}, which Python calls:"
        inner = _of(state)
        yield from _compiled(state, indent) if inner is None else _lines(inner, indent + "  ", seen)


def _segment(call: SegmentCall, indent: str, seen: set[Any]) -> Iterator[str]:
    first, last = call.lines
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    inner = _inner(call)
    if inner is not None:
        yield from _lines(inner, indent, seen)
        return
    yield f"{indent}segment, {where}:"
    if call.chosen is None:
        yield f"{indent}  not called yet"
        return
    yield from _compiled(call.state, indent)


def _compiled(state: Any, indent: str) -> Iterator[str]:
    """How a part was fused."""
    for cause, n in state.variants.fallbacks.items():
        yield f"{indent}  ran as plain NumPy, {n} times: {cause}"
    if state.newest is not None:
        lowered, sizes = state.newest
        for line in VariantReport(lowered, sizes).details(state.variants):
            yield f"{indent}  {line}"


def _inner(call: SegmentCall) -> SegmentedFunction | None:
    """The parts of a segment that was split in its turn."""
    return None if call.state is None else _of(call.state)


def _of(state: Any) -> SegmentedFunction | None:
    made: SegmentedFunction | None = state.variants.newest_segmented
    return made
