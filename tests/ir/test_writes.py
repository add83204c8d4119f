"""The rule for memory that several writes fill, on written graphs.

Regression: ``x[i] = np.concatenate(..)`` wrote rows 0 to n-1, because ``Scatter`` was a kind of
``Store``. They are now siblings under ``Write``.
"""

import pytest

from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.symbol_facts import SymbolFacts
from fusejit.ir.analysis.writes import last_part, part_of, store_that_takes
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Write
from fusejit.ir.text.parser import parse_graph

N = AffineExpr.symbol("s0")
ZERO, ONE = AffineExpr.const(0), AffineExpr.const(1)


def graph_of(*writes: str) -> Graph:
    lines = "\n".join(f"  {w}" for w in writes)
    return parse_graph(f"""graph @f
  symbol s0 = size(arg:x, 0)
  guard ge(s0, 4) is true "long"
  buffer @x : s0 x f64 = arg:x class 0 readonly
  buffer @m : s0 x i1 = arg:m class 1 readonly
  buffer @k : s0 x i64 = arg:k class 2 readonly
  buffer @y : s0 x s0 x f64 = arg:y class 3
{{
  %x = load @x v0 : s0 x f64
  %front = view %x [(d0) -> (d0)] : (s0 - 1) x f64
  %one = view %x [(d0) -> (d0)] : 1 x f64
  %m = load @m v0 : s0 x i1
  %k = load @k v0 : s0 x i64
  alloc @b : s0 x f64 class 4
{lines}
  return @b
}}
""")


def writes_of(graph: Graph) -> list[Write]:
    return [op for op in graph.block.ops if isinstance(op, Write)]


PLAIN = "store @b v1 = %x"
FRONT = "store @b v1 [(d0) -> (d0 + 1)] (s0 - 1) = %front"
MASKED = "store @b v1 = %x mask %m"
SCATTERED = "scatter @b v1 at (%k) = %x"
PLACED = "scatter @b v1 at ((d0)) = %x"  # by the points themselves: still no store
DIAGONAL = "store @y v1 [(d0) -> (d0, d0)] (s0) = %x"
STEPPED = "store @y v1 [(d0) -> (2*d0, 0)] (1) = %one"


@pytest.mark.parametrize(
    ("write", "takes", "is_box"),
    [
        (PLAIN, True, True),
        (FRONT, True, True),
        (MASKED, True, False),
        (SCATTERED, False, False),
        (PLACED, False, False),
        (DIAGONAL, True, False),
        (STEPPED, True, False),
    ],
)
def test_what_each_kind_of_write_allows(write, takes, is_box):
    (op,) = writes_of(graph_of(write))
    assert store_that_takes(op.value, [op]) is (op if takes else None)
    assert (part_of(op) is not None) is is_box


def test_a_second_reader_keeps_the_value():
    (op,) = writes_of(graph_of(PLAIN))
    assert store_that_takes(op.value, [op, op]) is None
    assert store_that_takes(op.value, [op, None]) is None
    assert store_that_takes(op.value, [None]) is None


def test_a_mask_is_read_and_not_taken():
    (op,) = writes_of(graph_of(MASKED))
    assert op.mask is not None
    assert store_that_takes(op.mask, [op]) is None


def test_the_last_store_of_those_that_hold_an_element():
    graph = graph_of(PLAIN, FRONT.replace("v1", "v2"))
    whole, front = (part_of(op) for op in writes_of(graph))
    assert whole is not None
    assert front is not None
    facts = SymbolFacts(graph)

    def last(low, high):
        return last_part([whole, front], [(low, high)], facts)

    assert last(ZERO, ONE) is whole
    assert last(ONE, N) is front
    assert last(N - 1, N) is front
    assert last(ZERO, N) is None  # some of it is the one's, some the other's
    assert last_part([front], [(ZERO, ONE)], facts) is None  # nothing was stored there
