"""Kernel text to LLVM IR, without Numba's front end.

Generated text is a small language: names of one type each, ``for`` over ``range``, ``while``,
``if``, and calls of intrinsics. Numba would compile it by way of byte code, single assignment and
inference over all of it, which takes longer than everything that LLVM does. Here each statement is
typed and written as it is met. What an intrinsic is, what operators of mixed types do and how
functions are called is Numba's all the same, so that both ways give the same instructions.

    for i in range(n):              header:  %i = phi [0, .top], [%next, ...]
        put(p, i, get(q, i))                 br (icmp slt %i, %n), body, done
                                    body:    %x = load (gep %q, %i);  store %x, (gep %p, %i)
                                             %next = add nsw %i, 1;  br header

Text that goes beyond this language raises `Unwritten`, and Numba compiles it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fusejit.budget import check_budget
from fusejit.codegen.backend.loop_hints import Hints, hints, wants_wide_registers
from fusejit.codegen.backend.text_expressions import ExpressionWriter, Typed, Unwritten
from fusejit.codegen.backend.text_names import Form, Places
from fusejit.codegen.intrinsics_jit.memory import prefer_widest
from fusejit.codegen.intrinsics_jit.parallel import TextBody
from fusejit.codegen.machine.numba_api import TypingError, cgutils, ir, types

Value = Any
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SELDOM = 2000  # times that a kernel goes on at a check to one time that it ends


class KernelModule:
    """The LLVM module of one kernel: its chunk functions and ``kernel``.

    Parameters
    ----------
    contexts : tuple
        Numba's typing context and its target context for these functions.
    module
        An empty LLVM module.
    tree : ast.Module
        The text.
    namespace : mapping
        What global names stand for.
    """

    def __init__(
        self, contexts: tuple[Any, Any], module: Any, tree: ast.Module, namespace: Mapping[str, Any]
    ) -> None:
        self.typing, self.target = contexts
        self.module = module
        self.namespace = namespace
        self.definitions: dict[str, ast.FunctionDef] = {}
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                raise Unwritten(type(node).__name__)
            self.definitions[node.name] = node
        self._functions: dict[Any, tuple[Any, tuple[int, ...], tuple[Any, ...]]] = {}
        self._forms: dict[str, Form] = {}
        self._implementations: dict[Any, tuple[Any, ...]] = {}
        self._tokens: dict[str, Any] = {}
        self._num_loops = 0
        self._bodies = {name: TextBody(name, self.function) for name in self.definitions}

    def function(
        self, name: str, argtypes: tuple[Any, ...], result: Any = types.none
    ) -> tuple[Any, tuple[int, ...]]:
        """The LLVM function of a definition, and which argument it takes at each place.

        Definitions that differ in names alone are one function: the steps of a program often do the
        same to other arrays.
        """
        form = self._forms.get(name)
        if form is None:
            form = self._forms[name] = Form.of(self.definitions[name])
        key = form.key(argtypes)
        if key not in self._functions:
            number = f".{len(self._functions)}" if self._functions else ""
            writer = _Writer(
                self, self.definitions[name], argtypes, result, f"fusejit_{name}{number}"
            )
            self._functions[key] = writer.function, form.order, argtypes
        function, order, _ = self._functions[key]
        places = dict(zip(order, form.order, strict=True))
        return function, tuple(places[k] for k in range(len(places)))

    def described(self, name: str, argtypes: tuple[Any, ...], result: Any) -> Any:
        """A definition as `fusejit.codegen.backend.native_entry.emit_entry` wants it."""
        function, _ = self.function(name, argtypes, result)
        return SimpleNamespace(restype=result, argtypes=argtypes, llvm_func_name=function.name)

    def body(self, name: str) -> TextBody | None:
        """A definition as an argument of ``parallel_for``."""
        return self._bodies.get(name)

    def loop_metadata(self, hints: Hints) -> Any:
        """Metadata of one more loop."""
        nodes = [self.module.add_metadata([name, ir.Constant(_I32, n)]) for name, n in hints]
        self._num_loops += 1
        loop = self.module.add_metadata([f"loop {self._num_loops}", *nodes])
        loop.operands = (loop, *nodes)  # a loop is named by metadata that names itself
        return loop

    def token(self, name: str) -> Any:
        """The Numba type of a global name that is no number."""
        if name not in self._tokens:
            self._tokens[name] = self.typing.resolve_value_type(self.namespace[name])
        return self._tokens[name]

    def intrinsic(self, name: str, given: Sequence[Any], literals: Sequence[Any]) -> Any:
        """(signature, code) of an intrinsic; ``literals`` are the types, literal ints as such."""
        made = self.namespace.get(name)
        definition = getattr(made, "_defn", None)
        if made is None or definition is None:
            raise Unwritten(name)
        key = (name, *map(id, literals if made._prefer_literal else given))
        if key not in self._implementations:
            tried = (literals, given) if made._prefer_literal else (given, literals)
            for arguments in tried:
                try:
                    found = definition(self.typing, *arguments)
                except (TypingError, TypeError):
                    continue
                if found is not None:
                    self._implementations[key] = (*found, given, literals)  # ids stay theirs
                    break
            else:
                raise Unwritten(f"{name}{tuple(given)}")
        return self._implementations[key][:2]

    def operation(self, function: Any, given: tuple[Any, ...]) -> Any:
        """(signature, code) of one of Python's operators, as Numba has it."""
        key = (function, *map(id, given))
        if key not in self._implementations:
            try:
                signature = self.typing.resolve_function_type(function, given, {})
            except TypingError as error:
                raise Unwritten(str(error)) from error
            if signature is None:
                raise Unwritten(f"{function.__name__}{given}")
            code = self.target.get_function(function, signature)
            self._implementations[key] = (signature, code, given)
        return self._implementations[key][:2]


