"""THE table of what fusejit may refuse, and of the decisions that sizes may take differently.

Each row says what fusejit says, and how NumPy's own values
(`fusejit_testing.programs.program_facts`) prove that it may; ``where`` is the place that states it.
What no row allows is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusejit.ir.traced import TracedFunction
from fusejit_testing.programs.program_facts import Facts

Proof = Callable[[Facts, "re.Match[str]"], bool]


@dataclass(frozen=True, slots=True)
class Liberty:
    """A cause that is allowed if ``proof`` holds of what NumPy did."""

    cause: re.Pattern[str]
    proof: Proof
    where: str


def _has_dtype(facts: Facts, match: re.Match[str]) -> bool:
    return np.dtype(match["dtype"]) in facts.dtypes


def _stores(kind: Callable[[Any, str], bool]) -> Proof:
    def proof(facts: Facts, match: re.Match[str]) -> bool:
        target = np.dtype(match["target"])
        value_type = match.groupdict().get("value", "")
        return any(t == target and kind(v, value_type) for t, v in facts.stores)

    return proof


DECLINES: tuple[Liberty, ...] = (
    Liberty(
        re.compile(
            r"(Python runs statements of \w+: )?"
            r"((.+ has )?(dtype|type)|an operand of type) (?P<dtype>float16)"
            r"(; (kernels do not support it: convert it|move it outside) .*)?"
        ),
        _has_dtype,
        "docs/semantics.md, Types: arrays of other dtypes are declined",
    ),
    Liberty(
        re.compile(r"a (?P<value>\w+) scalar stored into (?P<target>\w+) has to be checked"),
        _stores(lambda value, wanted: isinstance(value, np.generic) and value.dtype == wanted),
        "docs/semantics.md, Types: a complex scalar stored into integers",
    ),
    Liberty(
        re.compile(r".* does not store the run-time float .* into an array of (?P<target>\w+);.*"),
        _stores(lambda value, _: isinstance(value, float | np.floating)),
        "docs/semantics.md, Types: a float number stored into integers",
    ),
    Liberty(
        re.compile(r"a bool element takes the truth of a sequence"),
        lambda facts, _: any(
            t == np.dtype(bool) and isinstance(v, np.ndarray) for t, v in facts.stores
        ),
        "docs/semantics.md, Types: an array stored into one bool element",
    ),
    Liberty(
        re.compile(r"integer arithmetic beyond 62 bits"),
        lambda facts, _: facts.integer_bits > 62,
        "docs/semantics.md, Types: Python integers beyond 62 bits",
    ),
    Liberty(
        re.compile(r"NumPy warns: mean of an empty slice"),
        lambda facts, _: facts.has_empty,
        "docs/semantics.md, Differences from NumPy: the mean of an empty array",
    ),
)


def allowed_decline(cause: str, facts: Facts) -> Liberty | None:
    """The row that allows a decline or a refusal of a program that did ``facts``, or None."""
    for row in DECLINES:
        match = row.cause.fullmatch(cause)
        if match is not None and row.proof(facts, match):
            return row
    return None


ONE_OR_EQUAL = frozenset(
    {
        "operands of one operation have the same extent",
        "an extent of 1 is broadcast",
        "an axis of length 1 may be broadcast",
        "the order of the axes",
    }
)
"""Reasons of guards on decisions that NumPy's rules of broadcasting and of layouts ask for."""


def unexplained_guards(
    traced: TracedFunction, paths: Any, environment: Any
) -> tuple[int, list[str]]:
    """How many guards of a variant fail for a call, and those that no rule of NumPy asks for."""
    failing = [
        guard
        for guard in traced.graph.guards
        if bool(guard.expr.evaluate(paths, environment)) != guard.expected
    ]
    wrong = [f"{g.expr} ({g.reason})" for g in failing if g.reason not in ONE_OR_EQUAL]
    return len(failing), wrong
