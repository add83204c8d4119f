"""What loops and conditionals have in common while they are traced: names, joins, what leaves them.

The rewritten program (`tracer.rewriting.rewrite_control`) runs the body of a traced region once, on
symbols. A region knows the names that are assigned inside. Numbers become values that the op
carries; an array that is bound again in each iteration becomes memory that holds the newest one.
What has to be known before (the type of a number after the first iteration, say) is found by
tracing again: `Retrace`, with a decision in the trace's table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Block, Op
from fusejit.ir.source import Location
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.attributes import OUTSIDE, Attribute, missing_key
from fusejit.tracer.carried.records import take_apart
from fusejit.tracer.carried.tuple_parts import flag_of, item_at, items_of, of_zeros
from fusejit.tracer.indexing.view_functions import same_view
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.ops.number_values import type_text
from fusejit.tracer.ops.union_types import is_value, narrowed, type_of
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import (
    current_location,
    is_of_program,
    needs_python,
    unsupported,
)
from fusejit.tracer.program.python_state import PythonState
from fusejit.tracer.program.shared_names import SharedNames
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer, is_tuple, tuple_of
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import ABSENT, UNDEFINED, Undefined
from fusejit.tracer.values.union_scalar import NumberType, OptionalTuple, TypeTest, is_union_scalar

# decisions after which loops inside are met again
_OTHER_VISITS = ("peel", "period", "traced", "table")
_OF_VISITS = ("type", "item", "list", "given", "frozen")  # the facts that are kept of a visit


_MADE_INSIDE = "was made in a loop or a conditional that has ended"


class RegionNames(NamedTuple):
    """The names that a loop or a conditional is about.

    Attributes
    ----------
    names : tuple of str
        What is assigned inside.
    live : tuple of str
        What is read outside.
    flags : tuple of str
        Of a loop: the flags that may end it.
    dead : tuple of str
        Of a loop: what each iteration binds before it reads it, and nothing else reads.
    targets : tuple of str
        Of a ``for`` loop: what its head binds and the program reads.
    bound : tuple of str
        Of a ``for`` loop: all that its head binds.
    """

    names: tuple[str, ...]
    live: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


class Region:
    """A loop or a conditional of the program at one place of the trace.

    Parameters
    ----------
    trace : Trace
    key : tuple
        The place in the program, under which decisions are kept.
    about : RegionNames
    """

    can_unroll = False
    repeats = False  # whether its blocks may run several times
    definitely_assigned: frozenset[str] = (
        frozenset()
    )  # names that have a value wherever they are read

    def __init__(self, trace: Trace, key: tuple[Any, ...], about: RegionNames) -> None:
        self.trace = trace
        self.key = key
        self.names = self._written = about.names  # with those of attributes, and without them
        self.live = frozenset(about.live)
        self.location: Location = current_location()
        self._states: list[PythonState] = []
        self._before: dict[str, Any] = {}  # what the names held in front
        self._attributes: dict[str, Attribute] = {}  # that are written inside, by their names
        self._tuples: dict[str, tuple[type, list[str], str | None]] = {}  # class, items, flag

    def own_names(self) -> frozenset[str]:
        """The names that the body may give another object."""
        return frozenset(self.names)

    def is_sure(self, name: str, missing: Any) -> bool:
        """Whether a name is live after the region (uses that would raise NameError excluded)."""
        if missing is ABSENT:
            return True
        if not is_of_program(name):  # the result of a `return` has a flag
            return Undefined.is_unbound(missing)
        return (
            name in self.definitely_assigned and name in self.live and Undefined.is_unbound(missing)
        )

    def type_test(self) -> TypeTest | None:
        """What is known of the type of a number in the block that is open."""
        return None

    # -- decisions --------------------------------------------------------------------------------
    def decided(self, what: str, *more: Any) -> Any:
        """A decision of an earlier attempt, or None."""
        return self.trace.table.get((self.key, what, *more))

    def decide(self, value: Any, what: str, *more: Any) -> NoReturn:
        """Take a decision that earlier ops should have known: start the trace again."""
        self.decide_all({(what, *more): value})

    def decide_all(self, decisions: Mapping[tuple[Any, ...], Any]) -> NoReturn:
        """Take decisions that earlier ops should have known: start the trace again once."""
        table = self.trace.table
        for (what, *more), value in decisions.items():
            if table.get((self.key, what, *more)) == value:
                raise unsupported(
                    f"the types or shapes of the loop's variables do not settle ({what} {more})",
                    "give each variable of the loop one type and shape before it",
                )
            if what in _OTHER_VISITS:
                for key in [k for k in table if k[1] in _OF_VISITS and _is_repeated(k)]:
                    del table[key]
            table[(self.key, what, *more)] = value
        raise Retrace

    def look_up(self, names: Mapping[str, Any], name: str) -> Any:
        """What a name holds, if that can be seen here: what an ended block made cannot.

        A name may be that of an item of a tuple, ``at[0]``.
        """
        base, *places = name.split("[")
        obj = names.get(base, UNDEFINED)
        for place in places:
            obj = item_at(obj, place.rstrip("]"))
        return self._seen(obj, name)

    def _seen(self, obj: Any, name: str) -> Any:
        trace = self.trace
        parts = [obj.value, obj.tag] if is_union_scalar(obj) else []
        parts += [obj.tag] if isinstance(obj, OptionalTuple) else []
        if not all(trace.is_open(part.storage.home) for part in parts):
            return Undefined(name, _MADE_INSIDE)
        obj = narrowed(obj)
        if isinstance(obj, OptionalTuple):
            return OptionalTuple(obj.tag, self._seen(obj.items, name))
        if is_tuple(obj):
            items = [self._seen(item, f"{name}[{k}]") for k, item in enumerate(obj)]
            same = all(one is item for one, item in zip(items, obj, strict=True))
            return obj if same else tuple_of(type(obj), items)
        if is_union_scalar(obj):
            return obj
        if isinstance(obj, MaskedElements) and self._needs_array(name):
            obj = obj.selected()
        if isinstance(obj, TracedContainer) and not trace.is_open(obj.home):
            return Undefined(name, _MADE_INSIDE)
        left: tuple[AffineExpr, ...] = ()
        if isinstance(obj, SymbolicNumber):
            left = () if obj.affine is None else (obj.affine,)
        elif isinstance(obj, TracedArray):
            if not trace.is_open(obj.storage.home):
                return Undefined(name, _MADE_INSIDE)
            left = (*obj.map.results, *obj.extents)
        if all(map(trace.locals.is_visible, left)):
            return obj
        return Undefined(name, "depends on a loop that has ended")

    def _needs_array(self, name: str) -> bool:
        """Whether a name must hold an array at the end, and not elements under a mask."""
        return name in self.live or is_array(self._before.get(name))

    # -- attributes -------------------------------------------------------------------------------
    def asks_for(self, attribute: Attribute) -> bool:
        """Whether the trace has to start again before the region knows of a write."""
        return False

    def write(self, attribute: Attribute, before: Any) -> Any:
        """Note that an attribute is about to be written inside; returns what it held in front.

        ``before`` is what it held in front of the regions inside this one that carry it.
        """
        raise NotImplementedError

    def name_of(self, attribute: Attribute) -> str | None:
        """The name of an attribute, if it has one here."""
        own = self._attributes.items()
        return next((name for name, one in own if one.key == attribute.key), None)

    def place_of(self, name: str) -> tuple[Any, str] | None:
        """The object and the name of an attribute that has a name here."""
        attribute = self._attributes.get(name)
        return None if attribute is None else (attribute.obj, attribute.name)

    def name_attribute(self, attribute: Attribute, names: Mapping[str, Any]) -> str:
        """Give an attribute a name among those of the region."""
        holders = (name for name, held in names.items() if held is attribute.obj)
        base = f"{next(holders, type(attribute.obj).__name__)}.{attribute.name}"
        if isinstance(attribute.obj, SharedNames):
            base = f"nonlocal {attribute.name}"
        label, k = base, 1
        while label in self._attributes:
            label, k = f"{base} of another ({k})", k + 1
        self._attributes[label] = attribute
        self.names = (*self.names, label)
        self.live |= {label}
        return label

    def allow_missing(self, held: Mapping[str, Any]) -> None:
        """Trace again, if names are those of attributes that only some objects may have."""
        known = len(self.trace.table)
        for name, value in held.items():
            attribute = self._attributes.get(name)
            if attribute is not None and is_value(value) and attribute.key[0][0] != OUTSIDE:
                self.trace.table.setdefault(missing_key(attribute), True)
        if len(self.trace.table) > known:
            raise Retrace

    def with_attributes(self, names: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the names hold, those of attributes included."""
        return {**names, **{name: one.held() for name, one in self._attributes.items()}}

    def hand_out(self, values: Mapping[str, Any]) -> None:
        """Have the objects hold what the names of their attributes stand for."""
        for name, one in self._attributes.items():
            one.hold(values[name])

    # -- blocks -----------------------------------------------------------------------------------
    def open(self, block: Block) -> None:
        """Ops go into ``block`` from here on."""
        self.trace.blocks.append(block)
        self.trace.regions.append(self)
        self._states.append(PythonState(self.own_names()))

    def close(self) -> Block:
        """Ops go where they went before; nothing of Python's own may have changed meanwhile."""
        changed = self._states.pop().change()
        if changed is not None:
            self.trace.owned(Displays).require_traced(self.trace, changed.obj)
            what = f"changes {changed.name!r}, {changed.kind}, in a compiled loop or conditional"
            raise needs_python(what, "use numbers and arrays: out = np.empty(n); out[i] = ...")
        self.trace.regions.pop()
        block = self.trace.blocks.pop()
        self.trace.locals.forget(block)
        return block

    def emit(self, op: Op) -> None:
        """Append the op of the region after what was computed before it."""
        op.location = self.location
        self.trace.append(op, self.trace.block)

    # -- tuples -----------------------------------------------------------------------------------
    def taken_apart(self, name: str, obj: Any, may_be_none: bool = False) -> dict[str, Any]:
        """The items of a tuple as what names hold; else what the name itself holds.

        Of one that may be None there is a flag as well, which is true for the tuple.
        """
        held = items_of(obj)
        if held is None and self.decided("record", name.partition("[")[0]):
            held = take_apart(obj, self._carried_attributes())
        if held is None:
            return {name: obj}
        may_be_none |= isinstance(obj, OptionalTuple)
        items = self.name_parts(name, held, may_be_none=may_be_none)
        forms = [self.decided("tuple", item) for item in items]
        inner = [*map(self.taken_apart_as, forms, items, held)]
        made = {n: o for part in inner for n, o in part.items()}
        if may_be_none:
            made[flag_of(name)] = obj.tag if isinstance(obj, OptionalTuple) else True
        return made

    def taken_apart_as(self, form: Any, name: str, obj: Any) -> dict[str, Any]:
        """The same of a tuple that may be None if it has a ``form``."""
        if form is None or obj is not None:
            return self.taken_apart(name, obj, may_be_none=form is not None)
        return self.taken_apart(name, of_zeros(form), may_be_none=True) | {flag_of(name): False}

    def name_parts(self, name: str, held: Any, *, may_be_none: bool) -> list[str]:
        """The names of the items of a tuple that ``name`` holds."""
        flag = flag_of(name) if may_be_none else None
        items = [f"{name}[{k}]" for k in range(len(held))]
        self._tuples[name] = (type(held), items, flag)
        parts = [*items, *([] if flag is None else [flag])]
        self.live |= set(parts if name in self.live else ())
        self.definitely_assigned |= set(parts if name in self.definitely_assigned else ())
        return items

    def _carried_attributes(self) -> list[Attribute]:
        """The attributes that this region and those around it carry."""
        regions = {id(region): region for region in (*self.trace.regions, self)}
        return [one for region in regions.values() for one in region._attributes.values()]

    def put_together(self, name: str, held: Mapping[str, Any]) -> Any:
        """What a name holds, from what it or the items of its tuple hold."""
        if name not in self._tuples:
            return held[name]
        kind, items, flag = self._tuples[name]
        if flag is not None and isinstance(held[flag], Undefined):
            return held[flag]
        made = tuple_of(kind, [self.put_together(item, held) for item in items])
        if flag is None or held[flag] is True:
            return made
        return OptionalTuple(as_kernel_number(held[flag]), made)

    # -- values -----------------------------------------------------------------------------------
    def argument(self, name: str, type_: NumberType) -> Value:
        """A number that a block takes."""
        kind, dtype = type_
        return Value(self.trace.unique_name(name), TensorType(dtype, ()), kind)

    def result_of(self, value: Value) -> Value:
        """A value of the type of ``value``, for a result of the op."""
        base = value.name if value.type.rank == 0 else "v"
        return Value(self.trace.unique_name(base), value.type, value.kind, value.order)


