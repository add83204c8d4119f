"""A loop of the program at one place of the trace, and the things that its names carry.

The object of a name at the start of an iteration, the values that the iteration hands on, and the
object after the loop depend on its kind: a `Carried` of `fusejit.tracer.carried`. The loop knows no
kinds: it asks each for the same few things, in the order of `fusejit.tracer.flow.loop_body`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.attributes import Attribute, Objects
from fusejit.tracer.carried.loop_origins import LoopOrigins
from fusejit.tracer.carried.records import PooledRecord, Record, are_records
from fusejit.tracer.carried.regions import Region, RegionNames, describe, is_array
from fusejit.tracer.carried.tuple_parts import is_of_numbers, is_tuple_like, of_zeros, zeros_like
from fusejit.tracer.lists.aliases import AliasSets
from fusejit.tracer.lists.item_parts import request_pools
from fusejit.tracer.lists.tables import is_lengthened, long_tuple
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.number_values import number_value
from fusejit.tracer.ops.union_types import narrowed
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple
from fusejit.tracer.values.live_out_arrays import LiveOutArrays
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import ABSENT, UNDEFINED, Undefined
from fusejit.tracer.values.union_scalar import NumberType, OptionalTuple, UnionType


class IterArg(NamedTuple):
    """A number that an iteration hands on to the next one, as in MLIR's ``iter_args``.

    Attributes
    ----------
    argument : Value
        What the body's block takes.
    start : Value
        What that is in the first iteration.
    """

    type: NumberType
    argument: Value
    start: Value


class Carried:
    """One name across the iterations of a loop: the interface of all kinds.

    Parameters
    ----------
    loop : LoopRegion
    name : str
    before : object
        What the name held before the loop.
    seen : object
        What the body finds under the name.

    Attributes
    ----------
    iter_args : list of IterArg
        The numbers that the loop carries for the name.
    num_stores : int
        Into the array that it held before the loop, until then.
    """

    is_buffer = False  # whether it is memory that each iteration stores into

    def __init__(self, loop: LoopRegion, name: str, before: Any, seen: Any) -> None:
        self.loop = loop
        self.name = name
        self.before = before
        self.seen = seen
        self.iter_args: list[IterArg] = []
        self.num_stores = before.storage.root.num_stores if is_array(before) else 0

    def show(self) -> None:
        """Define what the body finds of which the iteration's number is a part."""

    def widen(self, now: Any) -> None:
        """Compare what an iteration found with what it leaves.

        Takes a decision, with which the loop is traced again, if another kind or a wider type
        carries both; refuses the program if none does.
        """
        raise NotImplementedError

    def hand_on(self, now: Any) -> list[Value]:
        """The `iter_args` of the next iteration, at the end of the body."""
        return []

    def store(self, now: Any, behind: LiveOutArrays) -> None:
        """Store what the next iteration finds in memory."""

    def carry_zeros(self) -> None:
        """Have the loop carry what only its body computes: called before its op is made."""

    def left(self, results: Sequence[Value]) -> Any:
        """Return what the name holds after the loop; ``results`` are its `iter_args` after it."""
        raise NotImplementedError


