"""Numbers of a region as values of the graph: one each, and more for those of several types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusejit.ir.results import Texts
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.ops.traced_text import (
    OF_CHARACTER,
    OF_NUMBER,
    TracedText,
    kernel_number_of_text,
)
from fusejit.tracer.ops.union_types import tag, wide
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.union_scalar import NumberType, UnionScalar, UnionType


def number_value(obj: Any, type_: NumberType) -> Value:
    """A number as a value of the current block."""
    number = kernel_number_of_text(obj) if type_[0] is Kind.TEXT else as_kernel_number(obj, *type_)
    value: Value = number.value()
    return value


def number_values(obj: Any, type_: NumberType | UnionType) -> tuple[Value, ...]:
    """A number as values of the current block: itself, and its tag if it has one of several types.

    The types of these values are `types_of_values`.
    """
    if not isinstance(type_, UnionType):
        return (number_value(obj, type_),)
    return wide(obj, type_.dtype).value(), tag(obj, type_).value()


def types_of_values(type_: NumberType | UnionType) -> tuple[NumberType, ...]:
    """The types of the values that a number is made of."""
    if isinstance(type_, UnionType):
        return (Kind.SCALAR, type_.dtype), type_.tag
    return (OF_NUMBER,) if type_[0] is Kind.TEXT else (type_,)


def class_of(type_: NumberType) -> type | Texts:
    """The class that a number of a type has in the program; of strings, what makes them."""
    kind, dtype = type_
    if kind is Kind.TEXT:
        return current_trace().owned(Texts)
    return dtype.type if kind is Kind.SCALAR else type(dtype.type(0).item())


def zero(type_: NumberType | UnionType) -> Any:
    """A number of a type that nothing reads, or the first of several types."""
    own = type_.types[0] if isinstance(type_, UnionType) else type_
    if own is None:
        return None
    kind, dtype = own
    if kind is Kind.TEXT:
        return ""
    number = dtype.type(0)
    return number.item() if kind is Kind.PYTHON else number


def of_values(trace: Trace, type_: NumberType | UnionType, values: Sequence[Value]) -> Any:
    """The number of a type that is made of values."""
    made = [TracedArray.of_value(trace, value) for value in values]
    if isinstance(type_, UnionType):
        return UnionScalar(type_, *made)
    if type_[0] is Kind.TEXT:
        return TracedText(trace, made[0], type_ == OF_CHARACTER)
    return made[0]


def type_text(type_: NumberType | UnionType | None) -> str:
    """The type of a number as messages name it."""
    if type_ is None:
        return "None"
    if isinstance(type_, UnionType):
        return " or ".join(map(type_text, type_.types))
    kind, dtype = type_
    if kind is Kind.TEXT:
        return "str"
    name = {"i": "int", "f": "float", "b": "bool"}.get(dtype.kind, str(dtype))
    return name if kind is Kind.PYTHON else f"np.{dtype}"
