"""Python's own functions on traced values: ``len``, ``min``, ``math.sqrt``, ``isinstance`` ..."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.types import Kind
from fusejit.tracer.array import TracedArray
from fusejit.tracer.declined import numpy_raises
from fusejit.tracer.dispatch import HANDLERS, handles
from fusejit.tracer.locations import unsupported
from fusejit.tracer.masked import as_array
from fusejit.tracer.number import TracedNumber, apply_host, is_host_number
from fusejit.tracer.operands import contains_traced, operand_of

_PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "f": float}


def represented_type(obj: Any) -> type:
    """The type of what a traced object stands for."""
    if isinstance(obj, TracedNumber):
        return type(obj.value)
    if isinstance(obj, TracedArray):
        if obj.kind is Kind.PYTHON:
            return _PYTHON_TYPES[obj.dtype.kind]
        return np.ndarray if obj.kind is Kind.ARRAY else obj.dtype.type
    return type(obj)


@handles(isinstance)
def is_instance(obj: Any, class_or_tuple: Any) -> Any:
    """``isinstance`` of what the object stands for."""
    if isinstance(obj, TracedNumber | TracedArray):
        return issubclass(represented_type(obj), class_or_tuple)
    return NotImplemented


@handles(type)
def type_of(*args: Any, **kwargs: Any) -> Any:
    """``type(x)`` of what the object stands for."""
    if len(args) == 1 and isinstance(args[0], TracedNumber | TracedArray):
        return represented_type(args[0])
    return NotImplemented


@handles(len)
def length(obj: Any) -> Any:
    """``len(x)`` of an array: its first extent as a number."""
    obj = as_array(obj)
    if not isinstance(obj, TracedArray):
        return NotImplemented
    if not obj.ndim:
        raise numpy_raises("TypeError: len() of unsized object")
    return obj.shape[0]


@handles(np.shape)
def shape_of(a: Any) -> Any:
    """``np.shape``."""
    return _array_attribute(a, "shape")


@handles(np.ndim)
def ndim_of(a: Any) -> Any:
    """``np.ndim``."""
    return _array_attribute(a, "ndim")


@handles(np.size)
def size_of(a: Any, axis: Any = None) -> Any:
    """``np.size``."""
    if isinstance(a, TracedArray):
        return a.size if axis is None else a.shape[axis]
    return 1 if isinstance(a, TracedNumber) else NotImplemented


def _array_attribute(a: Any, name: str) -> Any:
    if isinstance(a, TracedArray):
        return getattr(a, name)
    if isinstance(a, TracedNumber):
        return () if name == "shape" else 0
    return NotImplemented


@handles(np.result_type)
def result_type(*args: Any) -> Any:
    """``np.result_type``."""
    if not contains_traced(list(args)):
        return NotImplemented
    return np.result_type(
        *(operand_of(a).promotion if isinstance(a, TracedArray | TracedNumber) else a for a in args)
    )


def _convert(kind: type, op: str) -> None:
    @handles(kind)
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], TracedNumber):
            number = args[0]
            return number if type(number.value) is kind else apply_host(op, number)
        if len(args) == 1 and isinstance(args[0], TracedArray):
            return kind(args[0])  # raises ConcretizationError
        return NotImplemented

    convert.__name__ = kind.__name__


@handles(bool)
def truth(x: Any = False) -> Any:
    """``bool(x)``: a decision."""
    return bool(x)


@handles(pow)
def power(base: Any, exponent: Any, *modulus: Any) -> Any:
    """``pow(x, y)``."""
    return NotImplemented if modulus else base**exponent


_convert(int, "int")
_convert(float, "float")


def _extremum(function: Callable[..., Any], op: str) -> None:
    @handles(function)
    def extremum(*args: Any, **kwargs: Any) -> Any:
        items = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
        if kwargs or not contains_traced(list(items)) or not all(map(_is_number, items)):
            return NotImplemented  # Python's own comparisons then decide
        best = items[0]
        for item in items[1:]:
            if {represented_type(best), represented_type(item)} == {int}:
                best = apply_host(op, best, item)
            else:  # the type of the result depends on which one is chosen
                chosen = item < best if op == "min" else item > best
                best = item if chosen else best
        return best

    extremum.__name__ = function.__name__


_extremum(builtins.min, "min")
_extremum(builtins.max, "max")


def _is_number(obj: Any) -> bool:
    return is_host_number(obj)


@handles(builtins.round)
def round_of(number: Any, *digits: Any) -> Any:
    """``round(x)``."""
    return NotImplemented if not isinstance(number, TracedNumber) else number.round(*digits)


@handles(math.isqrt, math.gcd, math.factorial)
def exact_integers(*args: Any) -> Any:
    """Integer functions run on exact ints: natively, through ``__index__``."""
    return NotImplemented


_MATH = {
    math.sqrt: "sqrt",
    math.exp: "exp",
    math.log: "log",
    math.sin: "sin",
    math.cos: "cos",
    math.tan: "tan",
    math.tanh: "tanh",
    math.floor: "floor",
    math.ceil: "ceil",
    math.fabs: "fabs",
}


def _math_function(function: Callable[..., Any], op: str) -> None:
    @handles(function)
    def call(x: Any, *rest: Any) -> Any:
        if isinstance(x, TracedArray):
            x = _concrete(function, x)
        if not isinstance(x, TracedNumber):
            return NotImplemented
        if rest:
            if op != "log" or len(rest) != 1:
                return NotImplemented
            return apply_host("truediv", apply_host("log", x), call(rest[0]))
        if op == "fabs":
            return apply_host("abs", apply_host("float", x))
        return apply_host(op, x)

    call.__name__ = function.__name__


def _concrete(function: Callable[..., Any], x: TracedArray) -> Any:
    name = function.__name__
    what = f"math.{name} needs a Python number, not an element of an array"
    raise unsupported(what, f"use np.{'abs' if name == 'fabs' else name} instead")


for _function, _op in _MATH.items():
    _math_function(_function, _op)


def _scalar_type(kind: type) -> None:
    @handles(kind)
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], TracedArray | TracedNumber):
            result = HANDLERS["astype"](args[0], np.dtype(kind))
            return result[()] if not result.ndim else result
        return NotImplemented

    convert.__name__ = kind.__name__


for _kind in (
    np.complex128,
    np.complex64,
    np.float64,
    np.float32,
    np.int64,
    np.int32,
    np.int16,
    np.int8,
    np.uint64,
    np.uint32,
    np.uint16,
    np.uint8,
    np.bool_,
):
    _scalar_type(_kind)
