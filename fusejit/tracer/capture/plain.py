"""Functions without usable source: traced as they are, after a look at what they read.

No callback stands in such a function, so everything it names from outside is checked up front:
modules and functions are guarded, numbers must keep their value, arrays and objects are refused
because the trace would bake them in.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Iterable, Iterator
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fusejit.ir.host import Path
from fusejit.support.frame_readers import codes_in
from fusejit.tracer.program.callables import (
    CONSTANT_TYPES,
    Verdict,
    function_name,
    is_library_module,
    is_library_object,
    is_named_tuple,
    is_user_function,
    rule_for,
)
from fusejit.tracer.program.captures import (
    CaptureRegistry,
    closure_path,
    defaults_of,
    global_path,
    is_open,
    keyword_defaults_of,
)
from fusejit.tracer.program.guards import is_identified, is_value
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.source.entry_stubs import is_entry_stub
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_SIMPLE = (*CONSTANT_TYPES, np.generic, np.dtype)
_AS_ARGUMENT = "pass it as an argument"
_TEST_BEFORE = "do it outside the decorated function, or in a file"
_TYPE_TESTS = ("isinstance", "type", "callable")


@functools.cache
def _of_traced_types() -> frozenset[str]:
    """Attributes of traced values that no array and no number has: nothing hides them here."""
    own = {name for kind in (TracedArray, SymbolicNumber) for name in dir(kind)}
    return frozenset(own - {*dir(np.ndarray), *dir(np.float64), *dir(int)})


def vet(
    function: FunctionType, path: Path | None, entry: FunctionType, captures: CaptureRegistry
) -> list[CodeType]:
    """Record checks for all that a plainly traced function reads from outside.

    Parameters
    ----------
    function : FunctionType
        The function.
    path : Path or None
        Where each call finds it; None if it is the traced function or cannot be found again.
    entry : FunctionType
        The traced function.
    captures : CaptureRegistry
        Records the checks.

    Returns
    -------
    list of CodeType
        The code of the function and of all user functions it can call.

    Raises
    ------
    UnsupportedError
        If it reads an array or an object that the trace would bake in.
    """
    vetting = _Vetting(entry, captures)
    vetting.function(function, path)
    return vetting.codes


def vet_arguments(function: FunctionType, args: tuple[Any, ...], captures: CaptureRegistry) -> None:
    """Refuse objects from outside whose attributes a plain function would use unnoticed.

    What it reads would be a constant of the trace, what it writes a traced value in the user's
    object.
    """
    uses_attributes = _uses_attributes(function, set())
    for arg in _within(args):
        path = captures.path_of(arg)
        if path is None or not is_open(arg) or captures.is_container_copy(arg):
            continue
        is_checked = type(arg) is FunctionType or is_identified(arg) or is_value(arg)
        if uses_attributes or not is_checked:
            what = f"{function.__qualname__} has no usable source and uses {path.user_text()}"
            raise unsupported(what, "pass the attributes it needs as arguments")


def _within(objects: Iterable[Any]) -> Iterator[Any]:
    """Objects, and what the copies of captured containers among them hold."""
    for obj in objects:
        yield obj
        if type(obj) in (list, tuple) or is_named_tuple(obj):
            yield from _within(obj)
        elif type(obj) is dict:
            yield from _within(obj.values())


def _uses_attributes(function: FunctionType, seen: set[int]) -> bool:
    """Whether a function, or one of the user's that it calls, reads or writes attributes."""
    if id(function) in seen:
        return False
    seen.add(id(function))
    used: list[Any] = [c.cell_contents for c in function.__closure__ or () if c != CellType()]
    for instruction in _instructions(function.__code__):
        if instruction.opname in (*_ATTRIBUTE_READS, *_ATTRIBUTE_WRITES):
            return True
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = instruction.argval
            used.append(function.__globals__.get(name, getattr(builtins, name, None)))
    return any(
        other in _ATTRIBUTE_FUNCTIONS
        if isinstance(other, BuiltinFunctionType)
        else is_user_function(other) and _uses_attributes(other, seen)
        for other in used
    )


_ATTRIBUTE_READS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_ATTRIBUTE_FUNCTIONS = (getattr, hasattr, setattr, delattr, vars, dir)
_ATTRIBUTE_WRITES = ("STORE_ATTR", "DELETE_ATTR")
_OF_FUNCTIONS = ("__defaults__", "__kwdefaults__", "__closure__", "__dict__", "__globals__")
_LOADS = ("LOAD_CONST", "LOAD_GLOBAL", "LOAD_NAME")
_GLOBAL_WRITES = ("STORE_GLOBAL", "DELETE_GLOBAL")


def _instructions(code: CodeType) -> Iterator[dis.Instruction]:
    return (one for inner in codes_in(code) for one in dis.get_instructions(inner))


def _handles_exceptions(code: CodeType) -> bool:
    """Whether a function, or one that it makes, has handlers of exceptions."""
    return any(one.opname == "PUSH_EXC_INFO" for one in _instructions(code))


