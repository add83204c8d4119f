"""What a type means that an annotation or a formula writes: a type variable, or a dtype.

    "T" "U" "T1" "Acc"        a type variable
    "I32" "I64" "F32" "F64"   the types of the dialect's notation
    "int64" "bool" "f4"       a dtype by NumPy's name
    np.int64 float np.dtype("f4")   a dtype

One letter, or a capital with a number, is a type variable also where NumPy has a code like it.
"""

from __future__ import annotations

import re
import warnings
from keyword import iskeyword
from typing import Any

import numpy as np

from fusejit.ir.types import DTYPES

NAMED_TYPES: dict[str, np.dtype] = {
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
"""The fixed types of linalg's notation."""
_VARIABLE = re.compile(r"[A-Za-z]|[A-Z]\d+")
_SIZED_DTYPE = re.compile(r"(bool|u?int|float|complex)\d*_?")


def written_type(written: Any) -> str | np.dtype:
    """The dtype, or the name of the type variable, that is written.

    Raises
    ------
    TypeError
        If it is no type, or a dtype that kernels do not compute with.
    """
    if isinstance(written, str):
        if written in NAMED_TYPES:
            return NAMED_TYPES[written]
        if is_variable_name(written):
            return written
        dtype = _dtype_named(written)
        if dtype is not None:
            return kernel_dtype(dtype)
        if not written.isidentifier() or iskeyword(written) or _SIZED_DTYPE.fullmatch(written):
            raise TypeError(f"{written!r} is neither a dtype nor the name of a type variable")
        return written
    if isinstance(written, (np.dtype, type)):
        return kernel_dtype(written)
    raise TypeError(f"{written} is no type: write a type variable or a dtype")


def is_variable_name(name: str) -> bool:
    """Whether a name is that of a type variable, whatever it means to NumPy or to a module."""
    return _VARIABLE.fullmatch(name) is not None


def kernel_dtype(type_: Any) -> np.dtype:
    """A dtype that kernels compute with.

    Raises
    ------
    TypeError
        If it is another one, or no dtype.
    """
    dtype = type_ if isinstance(type_, np.dtype) else _without_warnings(type_)
    if dtype not in DTYPES.values() or not dtype.isnative:
        raise TypeError(f"structured ops do not compute with {dtype}")
    return next(known for known in DTYPES.values() if known == dtype)


def _dtype_named(name: str) -> np.dtype | None:
    """The dtype that NumPy calls so."""
    try:
        return _without_warnings(name)
    except (TypeError, ValueError):
        return None


def _without_warnings(type_: Any) -> np.dtype:
    """NumPy's dtype; what it would only warn about, such as ``np.integer``, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            dtype: np.dtype = np.dtype(type_)
        except Warning as warning:
            raise TypeError(str(warning)) from None
    return dtype
