"""An op and one call of it, as text and arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Result:
    """What is known of an output: its dtype, and how far two right answers may be apart."""

    dtype: np.dtype
    bound: float
    tolerance: float


@dataclass(slots=True)
class OpCase:
    """An op and one call of it.

    Attributes
    ----------
    definition : str
        Statements that define ``op``, or the constants of a call of ``generic``.
    inputs : list of str
        The names of the inputs that are arrays, which ``call`` may be given others for.
    call : str
        The call, whose function is named ``compute``.
    flaw : str
        Why it cannot be computed; empty if it can.
    sizes : dict
        The domain.
    values : list of (str, str)
        For each output how it is merged, and the text of what is.
    numbers : list
        For each output the number that it starts from, or None.
    names : dict
        Type variables, extents and attributes.
    """

    seed: int
    is_formula: bool
    definition: str
    inputs: list[str]
    call: str
    arguments: dict[str, Any]
    results: list[Result]
    outs: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    flaw: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    operands: list[Any] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)

    @property
    def outputs(self) -> list[Any]:
        """The operands that are written."""
        return [o for o in self.operands if o.role == "Output"]
