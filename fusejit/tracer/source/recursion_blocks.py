"""The body of a function that calls itself, cut into blocks at each call.

See `fusejit.tracer.source.recursion`, which makes a loop of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from fusejit.support.syntax import walk, with_location
from fusejit.tracer.source.bound_names import is_dotted
from fusejit.tracer.source.jumps import JUMPS, nodes_of, own_nodes
from fusejit.tracer.source.new_statements import made_of
from fusejit.tracer.source.recursion_loops import RecursionLoop
from fusejit.tracer.source.recursion_parts import (
    LAZY,
    SCOPES,
    UNKNOWN,
    Block,
    NotALoop,
    operands_of,
    stored_names,
)


class RecursionBlocks:
    """The body of one function that calls itself, cut into blocks.

    Attributes
    ----------
    blocks : list of Block
    before : list of ast.stmt
        What stands in front of the first one.
    varying : list of str
        The parameters that a call gives another value.
    locals : set of str
        The names of the function's own that change.
    shared : set of str
        The names of functions around it that it rebinds.
    builtins : set of str
        The functions of Python whose names it must find unchanged.
    """

    def __init__(self, function: ast.FunctionDef, helper: str) -> None:
        self.function, self._helper = function, helper
        arguments = function.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise NotALoop
        self._parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        self._calls = [
            n for n in nodes_of(function.body) if isinstance(n, ast.Call) and self.is_call(n)
        ]
        if not self._calls or any(isinstance(n, UNKNOWN) for n in nodes_of(function.body)):
            raise NotALoop
        if any(isinstance(n, SCOPES) for n in nodes_of(function.body)):
            raise NotALoop  # which may read what is saved
        self._defaults = dict(
            zip(reversed(self._parameters), reversed(arguments.defaults), strict=False)
        )
        self.itself = self._calls[0].func
        self._given = {id(call): self._arguments_of(call) for call in self._calls}
        stored = stored_names(function.body)
        self.shared = {
            name for n in nodes_of(function.body) if isinstance(n, ast.Nonlocal) for name in n.names
        }
        if function.name in stored or function.name in self._parameters:
            raise NotALoop
        self.varying = [p for p in self._parameters if p in stored or not self._is_handed_on(p)]
        self.locals = {*stored, *self.varying}
        self.blocks: list[Block] = []
        self._num_temporaries = 0
        self._jumps: list[tuple[Block, Block]] = []  # of the loops around: continue, break
        self.before: list[ast.stmt] = []  # in front of the loop
        self.builtins: set[str] = set()  # the functions of Python that it calls
        self._functions: set[ast.AST] = set()  # that calls around those of the function call
        self._here = self._block()
        for statement in function.body:
            if isinstance(statement, ast.Nonlocal):
                self.before.append(statement)
            else:
                self._statement(statement)
        self._return(ast.Constant(None), function.body[-1])

    # -- calls ------------------------------------------------------------------------------------
    def is_call(self, node: ast.AST) -> bool:
        """Whether a node calls the function: by its name, or as the method that it is."""
        match node:
            case ast.Call(ast.Name(name)):
                return name == self.function.name
            case ast.Call(ast.Attribute(ast.Name(owner), name)):
                is_own = self._parameters[:1] == [owner] and owner in ("self", "cls")
                return is_own and name == self.function.name
        return False

    def _arguments_of(self, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments of a call by parameter."""
        given = [*call.args]
        if isinstance(call.func, ast.Attribute):
            given.insert(0, call.func.value)
        found = dict(zip(self._parameters, given, strict=False))
        found |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        missing = [p for p in self._parameters if p not in found]
        if [p for p in self._parameters if p in found] != [*found]:
            raise NotALoop  # Python evaluates the arguments in another order
        is_positional = len(given) <= len(self._parameters) and not any(
            isinstance(a, ast.Starred) for a in given
        )
        if not is_positional or any(k.arg not in self._parameters for k in call.keywords):
            raise NotALoop
        for name in missing:
            default = self._defaults.get(name)
            if not isinstance(default, ast.Constant):
                raise NotALoop
            found[name] = default
        return found

    def _is_handed_on(self, parameter: str) -> bool:
        """Whether each call is given what the parameter is."""
        arguments = (given[parameter] for given in self._given.values())
        return all(isinstance(a, ast.Name) and a.id == parameter for a in arguments)

    def _has_call(self, node: ast.AST) -> bool:
        return any(self.is_call(n) for n in walk(node))

    # -- blocks -----------------------------------------------------------------------------------
    def _block(self) -> Block:
        self.blocks.append(Block(len(self.blocks)))
        return self.blocks[-1]

    def _go(self, to: Block, at: ast.AST) -> None:
        self._here.body.append(self.jump(to, at))
        self._here.following.append(to)

    def jump(self, to: Block, at: ast.AST) -> ast.stmt:
        return self.assign(self.name("at"), ast.Constant(to.number), at)

    def name(self, what: str) -> str:
        return f"{self._helper}_{what}"

    def temporary(self) -> str:
        self._num_temporaries += 1
        name = self.name(f"t{self._num_temporaries}")
        self.locals.add(name)
        return name

    def assign(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        for node in walk(value):
            if not hasattr(node, "lineno"):
                ast.copy_location(node, at)
        target = with_location(ast.Name(id=name, ctx=ast.Store()), at)
        return with_location(ast.Assign(targets=[target], value=value), at)

    def callback(self, name: str, *arguments: ast.expr) -> ast.expr:
        """The call of a callback."""
        function = self.load(f"{self._helper}.{name}", arguments[0])
        return with_location(ast.Call(function, [*arguments], []), arguments[0])

    def keep(self, name: str, value: ast.expr, at: ast.AST) -> None:
        """Assign a name in the block that is open; ``value`` may have ended another one."""
        self._here.body.append(self.assign(name, value, at))

    def load(self, name: str, at: ast.AST) -> ast.expr:
        return with_location(ast.Name(id=name, ctx=ast.Load()), at)

    def text(self, text: str, at: ast.AST) -> Any:
        """A statement with names of the loop."""
        return made_of(text, at, self._helper)

    # -- statements -------------------------------------------------------------------------------
    def _is_whole(self, node: ast.stmt) -> bool:
        """Whether a statement runs within one block."""
        if isinstance(node, JUMPS) or self._has_call(node):
            return False
        inner = [*own_nodes(node)]
        if any(isinstance(n, ast.Return) for n in inner):
            return False
        if isinstance(node, ast.For | ast.While):
            return True  # its own jumps stay inside
        return not any(isinstance(n, ast.Break | ast.Continue) for n in inner) or not self._jumps

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if self._is_whole(node):
            self._here.body.append(node)
            return
        match node:
            case ast.Return(value):
                self._return(value or ast.Constant(None), node)
                self._here = self._block()
            case ast.Break() | ast.Continue():
                again, end = self._jumps[-1]
                self._go(end if isinstance(node, ast.Break) else again, node)
                self._here = self._block()
            case ast.If(test, body, orelse):
                self._if(node, test, body, orelse)
            case ast.While(test, body, orelse):
                self._while(node, test, body, orelse)
            case ast.For():
                loop = RecursionLoop(self, node).as_while()
                self._while(loop, loop.test, loop.body, loop.orelse)
            case ast.Expr(value) if self.is_call(value):
                self._call(value, None)
            case ast.Assign([ast.Name(name)], value) if self.is_call(value):
                self._call(value, name)
            case ast.Assign() | ast.AnnAssign() | ast.Expr():
                if node.value is None or any(map(self._has_call, getattr(node, "targets", ()))):
                    raise NotALoop
                node.value = self.flat(node.value)
                self._here.body.append(node)
            case ast.AugAssign(ast.Name(name), _, value) if name in self.locals:
                node.value = self.flat(value)
                self._here.body.append(node)
            case _:
                raise NotALoop

    def _return(self, value: ast.expr, at: ast.AST) -> None:
        value = self.flat(value)
        if not isinstance(value, ast.Constant):
            names: Any = tuple(sorted(self.locals))
            value = self.callback("handed_back", value, ast.Constant(names))
        self.keep(self.name("result"), value, at)
        self.keep(self.name("at"), ast.Constant(-1), at)

    def _branch(self, test: ast.expr, first: Block, second: Block, at: ast.stmt) -> None:
        test = self.flat(test)
        body, orelse = [self.jump(first, at)], [self.jump(second, at)]
        self._here.body.append(with_location(ast.If(test=test, body=body, orelse=orelse), at))
        self._here.following += [first, second]

    def _if(
        self, node: ast.If, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> None:
        first, second, end = self._block(), self._block(), self._block()
        self._branch(test, first, second, node)
        for block, statements in ((first, body), (second, orelse)):
            self._here = block
            self._statements(statements)
            self._go(end, node)
        self._here = end

    def _while(
        self, node: ast.While, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> None:
        head, inside, otherwise, end = (self._block() for _ in range(4))
        self._go(head, node)
        self._here = head
        self._branch(test, inside, otherwise, node)
        self._here = inside
        self._jumps.append((head, end))
        self._statements(body)
        self._jumps.pop()
        self._go(head, node)
        self._here = otherwise
        self._statements(orelse)
        self._go(end, node)
        self._here = end

    # -- expressions ------------------------------------------------------------------------------
    def flat(self, node: ast.expr) -> ast.expr:
        """The expression without calls of the function, which are made before it."""
        if not self._has_call(node):
            return node
        match node:
            case ast.Call() if self.is_call(node):
                name = self.temporary()
                self._call(node, name)
                return self.load(name, node)
            case ast.BoolOp(op, [first, *others]):
                rest = (
                    others[0] if len(others) == 1 else with_location(ast.BoolOp(op, others), node)
                )
                name = self.temporary()
                self.keep(name, self.flat(first), node)
                sides = (rest, self.load(name, node))
                if isinstance(op, ast.Or):
                    sides = (sides[1], sides[0])
                return self._chosen(self.load(name, node), *sides, node, name)
            case ast.IfExp(test, body, orelse):
                return self._chosen(test, body, orelse, node, self.temporary())
            case ast.Compare(_, ops, _) if len(ops) > 1:
                raise NotALoop
            case _ if isinstance(node, (*LAZY, ast.JoinedStr, ast.Starred)):
                raise NotALoop
        self._operands(node)
        return node

    def _operands(self, node: ast.AST) -> None:
        """Evaluate the operands of an expression up to the last call in order."""
        places = [*operands_of(node)]
        if isinstance(node, ast.Call) and is_dotted(node.func):
            self._functions.add(node.func)
        last = max(k for k, (_, _, operand) in enumerate(places) if self._has_call(operand))
        for k, (name, at, operand) in enumerate(places[: last + 1]):
            new = self.flat(operand)
            if k < last and not self._is_stable(new):
                temporary = self.temporary()
                self.keep(temporary, new, operand)
                new = self.load(temporary, operand)
            if at is None:
                setattr(node, name, new)
            else:
                getattr(node, name)[at] = new

    def _is_stable(self, node: ast.expr) -> bool:
        """Whether a call of the function leaves an operand as it is: a constant, a local name."""
        is_own = isinstance(node, ast.Name) and node.id in (*self.locals, *self._parameters)
        is_own |= node in self._functions
        return is_own or isinstance(node, ast.Constant)

    def _chosen(
        self, test: ast.expr, first: ast.expr, second: ast.expr, at: ast.expr, name: str
    ) -> ast.expr:
        """``first if test else second``, as a statement."""
        body = [self.assign(name, first, at)]
        orelse = [self.assign(name, second, at)]
        choice = with_location(ast.If(test=test, body=body, orelse=orelse), at)
        self._if(choice, test, body, orelse)
        return self.load(name, at)

    def _call(self, call: ast.expr, result: str | None) -> None:
        """End the block with a call; ``result`` is the name of what it gives."""
        given = self._given[id(call)]
        holder = with_location(ast.Tuple([given[p] for p in self.varying], ast.Load()), call)
        if self._has_call(holder):
            self._operands(holder)
        behind = self._block()
        self._here.returns_to, self._here.arguments = behind, holder.elts
        self._here.at = call
        self._here = behind
        if result is not None:
            value = self.callback("returned", self.load(self.name("result"), call))
            behind.body.append(self.assign(result, value, call))
