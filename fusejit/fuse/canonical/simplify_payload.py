"""Payload simplification: only rewrites that keep every bit.

The identities of scalar ops are in `fuse.canonical.identities`. Constants fold through the table of
scalar ops, but not into NaN (whose sign bit is the machine's) and not through casts of numbers the
target cannot hold.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.fuse.canonical.identities import apply_identities, number_of
from fusejit.ir.payload import Instr, Payload, PayloadBuilder
from fusejit.ir.scalar_ops.row import EXTREMA
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

_NEVER_FOLDED = frozenset(EXTREMA)  # the sign of a zero is not NumPy's


def simplify(payload: Payload) -> Payload:
    """The payload after one round of rewriting; the same object if nothing changed."""
    builder = PayloadBuilder(payload.arguments[: payload.num_inputs], payload.inits)
    refs = list(range(payload.num_arguments))
    for old in payload.instrs:
        instr = replace(old, operands=tuple(refs[o] for o in old.operands))
        ref = _simplified(builder, instr)
        refs.append(builder.add(instr) if ref is None else ref)
    new = builder.finish([refs[r] for r in payload.results])
    return payload if _same(new, payload) else new


def _same(a: Payload, b: Payload) -> bool:
    """Equality that tells 0.0 from -0.0 and takes NaN for NaN."""
    keys_a, keys_b = ([i.key() for i in p.instrs] for p in (a, b))
    return keys_a == keys_b and a.results == b.results


def _simplified(builder: PayloadBuilder, instr: Instr) -> int | None:
    if instr.op in ("const", "extract"):
        return None
    if instr.op == "index":
        number = instr.attr.as_constant()
        return None if number is None else builder.const(number, instr.dtype)
    if (folded := _fold_constants(builder, instr)) is not None:
        return folded
    return apply_identities(builder, instr)


# -------------------------------------------------------------------------------------- constants
def _fold_constants(builder: PayloadBuilder, instr: Instr) -> int | None:
    numbers = [number_of(builder, o) for o in instr.operands]
    if not numbers or any(n is None for n in numbers):
        return None
    values = [builder.dtype_of(o).type(n) for o, n in zip(instr.operands, numbers, strict=True)]
    if instr.op == "cast":
        if not _can_hold(instr.dtype, numbers[0]):
            return None
        result = values[0].astype(instr.dtype)
    else:
        row = SCALAR_OPS[instr.op]
        if not row.exact or row.name in _NEVER_FOLDED:
            return None
        with np.errstate(all="ignore"):
            result = row.evaluate(values, instr.dtype)
    if result != result:
        return None
    return builder.const(result, instr.dtype)


def _can_hold(dtype: np.dtype, number: Any) -> bool:
    """Whether a cast of ``number`` is defined by the language, not by the machine."""
    if dtype.kind in "iu":
        if not math.isfinite(number):
            return False
        limits = np.iinfo(dtype)
        return bool(limits.min <= int(number) <= limits.max)
    if dtype.kind == "f":
        return bool(number == number) and abs(number) <= float(np.finfo(dtype).max)
    return bool(number == number)
