"""The values that the outputs of a call start from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusejit.ir.definitions.definition import Definition
from fusejit.ir.definitions.instance import Instance


def check_starts(definition: Definition, instance: Instance, tokens: Mapping[str, Any]) -> None:
    """Check that each output that is read starts from a value that its dtype can hold.

    Parameters
    ----------
    definition : Definition
    instance : Instance
    tokens : mapping
        From the outputs whose start the call gives to its dtype, or to the type of a Python number.

    Raises
    ------
    TypeError
        If a start is missing, or is a number of another kind.
    """
    for output in instance.outputs:
        token = tokens.get(output.name)
        if token is None and not output.is_optional:
            raise TypeError(
                f"{definition.name}: {output.name} is read before it is written: give its start by "
                "init= or out="
            )
        if token is not None and output.reads_init and not _holds(output.dtype, token):
            kind = getattr(token, "__name__", token)
            raise TypeError(
                f"{definition.name}: init= is a number of type {kind}, "
                f"which {output.name} of type {output.dtype} cannot hold: give dtype= or an array"
            )


def _holds(dtype: np.dtype, token: Any) -> bool:
    """Whether NumPy stores numbers of this type in such an array without a warning or an error."""
    if isinstance(token, np.dtype):
        return np.can_cast(token, dtype, "same_kind")
    return np.result_type(token(), dtype) == dtype


def is_scalar_start(definition: Definition, name: str, token: Any) -> bool:
    """Whether a start without axes is all of its output, whose dtype it gives then."""
    return not definition.operand(name).shape and isinstance(token, np.dtype)