class _Writer(ExpressionWriter):
    """One function. Each assignment is a register where all reads see one of them, else memory."""

    def __init__(
        self,
        kernel: KernelModule,
        node: ast.FunctionDef,
        argtypes: tuple[Any, ...],
        result: Any,
        name: str,
    ) -> None:
        places = Places(node)
        super().__init__(kernel, kernel.target, places.assigned())
        self.module = kernel
        self.result = result
        convention = self.target.call_conv
        names = [a.arg for a in node.args.args]
        if len(names) != len(argtypes):
            raise Unwritten(node.name)
        function_type = convention.get_function_type(result, argtypes)
        self.function = ir.Function(kernel.module, function_type, name)
        self.function.linkage = "internal"
        convention.decorate_function(self.function, names, argtypes, noalias=False)
        entry = self.function.append_basic_block("entry")
        start = self.function.append_basic_block("start")
        ir.IRBuilder(entry).branch(start)
        self.builder = ir.IRBuilder(start)
        self.registers: dict[Any, Typed] = {}  # by the node that assigns
        self.memory: dict[str, tuple[Any, Value]] = {}
        self.ends: list[Any] = []  # blocks behind the loops around
        self.seen = places.seen()
        values = convention.decode_arguments(self.builder, argtypes, self.function)
        for each, argtype, value in zip(node.args.args, argtypes, values, strict=True):
            self.assign(each, each.arg, Typed(argtype, value))
        self.block(node.body)
        if not self.builder.block.is_terminated:
            if result is not types.none:
                raise Unwritten("an end without a result")
            self.leave(Typed(types.none, self.target.get_dummy_value()))

    # -- names -------------------------------------------------------------------------------------
    def assign(self, node: Any, name: str, given: Typed) -> None:
        """Give a name a value, where ``node`` says so."""
        if node in self.seen:
            self.registers[node] = Typed(given.type, given.value)
            return
        if name not in self.memory:
            kind = self.target.get_value_type(given.type)
            self.memory[name] = given.type, cgutils.alloca_once(self.builder, kind)
        known, place = self.memory[name]
        if known is not given.type:
            raise Unwritten(f"{name} is {known} and {given.type}")
        self.builder.store(given.value, place)

    def name(self, node: ast.Name) -> Typed:
        """What a name holds where the text has come to."""
        name = node.id
        if node in self.seen:
            return self.registers[self.seen[node]]
        if name in self.memory:
            known, place = self.memory[name]
            return Typed(known, self.builder.load(place))
        if name in self.locals:
            raise Unwritten(f"{name} before it is assigned")
        body = self.module.body(name)
        if body is not None:
            return Typed(body, self.target.get_dummy_value())
        found = self.kernel.namespace.get(name)
        if isinstance(found, float):
            return Typed(types.float64, ir.Constant(ir.DoubleType(), found))
        if found is None:
            raise Unwritten(name)
        return Typed(self.module.token(name), self.target.get_dummy_value())

    # -- statements --------------------------------------------------------------------------------
    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            check_budget()
            if self.builder.block.is_terminated:
                return
            write = _STATEMENTS.get(type(statement))
            if write is None:
                raise Unwritten(type(statement).__name__)
            write(self, statement)

    def _assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Name):
            raise Unwritten("targets")
        self.assign(target, target.id, self.expression(node.value))

    def _expression(self, node: ast.Expr) -> None:
        self.expression(node.value)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _if(self, node: ast.If) -> None:
        builder = self.builder
        condition = self.truth(node.test)
        then, done = (builder.append_basic_block(name) for name in ("then", "done"))
        other = builder.append_basic_block("else") if node.orelse else done
        branch = builder.cbranch(condition, then, other)
        if _is_seldom(node):  # a check: else LLVM may ask two conditions as one, each time
            branch.set_weights([1, _SELDOM])
        branches = [(then, node.body), (other, node.orelse)] if node.orelse else [(then, node.body)]
        goes_on = not node.orelse
        for start, statements in branches:
            builder.position_at_end(start)
            self.block(statements)
            if not builder.block.is_terminated:
                goes_on = True
                builder.branch(done)
        builder.position_at_end(done)
        if not goes_on:
            builder.unreachable()

    def _while(self, node: ast.While) -> None:
        builder = self.builder
        if node.orelse:
            raise Unwritten("else of a loop")
        header, body, done = (builder.append_basic_block(n) for n in ("while", "body", "done"))
        builder.branch(header)
        builder.position_at_end(header)
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            builder.branch(body)
        else:
            builder.cbranch(self.truth(node.test), body, done)
        self._loop_body(body, done, node.body)
        if not builder.block.is_terminated:
            builder.branch(header)
        builder.position_at_end(done)

    def _for(self, node: ast.For) -> None:
        """``for name in range(...)``: the name is not the counter, which the body cannot change."""
        builder = self.builder
        call, target = node.iter, node.target
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if not is_range or call.func.id != "range" or "range" in self.locals:  # type: ignore[attr-defined]
            raise Unwritten("a loop over something else")
        if node.orelse or not isinstance(target, ast.Name):
            raise Unwritten("a loop")
        assert isinstance(call, ast.Call)
        bounds = [self.int64(each) for each in call.args]
        step = 1
        if len(bounds) == 3:
            literal = self.expression(call.args[2]).literal
            if not literal:
                raise Unwritten("a step that is not known")
            step = literal
        start, stop = (ir.Constant(_I64, 0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        before = builder.block
        header, body, done = (builder.append_basic_block(n) for n in ("for", "body", "done"))
        builder.branch(header)
        builder.position_at_end(header)
        counter = builder.phi(_I64, name=target.id)
        counter.add_incoming(start, before)
        more = builder.icmp_signed("<" if step > 0 else ">", counter, stop)
        builder.cbranch(more, body, done)
        builder.position_at_end(body)
        self.assign(target, target.id, Typed(types.int64, counter))
        self._loop_body(body, done, node.body)
        if not builder.block.is_terminated:
            following = builder.add(counter, ir.Constant(_I64, step), flags=("nsw",))
            counter.add_incoming(following, builder.block)
            back = builder.branch(header)
            if wants_wide_registers(node):
                prefer_widest(self.function)
            if asked := hints(node, self._itemsize):
                back.set_metadata("llvm.loop", self.module.loop_metadata(asked))
        builder.position_at_end(done)

    def _itemsize(self, pointer: ast.Name) -> int:
        kind = self.target.get_data_type(self.name(pointer).type.dtype)
        return int(self.target.get_abi_sizeof(kind))

    def _loop_body(self, body: Any, done: Any, statements: Sequence[ast.stmt]) -> None:
        self.builder.position_at_end(body)
        self.ends.append(done)
        self.block(statements)
        self.ends.pop()

    def _break(self, node: ast.Break) -> None:
        self.builder.branch(self.ends[-1])

    def _return(self, node: ast.Return) -> None:
        if (node.value is None) != (self.result is types.none):
            raise Unwritten("return")
        if node.value is None:
            self.leave(Typed(types.none, self.target.get_dummy_value()))
        else:
            self.leave(self.expression(node.value))

    def leave(self, given: Typed) -> None:
        """Return a value of the function's type."""
        value = self.cast(given, self.result)
        returned = self.target.get_return_value(self.builder, self.result, value)
        self.target.call_conv.return_value(self.builder, returned)


_STATEMENTS: dict[type[ast.stmt], Callable[[_Writer, Any], None]] = {
    ast.Assign: _Writer._assign,
    ast.Expr: _Writer._expression,
    ast.Pass: _Writer._pass,
    ast.If: _Writer._if,
    ast.While: _Writer._while,
    ast.For: _Writer._for,
    ast.Break: _Writer._break,
    ast.Return: _Writer._return,
}

__all__ = ["KernelModule", "Unwritten"]


def _is_seldom(node: ast.If) -> bool:
    test = node.test
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name):
        return test.func.id == "seldom"
    return _leaves(node)


def _leaves(node: ast.If) -> bool:
    """Whether the function ends there if a condition, or two, hold."""
    last = node.body[-1]
    return not node.orelse and (
        isinstance(last, ast.Return) or (isinstance(last, ast.If) and _leaves(last))
    )
