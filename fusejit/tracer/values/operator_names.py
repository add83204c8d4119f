"""Operators and methods of arrays, and the functions of NumPy that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    pass


# --------------------------------------------------------------------- operators, from the ufuncs
OPERATORS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}


CHANGING = frozenset({"fill", "partition", "put", "resize", "setflags", "sort"})
"""Methods that change arrays; of NumPy's numbers, which nothing changes, they do nothing."""


NO_REFLECTION = {"lt", "le", "gt", "ge", "eq", "ne"}


# ndarray methods that are the function of the same name (or another) applied to the array
METHODS: dict[str, Any] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
    "prod": np.prod,
    "var": "var",
    "std": "std",
    "clip": "clip",
    "round": "round",
    "dot": np.dot,
    "take": np.take,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "diagonal": np.diagonal,
    "choose": np.choose,
    "put": np.put,
    "astype": "astype",
    "copy": "copy",
    "squeeze": np.squeeze,
    "reshape": "reshape",
    "ravel": np.ravel,
    "flatten": "flatten",
    "swapaxes": np.swapaxes,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "repeat": np.repeat,
    "conj": "conjugate",
    "conjugate": "conjugate",
}
