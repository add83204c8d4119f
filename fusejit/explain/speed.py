"""Words for the speed of a function compared with NumPy, and for the reason if it is slower."""

from __future__ import annotations

from fusejit.explain.report import plural
from fusejit.ir.graph import Graph
from fusejit.ir.ops import HostCall, walk
from fusejit.tiering.cost_estimate import CostEstimate

ABOUT = 1.25  # times as fast: estimates are not more exact
SLOWER = 0.95  # times as fast, by the clock, below which a function is called slower
SHORT_NS = 3000  # of a call, below which most of it is not spent in loops
FEW = 2  # operations, which have next to nothing to fuse


def has_calls_of_numpy(graph: Graph) -> bool:
    """Whether NumPy is called between loops."""
    return any(isinstance(op, HostCall) and not op.inline for op in walk(graph.block))


def speed_text(cost: CostEstimate, *, asks_numpy: bool = False) -> str:
    """Describe a speed; estimates are cautious, because they decide whether compiling pays.

    ``asks_numpy``: NumPy is called between loops, and nothing is known of the time of the calls.
    """
    factor = cost.numpy_ns / cost.compiled_ns
    slower = "slower than NumPy: " if is_slower(cost) else ""
    if cost.is_measured:
        return f"{slower}{factor:.{2 if slower else 1}f}x as fast as NumPy ({cost})"
    besides = ", apart from the calls of NumPy" if asks_numpy else ""
    if slower:
        return f"{slower}{factor:.1f}x as fast{besides}, by estimate"
    if factor < ABOUT:
        return f"about as fast as NumPy{besides}, by estimate"
    return f"{factor:.1f}x as fast as NumPy or more{besides}, by estimate"


def is_slower(cost: CostEstimate) -> bool:
    """Whether it is slower than NumPy, as far as is known."""
    return cost.numpy_ns < (SLOWER if cost.is_measured else 1 / ABOUT) * cost.compiled_ns


def why_slower(
    cost: CostEstimate, operations: int, *, asks_numpy: bool, is_in_part: bool = False
) -> str:
    """Give the reason why compiled code is slower than NumPy, with a remedy where there is one.

    Parameters
    ----------
    cost : CostEstimate
    operations : int
        How many operations are compiled.
    asks_numpy : bool
        Whether NumPy is called between loops.
    is_in_part : bool
        Whether Python runs lines between compiled ones.
    """
    if asks_numpy:
        return "NumPy is called between loops, which costs more than the loops save"
    if is_in_part:
        return "passing values between Python and the compiled lines takes longer than they save"
    if cost.compiled_ns < SHORT_NS:
        return "the call is so short that passing its arguments takes most of it: pass more at once"
    if operations <= FEW:
        few = plural(operations, "operation")
        return f"with {few} there is no array to save: decorate a function that does more"
    return "the loops of NumPy are faster for these operations and sizes"