def is_array(obj: Any) -> bool:
    """Whether it is an array to the program."""
    return isinstance(obj, TracedArray) and obj.kind is Kind.ARRAY


def is_untraced_value(obj: Any) -> bool:
    """Whether an object is a number, a text or None: nothing of the trace."""
    return type(obj) in (bool, int, float, np.float64, str, type(None))


def same_object(trace: Trace, left: Any, right: Any) -> bool:
    """Whether two objects of the trace are one to the program."""
    if left is right:
        return True
    if isinstance(left, SymbolicNumber) and isinstance(right, SymbolicNumber):
        return left.affine is not None and left.affine == right.affine
    if is_array(left) and is_array(right):
        return same_view(left, right)
    if is_tuple(left) and type(left) is type(right) and len(left) == len(right):
        return all(same_object(trace, *pair) for pair in zip(left, right, strict=True))
    if type(left) is type(right) and is_untraced_value(left):
        return left == right and repr(left) == repr(right)
    return False


def describe(obj: Any) -> str:
    """The type of an object as messages name it."""
    if is_value(obj):
        return type_text(type_of(obj))
    if is_array(obj):
        sizes = " x ".join(map(str, obj.extents))
        return f"an array of {obj.dtype} of shape ({sizes})"
    if obj is None or isinstance(obj, str | type):
        return repr(obj)
    if isinstance(obj, Undefined):
        return "bound to another kind of object, or not at all,"
    kind = obj.python_type if isinstance(obj, TracedContainer) else type(obj)
    return f"a {kind.__name__}"


def extents_are_captured(trace: Trace, extents: Sequence[AffineExpr]) -> bool:
    """Whether extents are the same in all iterations."""
    return not any(trace.decisions.is_local(e) for e in extents)


def _is_repeated(key: tuple[Any, ...]) -> bool:
    """Whether a fact is one of a place that was met before in the same attempt.

    The first visit of a place stays the first one, however often iterations are traced.
    """
    is_visit = len(key) > 1 and isinstance(key[-2], Location) and type(key[-1]) is int
    if is_visit and key[-1] > 1:
        return True
    return any(_is_repeated(part) for part in key if type(part) is tuple)
