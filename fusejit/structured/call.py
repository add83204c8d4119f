"""`Call`: the arguments of a call of a structured op by what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.definitions.definition import Definition


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call of a structured op.

    Attributes
    ----------
    operands : mapping
        The inputs by name.
    starts : mapping
        What outputs start from, by name.
    outs : mapping
        Memory for outputs, which is where they start too.
    """

    definition: Definition
    operands: Mapping[str, Any]
    attributes: Mapping[str, Any]
    starts: Mapping[str, Any]
    outs: Mapping[str, Any]
    dtype: np.dtype | None
