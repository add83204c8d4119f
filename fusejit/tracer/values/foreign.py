"""Objects that kernels cannot be given: arrays of other kinds, and what other libraries made.

A call with such an argument is split into segments: Python runs what reads the argument, and what
it makes of it, ``df["a"].to_numpy()``, is compiled again.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.ir.raw_reads import NUMPY_SCALARS, defined_by, members_of, scalar_dtype_of
from fusejit.ir.types import is_supported
from fusejit.tracer.builder.trace import MAX_RANK, too_many_axes

_PROTOCOLS = ("__array__", "__array_interface__", "__array_ufunc__")
_KEEP = {"astype", "view", "tolist", "copy", "item", "reshape", "ravel", "transpose", "tobytes"}
_COMPUTE = {  # methods of arrays
    name for name, value in vars(np.ndarray).items() if callable(value) and name[0] != "_"
} - _KEEP
_MAX_ITEMS = 64  # of a container that is looked into
_ADVICE = {
    "f": "; kernels do not support it: convert it to float32 or float64 with astype",
    "c": "; kernels do not support it: convert it to complex64 or complex128 with astype",
    "O": "; its elements are Python's objects: give it the dtype of its numbers",
    "V": "; pass its fields as arrays of their own",
    "M": "; pass x.view(np.int64), and make times of the result",
    "m": "; pass x.view(np.int64), and make times of the result",
}


def why_foreign(text: str, obj: Any) -> str | None:
    """Why an object, which the user calls ``text``, is of a kind that no kernel is given.

    None if it is not. So of all objects of its class, and of arrays of its dtype and rank.
    """
    kind = type(obj)
    if kind in (np.ndarray, np.memmap):
        if obj.ndim > MAX_RANK:
            return too_many_axes(f"{text} has {obj.ndim} axes")
        if not is_supported(obj.dtype):
            return f"{text} has dtype {obj.dtype}{_advice(obj.dtype)}"
        return None
    if issubclass(kind, np.ndarray):
        return f"{text} is a subclass of ndarray: {kind.__name__}"
    if issubclass(kind, np.generic):
        if not is_supported(scalar_dtype_of(obj)) or kind not in NUMPY_SCALARS:
            return f"{text} has type {kind.__name__}"
        return None
    if not issubclass(kind, type) and any(defined_by(kind, name) for name in _PROTOCOLS):
        advice = "; pass its .to_numpy()" if defined_by(kind, "to_numpy") else ""
        return f"{text} is a foreign array: {kind.__name__}{advice}"
    if defined_by(kind, "__class__") is not object:
        return f"{text} is a {kind.__name__}, which says itself what its __class__ is"
    if _finds_attributes_itself(kind):
        what = f"{text} is a {kind.__name__}, whose __getattribute__ is a function"
        return f"{what} of the program's, which runs whatever is asked of it"
    return None


def why_foreign_within(text: str, obj: Any) -> str | None:
    """The same of an object, or of what a list, tuple or dictionary holds."""
    if type(obj) is dict and len(obj) <= _MAX_ITEMS:
        items = [(repr(key), item) for key, item in obj.items()]
    elif type(obj) in (list, tuple) and len(obj) <= _MAX_ITEMS:
        items = [(str(at), item) for at, item in enumerate(obj)]
    else:
        return why_foreign(text, obj)
    reasons = (why_foreign_within(f"{text}[{key}]", item) for key, item in items)
    return next((why for why in reasons if why is not None), None)


def foreign_arguments(arguments: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, str]:
    """The arguments that no kernel is given, by parameter, and why.

    ``texts`` is what the user wrote instead of some parameters.
    """
    found = {n: why_foreign_within(texts.get(n, n), value) for n, value in arguments.items()}
    return {name: why for name, why in found.items() if why is not None}


def is_operand(node: ast.AST, name: str) -> bool:
    """Whether an operation in a function is applied to an object of such a kind.

    Not where it reads what the object holds, or converts it: ``df["a"]``, ``x.astype(np.float32)``
    and ``np.asarray(m)`` are what users are told to write.
    """
    return any(
        isinstance(child, ast.Name) and child.id == name
        for parent in ast.walk(node)
        for child in _operands(parent)
    )


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _COMPUTE:
            return [value, *node.args]
        case ast.Call(func=ast.Name(id="len" | "isinstance" | "type")):
            return []
        case ast.Call(func=ast.Attribute(attr="asarray")):
            return []
        case ast.Call():
            return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def _advice(dtype: np.dtype) -> str:
    """What to do where kernels do not know a dtype: the end of a sentence that names it."""
    if dtype.metadata is not None:
        return " with metadata; results would be without: x.view(x.dtype.str) is an array without"
    if not dtype.isnative and dtype.kind in "iufc":
        return "; copy it in native byte order: x.astype(x.dtype.newbyteorder('='))"
    return _ADVICE.get(dtype.kind, "")


def _finds_attributes_itself(kind: type) -> bool:
    """Whether a function of Python's answers for each attribute, ``__class__`` among them."""
    found = members_of(defined_by(kind, "__getattribute__") or object)["__getattribute__"]
    return type(found) is FunctionType
