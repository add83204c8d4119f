"""Python's own objects in rewritten code: a body that changes one of them cannot be traced.

The body of a traced loop or conditional runs once while it is traced. ``count += 1`` on a name is
carried by the region; but a list that is appended to, an attribute that is counted up, a nonlocal
name of an inner function or an iterator that moves on would change once, too. So what the user's
frames can reach is noted before the body, and compared after it.
"""

from __future__ import annotations

import functools
import gc
from collections import deque
from collections.abc import Iterator
from types import (
    BuiltinMethodType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

from fusejit.ir.raw_reads import defined_by, fields_of, members_of
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_traced_type
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import holds_of_program, is_of_program, user_frames

_MAX_OBJECTS = 10_000
_ATOMS = (*CONSTANT_TYPES, range, slice)
_HOLDERS = (
    *(list, tuple, dict, set, frozenset, deque, functools.partial),
    *(FunctionType, MethodType, BuiltinMethodType, GeneratorType),
)


class Change(NamedTuple):
    """An object that a body has changed, and a name that leads to it."""

    name: str
    kind: str
    obj: Any


class PythonState:
    """What the objects that the user's frames can reach hold now.

    Parameters
    ----------
    own : frozenset of str
        Names of the innermost frame that the region itself looks after.
    """

    def __init__(self, own: frozenset[str]) -> None:
        self._frames = user_frames()
        self._own = own
        self._before: dict[int, tuple[str, Any, tuple[Any, ...]]] = {}
        self._names = [self._locals(frame) for frame in self._frames]
        for names in self._names:
            for name, obj in names.items():
                self._note(name, obj)

    def change(self) -> Change | None:
        """An object that is not what it was."""
        for frame, before in zip(self._frames, self._names, strict=True):
            now = self._locals(frame)
            for name in before:
                own = name in self._own and frame is self._frames[0]
                if not own and not _same(before[name], now.get(name)):
                    return Change(name, "a name of an enclosing function", None)
        for name, obj, held in self._before.values():
            now_holds = tuple(content(obj))
            if len(now_holds) != len(held) or not all(map(_same, now_holds, held)):
                return Change(name, _kind(obj), obj)
        return None

    def _locals(self, frame: FrameType) -> dict[str, Any]:
        return {name: obj for name, obj in frame.f_locals.items() if is_of_program(name)}

    def _note(self, name: str, obj: Any) -> None:
        pending = [obj]
        while pending:
            one = pending.pop()
            if isinstance(one, _ATOMS) or id(one) in self._before or _is_of_the_trace(one):
                continue
            held = tuple(content(one))
            if not held and not isinstance(one, list | dict | set) and _attributes(one) is None:
                continue
            if len(self._before) > _MAX_OBJECTS:
                raise Fallback(f"more than {_MAX_OBJECTS} Python objects around a traced loop")
            self._before[id(one)] = (name, one, held)
            pending += held


def is_shared(
    obj: Any, name: str | frozenset[str], attribute: tuple[Any, str] | None = None
) -> bool:
    """Whether the user's frames lead to a container by other names than one, or some.

    These are names of the innermost frame.
    An ``enumerate`` of it is such a way, too. Instead of a name it may be an ``attribute``: an
    object that the program has made, and the attribute's name.
    """
    frames = user_frames()
    names = name if isinstance(name, frozenset) else {name}
    pending = [
        held
        for depth, frame in enumerate(frames)
        for one, held in frame.f_locals.items()
        if holds_of_program(one) and (depth or one not in names)
    ]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if one is obj or (
            hasattr(type(one), "containers") and any(obj is held for held in one.containers)
        ):
            return True
        if isinstance(one, _ATOMS) or id(one) in seen or _is_of_the_trace(one):
            continue
        seen.add(id(one))
        if attribute is not None and one is attribute[0] and hasattr(one, "__dict__"):
            pending += [held for key, held in vars(one).items() if key != attribute[1]]
        else:
            pending += content(one)
    return False


def has_one_name(obj: Any) -> bool:
    """Whether the user's frames lead to an object by one name of the innermost one alone."""
    frames = user_frames()
    held = frames[0].f_locals.items() if frames else ()
    names = [name for name, one in held if is_of_program(name) and one is obj]
    return len(names) == 1 and not is_shared(obj, names[0])


def _is_of_the_trace(obj: Any) -> bool:
    kind = type(obj)
    is_known = kind.__module__.partition(".")[0] in ("fusejit", "numpy")
    return is_traced_type(kind) or (is_known and _base_in_c(kind) is None)


def may_hold_others(obj: Any) -> bool:
    """Whether an object of Python's own holds others: a container, a function, an iterator."""
    return isinstance(obj, _HOLDERS) or _base_in_c(type(obj)) is not None


def content(obj: Any) -> Iterator[Any]:
    """The objects that an object holds and may exchange."""
    if isinstance(obj, dict):
        yield from obj.keys()
        yield from obj.values()
    elif isinstance(obj, list | tuple):
        yield from obj
    elif isinstance(obj, set | frozenset):
        yield from sorted(obj, key=id)
    elif isinstance(obj, FunctionType):
        yield from (obj.__defaults__, obj.__kwdefaults__)
        for cell in obj.__closure__ or ():
            yield _of_cell(cell)
    elif isinstance(obj, MethodType | BuiltinMethodType):
        yield obj.__self__
    elif isinstance(obj, GeneratorType):
        frame = obj.gi_frame
        yield -1 if frame is None else frame.f_lasti
        yield from () if frame is None else frame.f_locals.values()
    elif (base := _base_in_c(type(obj))) is not None:
        yield fields_of(obj, base)
    yield from _attributes(obj) or ()


def _attributes(obj: Any) -> list[Any] | None:
    """What an instance, or a class made inside a function, has been given; None for others.

    An instance is not asked for its dictionary: in Python 3.11 and 3.12 that makes one, and all
    attributes are slower to read ever after.
    """
    if isinstance(obj, type):
        members = vars(obj) if "<locals>" in obj.__qualname__ else {}
        return [*members.keys(), *members.values()] or None
    kind = type(obj)
    is_builtin = kind.__module__ == "builtins" and _base_in_c(kind) is None
    if isinstance(obj, FunctionType | MethodType) or is_builtin:
        return None
    held = [part for part in gc.get_referents(obj) if part is not kind]
    return held if held or kind.__dictoffset__ else None


def _base_in_c(kind: type) -> type | None:
    """The base of an iterator's class whose fields, which Python does not show, are its place."""
    base = defined_by(kind, "__next__")
    is_in_c = base is not None and type(members_of(base)["__next__"]) is WrapperDescriptorType
    return base if is_in_c and base is not GeneratorType else None


def _of_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    return type(left) is type(right) and isinstance(left, _ATOMS) and bool(left == right)


def _kind(obj: Any) -> str:
    if isinstance(obj, FunctionType):
        return "what a function remembers"
    if defined_by(type(obj), "__next__") is not None:
        return "an iterator"
    return f"a {type(obj).__name__}"
