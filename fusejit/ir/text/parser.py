"""Reads the printed form of the IR back: recursive descent over `fusejit.ir.text.tokens`.

The grammar is in the docstring of `fusejit.ir`. The parser builds what the text says and no more:
whether it makes sense is for the verifier.
"""

from __future__ import annotations

from collections.abc import Callable

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, Guard, HostScalar, HostSymbol
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Block,
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
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.text.element_parser import ElementParser
from fusejit.ir.text.host_parser import parse_host_expr
from fusejit.ir.text.payload_parser import parse_number, parse_payload, typed_number
from fusejit.ir.tiles import LoopTile, RegisterTile
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Buffer, Value, View

_ITERATORS = tuple(iterator.value for iterator in IteratorType)


def parse_graph(text: str) -> Graph:
    """Read what `fusejit.ir.text.printer.print_graph` prints.

    Raises
    ------
    ParseError
        With line and column, and what was expected there.
    """
    return _GraphParser(text).graph()


class _GraphParser(ElementParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.local_buffers: list[Buffer] = []
        self.readers: dict[str, Callable[[list[str]], Op]] = {
            "generic": self.generic,
            "constant": self.constant,
            "view": self.view_op,
            "load": self.load,
            "store": self.store,
            "scatter": self.scatter,
            "assert": self.assertion,
            "alloc": lambda names: Alloc(buffer=self.local_buffer()),
            "reshape": self.reshape,
            "alias": lambda names: Alias(buffer=self.local_buffer()),
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
        is_unfused = cursor.accept("unfused")
        is_materialized = cursor.accept("materialized")
        registers = self.register_tile() if cursor.accept("registers") else None
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
            is_unfused=is_unfused,
            register_tile=registers,
            results=results,
            is_materialized=is_materialized,
        )

    def register_tile(self) -> RegisterTile:
        """``(8, 32 vector, _)``: an extent or nothing for each dim, one of them in vectors."""
        sizes: list[int | None] = []
        vector_dim = -1

        def size() -> int | None:
            nonlocal vector_dim
            found = None if self.cursor.accept("_") else self.cursor.integer()
            if self.cursor.accept("vector"):
                vector_dim = len(sizes)
            sizes.append(found)
            return found

        self.listed(size)
        return RegisterTile(tuple(sizes), vector_dim)

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

    def assertion(self, names: list[str]) -> Op:
        cursor = self.cursor
        return Assert(
            condition=self.value(),
            reason=cursor.string("the reason"),
            error=cursor.string("the error") if cursor.accept("raises") else "IndexError",
            is_deferred=cursor.accept("deferred"),
            shown=self.checked_index() if cursor.accept("index") else None,
            integer=self.value() if cursor.accept("integer") else None,
        )

    def checked_index(self) -> CheckedIndex:
        """``(i0 + 1) axis 0 size (s0)``, after ``index``; or ``%v axis 0 ..``."""
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

    def local_buffer(self) -> Buffer:
        buffer = self.buffer_definition()
        self.local_buffers.append(buffer)
        return buffer

    def reshape(self, names: list[str]) -> Op:
        return ReshapeOp(source=self.value(), reassociation=self.reassociation())

    def bind(self, names: list[str]) -> Op:
        symbol = self.cursor.name("the name of a symbol")
        self.cursor.expect("=")
        value = self.value()
        return Bind(symbol=symbol, value=value, is_local=self.cursor.accept("local"))

    def counted_loop(self, names: list[str]) -> Op:
        cursor = self.cursor
        induction = cursor.name("the induction variable")
        cursor.expect("=")
        lower = self.affine()
        cursor.expect("to")
        upper = self.affine()
        cursor.expect("step")
        loop = Loop(
            carried=(),
            body=Block(),
            induction=induction,
            lower=lower,
            upper=upper,
            step=cursor.integer(),
            is_parallel=cursor.accept("parallel"),
            is_split=cursor.accept("split"),
            tiles=self.after("tiles", self.tile),
        )
        arguments, loop.carried = self.carry()
        loop.body = self.block(arguments)
        return loop

    def tile(self) -> LoopTile:
        """``i_1 max 64 of s0``."""
        length = self.cursor.name("the length of a tile")
        self.cursor.expect("max")
        largest = self.affine()
        self.cursor.expect("of")
        return LoopTile(length, self.affine(), largest)

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

        pairs = self.after("carry", pair)
        return tuple(a for a, _ in pairs), tuple(s for _, s in pairs)

    def cond(self, names: list[str]) -> Op:
        predicate = self.value()
        then_block = self.block()
        self.cursor.expect("else")
        return Cond(predicate=predicate, then_block=then_block, else_block=self.block())

    def host_call(self, names: list[str]) -> Op:
        cursor = self.cursor
        return HostCall(
            function=cursor.string("the function's name"),
            arguments=tuple(self.listed(self.value)),
            call=cursor.string("the call's text") if cursor.accept("as") else "",
            objects=self.after("with", lambda: parse_host_expr(cursor)),
            sizes=self.after("sizes", lambda: cursor.name("the name of a symbol")),
            errstate=cursor.string("keywords") if cursor.accept("errstate") else "",
            inline=cursor.accept("inline"),
            pure=not cursor.accept("effect"),
        )
