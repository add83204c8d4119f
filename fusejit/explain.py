"""`explain`: what was fused, what was not and why, and what that saves, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from fusejit.ir.graph import GenericOp, Graph, Op, Store, Value, ViewOp, walk
from fusejit.ir.program import KernelCall
from fusejit.ir.scalar_ops import SCALAR_OPS
from fusejit.ir.schedule import Group, KernelStep
from fusejit.ir.source import Location
from fusejit.ir.types import dtype_name
from fusejit.outside import resolver
from fusejit.pipeline import Lowered

if TYPE_CHECKING:
    from fusejit.api import Variants


def explain_text(lowered: Lowered, arguments: Mapping[str, Any], variants: Variants) -> str:
    """The report for one call.

    Parameters
    ----------
    lowered : Lowered
        The stages of the call.
    arguments : mapping
        The call's bound arguments: sizes are read from them.
    variants : Variants
        The compiled variants and declined calls so far.
    """
    traced = lowered.before.before
    schedule = lowered.before.schedule
    report = schedule.report
    find = resolver(traced.function, arguments, traced.traced.constants)
    symbols: dict[str, int] = {}
    for symbol in schedule.unfused.symbols:
        symbols[symbol.name] = int(symbol.expr.evaluate(find, symbols))
    before = moved_bytes(schedule.unfused, symbols)
    groups = [g for s in schedule.steps if isinstance(s, KernelStep) for g in s.groups]
    after = moved_bytes(schedule.graph, symbols, groups)
    kernels = [s for s in lowered.program.steps if isinstance(s, KernelCall)]
    calls = len(lowered.program.steps) - len(kernels)
    lines = [
        f"{traced.function.__name__}: {_plural(report.ops_before, 'op')} -> "
        f"{_plural(report.ops_after, 'loop nest')} in {_plural(len(kernels), 'kernel')}"
        + (f" and {_plural(calls, 'library call')}" if calls else ""),
        f"  bytes moved: {_size(before)} -> {_size(after)}"
        + (f" ({before / after:.1f}x less)" if 0 < after < before else ""),
    ]
    if report.folded:
        lines.append("  fused:")
        lines += [f"    {f.producer} into {f.consumer}{_where(f.location)}" for f in report.folded]
    for group in report.grouped:
        lines.append(f"  one loop over tiles ({', '.join(dict.fromkeys(group.ops))}):")
        lines += [
            f"    {name}{_where(location)}"
            for name, location in zip(group.ops, group.locations, strict=True)
        ]
        kept = f"{_plural(len(group.local), 'result')} in cache, never in memory"
        lines += [f"    {kept}"] if group.local else []
    if report.refused:
        lines.append("  kept apart:")
        lines += [
            f"    {r.producer} and {r.consumer}: {r.reason} [{r.rule}]{_where(r.location)}"
            for r in report.refused
        ]
    slow = _scalar_functions(schedule.graph, traced.target.vector_functions)
    if slow:
        lines.append("  no vector form on this machine:")
        lines += [f"    {name}{_where(location)}" for name, location in slow]
    lines += [f"  note: {note}" for note in traced.traced.notes]
    if len(traced.graph.guards):
        lines.append("  serves calls where:")
        lines += [f"    {g.expr} is {g.expected}{_where(g.location)}" for g in traced.graph.guards]
    lines.append(f"  variants compiled so far: {len(variants)}")
    lines += [f"  declined {_plural(n, 'call')}: {cause}" for cause, n in variants.declined.items()]
    return "\n".join(lines) + "\n"


def moved_bytes(graph: Graph, symbols: Mapping[str, int], groups: Sequence[Group] = ()) -> int:
    """Bytes that the ops of a graph read and write, each operand counted once per op.

    A view moves nothing; an operand read through a view counts as many elements as the op reads.
    What the ops of a group read alike counts once, and what stays in tiles not at all.
    """
    total = 0
    local = {value for group in groups for value in group.local}
    seen_by: dict[Op, set[tuple[Value, object]]] = {}
    for group in groups:
        shared: set[tuple[Value, object]] = set()
        seen_by.update(dict.fromkeys(group.ops, shared))
    for op in walk(graph.block):
        if isinstance(op, ViewOp) and op.source in local:
            local.update(op.results)
        if isinstance(op, GenericOp):
            seen = seen_by.get(op, set())
            for operand in op.inputs:
                if (operand.value, operand.map) in seen or operand.value in local:
                    continue
                seen.add((operand.value, operand.map))
                dims = operand.map.dims()
                points = 1
                for dim, extent in enumerate(op.domain):
                    if dim in dims:
                        points *= _evaluate(extent, symbols)
                total += points * operand.value.type.dtype.itemsize
            total += sum(
                _bytes(r, symbols)
                for r in op.results
                if r not in local and not _is_stored_straight(r, graph)
            )
        elif isinstance(op, Store):
            points = 1
            for extent in op.view.extents:
                points *= _evaluate(extent, symbols)
            size = points * op.view.buffer.type.dtype.itemsize
            straight = _is_stored_straight(op.value, graph)
            total += size if straight else 2 * size
    return total


def _is_stored_straight(value: Value, graph: Graph) -> bool:
    users: list[Op] = [op for op in walk(graph.block) if value in op.operand_values]
    return len(users) == 1 and isinstance(users[0], Store) and value not in graph.results


def _evaluate(extent: Any, symbols: Mapping[str, int]) -> int:
    try:
        return int(extent.evaluate((), symbols))
    except KeyError:  # depends on a loop variable: counted once
        return 1


def _bytes(value: Value, symbols: Mapping[str, int]) -> int:
    points = 1
    for extent in value.type.extents:
        points *= _evaluate(extent, symbols)
    return points * value.type.dtype.itemsize


def _scalar_functions(graph: Graph, vector: frozenset[str]) -> list[tuple[str, Location]]:
    found: dict[str, Location] = {}
    for op in walk(graph.block):
        if isinstance(op, GenericOp):
            for instr in op.payload.instrs:
                row = SCALAR_OPS.get(instr.op)
                if row is not None and row.vector_function:
                    name = f"{row.vector_function}.{dtype_name(instr.dtype)}"
                    if name not in vector:
                        found.setdefault(name, op.location)
    return sorted(found.items(), key=lambda item: item[0])


def _where(location: Location) -> str:
    return f"  ({FilePath(location.file).name}:{location.line})" if location.line else ""


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _size(num_bytes: int) -> str:
    size = float(num_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
