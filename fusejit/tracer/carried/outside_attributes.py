"""Attributes of objects from outside that the program writes: written back at its end.

``self.total += x`` in the loop of a method carries a number, as it does for an object that the
program makes. The object itself is written once, when the kernels have run: whatever ends the call
before that leaves it as it was, and Python runs the call then. So an exception that the kernels
raise themselves, with stores done that Python would have done, is refused beside such attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any, NamedTuple

from fusejit.dataclass import dataclass
from fusejit.errors import NeedsPython
from fusejit.ir.host import Path
from fusejit.ir.host_calls import deferred_ops, is_draw
from fusejit.ir.ops import Assert, Effect, HostCall, Op, walk
from fusejit.ir.source import Location
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.attributes import OUTSIDE, Attribute, Objects, note_write
from fusejit.tracer.host.effects import emit_effect, is_number_or_text, may_be_written
from fusejit.tracer.ops.checks import BEYOND_RANGE, EXTENTS_DIFFER
from fusejit.tracer.program.captures import CaptureRegistry
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import SourceSpan, current_location, current_span
from fusejit.tracer.values.pooled_objects import PooledObjects
from fusejit.tracer.values.undefined import UNDEFINED, Undefined

UNDOES = ("outside attributes",), "undoes"
"""The decision to undo stores where a check fails after them: then Python runs the call."""


@dataclass(frozen=True, slots=True, eq=False)
class OutsideAttribute(Attribute):
    """An attribute of an object that was found at a path.

    Parameters
    ----------
    path : Path
        Of the attribute.
    captures : CaptureRegistry
        Has what the program sees there.
    """

    path: Path
    captures: CaptureRegistry

    def held(self) -> Any:
        """What the program sees there now."""
        return self.captures.seen(self.path)

    def hold(self, value: Any) -> None:
        """Have the program see something else."""
        self.captures.overwrite(self.path, value)


class _Written(NamedTuple):
    """An attribute, and where the program writes it first."""

    attribute: OutsideAttribute
    location: Location
    span: SourceSpan


class OutsideAttributes:
    """Those that one trace has written in loops and conditionals.

    Attributes
    ----------
    effects : list of Op
        What writes numbers back.
    objects : dict
        The arrays and containers that the call writes with its result, by owner and name.
    """

    def __init__(self) -> None:
        self.effects: list[Op] = []
        self.objects: dict[tuple[Path, str], Any] = {}
        self._written: dict[tuple[Any, ...], _Written] = {}

    def begin(
        self, trace: Trace, captures: CaptureRegistry, read: Callable[[Any, str], Any]
    ) -> None:
        """Have loops find the attributes that they carry; ``read`` is that of the program."""

        def find(key: tuple[Any, ...]) -> Attribute | None:
            (_, path), name = key
            obj = _object_at(path, captures, read)
            return None if obj is None else self._attribute(trace, captures, obj, name, read)

        objects = trace.owned(Objects)
        objects.find_outside, objects.read = find, read
        captures.require_identity = objects.require_identity

    def write(
        self,
        trace: Trace,
        captures: CaptureRegistry,
        obj: Any,
        name: str,
        value: Any,
        read: Callable[[Any, str], Any],
    ) -> bool:
        """``obj.name = value``; False where that is refused."""
        if not may_be_written(obj, name, value):
            return False
        path = captures.path_of(obj)
        assert path is not None
        if trace.regions or ((OUTSIDE, path), name) in self._written:
            attribute = self._attribute(trace, captures, obj, name, read)
        else:  # written in each call, whether it is there or not
            attribute = self._note(trace, captures, obj, name)
        if attribute is None:
            return False
        note_write(trace, attribute)
        attribute.hold(value)
        return True

    def _attribute(
        self,
        trace: Trace,
        captures: CaptureRegistry,
        obj: Any,
        name: str,
        read: Callable[[Any, str], Any],
    ) -> OutsideAttribute | None:
        """An attribute that has a value of its own in each call; else None."""
        path = captures.path_of(obj)
        assert path is not None
        written = self._written.get(((OUTSIDE, path), name))
        if written is not None:
            return written.attribute
        if not _is_own(obj, name):
            return None
        before = read(obj, name)
        if not may_be_written(obj, name, before):
            return None
        if not isinstance(_slot(obj, name), MemberDescriptorType):
            at = path.attribute("__class__")
            captures.note(at, type(obj))
            captures.absent(at.attribute(name))
        attribute = self._note(trace, captures, obj, name)
        attribute.hold(before)
        return attribute

    def _note(
        self, trace: Trace, captures: CaptureRegistry, obj: Any, name: str
    ) -> OutsideAttribute:
        path = captures.path_of(obj)
        assert path is not None
        key = ((OUTSIDE, path), name)
        attribute = OutsideAttribute(key, obj, name, path.attribute(name), captures)
        self._written[key] = _Written(attribute, current_location(), current_span())
        trace.captured_reads.overwrite(obj, attribute.path, UNDEFINED)
        return attribute

    def held(self) -> list[Any]:
        """What the attributes hold now."""
        return [written.attribute.held() for written in self._written.values()]

    def write_back(self, trace: Trace) -> None:
        """Write what the attributes hold at the end of the program."""
        for (owner, name), written in self._written.items():
            value = written.attribute.held()
            if isinstance(value, Undefined):
                Undefined.refuse(value)
            if not is_number_or_text(value):
                self.objects[owner[1], name] = value
                continue
            effect = emit_effect("builtins.setattr", (name, value), {}, (owner[1],))
            effect.location, trace.effects[effect] = written.location, written.span
            self.effects.append(effect)

    def require_whole(self, trace: Trace, *, writes_more: bool) -> None:
        """Refuse exceptions before which Python would have written some of them.

        The call may write more at its end.
        """
        graph = trace.graph
        is_written = self.effects or self.objects or trace.owned(PooledObjects).are_written()
        if not is_written and not writes_more:
            return
        deferred = deferred_ops(graph)
        for op in walk(graph.block):
            is_call = isinstance(op, HostCall) and op.effect is not Effect.PURE
            is_call &= not (is_draw(op) and op.inline)  # which does not raise
            may_raise = isinstance(op, Assert) and op.error not in BEYOND_RANGE
            if op in deferred and may_raise and not trace.undoes and not trace.tries:
                trace.table[UNDOES] = True
                raise Retrace
            may_raise &= getattr(op, "error", "") != EXTENTS_DIFFER
            if op in deferred and op not in self.effects and (is_call or may_raise):
                what = "may raise after a store, where attributes or lists from outside are changed"
                raise NeedsPython.at(op.location, what, "keep the numbers in local names")


def _object_at(path: Path, captures: CaptureRegistry, read: Callable[[Any, str], Any]) -> Any:
    """The object at a path, which is read as the program does where it has not been."""
    found = captures.object_at(path)
    if found is not None or not path.steps or path.steps[-1][0] != ".":
        return found
    owner = _object_at(Path(path.root, path.name, path.steps[:-1]), captures, read)
    return None if owner is None else read(owner, str(path.steps[-1][1]))


def _slot(obj: Any, name: str) -> Any:
    found = (vars(kind)[name] for kind in type(obj).__mro__ if name in vars(kind))
    return next(found, None)


def _is_own(obj: Any, name: str) -> bool:
    """Whether the object itself has the attribute, not its class alone."""
    members = {member for kind in type(obj).__mro__[:-1] for member in vars(kind)}
    if not members.isdisjoint(("__getattr__", "__getattribute__")):
        return False
    if isinstance(_slot(obj, name), MemberDescriptorType):
        return hasattr(obj, name)
    return not hasattr(type(obj), name) and hasattr(obj, name)
