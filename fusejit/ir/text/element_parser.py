"""Reads what stands in ops: names of values, buffers, types, maps, locations, lists of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from fusejit.ir.affine import AffineExpr
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap, parse_indexing_map, split_top_level
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.text.host_parser import parse_host_expr
from fusejit.ir.text.tokens import Cursor
from fusejit.ir.types import DTYPES, Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View

T = TypeVar("T")

_KINDS = tuple(kind.value for kind in Kind)
_LAYOUTS = tuple(layout.value for layout in Layout)


class ElementParser:
    """The cursor in a text, and what was defined up to it.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text)
        self.values: dict[str, Value] = {}
        self.buffers: dict[str, Buffer] = {}

    # -- values, memory -------------------------------------------------------------------------
    def known(self, kind: str, what: str, table: Mapping[str, T]) -> T:
        token = self.cursor.expect_kind(kind, what)
        if token.text[1:] not in table:
            self.cursor.refuse(f"{token.text} is not defined above", token)
        return table[token.text[1:]]

    def unknown(self, kind: str, what: str, table: Mapping[str, object]) -> str:
        token = self.cursor.expect_kind(kind, what)
        if token.text[1:] in table:
            self.cursor.refuse(f"{token.text} is defined already", token)
        return token.text[1:]

    def value(self) -> Value:
        return self.known("value", "a value", self.values)

    def new_name(self) -> str:
        return self.unknown("value", "the name of a new value", self.values)

    def define(self, name: str) -> Value:
        dtype_and_extents = self.type()
        kind = Kind.ARRAY
        if self.cursor.peek.text in _KINDS:
            kind = Kind(self.cursor.one_of(_KINDS))
        value = Value(name, dtype_and_extents, kind, self.order())
        self.values[name] = value
        return value

    def define_all(self, names: list[str]) -> tuple[Value, ...]:
        results: list[Value] = []
        for at, name in enumerate(names):
            if at:
                self.cursor.expect(",")
            results.append(self.define(name))
        return tuple(results)

    def buffer(self) -> Buffer:
        return self.known("buffer", "a buffer", self.buffers)

    def buffer_definition(self) -> Buffer:
        cursor = self.cursor
        name = self.unknown("buffer", "the name of a new buffer", self.buffers)
        cursor.expect(":")
        type_ = self.type()
        origin: HostExpr | None = parse_host_expr(cursor) if cursor.accept("=") else None
        base: Buffer | None = None
        reassociation: Reassociation | None = None
        part: str | None = None
        if cursor.accept("of"):
            base = self.buffer()
            if self.cursor.peek.text in ("real", "imag"):
                part = self.cursor.one_of(("real", "imag"))
            else:
                reassociation = self.reassociation()
        order = self.order()
        layout = Layout.CONTIGUOUS
        if cursor.accept("layout"):
            layout = Layout(cursor.one_of(_LAYOUTS))
        cursor.expect("class")
        alias_class = cursor.integer("the number of an alias class")
        writeable = not cursor.accept("readonly")
        buffer = Buffer(
            name, type_, alias_class, origin, order, layout, writeable, base, reassociation, part
        )
        self.buffers[name] = buffer
        return buffer

    def version(self) -> int:
        token = self.cursor.expect_kind("name", "a version such as v0")
        if token.text[0] != "v" or not token.text[1:].isdigit():
            self.cursor.fail("a version such as v0", token)
        return int(token.text[1:])

    def view(self, buffer: Buffer) -> View:
        if not self.cursor.at("["):
            return View.whole(buffer)
        return View(buffer, self.map(), self.affine_list())

    def reassociation(self) -> Reassociation:
        expands = self.cursor.one_of(("expand", "collapse")) == "expand"

        def read(listed: str) -> Reassociation:
            parts = split_top_level(listed)
            groups = [split_top_level(part.strip().strip("[]")) for part in parts]
            return Reassociation(tuple(tuple(map(int, g)) for g in groups), expands)

        return self.cursor.reading(read, *self.cursor.bracketed())

    # -- types, maps, locations -----------------------------------------------------------------
    def type(self) -> TensorType:
        cursor = self.cursor
        extents: list[AffineExpr] = []
        while cursor.peek.text not in DTYPES or cursor.peek_second.text == "x":
            start = cursor.peek
            extents.append(self.affine())
            if extents[-1].as_symbol() is not None and not cursor.at("x"):
                cursor.fail("an element type such as f64", start)
            cursor.expect("x")
        return TensorType(DTYPES[cursor.name("an element type")], tuple(extents))

    def order(self) -> tuple[int, ...] | None:
        return tuple(self.listed(self.cursor.integer)) if self.cursor.accept("order") else None

    def affine(self) -> AffineExpr:
        return self.cursor.reading(parse_affine_expr, *self.cursor.affine_text())

    def affine_list(self) -> tuple[AffineExpr, ...]:
        return tuple(self.listed(self.affine))

    def map(self) -> IndexingMap:
        return self.cursor.reading(parse_indexing_map, *self.cursor.bracketed())

    def operand_map(self, num_dims: int) -> IndexingMap:
        return self.map() if self.cursor.at("[") else IndexingMap.identity(num_dims)

    def location(self) -> Location:
        return self.location_frame() if self.cursor.accept("loc") else UNKNOWN

    def location_frame(self) -> Location:
        file = self.cursor.string("a file name")
        self.cursor.expect(":")
        line = self.cursor.integer("a line number")
        function = self.cursor.string("a function") if self.cursor.accept("in") else ""
        outer = self.location_frame() if self.cursor.accept("from") else None
        return Location(file, line, function, outer)

    # -- lists ----------------------------------------------------------------------------------
    def separated(self, item: Callable[[], T]) -> list[T]:
        items = [item()]
        while self.cursor.accept(","):
            items.append(item())
        return items

    def after(self, word: str, item: Callable[[], T]) -> tuple[T, ...]:
        """A list after a word; empty if the word is not there."""
        return tuple(self.listed(item)) if self.cursor.accept(word) else ()

    def listed(self, item: Callable[[], T]) -> list[T]:
        self.cursor.expect("(")
        items = [] if self.cursor.at(")") else self.separated(item)
        self.cursor.expect(")")
        return items
