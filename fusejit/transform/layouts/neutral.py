"""`neutral_numbers`: what operands hold beyond the extents of dims, so that no result changes.

Along a parallel dim any number will do: what is computed beyond the extent is left out of the
result. Along a reduced dim the term beyond the extent must be the identity of the combiner,
whatever the operands are that do not depend on the dim: ``0 * x`` is 0 for integers, and NaN for
an infinite float, so that both factors must be 0 there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fusejit.fuse.canonical.simplify_payload import simplify
from fusejit.fuse.tiling.rules import is_reduced
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.families import highest, lowest, one, zero


def neutral_numbers(op: GenericOp, dims: Iterable[int]) -> list[Any] | None:
    """A number for each input, which it holds beyond the extents of dims; None if there are none.

    The numbers 0, 1, and the least and the largest one are tried.
    """
    reduced = [d for d in dims if is_reduced(op, d)]
    dtypes = [o.value.type.dtype for o in op.inputs]
    for candidate in (zero, one, lowest, highest):
        known = [zero(d) if d.kind == "c" else candidate(d) for d in dtypes]
        numbers = [d.type(number).item() for d, number in zip(dtypes, known, strict=True)]
        if all(_is_neutral(op, dim, numbers) for dim in reduced):
            return numbers
    return None


def _is_neutral(op: GenericOp, dim: int, numbers: Sequence[Any]) -> bool:
    """Whether the numbers make each term beyond the extent of a reduced dim an identity."""
    payload = op.payload
    builder = PayloadBuilder(payload.arguments[: payload.num_inputs], payload.inits)
    arguments = [*range(payload.num_arguments)]
    for k, operand in enumerate(op.inputs):
        if any(r.as_dim() == dim for r in operand.map.results):
            arguments[k] = builder.const(numbers[k], operand.value.type.dtype)
    term = simplify(builder.finish(builder.inline(payload, arguments)))
    for init, ref in zip(op.inits, term.results, strict=True):
        at = ref - term.num_arguments
        if at < 0 or term.instrs[at].op != "const" or init.combiner is None:
            return False
        dtype = term.instrs[at].dtype
        if term.instrs[at].attr != COMBINERS[init.combiner].identity(dtype):
            return False
    return True
