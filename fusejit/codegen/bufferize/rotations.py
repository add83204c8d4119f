"""Arrays that pass their contents on at the end of a loop's body: pointers move, not elements.

In ``b1, b2 = x * b1 - b2, b1`` the body ends with ``b1 <- v`` and ``b2 <- b1``. Nothing needs the
old ``b2`` but ``v``, and that only at its own points: ``v`` is computed over it, and then the two
pointers change places. Where the last array may not be overwritten (``d = minimum(d, d[k] + ..)``
reads other elements than it writes), ``v`` has memory of its own, which takes part in the exchange.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fusejit.codegen.bufferize.hazards import FREE, overlap_of
from fusejit.dataclass import dataclass
from fusejit.ir.ops import Block, GenericOp, Load, Loop, Op, Store
from fusejit.ir.values import Buffer, Value, View


@dataclass(frozen=True, eq=False, slots=True)
class Rotation:
    """The first loop buffer takes ``value``, each other buffer what the one before it held.

    ``has_spare`` if the value is computed into memory of its own; else it is computed over the last
    buffer, at the first of ``stores``.
    """

    loop_buffers: tuple[Buffer, ...]
    stores: tuple[Store, ...]
    value: Value
    has_spare: bool


def rotations_of(
    loop: Loop,
    defining: Mapping[Value, Op],
    versions_at: Mapping[int, Mapping[int, int]],
    uses: Mapping[Value, int],
    straight: Collection[Value],
) -> list[Rotation]:
    """What rotates at the end of a loop's body.

    Parameters
    ----------
    versions_at : mapping
        Version of each alias class before an op, by the op's id.
    uses : mapping
        How often each value is read.
    straight : collection
        Values that are written into their store as they are computed.
    """
    body = loop.body
    tail = _tail(body)
    if not tail:
        return []
    here = versions_at[id(tail[0])]
    stores = {s.view.buffer: s for s in tail}
    if len(stores) < len(tail):
        return []
    loop_buffers = {buffer: s for buffer, s in stores.items() if _is_loop_buffer_store(s)}
    taken_from: dict[Buffer, list[Buffer]] = {}
    for buffer, store in loop_buffers.items():
        source = _source(store, defining, here)
        if source is not None and source in loop_buffers and _are_alike(source, buffer):
            taken_from.setdefault(source, []).append(buffer)
    found = []
    for buffer, store in loop_buffers.items():
        producer = defining.get(store.value)
        if not isinstance(producer, GenericOp) or not any(op is producer for op in body.ops):
            continue
        if producer.library_call is not None or uses.get(store.value, 0) != 1:
            continue
        chain = [buffer]
        while len(taken_from.get(chain[-1], ())) == 1:
            chain += taken_from[chain[-1]]
        if taken_from.get(chain[-1]) or (len(chain) == 1 and store.value in straight):
            continue
        mine = tuple(s for s in tail if s.view.buffer in chain)
        others = [s for s in tail if s not in mine]
        classes = {b.alias_class for b in chain}
        if any(_reads(s.value, classes, defining) for s in others):
            continue
        before = versions_at[id(mine[0])]
        has_spare = not _may_overwrite(chain[-1], producer, mine[0], defining, before)
        fits = store.value.type == buffer.type and store.value.order == buffer.order
        if has_spare and not fits:
            continue
        if not has_spare and len(chain) == 1:
            continue
        found.append(Rotation(tuple(chain), mine, store.value, has_spare))
    return found


def _tail(body: Block) -> list[Store]:
    """The stores at the end of a block, in program order."""
    tail: list[Store] = []
    for op in reversed(body.ops):
        if not isinstance(op, Store):
            break
        tail.insert(0, op)
    return tail


def _is_loop_buffer_store(store: Store) -> bool:
    view, buffer = store.view, store.view.buffer
    return (
        store.mask is None
        and buffer.origin is None
        and buffer.base is None
        and buffer.type.rank > 0
        and view == View.whole(buffer)
    )


def _source(store: Store, defining: Mapping[Value, Op], here: Mapping[int, int]) -> Buffer | None:
    """The loop buffer whose whole contents, as they are before the tail, are stored."""
    load = defining.get(store.value)
    if not isinstance(load, Load) or load.view != View.whole(load.view.buffer):
        return None
    buffer = load.view.buffer
    is_current = here.get(buffer.alias_class, 0) == load.version
    return buffer if is_current and buffer is not store.view.buffer else None


def _are_alike(one: Buffer, other: Buffer) -> bool:
    return one.type == other.type and one.order == other.order


def _reads(value: Value, classes: Collection[int], defining: Mapping[Value, Op]) -> bool:
    """Whether a value, or what computes it, may be read from memory of these classes."""
    op = defining.get(value)
    if isinstance(op, Load):
        return op.view.buffer.alias_class in classes
    return op is not None and any(_reads(v, classes, defining) for v in op.operand_values)


def _may_overwrite(
    loop_buffer: Buffer,
    producer: GenericOp,
    first: Store,
    defining: Mapping[Value, Op],
    here: Mapping[int, int],
) -> bool:
    """Whether the producer may write each element over the loop buffer's as it is computed."""
    (value, *others) = producer.results
    if others or not producer.is_elementwise or producer.inits[0].start is not None:
        return False
    if not producer.inits[0].map.is_padded_permutation:
        return False
    into = Store(view=View.whole(loop_buffer), value=value, version=first.version)
    return overlap_of(producer, into, defining, here) == FREE
