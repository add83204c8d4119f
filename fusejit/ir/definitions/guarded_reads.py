"""Reads that a condition on indices guards: ``where(index(n) > 0, X[n - 1], X[n])``.

Such a read is a padded one, which may leave its operand where the condition does not hold. Where it
holds the subscript must be inside: `Access.guards` says so, and the extents of a call are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.dataclass import replace
from fusejit.ir.definitions.definition import Access, Guard, Update
from fusejit.ir.definitions.indices import DIM, Index
from fusejit.ir.definitions.scalars import Scalar, padded

_NEGATED = {
    "less": "greater_equal",
    "less_equal": "greater",
    "greater": "less_equal",
    "greater_equal": "less",
    "equal": "not_equal",
    "not_equal": "equal",
}
_ALL = ("logical_and", "bitwise_and")
_ANY = ("logical_or", "bitwise_or")
_NOT = ("logical_not", "invert")
_ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*"}
Guards = frozenset[Guard]
Key = tuple[str, tuple[Index, ...]]


def with_guards(
    accesses: Sequence[Access], updates: Sequence[Update]
) -> tuple[list[Access], list[Update]]:
    """The accesses and updates of a definition, with what each read is guarded by.

    A read that stands in several places has the guards that all of them have.
    """
    found: dict[Key, Guards] = {}
    for update in updates:
        for key, guards in _reads(update.value, frozenset()):
            found[key] = found.get(key, guards) & guards
    guarded: dict[Key, tuple[Guard, ...]] = {}
    for access in accesses:
        key = access.operand, access.subscripts
        stays_inside = access.is_padded or all(s.as_dim() is not None for s in access.subscripts)
        if not stays_inside and found.get(key):
            guarded[key] = tuple(sorted(found[key], key=str))

    def seen(access: Access) -> Access:
        guards = guarded.get((access.operand, access.subscripts))
        return access if guards is None else replace(access, is_padded=True, guards=guards)

    def rewritten(scalar: Scalar) -> Scalar:
        if scalar.op == "element" and scalar.attr in guarded:
            operand, subscripts = scalar.attr
            return padded(operand, subscripts, Scalar.of(0))
        return (
            replace(scalar, operands=tuple(map(rewritten, scalar.operands)))
            if scalar.operands
            else scalar
        )

    if not guarded:
        return list(accesses), list(updates)
    return [*map(seen, accesses)], [replace(u, value=rewritten(u.value)) for u in updates]


def _reads(scalar: Scalar, guards: Guards) -> list[tuple[Key, Guards]]:
    """The elements that an expression reads, each with what holds where it is needed."""
    if scalar.op == "element":
        return [(scalar.attr, guards)]
    if scalar.op == "select":
        condition, if_true, if_false = scalar.operands
        return [
            *_reads(condition, guards),
            *_reads(if_true, guards | _implied(condition, True)),
            *_reads(if_false, guards | _implied(condition, False)),
        ]
    return [read for operand in scalar.operands for read in _reads(operand, guards)]


def _implied(condition: Scalar, is_true: bool) -> Guards:
    """Comparisons of indices that hold where a condition is true, or where it is false."""
    if condition.op in _NOT:
        return _implied(condition.operands[0], not is_true)
    if condition.op in (_ALL if is_true else _ANY):
        return frozenset().union(*(_implied(o, is_true) for o in condition.operands))
    if condition.op not in _NEGATED:
        return frozenset()
    left, right = map(_as_index, condition.operands)
    if left is None or right is None or not (left - right).names(DIM):
        return frozenset()
    comparison = condition.op if is_true else _NEGATED[condition.op]
    if comparison == "not_equal":
        return frozenset({Guard(left - right, is_not_zero=True)})
    below = {"less": right - left - 1, "less_equal": right - left, "equal": right - left}
    above = {"greater": left - right - 1, "greater_equal": left - right, "equal": left - right}
    return frozenset(Guard(d[comparison]) for d in (below, above) if comparison in d)


def _as_index(scalar: Scalar) -> Index | None:
    """The affine expression of dims that a number is, if it is one."""
    if scalar.op == "index":
        return scalar.attr  # type: ignore[no-any-return]
    if scalar.op == "const":
        return Index.of(scalar.attr[0]) if type(scalar.attr[0]) is int else None
    if scalar.op not in _ARITHMETIC:
        return None
    operands: list[Any] = [_as_index(o) for o in scalar.operands]
    if None in operands:
        return None
    is_affine = scalar.op != "multiply" or not all(o.names(DIM) for o in operands)
    return Index(_ARITHMETIC[scalar.op], tuple(operands)) if is_affine else None
