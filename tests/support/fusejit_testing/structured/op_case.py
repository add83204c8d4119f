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
