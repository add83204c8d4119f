"""The source of the methods that `dataclasses` makes: it compiles text that nobody keeps.

The text is put together again from the names in the bytecode. It may be a wrong one, as any other
text: it is used if it compiles to that bytecode (`fusejit.tracer.source.source_text`).
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

_ORDERS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def dataclass_texts(code: CodeType) -> Iterator[str]:
    """Yield the texts that may be the source of a method, at the line where the code begins."""
    fields = [name for name in code.co_names if not name.startswith("__") and name != "hash"]
    fields = [name for name in fields if name != "NotImplemented"]
    bodies: list[list[str]] = []
    if code.co_name in _ORDERS:
        own, other = (_tuple_of(name, fields) for name in ("self", "other"))
        all_equal = " and ".join(f"self.{name}==other.{name}" for name in fields)
        is_same = "if other.__class__ is self.__class__:"
        compared = f" return {own}{_ORDERS[code.co_name]}{other}"
        bodies.append([is_same, compared, "return NotImplemented"])
        is_itself = ["if self is other:", " return True"]
        each = f" return {all_equal or 'True'}"
        bodies.append([*is_itself, is_same, each, "return NotImplemented"])  # since Python 3.13
    elif code.co_name == "__hash__":
        bodies.append([f"return hash({_tuple_of('self', fields)})"])
    elif code.co_name == "__init__":
        bodies.append(_statements_of_init(code))
    for body in bodies:
        definition = f"def {code.co_name}({_parameters(code)}):"
        lines = [definition, *(f" {line}" for line in body or ["pass"])]
        yield "\n" * (code.co_firstlineno - 1) + "\n".join(lines) + "\n"


def _tuple_of(obj: str, fields: list[str]) -> str:
    return f"({','.join(f'{obj}.{name}' for name in fields)},)" if fields else "()"


def _parameters(code: CodeType) -> str:
    count = code.co_argcount
    positional = code.co_varnames[:count]
    by_name = code.co_varnames[count : count + code.co_kwonlyargcount]
    return ", ".join((*positional, *(("*", *by_name) if by_name else ())))


def _statements_of_init(code: CodeType) -> list[str]:
    """A statement for each stored attribute, and for each call whose result is dropped."""
    statements: list[str] = []
    loads: list[str] = []
    methods: list[str] = []
    is_asked = is_called = False
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in ("LOAD_METHOD", "LOAD_ATTR"):
            methods.append(value)
        elif name == "LOAD_CONST":
            loads.append(repr(value))
        elif name.startswith("LOAD_"):
            loads += value if isinstance(value, tuple) else [value]
        elif name == "IS_OP":
            is_asked = True
        elif name.startswith("CALL"):
            is_called = True
        elif name == "STORE_ATTR":
            *loads, obj = loads
            statements.append(f"{obj}.{value}={_value(loads, is_asked, is_called)}")
        elif name == "POP_TOP" and methods == ["__setattr__"] and len(loads) > 3:
            own, obj, attribute, *loads = loads  # of a frozen class
            held = _value(loads, is_asked, "_dflt" in loads[-1])
            statements.append(f"{own}.__setattr__({obj},{attribute},{held})")
        elif name == "POP_TOP" and methods and loads:
            statements.append(f"{loads[0]}.{methods[0]}({','.join(loads[1:])})")
        if name in ("STORE_ATTR", "POP_TOP"):
            loads, methods, is_asked, is_called = [], [], False, False
    return statements


def _value(loads: list[str], is_asked: bool, is_called: bool) -> str:
    """A parameter; what a factory makes; or that if the parameter is left out."""
    if is_asked and len(loads) > 2:
        parameter, left_out, factory, *_ = loads
        return f"{factory}() if {parameter} is {left_out} else {parameter}"
    (name, *_) = loads or ["None"]
    return f"{name}()" if is_called else name
