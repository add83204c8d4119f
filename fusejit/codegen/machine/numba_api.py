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


def is_stored_as_pointer(kind: Any, pointee: Callable[[Any], Any]) -> None:
    """Values of the Numba types of a class are pointers in LLVM."""

    class Model(models.PrimitiveModel):  # type: ignore[misc]
        def __init__(self, manager: Any, fe_type: Any) -> None:
            super().__init__(manager, fe_type, pointee(fe_type).as_pointer())

    register_model(kind)(Model)


def emitted(
    accepts: Callable[..., bool], gives: Any, *, of_type: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate what writes an intrinsic: ``emit(builder, *values)``, None for nothing.

    Parameters
    ----------
    accepts : callable
        Whether there is one for operands of some types.
    gives : Numba type or callable
        The type of the result, or what gives it for the types of the operands.
    of_type : bool
        ``emit`` is given the type of the first operand before the values.
    """

    def decorate(emit: Callable[..., Any]) -> Any:
        name = getattr(emit, "__name__", str(emit))

        def typing(*operands: Any) -> Any:
            kinds = tuple(map(types.unliteral, operands))
            if not accepts(*kinds):
                raise TypingError(f"{name}: operands are {operands}")

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                made = emit(builder, *kinds[:of_type], *args)
                return context.get_dummy_value() if made is None else made

            result = gives if isinstance(gives, types.Type) else gives(*kinds)
            return result(*kinds), codegen

        values = inspect.getfullargspec(emit).args[1 + of_type :]
        return intrinsic_of(name, len(values), typing, emit.__doc__ or "")

    return decorate


def are_int64(*kinds: Any) -> bool:
    """Whether all operands are int64."""
    return all(kind == types.int64 for kind in kinds)


def intrinsic_of_literals(function: Callable[..., Any]) -> Any:
    """`intrinsic` whose typing sees literal ints as such."""
    return intrinsic(prefer_literal=True)(function)
