"""What loops and conditionals have in common while they are traced: names, joins, what leaves them.

The rewritten program (`fusejit.tracer.rewrite_control`) runs the body of a staged region once, on
symbols. A region knows the names that are assigned inside. Numbers become values that the op
carries; an array that is bound anew in each iteration becomes memory that holds the newest one.
What has to be known before (the type of a number after the first iteration, say) is found by
tracing again: `Restart`, with a decision in the trace's table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Block, Op, Value
from fusejit.ir.source import Location
from fusejit.ir.types import Kind, TensorType
from fusejit.tracer.array import TracedArray
from fusejit.tracer.declined import Restart
from fusejit.tracer.kernel_numbers import as_kernel_number, is_number, number_type
from fusejit.tracer.locations import current_location, unsupported
from fusejit.tracer.masked import MaskedElements
from fusejit.tracer.number import TracedNumber
from fusejit.tracer.python_state import PythonState
from fusejit.tracer.trace import Trace

NumberType = tuple[Kind, np.dtype]
_OTHER_VISITS = ("peel", "period", "staged")  # decisions after which loops inside are met anew


class Undefined:
    """A name without a value here; any use of it is refused.

    With ``is_unbound`` it has none in the program either; else it may have one that cannot be told.
    """

    def __init__(self, name: str, why: str, is_unbound: bool = False) -> None:
        object.__setattr__(self, "_text", (name, why))
        object.__setattr__(self, "_is_unbound", is_unbound)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        name, why = object.__getattribute__(self, "_text")
        raise unsupported(f"{_shown(name)} {why}", _remedy(name))

    @staticmethod
    def text_of(undefined: Undefined) -> str:
        """What stands in a message of which it is the object."""
        name, why = object.__getattribute__(undefined, "_text")
        return f"{_shown(name)}, which {why}; {_remedy(name)}"

    @staticmethod
    def is_unbound(obj: Any) -> bool:
        """Whether it stands for a name that the program has not bound."""
        return isinstance(obj, Undefined) and bool(object.__getattribute__(obj, "_is_unbound"))

    __getattr__ = __call__ = __getitem__ = __setitem__ = __iter__ = __bool__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __pow__ = __rpow__ = __neg__ = __abs__ = __index__ = __int__ = __float__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = __len__ = _refuse


def _shown(name: str) -> str:
    if name.startswith("_st"):
        return "a value"
    return name if " " in name else repr(name)


def _remedy(name: str) -> str:
    if name.startswith("_st"):
        return "return numbers of one type, or arrays of one shape and dtype, on every path"
    if " " in name:
        return "make both sides numbers of one type, or arrays of one shape and dtype"
    return (
        f"give {name!r} a value of the same type before: a number such as {name} = -1 or np.nan, "
        f"or an array of the same shape and dtype"
    )


UNDEFINED = Undefined("a name", "is not defined", is_unbound=True)


class Region:
    """A loop or a conditional of the program at one place of the trace.

    Parameters
    ----------
    trace : Trace
    key : tuple
        The place in the program, under which decisions are kept.
    names : tuple of str
        What is assigned inside.
    live : frozenset of str
        What is read outside.
    """

    can_unroll = False
    repeats = False  # whether its blocks may run several times
    sure: frozenset[str] = frozenset()  # names that have a value wherever they are read

    def __init__(
        self, trace: Trace, key: tuple[Any, ...], names: tuple[str, ...], live: frozenset[str]
    ) -> None:
        self.trace = trace
        self.key = key
        self.names = names
        self.live = live
        self.location: Location = current_location()
        self._states: list[PythonState] = []
        self._before: dict[str, Any] = {}  # what the names held in front

    def own_names(self) -> frozenset[str]:
        """The names that the body may give another object."""
        return frozenset(self.names)

    def is_sure(self, name: str, missing: Any) -> bool:
        """Whether a name is read behind the region, but not where it has no value (``missing``)."""
        if name.startswith("_st"):  # the result of a `return` has a flag
            return True
        return name in self.sure and name in self.live and Undefined.is_unbound(missing)

    # -- decisions --------------------------------------------------------------------------------
    def decided(self, what: str, *more: Any) -> Any:
        """A decision of an earlier attempt, or None."""
        return self.trace.table.get((self.key, what, *more))

    def decide(self, value: Any, what: str, *more: Any) -> NoReturn:
        """Take a decision that earlier ops should have known: start the trace again."""
        if self.trace.table.get((self.key, what, *more)) == value:
            raise unsupported(f"the loop does not settle ({what} {more})", "write it more simply")
        if what in _OTHER_VISITS:
            for key in [k for k in self.trace.table if k[1] == "type"]:
                del self.trace.table[key]
        self.trace.table[(self.key, what, *more)] = value
        raise Restart

    def look_up(self, names: Mapping[str, Any], name: str) -> Any:
        """What a name holds, if that can be seen here: what an ended block made cannot."""
        obj = names.get(name, UNDEFINED)
        trace = self.trace
        if isinstance(obj, MaskedElements) and self._needs_array(name) and obj.ndim == 1:
            obj = obj.selected()
        left: tuple[AffineExpr, ...] = ()
        if isinstance(obj, TracedNumber):
            left = () if obj.affine is None else (obj.affine,)
        elif isinstance(obj, TracedArray):
            if not trace.is_open(obj.storage.home):
                return Undefined(name, "was made in a loop or a conditional that has ended")
            left = (*obj.map.results, *obj.extents)
        if all(map(trace.is_visible, left)):
            return obj
        return Undefined(name, "depends on a loop that has ended")

    def _needs_array(self, name: str) -> bool:
        """Whether a name must hold an array at the end, and not elements under a mask."""
        return name in self.live or is_array(self._before.get(name))

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
            what = f"changes {changed[0]!r}, {changed[1]}, in a loop or conditional of the kernel"
            raise unsupported(what, "use numbers and arrays: out = np.empty(n); out[i] = ...")
        self.trace.regions.pop()
        block = self.trace.blocks.pop()
        self.trace.forget_symbols_of(block)
        return block

    def emit(self, op: Op) -> None:
        """Append the op of the region behind what was computed before it."""
        op.location = self.location
        self.trace.append(op, self.trace.block)

    # -- values -----------------------------------------------------------------------------------
    def argument(self, name: str, type_: NumberType) -> Value:
        """A number that a block takes."""
        kind, dtype = type_
        return Value(self.trace.unique_name(name), TensorType(dtype, ()), kind)

    def result_of(self, value: Value) -> Value:
        """A value of the type of ``value``, for a result of the op."""
        base = value.name if value.type.rank == 0 else "v"
        made = Value(self.trace.unique_name(base), value.type, value.kind, value.order)
        return made


def is_array(obj: Any) -> bool:
    """Whether it is an array to the program."""
    return isinstance(obj, TracedArray) and obj.kind is Kind.ARRAY


def same_view(trace: Trace, left: TracedArray, right: TracedArray) -> bool:
    """Whether two arrays show the same elements of one storage."""
    canonical = trace.decisions.canonical
    return (
        left.storage is right.storage
        and left.map == right.map
        and list(map(canonical, left.extents)) == list(map(canonical, right.extents))
    )


def same_object(trace: Trace, left: Any, right: Any) -> bool:
    """Whether two objects of the trace are one to the program."""
    if left is right:
        return True
    if isinstance(left, TracedNumber) and isinstance(right, TracedNumber):
        return left.affine is not None and left.affine == right.affine
    if is_array(left) and is_array(right):
        return same_view(trace, left, right)
    if type(left) is type(right) and isinstance(left, bool | int | float | str | type(None)):
        return left == right and repr(left) == repr(right)
    return False


def joined_type(left: NumberType, right: NumberType) -> NumberType | None:
    """The type of a number that is one or the other; None where the values would change."""
    if left == right:
        return left
    (left_kind, left_dtype), (right_kind, right_dtype) = left, right
    kind = Kind.PYTHON if left_kind is right_kind is Kind.PYTHON else Kind.SCALAR
    if left_dtype == right_dtype:
        return kind, left_dtype
    weak = [t for t in (left, right) if t[0] is Kind.PYTHON]
    if len(weak) == 2 and {left_dtype.kind, right_dtype.kind} == {"i", "f"}:
        return kind, np.dtype(np.float64)
    if len(weak) == 1:
        strong = right_dtype if left_kind is Kind.PYTHON else left_dtype
        if weak[0][1].kind == "i" and strong.kind in "if" and strong.itemsize == 8:
            return kind, strong
    return None


def number_value(obj: Any, type_: NumberType) -> Value:
    """A number as a value of the current block."""
    value: Value = as_kernel_number(obj, *type_).value()
    return value


def type_text(type_: NumberType) -> str:
    """The type of a number as messages name it."""
    kind, dtype = type_
    name = {"i": "int", "f": "float", "b": "bool"}.get(dtype.kind, str(dtype))
    return name if kind is Kind.PYTHON else f"np.{dtype}"


def describe(obj: Any) -> str:
    """The type of an object as messages name it."""
    if is_number(obj):
        return type_text(number_type(obj))
    if is_array(obj):
        sizes = " x ".join(map(str, obj.extents))
        return f"an array of {obj.dtype} of shape ({sizes})"
    if obj is None or isinstance(obj, str | type):
        return repr(obj)
    return f"a {type(obj).__name__}"


def extents_are_outside(trace: Trace, extents: Sequence[AffineExpr]) -> bool:
    """Whether extents are the same in all iterations."""
    return not any(trace.decisions.is_local(e) for e in extents)
