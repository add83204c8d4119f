r"""`hoist_pad`: a copy of an operand before the loops that it does not depend on.

>>> a, b = np.ones((9, 4), int), np.ones((4, 9), int)
>>> h = schedule(lambda a, b: a @ b, a, b)["matmul"].tile(m=2).transpose_matmul("b")
>>> print("\n".join(h.show().splitlines()[3:6]))
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * m_0, d1)] : m_1 x s1 x i64
  %v1_transpose = generic "transpose" domain (s3, s1) ins (%v1 [(d0, d1) -> (d1, d0)]) outs
      (write) materialized { yield in0 } : s3 x s1 x i64
  %v2_tile = generic "matmul" domain (m_1, s3, s1) iterators (parallel, parallel, reduction) ins
      (%v0_slice [(d0, d1, d2) -> (d0, d2)], %v1_transpose [(d0, d1, d2) -> (d1, d2)]) outs (add
      [(d0, d1, d2) -> (d0, d1)]) { t0 = multiply in0, in1 : i64; yield t0 } : m_1 x s3 x i64
>>> h = h.hoist_pad("b")
>>> print("\n".join(h.show().splitlines()[3:6]))
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * m_0, d1)] : m_1 x s1 x i64
  %v2_tile = generic "matmul" domain (m_1, s3, s1) iterators (parallel, parallel, reduction) ins
      (%v0_slice [(d0, d1, d2) -> (d0, d2)], %v1_transpose [(d0, d1, d2) -> (d1, d2)]) outs (add
      [(d0, d1, d2) -> (d0, d1)]) { t0 = multiply in0, in1 : i64; yield t0 } : m_1 x s3 x i64
  store @v2 v2 [(d0, d1) -> (d0 + 2 * m_0, d1)] (m_1, s3) = %v2_tile
>>> print(h.schedule["transpose"].show())
%v1_transpose = generic "transpose" domain (s3, s1) ins (%v1 [(d0, d1) -> (d1, d0)]) outs
    (write) materialized { yield in0 } : s3 x s1 x i64

Rule: the copy and the views that it reads mention neither the loop's symbol nor integers that the
loop binds, and the loop does not store to memory that they read. Loops are left from the innermost
one; a copy that depends on a loop stays in it: one copy for each iteration would have to be kept.
Source: MLIR's ``transform.structured.hoist_pad``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing, replaced
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alloc,
    Bind,
    GenericOp,
    Load,
    Loop,
    Op,
    ViewOp,
    base_name,
    written_classes,
)
from fusejit.ir.verifier.scope_rules import symbols_of
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.operands import operand_number


@primitive
def hoist_pad(handle: H, operand: str, *, check: bool = True) -> H:
    """The copy that `pad`, `pack` or `transpose_matmul` made of an operand, outside of loops.

    Parameters
    ----------
    operand : str
        The operand that is a copy: ``a`` is the first one, or the name of the copying op.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the operand is no copy in the loops around the op, or depends on the innermost one.
    """
    step, op, graph = call("hoist_pad", operand), handle.op, handle.schedule.graph
    value = op.inputs[operand_number(handle, operand, step)].value
    copy = definitions(graph.block).get(value)
    loops, block = enclosing(graph, op)
    if not isinstance(copy, GenericOp) or not copy.is_materialized or copy not in block.ops:
        raise illegal(step, op.name, f"{operand} is no copy beside the op", ["pad(..) first"])
    if not loops:
        raise illegal(step, op.name, "no loop is around it", ["tile(..) first"])
    names = {info.symbol: name for name, info in handle.schedule.loops.items()}
    left: list[str] = []
    for _ in loops:
        loop = enclosing(graph, copy)[0][-1]
        name = names.get(loop.induction or "", "the loop")
        moved = _leaving(loop, copy)
        if isinstance(moved, str):
            if not left:
                raise illegal(step, op.name, f"{operand} depends on {name}: {moved}")
            break
        left.append(name)
        graph = _moved(graph, loop, moved)
    what = f"{base_name(copy.name)} of {operand} before {', '.join(left)}"
    return handle.after(step, "bits", what, with_versions(graph), op, check=check)


def _leaving(loop: Loop, copy: GenericOp) -> list[Op] | str:
    """The copy and what it reads that stands in the loop, or why they depend on the loop."""
    body = loop.body
    defined = {value: op for op in body.ops for value in op.results}
    written = written_classes(body)
    local = {op.buffer for op in body.ops if isinstance(op, Alloc)}
    varying = {op.symbol for op in body.ops if isinstance(op, Bind)} | {loop.induction}
    if copy not in body.ops:
        return f"%{copy.results[0].name} is computed under a condition"
    needed: set[Op] = set()
    pending: list[Op] = [copy]
    while pending:
        op = pending.pop()
        needed.add(op)
        name = f"%{op.results[0].name}"
        symbols = symbols_of(op) & varying
        if symbols:
            return f"{name} mentions {', '.join(sorted(map(str, symbols)))}"
        if isinstance(op, Load) and (
            op.view.buffer.alias_class in written or op.view.buffer in local
        ):
            return f"{name} is memory that the loop writes"
        is_copy = isinstance(op, GenericOp) and op.is_materialized
        if not is_copy and not isinstance(op, Load | ViewOp):
            return f"{name} is computed in it"
        if any(value in body.arguments for value in op.operand_values):
            return f"{name} reads what the loop carries"
        pending += [defined[v] for v in op.operand_values if v in defined]
    return [op for op in body.ops if op in needed]


def _moved(graph: Graph, loop: Loop, ops: list[Op]) -> Graph:
    """The graph with ops of the body of a loop before it."""
    kept = [op for op in loop.body.ops if op not in ops]
    return replaced(graph, loop, [*ops, replace(loop, body=replace(loop.body, ops=kept))])
