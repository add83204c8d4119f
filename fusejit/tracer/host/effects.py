"""Effects with values that only the kernels know: printing, and writes to attributes of objects.

Each is a host call that is an effect: it happens once per call, in program order, with the very
values. Text that is put together inside the call of ``print`` is put together there as well.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from types import MemberDescriptorType
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.ops import HostCall
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.host.host_call_tracing import Arguments
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.callables import CONSTANT_TYPES
from fusejit.tracer.program.locations import MOVE_OUTSIDE, current_span, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import is_union_scalar

_CONVERSIONS = {ord("r"): "repr", ord("s"): "str", ord("a"): "ascii"}


@dataclass(frozen=True, slots=True)
class TracedText:
    """An f-string in a call of ``print``: literal parts, and values with conversion and format."""

    parts: tuple[str | tuple[Any, int, str], ...]

    def __repr__(self) -> str:
        if active_trace() is not None:
            raise needs_python(
                "makes text of text with numbers that are known only when compiled code runs",
                MOVE_OUTSIDE,
            )
        return f"<traced text of {len(self.parts)} parts>"


def text(*parts: Any) -> Any:
    """An f-string: Python's own text where all values are known."""
    trace = current_trace()
    values = [p[0] for p in parts if type(p) is tuple]
    if any(isinstance(v, slice) or _shows_traced(trace, v) for v in values):
        return TracedText(parts)
    return "".join(p if type(p) is str else formatted(*p) for p in parts)


primitive(text)(text)  # its own handler, as of a call


def _shows_traced(trace: Trace, obj: Any) -> bool:
    if isinstance(obj, list | tuple):
        return any(_shows_traced(trace, o) for o in obj)
    if isinstance(obj, dict):
        return any(_shows_traced(trace, o) for pair in obj.items() for o in pair)
    return trace.is_traced(obj)


def formatted(value: Any, conversion: int, spec: str) -> str:
    """A value of an f-string."""
    if conversion in _CONVERSIONS:
        value = getattr(builtins, _CONVERSIONS[conversion])(value)
    return format(value, spec)


class _Arguments(Arguments):
    """Arguments of an effect: also texts, and literals of Python as they are."""

    def _text(self, obj: Any) -> str:
        if isinstance(obj, TracedArray) and obj.numpy_class is not np.ndarray:
            raise needs_python("shows an array that may be a memmap", MOVE_OUTSIDE)
        if isinstance(obj, TracedText):
            parts = [_quoted(p) if type(p) is str else self._formatted(*p) for p in obj.parts]
            return f"''.join([{', '.join(parts)}])"
        if type(obj) in CONSTANT_TYPES:
            return _quoted(obj)
        if isinstance(obj, type):
            return self._class_text(obj)
        if type(obj) is dict:
            pairs = (f"{self._text(k)}: {self._text(v)}" for k, v in obj.items())
            return f"{{{{{', '.join(pairs)}}}}}"
        if type(obj) is slice:
            return f"slice({', '.join(map(self._text, (obj.start, obj.stop, obj.step)))})"
        return super()._text(obj)

    def _class_text(self, cls: type) -> str:
        """A class, which is no dtype here: ``print(type(x))``."""
        if issubclass(cls, np.generic):
            return f"{super()._text(np.dtype(cls))}.type"
        name = str(cls.__name__)
        if getattr(builtins, name, None) is cls:
            return name
        if getattr(np, name, None) is cls:
            return f"np.{name}"
        raise needs_python(f"prints the class {cls.__name__}", MOVE_OUTSIDE)

    def _formatted(self, value: Any, conversion: int, spec: str) -> str:
        inner = self._text(value)
        if conversion in _CONVERSIONS:
            inner = f"{_CONVERSIONS[conversion]}({inner})"
        return f"format({inner}, {_quoted(spec)})"


def _quoted(obj: Any) -> str:
    return repr(obj).replace("{", "{{").replace("}", "}}")


@primitive(print, complex=True)
def printed(*args: Any, **kwargs: Any) -> None:
    """``print``: the text appears when the call is made, not when it is traced."""
    file = kwargs.pop("file", None)
    if file is not None:
        raise needs_python("prints to a file", "print to the standard output")
    emit_effect("builtins.print", args, kwargs)


def emit_effect(
    name: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    objects: Sequence[Path] = (),
) -> HostCall:
    """Emit an effect without a result: the function ``name`` with these arguments.

    ``objects`` are given to it before them.
    """
    trace = current_trace()
    arguments = _Arguments(trace)
    call = arguments.text(args, kwargs)
    call = ", ".join([*(f"{{o{k}}}" for k in range(len(objects))), *([call] if call else [])])
    op = HostCall(
        function=name,
        arguments=arguments.values(),
        pure=False,
        call=call or " ",
        objects=tuple(map(HostExpr.path, objects)),
    )
    trace.emit(op)
    trace.effects[op] = current_span()
    return op


def may_be_written(obj: Any, name: str, value: Any) -> bool:
    """Whether an attribute of a captured object can be written once the kernels have run.

    Numbers, text, None, arrays and containers are written, and to the only object of its type: two
    names could be one object in another call, and what is read of an object is read when the call
    begins.
    """
    trace = current_trace()
    if not is_number_or_text(value) and not isinstance(value, _STORED):
        return False
    if len(trace.captured_reads.paths_to_type(type(obj))) != 1:
        return False
    return "__setattr__" not in _members(type(obj)) and _is_data_attribute(type(obj), name)


def is_number_or_text(value: Any) -> bool:
    """Whether it is a number, a string or None."""
    is_number = isinstance(value, SymbolicNumber) or is_union_scalar(value)
    is_number |= isinstance(value, TracedArray) and not value.ndim
    return is_number or type(value) in (*CONSTANT_TYPES, np.bool_)


_STORED = (TracedArray, TracedContainer, list, dict, tuple)


def _is_data_attribute(cls: type, name: str) -> bool:
    """Whether no code of the user runs when the attribute is written."""
    found = _members(cls).get(name)
    return not hasattr(type(found), "__set__") or isinstance(found, MemberDescriptorType)


def _members(cls: type) -> dict[str, Any]:
    """What a class and its bases hold, that of `object` left out."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        members |= vars(base)
    return members
