"""Lines of ``f.variants``: the calls that each variant serves, and its differences from others."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from fusejit.ir.analysis.lines import shortened
from fusejit.ir.traced import ArrayClass, CheckKind, PathCheck, TracedFunction

MAX_SHOWN = 4  # differences of one variant
MAX_VALUE = 40  # characters of a value


def served(traced: Sequence[TracedFunction]) -> list[str]:
    """The arrays that each variant serves, and what differs from other variants: rare things first.

    Lines are cut where they differ nevertheless.
    """
    conditions = [[*dict.fromkeys(_conditions(each))] for each in traced]
    counts = Counter(itertools.chain(*conditions))
    rare = [
        sorted((c for c in found if counts[c] < len(traced)), key=lambda c: counts[c])
        for found in conditions
    ]
    arrays = [_arrays(each) for each in traced]
    short = [_line(*line, MAX_SHOWN) for line in zip(arrays, rare, strict=True)]
    if len(set(short)) == len(traced):
        return short
    return [_line(*line, len(counts)) for line in zip(arrays, rare, strict=True)]


def _line(arrays: str, conditions: Sequence[str], most: int) -> str:
    more = len(conditions) - most
    rest = [f"and {more} more"] if more > 0 else []
    return "; ".join([*([arrays] if arrays else []), *conditions[:most], *rest])


def _arrays(traced: TracedFunction) -> str:
    return ", ".join(
        f"{c.path.user_text()}: {c.expected.dtype}[{c.expected.ndim}] {c.expected.layout.value}"
        for c in traced.checks
        if isinstance(c.expected, ArrayClass)
    )


def _conditions(traced: TracedFunction) -> Iterator[str]:
    """Conditions of a variant besides the dtypes, ranks and layouts of arrays."""
    for check in traced.checks:
        yield from _of_array(check) if isinstance(check.expected, ArrayClass) else [_text(check)]
    names = {symbol.name: symbol.expr for symbol in traced.graph.symbols}
    for guard in traced.graph.guards:
        text = guard.expr.user_text(names)
        yield text if guard.expected else f"not {text}"


def _of_array(check: PathCheck) -> Iterator[str]:
    expected, name = check.expected, check.path.user_text()
    if expected.order != tuple(sorted(expected.order)):
        yield f"{name} with axes in the order {expected.order} in memory"
    if expected.writeable:
        yield f"{name} is writeable"
    if expected.kind.__name__ != "ndarray":
        yield f"{name} is a {expected.kind.__name__}"


def _text(check: PathCheck) -> str:
    name, expected = check.path.user_text(), check.expected
    if check.kind is CheckKind.ABSENT:
        return f"no {name}"
    if check.kind is CheckKind.CODE:
        return f"{name} is the function of line {expected.code.co_firstlineno}"
    if check.kind is CheckKind.TYPE:
        return f"{name}: {expected.__name__}"
    if check.kind is CheckKind.MEMBERS:
        return f"{name} has {expected} members"
    if check.kind is CheckKind.SAME:
        return f"{name} is {expected.user_text()}"
    if check.kind is CheckKind.KEYS:
        return f"{name} has {expected if isinstance(expected, int) else len(expected)} items"
    between = "=" if check.kind is CheckKind.EQUAL else " is "
    return f"{name}{between}{shortened(repr(expected), MAX_VALUE)}"
