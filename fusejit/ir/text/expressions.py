"""Payloads as expressions: ``sqrt(in0) * 2.0``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import Payload
from fusejit.ir.text.printer import number_text

INFIX = {
    **{"add": "+", "subtract": "-", "multiply": "*", "divide": "/"},
    **{"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="},
}


def expressions(
    payload: Payload,
    arguments: Sequence[str],
    arrays: Sequence[str],
    index: Callable[[AffineExpr], str],
    named: Callable[[int, str], str],
) -> list[str]:
    """One text per argument and instruction.

    Parameters
    ----------
    arguments : sequence of str
        The texts of the arguments.
    arrays : sequence of str
        The arrays from which inputs are gathered.
    index : callable
        The text of an index.
    named : callable
        Given the number of an instruction and its text, what stands for it in others.
    """
    texts = [*arguments]
    for position, instr in enumerate(payload.instrs):
        operands = [texts[ref] for ref in instr.operands]
        sign = INFIX.get(instr.op)
        if instr.op == "const":
            text = number_text(instr.attr)
        elif instr.op == "index":
            text = index(instr.attr)
        elif instr.op == "extract":
            text = f"{arrays[instr.attr]}[{', '.join(operands)}]"
        elif sign is not None and len(operands) == 2:
            text = f"({operands[0]} {sign} {operands[1]})"
        else:
            text = f"{instr.op}({', '.join(operands)})"
        texts.append(named(position, text))
    return texts
