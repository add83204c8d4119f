"""Reads payloads: ``{ t0 = multiply in0, in1 : f64; yield t0 }``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.payload import Instr, Payload
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.text.host_parser import parse_literal
from fusejit.ir.text.tokens import Cursor, Token
from fusejit.ir.types import DTYPES

_REF = re.compile(r"(in|out|t)(\d+)$")


def parse_payload(cursor: Cursor, inputs: Sequence[np.dtype], num_inits: int) -> Payload:
    """Read what ``str`` of a `Payload` prints, for inputs of known dtypes.

    The dtypes of the inits are those of the results, which stand after the payload; the caller
    fills them in.
    """
    reader = _PayloadParser(cursor, len(inputs), num_inits)
    cursor.expect("{")
    instrs: list[Instr] = []
    while not cursor.accept("yield"):
        name = cursor.peek
        if cursor.name("'yield' or the next instruction") != f"t{len(instrs)}":
            cursor.fail(f"'t{len(instrs)}'", name)
        cursor.expect("=")
        instrs.append(reader.instr())
        cursor.accept(";")
    results = reader.refs("}")
    cursor.expect("}")
    arguments = (*inputs, *[np.dtype(np.float64)] * num_inits)
    return Payload(arguments, len(inputs), tuple(instrs), tuple(results))


def parse_number(cursor: Cursor) -> Any:
    """Read a number as Python writes it."""
    number = parse_literal(cursor)
    if not isinstance(number, bool | int | float):
        cursor.fail("a number")
    return number


def typed_number(cursor: Cursor, number: Any, dtype: np.dtype, token: Token) -> Any:
    """A number rounded to a dtype, as a Python number."""
    try:
        return dtype.type(number).item()
    except (OverflowError, ValueError):
        cursor.refuse(f"{number} is not a number of dtype {dtype}", token)


class _PayloadParser:
    def __init__(self, cursor: Cursor, num_inputs: int, num_inits: int) -> None:
        self.cursor = cursor
        self.first = {"in": 0, "out": num_inputs, "t": num_inputs + num_inits}
        self.count = {"in": num_inputs, "out": num_inits}

    def instr(self) -> Instr:
        cursor = self.cursor
        token = cursor.peek
        op = cursor.name("a scalar op")
        operands: list[int] = []
        attr: Any = None
        if op == "const":
            attr = parse_number(cursor)
        elif op == "index":
            attr = cursor.reading(parse_affine_expr, *cursor.affine_text())
        elif op == "extract":
            input_token = cursor.peek
            attr = self.ref()
            if attr >= self.first["out"]:
                cursor.fail("an input", input_token)
            cursor.expect("[")
            operands = self.refs("]")
            cursor.expect("]")
        elif op in SCALAR_OPS or op == "cast":
            operands = self.refs(":")
        else:
            cursor.fail("a scalar op", token)
        cursor.expect(":")
        dtype = DTYPES[cursor.one_of(tuple(DTYPES))]
        if op == "const":
            attr = typed_number(cursor, attr, dtype, token)
        return Instr(op, tuple(operands), dtype, attr)

    def refs(self, end: str) -> list[int]:
        refs: list[int] = []
        while not self.cursor.at(end):
            if refs:
                self.cursor.expect(",")
            refs.append(self.ref())
        return refs

    def ref(self) -> int:
        token = self.cursor.expect_kind("name", "in<k>, out<k> or t<k>")
        match = _REF.match(token.text)
        if match is None:
            self.cursor.fail("in<k>, out<k> or t<k>", token)
        kind, number = match[1], int(match[2])
        if number >= self.count.get(kind, number + 1):
            self.cursor.fail(f"one of {self.count[kind]} {kind}<k>", token)
        return self.first[kind] + number
