"""The public parts of Numba and llvmlite that intrinsics are made of.

They come as `Any`: the stubs of both packages cover too little to check against.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import llvmlite.ir
import numba.core.cgutils
import numba.core.errors
import numba.core.types
import numba.extending
import numba.np.arrayobj
import numba.np.numpy_support

ir: Any = llvmlite.ir
cgutils: Any = numba.core.cgutils
types: Any = numba.core.types
TypingError: Any = numba.core.errors.TypingError
models: Any = numba.extending.models
intrinsic: Callable[..., Any] = numba.extending.intrinsic
register_model: Callable[..., Any] = numba.extending.register_model
from_dtype: Callable[..., Any] = numba.np.numpy_support.from_dtype
populate_array: Callable[..., Any] = numba.np.arrayobj.populate_array


def intrinsic_of(name: str, arity: int, typing: Callable[..., Any], doc: str = "") -> Any:
    """An intrinsic: ``typing`` of the types of its operands gives its signature and its code.

    Numba reads how many operands there are off the signature of the function.
    """

    def typed(typing_context: Any, *operands: Any) -> Any:
        return typing(*operands)

    typed.__name__ = typed.__qualname__ = name
    typed.__doc__ = doc
    places = ["typing_context", *(f"x{k}" for k in range(arity))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(place, kind) for place in places])
    typed.__signature__ = signature  # type: ignore[attr-defined]
    return intrinsic(typed)


def intrinsic_of_literals(function: Callable[..., Any]) -> Any:
    """`intrinsic` whose typing sees literal ints as such."""
    return intrinsic(prefer_literal=True)(function)
