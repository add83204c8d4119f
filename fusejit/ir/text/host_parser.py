"""Reads host expressions: ``lt(size(arg:a, 0), 10)``."""

from __future__ import annotations

import ast
from typing import Any

from fusejit.ir.host import HOST_OPS, HostExpr, Path
from fusejit.ir.text.tokens import Cursor

ROOTS = ("arg", "global", "closure", "const", "made")
NAMED_NUMBERS: dict[str, Any] = {
    "True": True,
    "False": False,
    "None": None,
    "inf": float("inf"),
    "nan": float("nan"),
}


def parse_host_expr(cursor: Cursor) -> HostExpr:
    """Read what ``str`` of a `HostExpr` prints."""
    token = cursor.peek
    if token.kind in ("number", "literal", "string") or cursor.at("-"):
        return HostExpr.const(parse_literal(cursor))
    if token.kind != "name":
        cursor.fail("a host expression")
    if token.text in ROOTS and cursor.peek_second.text == ":":
        return HostExpr.path(parse_path(cursor))
    cursor.next()
    if not cursor.at("("):
        if token.text in NAMED_NUMBERS:
            return HostExpr.const(NAMED_NUMBERS[token.text])
        return HostExpr.named(token.text)
    if token.text == "size":
        cursor.expect("(")
        path = parse_path(cursor)
        cursor.expect(",")
        axis = cursor.integer("an axis")
        cursor.expect(")")
        return HostExpr.size(path, axis)
    if token.text not in HOST_OPS:
        cursor.fail("a host op", token)
    cursor.expect("(")
    operands = [parse_host_expr(cursor)]
    while cursor.accept(","):
        operands.append(parse_host_expr(cursor))
    cursor.expect(")")
    errstate = cursor.string("keywords") if cursor.accept("errstate") else None
    return HostExpr(token.text, tuple(operands), errstate)


def parse_path(cursor: Cursor) -> Path:
    """Read what ``str`` of a `Path` prints."""
    root = cursor.one_of(ROOTS)
    cursor.expect(":")
    name, *attributes = cursor.name("the name of an outside object").split(".")
    path = Path(root, name)
    for attribute in attributes:
        path = path.attribute(attribute)
    while True:
        if cursor.at("["):
            opening, text = cursor.bracketed()
            try:
                path = path.item(ast.literal_eval(text))
            except (ValueError, SyntaxError):
                cursor.refuse(f"not a constant key: {text!r}", opening)
        elif cursor.peek.kind == "attribute":
            path = path.attribute(cursor.next().text[1:])
        else:
            return path


def parse_literal(cursor: Cursor) -> Any:
    """Read a Python number or quoted text."""
    if cursor.accept("-"):
        return -parse_literal(cursor)
    token = cursor.next()
    if token.kind == "name" and token.text in NAMED_NUMBERS:
        return NAMED_NUMBERS[token.text]
    if token.kind not in ("number", "literal", "string"):
        cursor.fail("a number", token)
    return ast.literal_eval(token.text)
