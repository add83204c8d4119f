"""Whether each point of an op writes an element of its own.

O[i, 2 * j + 1]         every axis moves one dim
O[4 * i + j]            j takes at most 4 values
O[i // 4, i % 4]        quotient and remainder of one dim
O[i + j], O[i // 2]     refused: several points would write one element
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.definition import Access
from fusejit.ir.definitions.indices import CONST, DIM, Index


def require_distinct(
    op: str,
    access: Access,
    dims: Mapping[str, AffineExpr],
    symbols: Mapping[str, AffineExpr],
    attributes: Mapping[str, object],
    decide: Any,
) -> None:
    """Points that differ in a dim of an output write different elements of it.

    Parameters
    ----------
    access : Access
        Where the output is written.
    dims, symbols : mapping
        The extents of the domain, and of operands.
    decide : Decisions
        Answers questions about extents.

    Raises
    ------
    ValueError
        If that does not follow from the subscripts and the extents.
    """
    left = {d for s in access.subscripts for d in s.names(DIM)}
    if all(s.as_dim() for s in access.subscripts):
        return
    numbered = {d: AffineExpr.dim(k) for k, d in enumerate(dims)}
    subscripts = [*access.subscripts, *_joined(access)]
    axes = [s.affine({**symbols, **numbered}, attributes) for s in subscripts]
    steps = [_steps(axis, numbered) for axis in axes]

    def are_apart(found: Mapping[str, int]) -> bool:
        """Whether a sum of steps has another value for each choice of its dims."""
        reach = AffineExpr.const(1)
        why = f"{op}: {access.operand} has an element for each point"
        for step, dim in sorted((abs(step), dim) for dim, step in found.items()):
            if not decide.at_most(reach, AffineExpr.const(step), why):
                return False
            reach = reach + (dims[dim] - 1) * step
        return True

    progress = True
    while left and progress:
        progress = False
        for found in steps:
            moving = {d: step for d, step in found.items() if d in left}
            if moving and are_apart(moving):
                left -= {*moving}
                progress = True
    for dim in sorted(left):
        if not decide.at_most(dims[dim], AffineExpr.const(1), f"{op}: {dim} takes one value"):
            raise ValueError(
                f"{op}: several points along dim {dim} would write one element of "
                f"{access.operand}[{', '.join(map(str, access.subscripts))}]"
            )


def _joined(access: Access) -> list[Index]:
    """``x`` for each pair of axes ``x // n`` and ``x % n``."""
    given = {*access.subscripts}
    quotients = [s for s in access.subscripts if s.op == "//" and s.operands[1].op == CONST]
    return [s.operands[0] for s in quotients if Index("%", s.operands) in given]


def _steps(axis: AffineExpr, numbered: Mapping[str, AffineExpr]) -> dict[str, int]:
    """How far one step of each dim moves a subscript; empty if a quotient has a dim."""
    steps = {d: axis.coefficient(expr.terms[0][0]) for d, expr in numbered.items()}
    rest = axis
    for d, step in steps.items():
        rest = rest - numbered[d] * step
    return {} if rest.dims() else {d: step for d, step in steps.items() if step}
