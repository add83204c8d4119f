"""THE table of combiners: how reductions merge partial results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field


@dataclass(frozen=True, eq=False)
class Combiner:
    """How a reduction merges two partial results.

    ``ordered`` tells for which dtype kinds the order of merging shows in the bits. There numbers
    are merged in the order of the domain, the last reduction dim running fastest: one after the
    other, or, if there are ``accumulators``, in the tree of `ir.interpreter.summation` that has so
    many in each leaf. Elsewhere any order gives the same result.

    A tree may be one of a piece, as NumPy copies what it casts, and rows with gaps between them,
    into a buffer first: of as many numbers, or ``in_rows`` whole rows of the last dim, as fit into
    it. Pieces are merged one after the other.
    """

    name: str
    ufunc: np.ufunc
    scalar_op: str
    identities: Mapping[str, Any] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    accumulators: int = 0
    in_pieces: bool = False
    in_rows: bool = False

    @property
    def in_tree(self) -> bool:
        """Whether numbers whose order shows are merged in a tree."""
        return self.accumulators > 0

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


_ZEROS = {"i": 0, "u": 0, "f": 0.0, "b": False}

_COMBINERS: tuple[Combiner, ...] = (
    Combiner("add", np.add, "add", _ZEROS, frozenset("f"), accumulators=8),
    Combiner("add_parts", np.add, "add", _ZEROS, frozenset("f"), accumulators=4),
    Combiner("add_in_pieces", np.add, "add", _ZEROS, frozenset("f"), 8, in_pieces=True),
    Combiner("add_in_rows", np.add, "add", _ZEROS, frozenset("f"), 8, in_pieces=True, in_rows=True),
    Combiner("add_in_turn", np.add, "add", _ZEROS, frozenset("f")),
    Combiner(
        "multiply", np.multiply, "multiply", {"i": 1, "u": 1, "f": 1.0, "b": True}, frozenset("f")
    ),
    Combiner("max", np.maximum, "maximum"),
    Combiner("min", np.minimum, "minimum"),
    Combiner("and", np.logical_and, "logical_and", {"b": True}),
    Combiner("or", np.logical_or, "logical_or", {"b": False}),
    Combiner("bitwise_and", np.bitwise_and, "bitwise_and", {"i": -1}),
    Combiner("bitwise_or", np.bitwise_or, "bitwise_or", {"i": 0, "u": 0}),
)
COMBINERS: dict[str, Combiner] = {row.name: row for row in _COMBINERS}
