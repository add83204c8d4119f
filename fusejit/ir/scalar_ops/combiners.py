"""THE table of combiners: how reductions merge partial results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field


@dataclass(frozen=True, eq=False)
class Combiner:
    """How a reduction merges two partial results.

    ``ordered`` tells for which dtype kinds the order of merging shows in the bits, so that it is
    the written-out order of `ir.interpreter.summation`; elsewhere any order gives the same result.

    ``of_numbers`` tells that partial results alone are not enough to merge them: the squared
    deviations from a mean need the means and the counts as well. Such a combiner is for floats, one
    reduction dim and no start; ``scalar_op`` says only what joins partial squares.
    """

    name: str
    ufunc: np.ufunc
    scalar_op: str
    identities: Mapping[str, Any] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    of_numbers: bool = False

    def is_extremum(self, dtype: np.dtype) -> bool:
        """Whether this is a maximum or minimum of floats: along axes, a zero is always 0.0."""
        return self.name in ("max", "min") and dtype.kind == "f"

    def identity(self, dtype: np.dtype) -> Any:
        """The number that changes nothing, as a Python scalar."""
        if dtype.kind in self.identities:
            return self.identities[dtype.kind]
        if dtype.kind == "f":
            return -np.inf if self.name == "max" else np.inf
        if dtype.kind == "b":
            return self.name != "max"
        info = np.iinfo(dtype)
        return info.min if self.name == "max" else info.max  # the largest "u" has all bits set


_COMBINERS: tuple[Combiner, ...] = (
    Combiner("add", np.add, "add", {"i": 0, "u": 0, "f": 0.0, "b": False}, frozenset("f")),
    Combiner(
        "multiply", np.multiply, "multiply", {"i": 1, "u": 1, "f": 1.0, "b": True}, frozenset("f")
    ),
    Combiner("max", np.maximum, "maximum"),
    Combiner("min", np.minimum, "minimum"),
    Combiner("and", np.logical_and, "logical_and", {"b": True}),
    Combiner("or", np.logical_or, "logical_or", {"b": False}),
    Combiner("bitwise_and", np.bitwise_and, "bitwise_and", {"i": -1}),
    Combiner("bitwise_or", np.bitwise_or, "bitwise_or", {"i": 0, "u": 0}),
    Combiner("deviations", np.add, "add", {"f": 0.0}, frozenset("f"), of_numbers=True),
)
COMBINERS: dict[str, Combiner] = {row.name: row for row in _COMBINERS}
