"""Storages whose memory is that of another one, seen with its axes split or merged."""

from __future__ import annotations

from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Alias, Alloc, Block, ReshapeOp
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.indexing.extent_products import product
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import DerivedStorage, Storage


class ReshapedStorage(DerivedStorage):
    """What ``reshape`` gives where NumPy gives a view: all stores go through to ``base``.

    Attributes
    ----------
    base : Storage
        Its memory. While it is a pure value, so is this one.
    reassociation : Reassociation
        From the axes of ``base`` to the axes of this storage.
    """

    def __init__(self, base: Storage, reassociation: Reassociation, extents: Extents) -> None:
        super().__init__(base, base.dtype, extents)
        self.reassociation = reassociation
        self._reshaped: tuple[Value, Value, Block] | None = None  # where it was made
        self.has_gaps = base.has_gaps
        self.order = reassociation.order(base.order)
        if base.array is not None and not base.is_dense:
            sizes = tuple(map(base.trace.decisions.hint, extents))
            self.array = base.array.reshape(sizes)

    def read(self) -> Value:
        """All elements at this place of the program."""
        if self.value is not None:  # the copy that is handed out
            return self.value
        if self.buffer is not None:
            return super().read()
        source = self.base.read()
        if self.buffer is not None:  # the base held nothing yet
            return super().read()
        if self._reshaped is not None:
            of, value, block = self._reshaped
            if of is source and self.trace.is_open(block):
                return value
        value = self._reshape_of(source, self.reassociation, self.extents, self.order)
        self._reshaped = (source, value, self.trace.block)
        return value

    def replace(self, value: Value) -> None:
        """Take on a fresh value, for every view of the base too."""
        value.order = self.order
        back = self.reassociation.inverse()
        self.base.replace(self._reshape_of(value, back, self.base.extents, self.base.order))

    def _make_alias(self) -> Buffer:
        trace = self.trace
        base = self.base.to_buffer()
        alias = Buffer(
            trace.unique_name(f"{base.name}_r"),
            TensorType(self.dtype, tuple(map(trace.decisions.canonical, self.extents))),
            base.alias_class,
            None,
            self.order,
            base.layout,
            base.root.writeable,
            base,
            self.reassociation,
        )
        trace.graph.buffers.append(alias)
        op = Alias(buffer=alias)
        op.location = current_location()
        trace.append(op, self.home)  # whoever reads it first may be inside a loop that ends
        return alias

    def _reshape_of(
        self,
        source: Value,
        reassociation: Reassociation,
        extents: Extents,
        order: tuple[int, ...] | None,
    ) -> Value:
        result = self.trace.new_value(self.dtype, extents, order=order)
        self.trace.emit(ReshapeOp(results=(result,), source=source, reassociation=reassociation))
        return result

    def stride_expr(self, axis: int) -> HostExpr:
        """The stride of an axis in bytes, as the launcher finds it."""
        groups = self.reassociation.groups
        if not self.reassociation.expands:
            return self.base.stride_expr(groups[axis][-1])
        at = next(k for k, group in enumerate(groups) if axis in group)
        expr = self.base.stride_expr(at)
        for inner in groups[at]:
            if inner > axis:
                expr = HostExpr("mul", (expr, host_of(self.extents[inner])))
        return expr


def give_own_memory(array: TracedArray) -> None:
    """Make all of an array all of its storage again, after its ``shape`` was set.

    Where the shape is known only after the memory is there, or the array is not in C order,
    everything stays as it is.
    """
    base = array.storage
    if array.is_view or base.root.path is not None or (base is base.root and array.is_whole):
        return
    trace, canonical = base.trace, base.trace.decisions.canonical
    if not array.is_whole:
        sizes = [product(trace, extents) for extents in (base.extents, array.extents)]
        if base.order is not None or base.has_gaps or canonical(sizes[0] - sizes[1]).terms:
            return
        flat = Reassociation.of_lengths([base.rank], False)
        split = Reassociation.of_lengths([array.ndim], True)
        whole = reshaped_storage(base, flat, (sizes[0],)) if base.rank > 1 else base
        array.storage = reshaped_storage(whole, split, array.extents) if array.ndim > 1 else whole
        array.map = IndexingMap.identity(array.ndim)
    if array.storage.buffer is not None:
        _allocate_as(array.storage)


def _allocate_as(storage: Storage) -> None:
    """Give a storage the memory that it is a reshape of, which becomes a reshape of it.

    alloc @b0 : 2 * s1 x f64               alloc @b0_r : 2 x s1 x f64
    alias @b0_r of @b0 expand [[0, 1]]  -> alias @b0 of @b0_r collapse [[0, 1]]
    """
    trace, ops = storage.trace, storage.home.ops
    chain = [storage]
    while isinstance(last := chain[-1], ReshapedStorage):
        chain.append(last.base)
    buffers = [s.to_buffer() for s in chain]
    old = [op for op in ops if isinstance(op, Alloc | Alias) and op.buffer in buffers]
    is_deferred = len(old) < len(chain) or any(map(trace.decisions.is_local, storage.extents))
    if is_deferred or buffers[0].base is None:
        return
    links = [b.reassociation.inverse() for b in buffers if b.reassociation is not None]
    for outer, inner, link in zip(buffers, buffers[1:], links, strict=False):
        inner.base, inner.reassociation = outer, link
    buffers[0].base = buffers[0].reassociation = None
    made = [Alloc(buffer=buffers[0]), *(Alias(buffer=b) for b in buffers[1:])]
    for op in made:
        op.location = old[0].location
    at = ops.index(old[0])
    ops[at:] = [*made, *(op for op in ops[at:] if op not in old)]


def reshaped_storage(base: Storage, reassociation: Reassociation, extents: Extents) -> Storage:
    """The storage of the reshape: the one before it, where it takes back the last reshape."""
    canonical = base.trace.decisions.canonical
    if (
        isinstance(base, ReshapedStorage)
        and base.reassociation == reassociation.inverse()
        and list(map(canonical, base.base.extents)) == list(map(canonical, extents))
    ):
        return base.base
    key = (reassociation, tuple(map(canonical, extents)))
    if key not in base.reshapes:
        base.reshapes[key] = ReshapedStorage(base, reassociation, extents)
    return base.reshapes[key]


__all__ = ["ReshapedStorage", "give_own_memory", "reshaped_storage"]
