"""Records of the steps of a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fusejit.dataclass import dataclass, field
from fusejit.ir.graph import Graph
from fusejit.ir.values import Value


@dataclass(frozen=True)
class Step:
    """One step of a schedule. ``num_checked`` small inputs gave the same before and after it.

    ``tag`` says what it keeps: ``bits``, or with ``reassoc`` the values but for the order in which
    floats are summed, as where BLAS computes another part of a product. ``line`` is that of the
    recipe, ``recipe.py:3``. ``moved`` says by which value an older handle finds its op.
    """

    call: str
    op: str
    tag: str
    graph: Graph
    what: str
    num_checked: int = 0
    line: str = ""
    moved: Mapping[Value, Value] = field(default_factory=dict)


class LoopInfo(NamedTuple):
    """A loop over tiles: its symbol, whether each tile writes elements of its own, and their size.

    ``size`` is 0 where it depends on the extent.
    """

    symbol: str
    is_parallel: bool
    size: int = 0