class LoopRegion(Region):
    """A loop, and what its kinds of carried things ask of it.

    Attributes
    ----------
    dead : tuple of str
        Names that each iteration binds before it reads them, and nothing else reads.
    runs : bool or None
        Whether there is an iteration; None if that is not known.
    trips : AffineExpr
        The number of iterations, of a loop that counts them.
    symbol : str
        The number of the iteration; empty if the loop has none.
    carried : dict of str to Carried
        What each name holds across the iterations.
    late : dict of str to Carried
        Names that only the body binds, after the loop.
    now : dict of str to object
        What the names hold at the end of the body.
    counter : IterArg or None
        A number of the tracer's own.
    wider : dict of str to NumberType or UnionType
        The types that names need in the next attempt to trace.
    aliases : AliasSets
        The containers that are given away or frozen at the start of the body.
    known_containers : frozenset
        The keys of the containers that there are then.
    after : dict of str to object
        What each name holds after the loop.
    """

    repeats = True
    period = 1  # how many iterations are traced at once
    is_recursion = False  # whether names have a value wherever they are read, that of before apart
    is_asked = False  # whether its condition is being traced

    def __init__(self, trace: Trace, key: tuple[Any, ...], about: RegionNames) -> None:
        super().__init__(trace, key, about)
        self.dead, self.targets, self.flags = about.dead, about.targets, about.flags
        self.runs: bool | None = None
        self.trips = AffineExpr.const(0)
        self.symbol = ""
        self.visit = trace.visit((key, self.location))
        self.carried: dict[str, Carried] = {}
        self.late: dict[str, Carried] = {}
        self.now: dict[str, Any] = {}
        self.wider: dict[str, NumberType | UnionType] = {}
        self.counter: IterArg | None = None
        self.counted: TracedArray | None = None  # the counter after the loop
        self.after: dict[str, Any] = {}
        self._there: list[Any] = []  # what the names held before the loop
        self._untouched: dict[str, Any] = {}  # what the objects hold before the loop
        self.last_views: dict[int, TracedArray] = {}  # by the view that the body has
        self.origins = LoopOrigins(self)
        self._last: AffineExpr | None = None
        self.aliases = AliasSets()
        self.known_containers: frozenset[Any] = frozenset()

    def decide_types(self) -> None:
        """Start the trace again, if names need wider types."""
        if self.wider:
            self.decide_all({("type", n, *self.visit): type_ for n, type_ in self.wider.items()})

    # -- what each kind of loop says ---------------------------------------------------------------
    def can_peel(self) -> bool:
        """Whether first iterations may be traced one by one."""
        return False

    def counts(self) -> bool:
        """Whether it has iterations, whose numbers are the loop's symbol."""
        return False

    def cuts(self) -> bool:
        """Whether arrays may lose rows in an iteration."""
        return False

    def find_last(self) -> AffineExpr | None:
        """The number of the last iteration, where there is one."""
        return None

    def last_of(self, number: SymbolicNumber) -> Any:
        """Return what an integer of the body was in the last iteration."""
        return number

    # -- iterations --------------------------------------------------------------------------------
    @property
    def last(self) -> AffineExpr | None:
        """The number of the last iteration, found once."""
        if self._last is None:
            self._last = self.find_last()
        return self._last

    def peel_first(self) -> None:
        """Trace again with the first iteration by itself, if it is not and may be."""
        if self.can_peel() and not self.decided("peel"):
            self.decide(1, "peel")

    def peel_until_moved_on(self, name: str, names: Mapping[str, Any]) -> bool:
        """Whether the array that a name held before the loop is gone after the peeled iterations.

        Traces again with more of them where that may be.
        """
        needed = 1 + self.num_moved_on(name, names)
        if self.can_peel() and (self.decided("peel") or 0) < needed:
            self.decide(needed, "peel")
        return bool(self.decided("peel"))

    def peel_or_refuse(self, name: str, before: Any, now: Any) -> NoReturn:
        """Trace the first iteration by itself; if it is, no kind carries both objects."""
        if are_records(before, now) and not self.decided("record", name):
            self.decide(True, "record", name)
        self.peel_first()
        for obj in (before, now):
            request_pools(self.trace, obj)
        what = f"{name!r} is {describe(before)} before an iteration and {describe(now)} after it"
        raise unsupported(
            what, f"use another name for one of them, or give {name!r} such a value before the loop"
        )

    def require_trips(self, count: int) -> None:
        """Require that many iterations: fewer would leave an array from before the loop.

        In NumPy it is the very object; a loop buffer is a copy.
        """
        if not self.can_peel() or (self.decided("peel") or 0) >= count - 1:
            return
        if not self.trace.decisions.at_most(count, self.trips, "a loop runs several times"):
            self.decide(count - 1, "peel")

    def num_moved_on(self, name: str, names: Mapping[str, Any]) -> int:
        """After how many iterations a name holds no array any more that was there before them."""
        owners = {array.storage: other for other, array in self.buffers.items()}
        for count in range(len(owners)):
            held = names.get(name)
            source = owners.get(held.storage) if isinstance(held, TracedArray) else None
            if source is None or source == name:
                return count
            name = source
        return 0

    # -- numbers and memory ------------------------------------------------------------------------
    def iter_arg(self, label: str, type_: NumberType, start: Value) -> IterArg:
        """A number that the loop carries."""
        return IterArg(type_, self.argument(label, type_), start)

    def carry_counter(self, type_: NumberType, start: Any) -> Value:
        """Carry a number of the tracer's own, behind all others."""
        self.counter = self.iter_arg("k_", type_, number_value(start, type_))
        return self.counter.argument

    def iter_args(self) -> list[IterArg]:
        """All numbers that the loop carries, in the order of the block's arguments."""
        found = [arg for one in self.carried.values() for arg in one.iter_args]
        return found if self.counter is None else [*found, self.counter]

    def arguments(self) -> tuple[Value, ...]:
        """What the body's block takes."""
        return tuple(arg.argument for arg in self.iter_args())

    def starts(self) -> tuple[Value, ...]:
        """What that is in the first iteration."""
        return tuple(arg.start for arg in self.iter_args())

    @property
    def buffers(self) -> dict[str, TracedArray]:
        """The memory that iterations store into, as the body finds it."""
        return {name: one.seen for name, one in self.carried.items() if one.is_buffer}

    def is_loop_buffer(self, storage: Storage) -> bool:
        """Whether it is memory of `buffers`."""
        return any(storage is array.storage for array in self.buffers.values())

    def is_mine(self, storage: Storage) -> bool:
        """Whether the body has made the array."""
        return storage.home is self.trace.block

    def new_buffer(self, like: TracedArray, extents: Extents | None = None) -> Buffer:
        """Make memory before the loop that lies as an array does."""
        trace = self.trace
        order = like.storage.order if like.is_whole else like.sorted_order()
        outer = trace.blocks[-2 if self in trace.regions else -1]
        type_ = TensorType(like.dtype, extents or like.extents)
        return trace.allocate("c0", type_, order, outer, self.location)

    def require_own_strides(self, array: TracedArray) -> None:
        """Peel for an array with broadcast axes: a loop buffer has a say in strides."""
        constant = self.trace.decisions.constant
        axes = [a for a, extent in enumerate(array.extents) if constant(extent) != 1]
        if array.ndim > 1 and any(array.compare_strides(a, a) is None for a in axes):
            self.peel_first()
            raise Fallback("later iterations of a loop read a broadcast array; copy it")

    # -- names -------------------------------------------------------------------------------------
    def asks_for(self, attribute: Attribute) -> bool:
        """Decide that the loop carries an attribute; whether that is new."""
        if self.is_asked:
            what = f"changes the attribute {attribute.name!r} in the condition of a loop"
            raise needs_python(what, "write while True: and an if with a break")
        if self.name_of(attribute) is not None:
            return False
        known = self.decided("attributes") or ()
        if attribute.key in known:
            what = f"changes the attribute {attribute.name!r} of an object that the loop finds"
            raise needs_python(what, "name the object before the loop")
        self.trace.table[(self.key, "attributes")] = (*known, attribute.key)
        return True

    def write(self, attribute: Attribute, before: Any) -> Any:
        """Return what an attribute, which the loop carries, held before it."""
        name = self.name_of(attribute)
        assert name is not None
        return self._untouched[name]

    def find_attributes(self, names: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the names hold before the loop, those of attributes included."""
        objects = self.trace.owned(Objects)
        for key in self.decided("attributes") or ():
            if (attribute := objects.attribute(key)) is not None:
                self.name_attribute(attribute, names)
        self._there = [*names.values()]
        self._untouched = {name: one.held() for name, one in self._attributes.items()}
        return {**names, **self._untouched}

    def find_before(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Find what the names hold before the loop; tuples are taken apart."""
        for name in self.names:
            held = self.look_up(names, name)
            form = self.decided("tuple", name)
            if self.is_recursion and form is not None and Undefined.is_unbound(held):
                held, form = of_zeros(form), None
            if self.decided("list start", name) and Undefined.is_unbound(held):
                held, form = TracedList(self.trace, (*self.visit, name, "start")), None
            if self.decided("long tuple", name) and type(held) is tuple:
                held, form = long_tuple(held), None
            if name in self.dead:
                self._before[name] = held
            else:
                self._before |= self.taken_apart_as(form, name, held)
        return self._before

    def carry(self, one: Carried) -> None:
        """Have the loop carry something under a name."""
        self.carried[one.name] = one
        self._before[one.name] = one.before

    def entries(self) -> tuple[Any, ...]:
        """Return what the names hold at the start of the body, where all flags are down."""
        seen = {name: one.seen for name, one in self.carried.items()}
        held = {n: False if n in self.flags else self.put_together(n, seen) for n in self.names}
        self.hand_out(held)
        return tuple(held[name] for name in self._written)

    def was_there(self, obj: Any) -> bool:
        """Whether a name held the very object before the loop."""
        return any(obj is one for one in self._there)

    def restore_attributes(self) -> None:
        """Have the objects hold what they held before the loop."""
        self.hand_out(self._untouched)

    def held_now(self, names: Mapping[str, Any], name: str) -> Any:
        """Return what a name holds; of None instead of a tuple, the items that it had before."""
        obj = self.look_up(names, name)
        return self.carried[name].seen if obj is ABSENT else obj

    def require_tuples(self, names: Mapping[str, Any]) -> None:
        """Ensure that an iteration leaves a tuple where it has found one."""
        self._find_tuples(names)
        for name, (kind, items, flag) in self._tuples.items():
            held: Any = self.look_up(names, name)
            if not is_tuple_like(held, kind, len(items), flag is not None):
                is_none = held is None or isinstance(held, OptionalTuple)
                if is_none and (issubclass(kind, PooledRecord) or not issubclass(kind, Record)):
                    seen = {item: one.seen for item, one in self.carried.items()}
                    self.decide(zeros_like(self.put_together(name, seen)), "tuple", name)
                before = self.put_together(name, self._before)
                if is_lengthened(before, held) and not self.decided("long tuple", name):
                    self.decide(True, "long tuple", name)
                self.peel_or_refuse(name, before, held)

    def _find_tuples(self, names: Mapping[str, Any]) -> None:
        """Trace a recursion again where a name, which held nothing, holds a tuple by now."""
        for name in self.names if self.is_recursion else ():
            held = narrowed(self.look_up(names, name))
            is_new = name not in self._tuples and Undefined.is_unbound(self.before(name))
            if is_new and is_tuple(held) and is_of_numbers(held):
                self.decide(zeros_like(held), "tuple", name)

    def require_list(self, name: str) -> None:
        """Trace a recursion again with an empty list where a name held nothing before."""
        if name in self.names and not self.decided("list start", name):
            self.decide(True, "list start", name)

    def put_tuples_together(self) -> None:
        """Have `after` hold tuples whose items are there."""
        for name in self._tuples:
            if name in self.names:
                self.after[name] = self.put_together(name, self.after)

    def all_names(self) -> list[str]:
        """The names of the region and of its items; those of tuples stand for their items."""
        parts = self._tuples.values()
        items = [n for _, inner, flag in parts for n in (*inner, flag) if n is not None]
        found = dict.fromkeys((*self.carried, *items, *self.targets))
        return [name for name in found if name not in self._tuples]

    def before(self, name: str) -> Any:
        """Return what a name held before the loop."""
        return self._before.get(name, UNDEFINED)

    def result(self) -> tuple[Any, ...]:
        """Return what the names hold after the loop, and the last items of a ``for``."""
        self.hand_out(self.after)
        return tuple(self.after[name] for name in (*self._written, *self.targets))
