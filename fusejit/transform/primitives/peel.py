"""`peel`: the last, shorter tile of a loop is computed after the loop.

>>> h = schedule(lambda a: np.exp(a), np.ones(3))["exp"].tile(i=8)
>>> print(h.show())
for i_0 = 0 to (s0 + 7) floordiv 8 step 1 tiles (i_1 max 8 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 8 : i64; t1 = index (-8 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v0_slice = view %v0 [(d0) -> (d0 + 8 * i_0)] : i_1 x f64
  %v1_tile = generic "exp" domain (i_1) ins (%v0_slice) outs (write) { t0 = exp in0 : f64; yield
      t0 } : i_1 x f64
  store @v1 v2 [(d0) -> (d0 + 8 * i_0)] (i_1) = %v1_tile
}
>>> h = h.peel("i.0")
>>> print(h.show())
for i_0 = 0 to (s0) floordiv 8 step 1 {
  %v0_slice = view %v0 [(d0) -> (d0 + 8 * i_0)] : 8 x f64
  %v1_tile = generic "exp" domain (8) ins (%v0_slice) outs (write) { t0 = exp in0 : f64; yield
      t0 } : 8 x f64
  store @v1 v2 [(d0) -> (d0 + 8 * i_0)] (8) = %v1_tile
}
>>> print(h.schedule["exp_rest"].show())
for i_0_rest = (s0) floordiv 8 to (s0 + 7) floordiv 8 step 1 tiles (i_1_rest max 8 of (s0) mod
    8) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 8 : i64; t1 = index (-8 *
      i_0_rest + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1_rest = %i_1 local
  %v0_slice = view %v0 [(d0) -> (d0 + 8 * i_0_rest)] : i_1_rest x f64
  %v1_tile = generic "exp_rest" domain (i_1_rest) ins (%v0_slice) outs (write) { t0 = exp in0 :
      f64; yield t0 } : i_1_rest x f64
  store @v1 v5 [(d0) -> (d0 + 8 * i_0_rest)] (i_1_rest) = %v1_tile
}

Rule: tiles of the loop may be shorter than the others. The loop then runs whole tiles only, so that
their extents are constants; ops in it have these in their domains. A copy of the body computes what
is left: a loop that runs once, or not at all. Ops of the copy are called ``exp_rest`` and its loops
``j.0_rest``. Steps that are to change both come before. Source: MLIR's ``transform.loop.peel``.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.clone import Clone
from fusejit.fuse.new_names import symbols_defined, symbols_of, unused
from fusejit.fuse.rewrite_blocks import map_blocks, map_ops
from fusejit.fuse.substitute_symbols import SymbolSubstitution
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing, names_of, next_alias_class, replaced, rest_of
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Bind, Block, GenericOp, Loop, Op
from fusejit.ir.values import Buffer, Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.lookup import op_of


@primitive
def peel(handle: H, loop: str, *, check: bool = True) -> H:
    """Compute the last, shorter tile of a loop after it; the op in the loop is returned.

    Parameters
    ----------
    loop : str
        The name of a loop around the op: ``"i.0"``.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the loop is not around the op, or all its tiles have the same extent.
    """
    step, op, old = call("peel", loop), handle.op, handle.schedule
    around = {o.induction: o for o in enclosing(old.graph, op)[0]}
    loops_around = {name: around.get(info.symbol) for name, info in old.loops.items()}
    peeled_loop = loops_around.get(loop)
    if peeled_loop is None:
        legal = [f'peel("{name}")' for name, o in loops_around.items() if o and o.tiles]
        raise illegal(step, op.name, f"no loop {loop} is around it", legal)
    size = old.loops[loop].size
    if not size:
        raise illegal(step, op.name, f"the extent of the tiles of {loop} is not known")
    if not peeled_loop.tiles:
        raise illegal(step, op.name, f"the tiles of {loop} have the same extent, {size}")
    graph, main, rest, new_names = without_last_tile(old.graph, peeled_loop, size)
    taken = {*old.loops}
    loops = {
        unused(f"{name}_rest", taken): info._replace(symbol=new_names[info.symbol])
        for name, info in old.loops.items()
        if info.symbol in new_names and name != loop
    }
    value = op.results[0]
    names = {**old.names, value: handle.dims}
    others = {
        values[value]: known
        for value, known in names.items()
        for values in (main, rest)
        if value in values
    }
    new = op_of(graph, main.get(value, value))
    assert new is not None
    what = f"{loop} runs whole tiles of {size}, then the rest"
    return handle.after(step, "bits", what, graph, new, check=check, loops=loops, others=others)


def without_last_tile(
    graph: Graph, loop: Loop, size: int
) -> tuple[Graph, Mapping[Value, Value], Mapping[Value, Value], Mapping[str, str]]:
    """Cut off the last, shorter tile of a loop.

    Return the graph, what values in the loop became, what they are in the copy after it, and the
    symbols of the copy's loops by those of the loop.
    """
    (tile,) = loop.tiles
    bind = next(o for o in loop.body.ops if isinstance(o, Bind) and o.symbol == tile.length)
    whole = tile.extent.floordiv(size)

    left_over = replace(tile, extent=tile.extent.mod(size))
    last = replace(loop, lower=whole, is_parallel=False, tiles=(left_over,))
    left = Block((), [] if whole == loop.upper else [last])
    clone = Clone(next_alias_class(graph))
    taken = symbols_of(graph)
    renamed = {name: unused(f"{name}_rest", taken) for name in sorted(symbols_defined(left))}
    other = SymbolSubstitution({n: AffineExpr.symbol(new) for n, new in renamed.items()})
    rest = _named_rest(other.block(clone.block(left)), names_of(graph))

    main = SymbolSubstitution({tile.length: AffineExpr.const(size)})
    inside = replace(loop.body, ops=[o for o in loop.body.ops if o is not bind])
    first = replace(loop, upper=whole, body=main.block(inside), tiles=())
    gone = {*main.buffers}
    made = {b: other.buffers.get(b, b) for b in clone.buffers.values()}
    buffers: list[Buffer] = [b for b in graph.buffers if b not in gone]
    buffers += [*main.buffers.values(), *made.values()]
    graph = replace(replaced(graph, loop, [first, *rest.ops]), buffers=buffers)
    copies = {old: other.values.get(new, new) for old, new in clone.values.items()}
    return with_versions(eliminate_dead_ops(graph)), main.values, copies, renamed


def _named_rest(block: Block, taken: set[str]) -> Block:
    """The block with names of its own for the ops, so that a schedule finds both."""

    def named(op: Op) -> Op:
        op = map_blocks(op, lambda inner: _named_rest(inner, taken))
        if isinstance(op, GenericOp) and op.domain:
            return replace(op, name=rest_of(op, taken), is_named=False)
        return op

    return map_ops(block, named)
