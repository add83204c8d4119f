"""A group in the making: its ops, their bands, and how much wider than the tile each op runs.

The last op of a chain runs over the tile; an op that is read at ``d - 1`` and ``d + 1`` has to run
one further on both sides, and what it reads further still: the *halo* of an op. Neighbouring tiles
compute the halo twice, so an op with a halo must not write anything that leaves the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusejit.dataclass import dataclass, field
from fusejit.fuse.folding.cost import Accept, Reject
from fusejit.fuse.grouping.shared_loops import may_be_shared, same_axis
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Store
from fusejit.ir.target_facts import Target
from fusejit.ir.values import Value


@dataclass(frozen=True, slots=True)
class Read:
    """An op reads a value: behind views, and with the map to the value's own axes."""

    root: Value
    map: IndexingMap


Reads = Callable[[GenericOp], Sequence[Read]]
Halo = tuple[int, int]
"""How far before the tile (at most 0 if it has to begin earlier) and after it an op runs."""

ControlGroupFn = Callable[[Sequence[GenericOp], GenericOp, Target], Accept | Reject]
"""Asked about the ops of a group so far and one that may join them."""


def why_joined(members: Sequence[GenericOp], op: GenericOp, target: Target) -> Accept | Reject:
    """Let every op join that can: whether the group pays is decided when it is whole."""
    return Accept("in tiles", f"{saved_by_join(members, op)} bytes an element read in cache")


def saved_by_join(members: Sequence[GenericOp], op: GenericOp) -> int:
    """Bytes per element that an op finds in cache since the group has made or read them."""
    near = {v for m in members for v in (*m.results, *m.operand_values)}
    return sum(v.type.dtype.itemsize for v in set(op.operand_values) & near if v.type.rank)


def neighbour(members: Sequence[GenericOp], op: GenericOp) -> GenericOp:
    """The last member that an op reads, or the last that reads an array with it."""
    read = set(op.operand_values)
    makers = [m for m in members if read.intersection(m.results)]
    readers = [m for m in members if read.intersection(m.operand_values)]
    return (makers or readers or list(members))[-1]


@dataclass(slots=True)
class Forming:
    """``shared_dims[op]`` are the op's dims, one per shared loop."""

    ops: list[GenericOp] = field(default_factory=list)
    shared_dims: dict[GenericOp, tuple[int, ...]] = field(default_factory=dict)
    store: Store | None = None  # what writes the last op's value into memory

    @property
    def num_shared_loops(self) -> int:
        """How many dims all ops have in common."""
        return len(self.shared_dims[self.ops[0]]) if self.ops else 0

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget the other shared loops."""
        self.shared_dims = {
            op: tuple(dims[b] for b in numbers) for op, dims in self.shared_dims.items()
        }

    def with_op(self, op: GenericOp, dims: dict[int, int], store: Store | None) -> Forming:
        """A group of one op more, with those shared loops for which ``dims`` has the op's dim."""
        shared_dims = {o: tuple(own[b] for b in dims) for o, own in self.shared_dims.items()}
        return Forming([*self.ops, op], {**shared_dims, op: tuple(dims.values())}, store)

    def halos(self, shared_loop: int, reads: Reads) -> dict[GenericOp, Halo]:
        """The halo of each op; (0, 0) for those that no other op of the group reads."""
        found: dict[GenericOp, Halo] = {}
        for op in reversed(self.ops):
            low, high = found.setdefault(op, (0, 0))
            for read in reads(op):
                for member in self.ops:
                    if read.root not in member.results:
                        continue
                    init = member.inits[member.results.index(read.root)]
                    axis = same_axis(init.map, self.shared_dims[member][shared_loop], read.map)
                    assert axis is not None
                    first, last = found.get(member, (low + axis[1], high + axis[1]))
                    found[member] = min(first, low + axis[1]), max(last, high + axis[1])
        return found

    def last_ops(self, reads: Reads) -> list[GenericOp]:
        """The ops that no other op of the group reads."""
        read = {r.root for op in self.ops for r in reads(op)}
        return [op for op in self.ops if not read.intersection(op.results)]

    def dim_of_shared_loop(self, shared_loop: int, op: GenericOp, reads: Reads) -> int | None:
        """The dim of ``op`` that is a shared loop of the group, or None.

        Values of the group decide; where the op reads none, an array that both read.
        """
        dims: set[int | None] = set()
        shared: list[int] = []
        for read in reads(op):
            for member in self.ops:
                dim = self.shared_dims[member][shared_loop]
                if read.root in member.results:
                    init = member.inits[member.results.index(read.root)]
                    axis = same_axis(init.map, dim, read.map)
                    dims.add(None if axis is None else axis[0])
                elif read.map.rank:
                    for other in reads(member):
                        if other.root is read.root:
                            axis = same_axis(other.map, dim, read.map)
                            shared += [] if axis is None else [axis[0]]
        candidates = dims if dims else set(shared[:1])
        if len(candidates) != 1:
            return None
        (wanted,) = candidates
        return wanted if wanted is not None and may_be_shared(op, wanted) else None

    def has_one_extent(self, shared_loop: int, reads: Reads) -> bool:
        """Whether the tiles of all last ops are cut from the same extent."""
        extents = {op.domain[self.shared_dims[op][shared_loop]] for op in self.last_ops(reads)}
        return len(extents) <= 1
