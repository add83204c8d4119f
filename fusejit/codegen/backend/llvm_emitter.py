"""Functions of loops as LLVM IR, without Numba's front end.

Numba would compile the printed source by way of byte code, single assignment and inference over all
of it, which takes longer than everything that LLVM does. Here each statement is typed and written
as it is met. What a scalar op or an intrinsic is, what operators of mixed types do and how
functions are called is Numba's all the same, so that both ways give the same instructions.

    for i in range(n):              header:  %i = phi [0, .top], [%next, ...]
        put(p, i, get(q, i))                 br (icmp slt %i, %n), body, done
                                    body:    %x = load (gep %q, %i);  store %x, (gep %p, %i)
                                             %next = add nsw %i, 1;  br header

What is not written here raises `UnsupportedLowering`, and Numba compiles the printed source.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from fusejit.codegen.analysis.function_forms import single_valued
from fusejit.codegen.backend.llvm_values import (
    ModuleOfKernel,
    Typed,
    UnsupportedLowering,
    ValueEmitter,
)
from fusejit.codegen.backend.loop_hints import hints, wants_wide_registers
from fusejit.codegen.backend.scalar_forms import FormEmitter, scalar_form
from fusejit.codegen.intrinsics_jit.raw_memory import prefer_widest
from fusejit.codegen.loop_nests.loop_nest import token
from fusejit.codegen.machine.numba_api import cgutils, ir, types
from fusejit.codegen.printer.statement_printer import launcher_of
from fusejit.ir.loops.index_math import INDEX_OPS
from fusejit.ir.loops.mentioned_names import given_names, memory_of
from fusejit.ir.loops.nodes import (
    Apply,
    Call,
    Comment,
    Element,
    Expr,
    Field,
    For,
    Free,
    If,
    Integer,
    Launch,
    Let,
    LoopFunction,
    Number,
    Parts,
    Pointer,
    Return,
    Scratch,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.polynomial import Factor, Polynomial
from fusejit.support.budget import check_budget

Value = Any
_I64 = ir.IntType(64)
_SELDOM = 2000  # times that a kernel goes on at a check to one time that it ends


class FunctionEmitter(ValueEmitter):
    """One function. Each assignment is a register where all reads see one of them, else memory."""

    def __init__(
        self,
        module: ModuleOfKernel,
        function: LoopFunction,
        argtypes: tuple[Any, ...],
        result: Any,
        symbol: str,
    ) -> None:
        super().__init__(module)
        self.result = result
        self.in_registers = single_valued(function)
        self.locals = given_names(function.body) | {*function.parameters}
        self.registers: dict[str, Typed] = {}
        self.memory: dict[str, tuple[Any, Value]] = {}
        names = [*function.parameters]
        if len(names) != len(argtypes):
            raise UnsupportedLowering(function.name)
        convention = self.target.call_conv
        function_type = convention.get_function_type(result, argtypes)
        self.function = ir.Function(module.module, function_type, symbol)
        self.function.linkage = "internal"
        convention.decorate_function(self.function, names, argtypes, noalias=False)
        entry = self.function.append_basic_block("entry")
        start = self.function.append_basic_block("start")
        ir.IRBuilder(entry).branch(start)
        self.builder = ir.IRBuilder(start)
        values = convention.decode_arguments(self.builder, argtypes, self.function)
        for name, argtype, value in zip(names, argtypes, values, strict=True):
            self.assign(name, Typed(argtype, value))
        self.block(function.body)
        if not self.builder.block.is_terminated:
            if result is not types.none:
                raise UnsupportedLowering("an end without a result")
            self.leave(self.nothing())

    # -- names -------------------------------------------------------------------------------------
    def assign(self, name: str, given: Typed) -> None:
        """Give a name a value from here on."""
        if name in self.in_registers:
            self.registers[name] = Typed(given.type, given.value)
            return
        if name not in self.memory:
            kind = self.target.get_value_type(given.type)
            self.memory[name] = given.type, cgutils.alloca_once(self.builder, kind)
        known, place = self.memory[name]
        if known is not given.type:
            raise UnsupportedLowering(f"{name} is {known} and {given.type}")
        self.builder.store(given.value, place)

    def name(self, name: str) -> Typed:
        """What a name holds where the writer has come to."""
        if name in self.registers:
            return self.registers[name]
        if name in self.memory:
            known, place = self.memory[name]
            return Typed(known, self.builder.load(place))
        if name in self.locals:
            raise UnsupportedLowering(f"{name} before it is assigned")
        return self.global_name(name)

    def nothing(self) -> Typed:
        """What a function returns that returns nothing."""
        return Typed(types.none, self.target.get_dummy_value())

    # -- expressions -------------------------------------------------------------------------------
    def expression(self, expr: Expr) -> Typed:
        """The value of an expression."""
        match expr:
            case Var():
                return self.name(expr.name)
            case Number():
                return self.number(expr.value, expr.dtype)
            case Integer():
                return self.polynomial(expr.value)
            case Element():
                place = [self.pointer(expr.pointer), self.polynomial(expr.offset)]
                return self.call("get", place)
            case Field():
                return self.array_field(self.name(expr.array), expr.name, expr.axis)
            case Call():
                return self.call(expr.function, [*map(self.expression, expr.operands)])
        assert isinstance(expr, Apply)
        if expr.op.name in INDEX_OPS and not expr.op.kind:
            return self.of_indices(expr)
        operands = [*map(self.expression, expr.operands)]
        name = "" if expr.dtype is None else token(expr.dtype)
        return FormEmitter(self, operands, name).expression(scalar_form(expr.op).tree)

    def of_indices(self, expr: Apply) -> Typed:
        """An operation of `fusejit.ir.loops.index_math`."""
        name, operands = expr.op.name, expr.operands
        if name in ("and", "or"):
            each = [partial(self.expression, o) for o in operands]
            return self.logical(each, is_and=name == "and")
        first, *others = map(self.expression, operands)
        if name == "int":
            return self.call("i64", [first])
        if name in ("min", "max", "abs"):
            return self.extreme(name, [first, *others])
        if not others:
            return self.operate(name, first)
        for other in others:
            first = self.operate(name, first, other)
        return first

    def pointer(self, pointer: Pointer) -> Typed:
        """A pointer, or the one to the parts of its numbers."""
        found = self.name(memory_of(pointer))
        return self.call("parts", [found]) if isinstance(pointer, Parts) else found

    def polynomial(self, value: Polynomial) -> Typed:
        """A sum of products, in the order in which it is printed."""
        total: Typed | None = None
        for factors, coefficient in value.summands():
            size = abs(coefficient)
            numbers = [self.integer(size)] if size != 1 or not factors else []
            part, *others = [*numbers, *map(self.factor, factors)]
            for other in others:
                part = self.operate("*", part, other)
            if total is None:
                total = part if coefficient > 0 else self.opposite(part)
            else:
                total = self.operate("+" if coefficient > 0 else "-", total, part)
        return self.integer(0) if total is None else total

    def opposite(self, number: Typed) -> Typed:
        """A number with the other sign; known where it was known."""
        if number.literal is not None:
            return self.integer(-number.literal)
        return self.operate("-", self.integer(0), number)

    def factor(self, factor: Factor) -> Typed:
        """A variable, or a quotient."""
        if isinstance(factor, str):
            return self.name(factor)
        sides = self.polynomial(factor.numerator), self.polynomial(factor.denominator)
        return self.operate("%" if factor.is_remainder else "//", *sides)

    # -- statements --------------------------------------------------------------------------------
    def block(self, statements: Sequence[Stmt]) -> None:
        for s in statements:
            check_budget()
            if self.builder.block.is_terminated:
                return
            self.statement(s)

    def statement(self, s: Stmt) -> None:
        match s:
            case Let():
                value = self.expression(s.value)
                if s.name != "_":
                    self.assign(s.name, value)
            case StoreElement():
                place = [self.pointer(s.pointer), self.polynomial(s.offset)]
                self.call("put", [*place, self.expression(s.value)])
            case Scratch():
                self.scratch(s)
            case Free():
                self.call("free_scratch", [self.name(s.name)])
            case For():
                self.write_for(s)
            case While():
                self.write_while(s)
            case If():
                self.write_if(s)
            case Launch():
                body = Typed(self.module.body(s.function), self.target.get_dummy_value())
                arguments = [*map(self.expression, (*s.numbers, *s.arguments))]
                self.call(launcher_of(s), [body, *arguments])
            case Return():
                self.write_return(s)
            case Comment():
                pass
            case _:
                raise UnsupportedLowering(type(s).__name__)

    def scratch(self, s: Scratch) -> None:
        arguments = [self.expression(s.size), self.global_name(token(s.dtype))]
        if s.scope:
            arguments.append(self.integer(s.scope))
        function = "scratch" if s.on_stack else "heap_scratch"
        self.assign(s.name, self.call(function, arguments))

    def write_if(self, s: If) -> None:
        builder = self.builder
        condition = self.truth(self.expression(s.condition))
        then, done = (builder.append_basic_block(name) for name in ("then", "done"))
        other = builder.append_basic_block("else") if s.orelse else done
        branch = builder.cbranch(condition, then, other)
        if _is_unlikely(s):  # a check: else LLVM may ask two conditions as one, each time
            branch.set_weights([1, _SELDOM])
        branches = [(then, s.body), (other, s.orelse)] if s.orelse else [(then, s.body)]
        goes_on = not s.orelse
        for start, statements in branches:
            builder.position_at_end(start)
            self.block(statements)
            if not builder.block.is_terminated:
                goes_on = True
                builder.branch(done)
        builder.position_at_end(done)
        if not goes_on:
            builder.unreachable()

    def write_while(self, s: While) -> None:
        builder = self.builder
        header, body, done = (builder.append_basic_block(n) for n in ("while", "body", "done"))
        builder.branch(header)
        builder.position_at_end(header)
        self.block(s.head)
        builder.cbranch(self.truth(self.expression(s.condition)), body, done)
        builder.position_at_end(body)
        self.block(s.body)
        if not builder.block.is_terminated:
            builder.branch(header)
        builder.position_at_end(done)

    def write_for(self, s: For) -> None:
        """The name is not the counter, which the body cannot change."""
        builder = self.builder
        start, stop = (self.int64(self.expression(bound)) for bound in (s.lower, s.upper))
        before = builder.block
        header, body, done = (builder.append_basic_block(n) for n in ("for", "body", "done"))
        builder.branch(header)
        builder.position_at_end(header)
        counter = builder.phi(_I64, name=s.var)
        counter.add_incoming(start, before)
        more = builder.icmp_signed("<" if s.step > 0 else ">", counter, stop)
        builder.cbranch(more, body, done)
        builder.position_at_end(body)
        self.assign(s.var, Typed(types.int64, counter))
        self.block(s.body)
        if not builder.block.is_terminated:
            following = builder.add(counter, ir.Constant(_I64, s.step), flags=("nsw",))
            counter.add_incoming(following, builder.block)
            back = builder.branch(header)
            if wants_wide_registers(s):
                prefer_widest(self.function)
            if asked := hints(s, self._itemsize):
                back.set_metadata("llvm.loop", self.module.loop_metadata(asked))
        builder.position_at_end(done)

    def _itemsize(self, pointer: str) -> int:
        kind = self.target.get_data_type(self.name(pointer).type.dtype)
        return int(self.target.get_abi_sizeof(kind))

    def write_return(self, s: Return) -> None:
        if (s.value is None) != (self.result is types.none):
            raise UnsupportedLowering("return")
        self.leave(self.nothing() if s.value is None else self.expression(s.value))

    def leave(self, given: Typed) -> None:
        """Return a value of the function's type."""
        value = self.cast(given, self.result)
        returned = self.target.get_return_value(self.builder, self.result, value)
        self.target.call_conv.return_value(self.builder, returned)


def _is_unlikely(s: If) -> bool:
    if isinstance(s.condition, Call):
        return s.condition.function == "unlikely"
    return _leaves(s)


def _leaves(s: If) -> bool:
    """Whether the function ends there if a condition, or two, hold."""
    last = next((each for each in reversed(s.body) if not isinstance(each, Comment)), None)
    return not s.orelse and (isinstance(last, Return) or (isinstance(last, If) and _leaves(last)))
