"""Which expressions change nothing that others read: they may be computed earlier.

Operators, elements and attributes count as quiet, and so do calls of NumPy's functions and of the
methods of arrays that only compute. A call of anything else may do what it likes.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from typing import Any

import numpy as np

from fusejit.support.syntax import walk

_METHODS = frozenset(
    {
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "astype",
        "choose",
        "clip",
        "compress",
        "conj",
        "conjugate",
        "copy",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "flatten",
        "item",
        "max",
        "mean",
        "min",
        "nonzero",
        "prod",
        "ravel",
        "repeat",
        "reshape",
        "round",
        "searchsorted",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "take",
        "tobytes",
        "tolist",
        "trace",
        "transpose",
        "var",
        "view",
    }
)
_BUILTINS = frozenset(
    {
        "abs",
        "bool",
        "complex",
        "divmod",
        "enumerate",
        "float",
        "int",
        "isinstance",
        "len",
        "max",
        "min",
        "pow",
        "range",
        "round",
        "slice",
        "sum",
        "tuple",
        "zip",
    }
)
_CHANGERS = frozenset(
    {
        "copyto",
        "fill_diagonal",
        "place",
        "put",
        "put_along_axis",
        "putmask",
        "random",
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "set_printoptions",
        "setbufsize",
        "seterr",
        "seterrcall",
        "tofile",
        "vectorize",
        "apply_along_axis",
        "apply_over_axes",
        "fromfunction",
        "fromiter",
        "piecewise",
        "testing",
        "show_config",
        "show_runtime",
    }
)
_NUMPY = frozenset(name for name in dir(np) if name[0] != "_") - _CHANGERS
_PACKAGES = {"linalg": np.linalg, "fft": np.fft}


def is_quiet(node: ast.AST) -> bool:
    """Whether evaluating an expression has no effect that another expression could notice."""
    return all(_is_quiet_call(n) for n in walk(node) if isinstance(n, ast.Call))


def _is_quiet_call(node: ast.Call) -> bool:
    if any(keyword.arg in (None, "out") for keyword in node.keywords):
        return False
    match node.func:
        case ast.Name(id=name):
            return name in _BUILTINS
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name):
            return name in _NUMPY and len(node.args) < _out_index(getattr(np, name))
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=package), attr=name
        ):
            function = getattr(_PACKAGES.get(package), name, None)
            return function is not None and len(node.args) < _out_index(function)
        case ast.Attribute(value=ast.Name(id="math")):
            return True
        case ast.Attribute(attr=name):
            return name in _METHODS and len(node.args) + 1 < _out_index(getattr(np, name, None))
    return False


@functools.cache
def _out_index(function: Any) -> int:
    """The number of arguments of which the last one is the array for the result."""
    if isinstance(function, np.ufunc):
        return function.nin + 1
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # C functions of some versions of NumPy
        text = (getattr(function, "__doc__", None) or "").partition(")")[0]
        names = [part.partition("=")[0].strip() for part in text.partition("(")[2].split(",")]
    else:
        names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    return names.index("out") + 1 if "out" in names else sys.maxsize
