"""Grouping (tile-and-fuse): ops that cannot be one op share their outer loops.

A *shared loop* is a dim that several ops have in common: parallel in each of them, of one extent,
and such that a value which passes from one op to another is read at the very point of the shared
loop where it was written. Ops with a shared loop in common run tile by tile over it: first op on
the tile, second op on the tile, ... so that what passes between them stays in cache, and an array
that several of them read comes from memory once. In

    m = x.max(axis=1)              # (i parallel, j reduction)
    e = exp(x - m[:, None])        # (i, j)
    s = e.sum(axis=1)              # (i, j reduction)
    y = e / s[:, None]             # (i, j)

``i`` is a shared loop of all four. Shared loops are found along the maps, from dim to dim; ops join
the earliest group in which all that they read is ready. Only ops between two stores (or loops, or
calls) are looked at: memory is the same for all of them. The store at the end may take part: in ``x
-= m`` a tile of ``x`` is overwritten as soon as it was computed, if no other tile reads those
elements.

Source
------
Tiled producer/consumer fusion of MLIR's linalg and of IREE's dispatch regions, with the shared loop
computed for the whole group at once and the tile chosen at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.fuse.canonical.stale_loads import read_classes
from fusejit.fuse.folding.cost import Accept, Reject
from fusejit.fuse.grouping.forming import ControlGroupFn, Forming, Read, neighbour, why_joined
from fusejit.fuse.grouping.order import in_order
from fusejit.fuse.grouping.shared_loops import is_linear, may_be_shared, real_rank
from fusejit.fuse.rewrite_blocks import definitions, used_values
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.reduction_starts import reaches_every_element
from fusejit.ir.execution_plan import FusionReport, Group, Refusal
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Alloc, Block, ConstantOp, GenericOp, Load, Op, ReshapeOp, Store, ViewOp
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.values import Value
from fusejit.support.budget import check_budget

MAX_OPS = 16  # of a group: keeps the streams of a tile and the compile time bounded


_MOVABLE = Load | ViewOp | ReshapeOp | ConstantOp | Alloc  # ops that do no work where they stand


def form_groups(
    graph: Graph,
    report: FusionReport,
    target: Target = GENERIC,
    control: ControlGroupFn = why_joined,
) -> Graph:
    """Find the groups of the top-level block.

    Parameters
    ----------
    graph : Graph
        The fused graph.
    report : FusionReport
        Gets the groups, and a refusal for each op that ``control`` keeps out of one.
    target : Target
        The machine, for what ``control`` is told.
    control : ControlGroupFn
        Decides which ops join a group.

    Returns
    -------
    Graph
        With the ops of each group next to each other; the same object if there is no group.
    """
    grouping = _Grouping(graph, report, target, control)
    formed = grouping.run()
    report.refused.extend(grouping.refused.values())
    return formed


class _Grouping:
    def __init__(
        self, graph: Graph, report: FusionReport, target: Target, control: ControlGroupFn
    ) -> None:
        self.graph = graph
        self.report = report
        self.target = target
        self.control = control
        self.refused: dict[tuple[GenericOp, GenericOp], Refusal] = {}
        self.defining = definitions(graph.block)
        self.stores = {op.value: op for op in graph.block.ops if isinstance(op, Store)}
        self.store_at_end: Store | None = None
        self.leaving = {r for r in graph.results if isinstance(r, Value)} | set(graph.block.yields)
        self.users: dict[Value, list[Op]] = {}
        for op in graph.block.ops:
            for value in used_values(op):
                self.users.setdefault(value, []).append(op)

    def run(self) -> Graph:
        """Group each stretch between two ops with an effect."""
        ops: list[Op] = []
        groups = self.report.grouped
        stretch: list[Op] = []

        def end_stretch(at: Op | None = None) -> None:
            self.store_at_end = at if isinstance(at, Store) and at.mask is None else None
            formed = self._form(stretch)
            if any(self._stores_too_early(g, stretch) for g in formed):
                self.store_at_end = None
                formed = self._form(stretch)
            if formed:
                ops.extend(in_order(stretch, [g.ops for g in formed]))
                groups.extend(self._finished(g) for g in formed)
            else:
                ops.extend(stretch)
            stretch.clear()

        for op in self.graph.block.ops:
            is_work = isinstance(op, GenericOp) and not op.is_fixed
            if is_work or isinstance(op, _MOVABLE):
                stretch.append(op)
            else:
                fill = self._fill_first(op, stretch)
                if fill:
                    ops.extend((*fill, op))
                else:
                    end_stretch(op)
                    ops.append(op)
        end_stretch()
        if not groups:
            return self.graph
        block: Block = replace(self.graph.block, ops=ops)
        return replace(self.graph, block=block)

    def _fill_first(self, op: Op, stretch: list[Op]) -> list[Op]:
        """The stretch's ops that fill memory for the store ``op``, if they may run before it.

        ``out = np.zeros(n)`` is filled where the first store into a part of it needs that, behind
        what this store computes.
        """
        if not isinstance(op, Store) or op.mask is not None:
            return []
        fill, buffer = self.defining.get(op.value), op.view.buffer
        if not isinstance(fill, GenericOp) or fill not in stretch or fill.operand_values:
            return []
        mine: list[Op] = [
            o for o in stretch if o is fill or (isinstance(o, Alloc) and o.buffer is buffer)
        ]
        if any(self._reads_class(o, buffer.alias_class) for o in stretch):
            return []
        stretch[:] = [o for o in stretch if o not in mine]
        return mine

    # -- forming --------------------------------------------------------------------------------
    def _form(self, stretch: Sequence[Op]) -> list[Forming]:
        """The groups of the stretch that pay, in an order that may run."""
        formed: list[Forming] = []
        group_of: dict[Value, int] = {}  # values computed here, and arrays read here
        readers: dict[Value, list[int]] = {}
        for op in stretch:
            if not isinstance(op, GenericOp):
                continue
            check_budget()
            reads = self._reads(op)
            earliest = max((self._ready(r.root, group_of) for r in reads), default=-1)
            wanted = {earliest, *(at for r in reads for at in readers.get(r.root, ()))}
            ready = [at for at in sorted(wanted) if max(earliest, 0) <= at < len(formed)]
            at = next((at for at in ready if self._join(formed[at], op)), len(formed))
            if at == len(formed):
                formed.append(Forming([op], {op: self._own_shared_dims(op)}, self._store_of(op)))
            for value in op.results:
                group_of[value] = at
            for read in reads:
                if read.map.rank:
                    readers.setdefault(read.root, []).append(at)
        return [group for group in formed if self._why(group)]

    def _ready(self, root: Value, group_of: Mapping[Value, int]) -> int:
        """The first group in which a value can be read.

        Axes that were split or merged are no bands: what is read so must be complete.
        """
        if root in group_of:
            return group_of[root]
        op = self.defining.get(root)
        if isinstance(op, ReshapeOp | ViewOp):
            source = self._ready(op.source, group_of)
            return source if source < 0 or isinstance(op, ViewOp) else source + 1
        return -1

    def _reads(self, op: GenericOp) -> list[Read]:
        """What an op reads, behind views."""
        reads = []
        for value, map in (
            *((o.value, o.map) for o in op.inputs),
            *((i.start, i.map) for i in op.inits if i.start is not None),
        ):
            while isinstance(view := self.defining.get(value), ViewOp):
                map = view.map.compose(map)
                value = view.source
            reads.append(Read(value, map))
        return reads

    def _own_shared_dims(self, op: GenericOp) -> tuple[int, ...]:
        """The dims that may be bands: parallel, and a plain axis of every result."""
        if not self._may_join(op):
            return ()
        return tuple(d for d in range(len(op.domain)) if may_be_shared(op, d))

    def _may_join(self, op: GenericOp) -> bool:
        """Whether codegen can write the op for a tile: as one nest."""
        if op.is_unfused or op.payload.has_extract():
            return False
        for at, init in enumerate(op.inits):
            if init.start is not None and (
                init.combiner is None or not reaches_every_element(op, at)
            ):
                return False  # the start is copied first
        store = self._store_of(op)
        return store is None or (store is self.store_at_end and self._is_read_by_it_alone(op))

    def _store_of(self, op: GenericOp) -> Store | None:
        """The store that takes a result of the op."""
        return next((self.stores[v] for v in op.results if v in self.stores), None)

    def _is_read_by_it_alone(self, op: GenericOp) -> bool:
        (result, *others) = op.results
        return not others and len(self.users[result]) == 1 and result not in self.leaving

    def _join(self, group: Forming, op: GenericOp) -> bool:
        """Add the op if a shared loop is left that all have in common."""
        if len(group.ops) >= MAX_OPS or group.store is not None or not self._own_shared_dims(op):
            return False
        dims: dict[int, int] = {}  # band -> dim of the op
        for shared_loop in range(group.num_shared_loops):
            dim = group.dim_of_shared_loop(shared_loop, op, self._reads)
            if dim is not None and dim not in dims.values():
                dims[shared_loop] = dim
        grown = group.with_op(op, dims, self._store_of(op))
        sound = [b for b in range(grown.num_shared_loops) if self._is_sound(grown, b)]
        # tiles with halos along several shared loops would compute too much twice
        plain = [b for b in sound if set(grown.halos(b, self._reads).values()) == {(0, 0)}]
        kept = plain or sound[:1]
        if not kept or self._refuses(group, op):
            return False
        grown.keep(kept)
        group.ops, group.shared_dims, group.store = grown.ops, grown.shared_dims, grown.store
        return True

    def _refuses(self, group: Forming, op: GenericOp) -> bool:
        """Whether the policy keeps the op out of the group."""
        verdict = self.control(group.ops, op, self.target)
        if not isinstance(verdict, Reject):
            return False
        member = neighbour(group.ops, op)
        names, ends = (member.name, op.name), (member.results[-1], op.results[-1])
        why = (verdict.rule, verdict.reason)
        self.refused[member, op] = Refusal(*names, *why, op.location, *ends, "group")
        return True

    def _is_sound(self, group: Forming, shared_loop: int) -> bool:
        """Whether tiles of the shared loop compute every needed element, and store none too early.

        What leaves the group must be cut into tiles exactly; what stays may be wider or narrower.
        """
        if not group.has_one_extent(shared_loop, self._reads):
            return False
        last = group.last_ops(self._reads)[0]
        extent = last.domain[group.shared_dims[last][shared_loop]]
        for op, halo in group.halos(shared_loop, self._reads).items():
            is_exact = halo == (0, 0) and op.domain[group.shared_dims[op][shared_loop]] == extent
            if not is_exact and not all(self._stays_inside(r, group) for r in op.results):
                return False
        return group.store is None or self._tiles_stay_apart(group, shared_loop)

    def _stays_inside(self, result: Value, group: Forming) -> bool:
        """Whether the group alone reads a value."""
        pending = [result]
        while pending:
            value = pending.pop()
            if value in self.leaving:
                return False
            for user in self.users.get(value, ()):
                if isinstance(user, ViewOp):
                    pending.extend(user.results)
                elif user not in group.ops:
                    return False
        return True

    def _tiles_stay_apart(self, group: Forming, shared_loop: int) -> bool:
        """Whether no tile of the shared loop reads what another one stores.

        Some axis of the stored memory must be indexed by the shared loop alike in the store and in
        every read of that memory, and no such read may reach into the next tile.
        """
        store, op = group.store, group.ops[-1]
        assert store is not None
        dim = group.shared_dims[op][shared_loop]
        written = store.view.map.compose(op.inits[0].map)
        axes = {axis for axis, index in enumerate(written.results) if is_linear(index, dim)}
        halos = group.halos(shared_loop, self._reads)
        for member in group.ops:
            own = group.shared_dims[member][shared_loop]
            for read in self._reads(member):
                load, is_reshaped = self._load_under_views(read.root)
                if load is None or load.view.buffer.alias_class != store.view.buffer.alias_class:
                    continue
                is_same = load.view.buffer is store.view.buffer and not is_reshaped
                if not is_same or halos[member] != (0, 0):
                    return False
                index = load.view.map.compose(read.map).results
                as_shared_loop = {own: AffineExpr.dim(dim)}
                axes = {
                    a
                    for a in axes
                    if is_linear(index[a], own)
                    and index[a].substitute(dims=as_shared_loop) == written.results[a]
                }
        return bool(axes)

    def _stores_too_early(self, group: Forming, stretch: Sequence[Op]) -> bool:
        """Whether an op that will run after the group reads what the group has overwritten."""
        if group.store is None:
            return False
        alias_class = group.store.view.buffer.alias_class
        start = min(stretch.index(op) for op in group.ops)
        for op in stretch[start:]:
            is_other = isinstance(op, GenericOp) and op not in group.ops
            if is_other and self._reads_class(op, alias_class):
                return True
        return False

    def _reads_class(self, op: Op, alias_class: int) -> bool:
        """Whether the op reads memory of a class."""
        if isinstance(op, Load):
            return op.view.buffer.alias_class == alias_class
        return isinstance(op, GenericOp) and alias_class in read_classes(op, self.defining)

    def _load_under_views(self, root: Value) -> tuple[Load | None, bool]:
        """The load whose memory a value shows, and whether its axes were split or merged."""
        op, is_reshaped = self.defining.get(root), False
        while isinstance(op, ViewOp | ReshapeOp):
            is_reshaped |= isinstance(op, ReshapeOp)
            op = self.defining.get(op.source)
        return (op, is_reshaped) if isinstance(op, Load) else (None, False)

    # -- deciding -------------------------------------------------------------------------------
    def _why(self, group: Forming) -> Accept | None:
        """Why a group pays: a large array stays in tiles, or is read once instead of several times.

        Large is what has as many axes as the widest op of the group: next to it, a value per row
        costs nothing.
        """
        if len(group.ops) < 2:
            return None
        rank = max(real_rank(op.domain) for op in group.ops)
        seen: set[Value] = set()
        shared: set[Value] = set()
        for op in group.ops:
            roots = {r.root for r in self._reads(op) if real_rank(r.root.type.extents) >= rank}
            shared |= roots & seen
            seen |= roots | {v for v in op.results if real_rank(v.type.extents) >= rank}
        if not shared:
            return None
        made = len(shared.intersection(v for op in group.ops for v in op.results))
        parts = [f"{_arrays(made)} read in the tile that made {_them(made)}"] if made else []
        if read := len(shared) - made:
            parts.append(f"{_arrays(read)} read from memory once")
        return Accept("read in the tile" if made else "read once", ", ".join(parts))

    def _finished(self, group: Forming) -> Group:
        local = tuple(v for op in group.ops for v in op.results if self._stays_inside(v, group))
        why = self._why(group)
        assert why is not None  # or it would not be a group
        shared_dims = tuple(group.shared_dims[op] for op in group.ops)
        halos = [
            group.halos(shared_loop, self._reads) for shared_loop in range(group.num_shared_loops)
        ]
        around = tuple(tuple(halo[op] for halo in halos) for op in group.ops)
        ops = tuple(group.ops)
        return Group(ops, shared_dims, local, group.store, around, why.rule, why.reason)


def _arrays(count: int) -> str:
    return f"{count} large {'array is' if count == 1 else 'arrays are'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