class _Vetting:
    def __init__(self, entry: FunctionType, captures: CaptureRegistry) -> None:
        self.entry = entry
        self.captures = captures
        self.codes: list[CodeType] = []
        self.seen: set[int] = set()

    def function(self, function: FunctionType, path: Path | None) -> None:
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        self.codes.append(function.__code__)
        attributes: set[str] = set()
        names: dict[str, None] = {}
        free = set(function.__code__.co_freevars)
        is_captured = False  # whether the instruction before loads what is no traced value
        if _handles_exceptions(function.__code__):  # and would handle what ends a trace
            what = "has a `try` or a `with`, without usable source"
            raise unsupported(what, _TEST_BEFORE)
        for instruction in _instructions(function.__code__):
            operation, name = instruction.opname, instruction.argval
            if operation == "IS_OP" and not is_captured:
                raise unsupported("compares identities, without usable source", _TEST_BEFORE)
            if operation in _ATTRIBUTE_READS and name in _of_traced_types():
                raise unsupported(f"reads {name!r}, without usable source", _TEST_BEFORE)
            is_captured = operation in _LOADS or (operation == "LOAD_DEREF" and name in free)
            if operation in _GLOBAL_WRITES or (
                operation in ("STORE_DEREF", "DELETE_DEREF") and name in free
            ):
                raise unsupported(
                    f"assigns the outer name {name!r}",
                    "return the new value, and assign it outside",
                )
            if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                names[name] = None
            elif operation in (*_ATTRIBUTE_READS, "IMPORT_FROM"):
                attributes.add(name)
            elif operation == "IMPORT_NAME" and not is_library_module(name or "."):
                raise unsupported(f"imports {name}", "import it at the top of the file")
        for name in names:
            self._global(function, path, name, attributes)
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # not assigned yet: reading it raises NameError
                continue
            at = closure_path(function, path, self.entry, name)
            self._value(at, value, f"closure {name}", attributes)
        if function is not self.entry:  # its default values are arguments
            keywords = ((at, value) for _, at, value in keyword_defaults_of(function, path))
            for at, value in (*defaults_of(function, path), *keywords):
                self._default(at, value, attributes)

    def _default(self, at: Path | None, value: Any, attributes: set[str]) -> None:
        is_constant = type(value) in CONSTANT_TYPES
        if at is not None and not is_constant and (is_value(value) or isinstance(value, Enum)):
            self.captures.read(at, value)
        elif at is not None or not is_constant:
            self._value(at, value, "a default value", attributes)

    def _global(
        self, function: FunctionType, path: Path | None, name: str, attributes: set[str]
    ) -> None:
        at = global_path(function, path, self.entry, name)
        if name in function.__globals__:
            self._value(at, function.__globals__[name], f"global {name}", attributes)
            return
        if at is not None:
            self.captures.absent(at)
        if name in _TYPE_TESTS and hasattr(builtins, name):
            raise unsupported(f"calls {name}, without usable source", _TEST_BEFORE)
        if hasattr(builtins, name):
            found = getattr(builtins, name)
            self.captures.read_library(vars(builtins), name, found)
            self._callable(found)

    def _value(self, at: Path | None, value: Any, text: str, attributes: set[str]) -> None:
        if at is None and not is_library_object(value):
            raise unsupported(
                f"reads {text}, and later calls could not read it again", _AS_ARGUMENT
            )
        if isinstance(value, _SIMPLE) or (
            type(value) is tuple and all(isinstance(item, _SIMPLE) for item in value)
        ):
            assert at is not None
            self.captures.fix(at, value)
            return
        if is_user_function(value):
            assert at is not None
            self.captures.read(at, value)
            own = {*vars(value), *_OF_FUNCTIONS} & attributes
            if own:
                what = f"reads {min(own)!r} of {text}, without usable source"
                raise unsupported(what, _AS_ARGUMENT)
            if is_entry_stub(value):
                value, at = self.captures.decorated(value, at)
            self.function(value, at)
            return
        if isinstance(value, ModuleType) and is_library_module(value.__name__):
            for name in sorted(attributes & set(dir(value))):
                found = getattr(value, name, None)
                self.captures.read_library(vars(value), name, found)
                self._callable(found)
        elif is_library_object(value) or type(value).__module__ == "dataclasses":
            self._callable(value)
        elif not (isinstance(value, type) and issubclass(value, BaseException)):
            what = f"a function without usable source reads {text} ({type(value).__name__})"
            raise unsupported(what, _AS_ARGUMENT)
        if at is not None:
            self.captures.read(at, value)

    @staticmethod
    def _callable(value: Any) -> None:
        """Refuse functions that are known to have effects, and modules of such functions."""
        if isinstance(value, ModuleType):
            if value.__name__ in ("numpy.random", "random", "time"):
                raise unsupported(f"uses {value.__name__}", MOVE_OUTSIDE)
        elif isinstance(value, (types.BuiltinFunctionType, FunctionType, type)):
            rule = rule_for(value)
            if rule.verdict is Verdict.DENY and rule.is_known:
                raise unsupported(f"uses {function_name(value)}, which {rule.reason}", rule.remedy)
