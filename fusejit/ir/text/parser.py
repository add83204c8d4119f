"""Reads the printed form of the IR back: recursive descent over `fusejit.ir.text.tokens`.

The grammar is in the docstring of `fusejit.ir`. The parser builds what the text says and no more:
whether it makes sense is for the verifier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fusejit.dataclass import replace
from fusejit.errors import ParseError
from fusejit.ir.affine import AffineExpr, parse_affine_expr
from fusejit.ir.graph import Graph, Guard, HostScalar, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap, parse_indexing_map, split_top_level
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Bind,
    Block,
    Check,
    CheckedIndex,
    Cond,
    ConstantOp,
    GenericOp,
    HostCall,
    Init,
    Load,
    Loop,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
)
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.text.host_parser import parse_host_expr
from fusejit.ir.text.payload_parser import parse_number, parse_payload, typed_number
from fusejit.ir.text.tokens import Cursor, Token
from fusejit.ir.types import DTYPES, IteratorType, Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View

T = TypeVar("T")

_KINDS = tuple(kind.value for kind in Kind)
_ITERATORS = tuple(iterator.value for iterator in IteratorType)
_LAYOUTS = tuple(layout.value for layout in Layout)


def parse_graph(text: str) -> Graph:
    """Read what `fusejit.ir.text.printer.print_graph` prints.

    Raises
    ------
    ParseError
        With line and column, and what was expected there.
    """
    return _GraphParser(text).graph()


class _GraphParser:
    def __init__(self, text: str) -> None:
        self.cursor = Cursor(text)
        self.values: dict[str, Value] = {}
        self.buffers: dict[str, Buffer] = {}
        self.local_buffers: list[Buffer] = []
        self.readers: dict[str, Callable[[list[str]], Op]] = {
            "generic": self.generic,
            "constant": self.constant,
            "view": self.view_op,
            "load": self.load,
            "store": self.store,
            "scatter": self.scatter,
            "check": self.check,
            "alloc": self.alloc,
            "reshape": self.reshape,
            "alias": self.alias,
            "bind": self.bind,
            "for": self.counted_loop,
            "while": self.conditional_loop,
            "if": self.cond,
            "host_call": self.host_call,
        }

    # -- graph ----------------------------------------------------------------------------------
    def graph(self) -> Graph:
        cursor = self.cursor
        cursor.expect("graph")
        if cursor.accept("@"):
            name = cursor.string("the name of the graph")
        else:
            name = cursor.expect_kind("buffer", "the name of the graph").text[1:]
        graph = Graph(name)
        while not cursor.at("{"):
            self.header_line(graph)
        cursor.expect("{")
        graph.block = self.block_until("return")
        cursor.expect("return")
        if not cursor.at("}"):
            graph.results = tuple(self.separated(self.graph_result))
        cursor.expect("}")
        if cursor.peek.kind != "end":
            cursor.fail("nothing more")
        graph.buffers += self.local_buffers
        return graph

    def header_line(self, graph: Graph) -> None:
        cursor = self.cursor
        word = cursor.one_of(("symbol", "guard", "buffer", "scalar"))
        if word == "symbol":
            name = cursor.name("the name of a symbol")
            cursor.expect("=")
            graph.symbols.append(HostSymbol(name, parse_host_expr(cursor)))
        elif word == "guard":
            expr = parse_host_expr(cursor)
            cursor.expect("is")
            expected = cursor.one_of(("true", "false")) == "true"
            reason = cursor.string("a reason") if cursor.peek.kind == "string" else ""
            graph.guards.append(Guard(expr, expected, self.location(), reason))
        elif word == "buffer":
            graph.buffers.append(self.buffer_definition())
        else:
            name = self.new_name()
            cursor.expect(":")
            value = self.define(name)
            cursor.expect("=")
            graph.scalars.append(HostScalar(value, parse_host_expr(cursor)))

    def graph_result(self) -> Value | View:
        if self.cursor.peek.kind == "value":
            return self.value()
        return self.view(self.buffer())

    # -- blocks and ops -------------------------------------------------------------------------
    def block(self, arguments: tuple[Value, ...] = ()) -> Block:
        self.cursor.expect("{")
        block = self.block_until("}")
        block.arguments = arguments
        self.cursor.expect("}")
        return block

    def block_until(self, end: str) -> Block:
        block = Block()
        while not self.cursor.at(end):
            if end == "}" and self.cursor.accept("yield"):
                block.yields = tuple(self.separated(self.value))
                self.cursor.accept(";")
                if not self.cursor.at(end):
                    self.cursor.fail(repr(end))
            else:
                block.ops.append(self.op())
                self.cursor.accept(";")
        return block

    def op(self) -> Op:
        cursor = self.cursor
        names: list[str] = []
        if cursor.peek.kind == "value":
            names = self.separated(self.new_name)
            cursor.expect("=")
        token = cursor.next()
        if token.kind != "name" or token.text not in self.readers:
            cursor.fail("an op", token)
        op = self.readers[token.text](names)
        if names and not op.results:
            cursor.expect(":")
            op.results = self.define_all(names)
        op.location = self.location()
        return op

    def generic(self, names: list[str]) -> Op:
        cursor = self.cursor
        name = cursor.string("the name of the op")
        cursor.expect("domain")
        domain = self.affine_list()
        iterators = (IteratorType.PARALLEL,) * len(domain)
        if cursor.accept("iterators"):
            iterators = tuple(
                IteratorType(w) for w in self.listed(lambda: cursor.one_of(_ITERATORS))
            )
        cursor.expect("ins")
        inputs = tuple(self.listed(lambda: Operand(self.value(), self.operand_map(len(domain)))))
        cursor.expect("outs")
        inits = tuple(self.listed(lambda: self.init(len(domain))))
        call = cursor.string("a function") if cursor.accept("library_call") else None
        opening = cursor.peek
        payload = parse_payload(cursor, [o.value.type.dtype for o in inputs], len(inits))
        cursor.expect(":")
        results = self.define_all(names)
        if len(results) != len(inits):
            cursor.refuse(f"{len(inits)} outs but {len(results)} results", opening)
        dtypes = (*payload.arguments[: len(inputs)], *(r.type.dtype for r in results))
        return GenericOp(
            domain=domain,
            iterators=iterators,
            inputs=inputs,
            inits=inits,
            payload=replace(payload, arguments=dtypes),
            name=name,
            library_call=call,
            results=results,
        )

    def init(self, num_dims: int) -> Init:
        combiner = None
        if not self.cursor.at("["):
            word = self.cursor.one_of(("write", *COMBINERS))
            combiner = None if word == "write" else word
        init_map = self.operand_map(num_dims)
        return Init(init_map, combiner, self.value() if self.cursor.accept("from") else None)

    def constant(self, names: list[str]) -> Op:
        token = self.cursor.peek
        number = parse_number(self.cursor)
        self.cursor.expect(":")
        results = self.define_all(names)
        if len(results) != 1:
            self.cursor.refuse("a constant has one result", token)
        number = typed_number(self.cursor, number, results[0].type.dtype, token)
        return ConstantOp(number=number, results=results)

    def view_op(self, names: list[str]) -> Op:
        return ViewOp(source=self.value(), map=self.map())

    def load(self, names: list[str]) -> Op:
        start = self.cursor.peek
        buffer = self.buffer()
        version = self.version()
        part = self.map() if self.cursor.at("[") else None
        self.cursor.expect(":")
        results = self.define_all(names)
        if len(results) != 1:
            self.cursor.refuse("a load has one result", start)
        view = View.whole(buffer)
        if part is not None:
            view = View(buffer, part, results[0].type.extents)
        return Load(view=view, version=version, results=results)

    def store(self, names: list[str]) -> Op:
        buffer = self.buffer()
        version = self.version()
        view = self.view(buffer)
        self.cursor.expect("=")
        value = self.value()
        mask = self.value() if self.cursor.accept("mask") else None
        return Store(view=view, value=value, version=version, mask=mask)

    def scatter(self, names: list[str]) -> Op:
        combine = None if self.cursor.peek.kind == "buffer" else self.cursor.name("a scalar op")
        buffer = self.buffer()
        version = self.version()
        view = self.view(buffer)
        self.cursor.expect("at")
        distinct = self.cursor.accept("distinct")
        from_start = self.cursor.accept("from_start")
        subscripts = self.listed(self.subscript)
        self.cursor.expect("=")
        value = self.value()
        rank = value.type.rank
        return Scatter(
            view=view,
            value=value,
            version=version,
            subscripts=tuple(
                Operand(s[0], IndexingMap.identity(rank) if s[1] is None else s[1])
                if isinstance(s, tuple)
                else s
                for s in subscripts
            ),
            combine=combine,
            from_start=from_start,
            distinct=distinct,
        )

    def subscript(self) -> AffineExpr | tuple[Value, IndexingMap | None]:
        """``(d0 + 1)``, or ``%i [(d0, d1) -> (d1)]``."""
        if self.cursor.at("("):
            return self.in_parentheses()
        value = self.value()
        return value, self.map() if self.cursor.at("[") else None

    def check(self, names: list[str]) -> Op:
        condition, reason = self.value(), self.cursor.string("the reason")
        error = self.cursor.string("the error") if self.cursor.accept("raises") else "IndexError"
        late = self.cursor.accept("late")
        shown = self.checked_index() if self.cursor.accept("index") else None
        return Check(condition=condition, reason=reason, error=error, is_late=late, shown=shown)

    def checked_index(self) -> CheckedIndex:
        """``(i0 + 1) axis 0 size (s0)``, behind ``index``; or ``%v axis 0 ..``."""
        index = self.in_parentheses() if self.cursor.at("(") else self.value()
        self.cursor.expect("axis")
        axis = self.cursor.integer("an axis")
        self.cursor.expect("size")
        return CheckedIndex(index, axis, self.in_parentheses())

    def in_parentheses(self) -> AffineExpr:
        self.cursor.expect("(")
        expr = self.affine()
        self.cursor.expect(")")
        return expr

    def alloc(self, names: list[str]) -> Op:
        buffer = self.buffer_definition()
        self.local_buffers.append(buffer)
        return Alloc(buffer=buffer)

    def reshape(self, names: list[str]) -> Op:
        return ReshapeOp(source=self.value(), reassociation=self.reassociation())

    def alias(self, names: list[str]) -> Op:
        buffer = self.buffer_definition()
        self.local_buffers.append(buffer)
        return Alias(buffer=buffer)

    def reassociation(self) -> Reassociation:
        expands = self.cursor.one_of(("expand", "collapse")) == "expand"
        token, text = self.cursor.bracketed()

        def read(listed: str) -> Reassociation:
            parts = split_top_level(listed)
            groups = [split_top_level(part.strip().strip("[]")) for part in parts]
            return Reassociation(tuple(tuple(map(int, g)) for g in groups), expands)

        return self.reading(token, read, text)

    def bind(self, names: list[str]) -> Op:
        symbol = self.cursor.name("the name of a symbol")
        self.cursor.expect("=")
        return Bind(symbol=symbol, value=self.value())

    def counted_loop(self, names: list[str]) -> Op:
        cursor = self.cursor
        induction = cursor.name("the induction variable")
        cursor.expect("=")
        lower = self.affine()
        cursor.expect("to")
        upper = self.affine()
        cursor.expect("step")
        step = cursor.integer()
        is_parallel, is_split = cursor.accept("parallel"), cursor.accept("split")
        arguments, carried = self.carry()
        return Loop(
            carried=carried,
            body=self.block(arguments),
            induction=induction,
            lower=lower,
            upper=upper,
            step=step,
            is_parallel=is_parallel,
            is_split=is_split,
        )

    def conditional_loop(self, names: list[str]) -> Op:
        arguments, carried = self.carry()
        condition = self.block(arguments)
        self.cursor.expect("do")
        return Loop(carried=carried, body=self.block(arguments), condition=condition)

    def carry(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        def pair() -> tuple[Value, Value]:
            name = self.new_name()
            self.cursor.expect("=")
            start = self.value()
            self.cursor.expect(":")
            return self.define(name), start

        pairs = self.listed(pair) if self.cursor.accept("carry") else []
        return tuple(a for a, _ in pairs), tuple(s for _, s in pairs)

    def cond(self, names: list[str]) -> Op:
        predicate = self.value()
        then_block = self.block()
        self.cursor.expect("else")
        return Cond(predicate=predicate, then_block=then_block, else_block=self.block())

    def host_call(self, names: list[str]) -> Op:
        function = self.cursor.string("the function's name")
        arguments = tuple(self.listed(self.value))
        call = self.cursor.string("the call's text") if self.cursor.accept("as") else ""
        objects: list[HostExpr] = []
        if self.cursor.accept("with"):
            objects = self.listed(lambda: parse_host_expr(self.cursor))
        sizes: list[str] = []
        if self.cursor.accept("sizes"):
            sizes = self.listed(lambda: self.cursor.name("the name of a symbol"))
        inline = self.cursor.accept("inline")
        pure = not self.cursor.accept("effect")
        return HostCall(
            function=function,
            arguments=arguments,
            pure=pure,
            call=call,
            sizes=tuple(sizes),
            objects=tuple(objects),
            inline=inline,
        )

    # -- values, memory -------------------------------------------------------------------------
    def value(self) -> Value:
        token = self.cursor.expect_kind("value", "a value")
        if token.text[1:] not in self.values:
            self.cursor.refuse(f"{token.text} is not defined above", token)
        return self.values[token.text[1:]]

    def new_name(self) -> str:
        token = self.cursor.expect_kind("value", "the name of a new value")
        if token.text[1:] in self.values:
            self.cursor.refuse(f"{token.text} is defined already", token)
        return token.text[1:]

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
        token = self.cursor.expect_kind("buffer", "a buffer")
        if token.text[1:] not in self.buffers:
            self.cursor.refuse(f"{token.text} is not defined above", token)
        return self.buffers[token.text[1:]]

    def buffer_definition(self) -> Buffer:
        cursor = self.cursor
        token = cursor.expect_kind("buffer", "the name of a new buffer")
        name = token.text[1:]
        if name in self.buffers:
            cursor.refuse(f"{token.text} is defined already", token)
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
        token, text = self.cursor.affine_text()
        return self.reading(token, parse_affine_expr, text)

    def affine_list(self) -> tuple[AffineExpr, ...]:
        return tuple(self.listed(self.affine))

    def map(self) -> IndexingMap:
        token, text = self.cursor.bracketed()
        return self.reading(token, parse_indexing_map, text)

    def operand_map(self, num_dims: int) -> IndexingMap:
        return self.map() if self.cursor.at("[") else IndexingMap.identity(num_dims)

    def reading(self, token: Token, read: Callable[[str], T], text: str) -> T:
        try:
            return read(text)
        except (ParseError, ValueError, ZeroDivisionError) as error:
            self.cursor.refuse(str(error), token)

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

    def listed(self, item: Callable[[], T]) -> list[T]:
        self.cursor.expect("(")
        items = [] if self.cursor.at(")") else self.separated(item)
        self.cursor.expect(")")
        return items
