"""Operators and methods of arrays, and the functions of NumPy that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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


SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"},
    **{"pow": "** or pow()", "matmul": "@", "lshift": "<<", "rshift": ">>"},
    **{"and": "&", "or": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
"""Operators as Python's errors name them."""


CHANGING = frozenset({"fill", "partition", "put", "resize", "setflags", "sort"})
"""Methods that change arrays; of NumPy's numbers, which nothing changes, they do nothing."""


NO_REFLECTION = {"lt", "le", "gt", "ge", "eq", "ne"}


def install_operators(
    cls: type,
    compute: Callable[..., Any],
    in_place: Callable[[np.ufunc], Callable[..., Any]] | None = None,
    without: tuple[np.ufunc, ...] = (),
) -> None:
    """Give a class the methods behind Python's operators.

    Parameters
    ----------
    cls : type
    compute : callable
        ``compute(self, ufunc, operands)`` is the result.
    in_place : callable, optional
        Makes the method behind ``+=`` for a ufunc.
    without : tuple of numpy.ufunc
        Those that the class does not have.
    """

    def operator(ufunc: np.ufunc, reflected: bool) -> Callable[..., Any]:
        def method(self: Any, *other: Any) -> Any:
            return compute(self, ufunc, (*other, self) if reflected else (self, *other))

        return method

    for name, ufunc in OPERATORS.items():
        if ufunc in without:
            continue
        setattr(cls, f"__{name}__", operator(ufunc, False))
        if ufunc.nin == 2 and name not in NO_REFLECTION:
            setattr(cls, f"__r{name}__", operator(ufunc, True))
            if in_place is not None:
                setattr(cls, f"__i{name}__", in_place(ufunc))


# ndarray methods that are the function of the same name (or another) applied to the array
_FUNCTIONS = (
    "sum mean max min any all prod dot take argmax argmin diagonal choose put squeeze ravel "
    "swapaxes cumsum cumprod repeat"
)
_OWN = (
    "var std clip round astype copy reshape flatten conjugate conj"  # with parameters of their own
)
METHODS: dict[str, Any] = {
    **{name: getattr(np, name) for name in _FUNCTIONS.split()},
    **{name: getattr(np.ndarray, name) for name in _OWN.split()},
}
