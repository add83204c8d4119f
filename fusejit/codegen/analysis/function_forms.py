"""Functions of loops that differ in names alone, and the names whose every read sees one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.loops.mentioned_names import element_names, expr_names, memory_of, parts
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
    LoopModule,
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
from fusejit.ir.loops.polynomial import Polynomial


# ------------------------------------------------------------------------------------------- forms
@dataclass(frozen=True, slots=True)
class Form:
    """A function without its names and scopes.

    Attributes
    ----------
    parts : tuple
        What it consists of, each name as the number of its first occurrence.
    order : tuple of int
        The occurrences of its parameters, those first that occur first.
    scopes : tuple of int
        The alias scopes that it names itself.
    """

    parts: tuple[Any, ...]
    order: tuple[int, ...]
    scopes: tuple[int, ...]

    @staticmethod
    def of(function: LoopFunction) -> Form:
        """The form of a function."""
        emitter = _FormEmitter()
        emitter.block(function.body)
        place = {name: at for at, name in enumerate(function.parameters)}
        used = [place[name] for name in emitter.numbers if name in place]
        unused = [at for at in range(len(function.parameters)) if at not in used]
        taken = tuple(emitter.numbers[function.parameters[at]] for at in used)
        return Form((*emitter.parts, taken), (*used, *unused), tuple(emitter.scopes))

    def key(self, argtypes: Sequence[Any]) -> tuple[Any, ...]:
        """Equal for functions that do the same: to LLVM a scope only differs from other ones."""
        known: dict[int, int] = {0: 0}
        kinds = []
        for at in self.order:
            scope = getattr(argtypes[at], "scope", None)
            if scope is None:
                kinds.append(argtypes[at])
            else:
                kinds.append((argtypes[at].dtype, known.setdefault(scope, len(known))))
        own = tuple(known.setdefault(scope, len(known)) for scope in self.scopes)
        return (self.parts, tuple(kinds), own)


def module_form(module: LoopModule) -> tuple[Any, ...]:
    """Equal for kernels that differ in the names of variables and functions alone."""
    numbers = {f.name: at for at, f in enumerate(module.functions)}
    forms = [Form.of(f) for f in module.functions]

    def part(each: Any) -> Any:
        return (_Launched, numbers[each.name]) if isinstance(each, _Launched) else each

    return tuple((tuple(map(part, f.parts)), f.order, f.scopes) for f in forms)


@dataclass(frozen=True, slots=True)
class _Launched:
    """A function that another one launches."""

    name: str


class _FormEmitter:
    """The parts of a function, in one list as nests are deep."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.scopes: list[int] = []
        self.parts: list[Any] = []

    def name(self, name: str) -> None:
        self.parts.append(self.numbers.setdefault(name, len(self.numbers)))

    def add(self, *parts: Any) -> None:
        self.parts.extend(parts)

    def block(self, statements: Iterable[Stmt]) -> None:
        for s in statements:
            self.statement(s)
        self.add("end")

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Comment):
            return
        self.add(type(s))
        match s:
            case Let():
                self.expression(s.value)
                self.name(s.name)
            case StoreElement():
                self.address(s.pointer, s.offset)
                self.expression(s.value)
            case Scratch():
                self.expression(s.size)
                self.add(s.dtype, s.on_stack)
                self.scopes.append(s.scope)
                self.name(s.name)
            case Free():
                self.name(s.name)
            case For():
                self.expressions((s.lower, s.upper))
                self.add(s.step)
                self.name(s.var)
                self.block(s.body)
            case While():
                self.block(s.head)
                self.expression(s.condition)
                self.block(s.body)
            case If():
                self.expression(s.condition)
                self.block(s.body)
                self.block(s.orelse)
            case Launch():
                self.add(_Launched(s.function), s.is_uneven, len(s.numbers))
                self.expressions((*s.numbers, *s.arguments))
            case Return(value=value):
                if value is not None:
                    self.expression(value)

    def expressions(self, exprs: Iterable[Expr]) -> None:
        for expr in exprs:
            self.expression(expr)
        self.add("end")

    def expression(self, expr: Expr) -> None:
        match expr:
            case Var():
                self.name(expr.name)
            case Number():
                self.add(repr(expr.value), expr.dtype)
            case Integer():
                self.polynomial(expr.value)
            case Element():
                self.add(Element)
                self.address(expr.pointer, expr.offset)
            case Field():
                self.add(Field, expr.name, expr.axis)
                self.name(expr.array)
            case Apply():
                self.add(expr.op, _dtype(expr.dtype))
                self.expressions(expr.operands)
            case Call():
                self.add(Call, expr.function)
                self.expressions(expr.operands)

    def address(self, pointer: Pointer, offset: Polynomial) -> None:
        self.add(isinstance(pointer, Parts))
        self.name(memory_of(pointer))
        self.polynomial(offset)

    def polynomial(self, value: Polynomial) -> None:
        self.add(Polynomial)
        for factors, coefficient in value.terms:
            self.add(coefficient)
            for factor in factors:
                if isinstance(factor, str):
                    self.name(factor)
                else:
                    self.add(factor.is_remainder)
                    self.polynomial(factor.numerator)
                    self.polynomial(factor.denominator)
        self.add("end")


def _dtype(dtype: np.dtype | None) -> Any:
    return "" if dtype is None else dtype  # a dtype is equal to None: that means float64


# ------------------------------------------------------------------------------------ single values
@dataclass(frozen=True, slots=True)
class _Occurrence:
    """Where a name is given or read: its number in the function, and what is around it."""

    at: int
    around: tuple[int, ...]  # branches (above zero) and loops (below)


def single_valued(function: LoopFunction) -> frozenset[str]:
    """The names of which each read sees one assignment: the last one before it.

    That one stands in a block around the read, and no other one stands between them or in a loop
    that is around the read alone.
    """
    occurrences = _Occurrences(function)
    return frozenset(
        name
        for name, stores in occurrences.given.items()
        if all(_sees_one(read, stores) for read in occurrences.read.get(name, ()))
    )


class _Occurrences:
    """Where the names of a function are given and read."""

    def __init__(self, function: LoopFunction) -> None:
        self._at = 0
        self.given: dict[str, list[_Occurrence]] = {
            n: [_Occurrence(0, ())] for n in function.parameters
        }
        self.read: dict[str, list[_Occurrence]] = {}
        self._block(function.body, ())

    def _block(self, statements: Sequence[Stmt], around: tuple[int, ...]) -> None:
        for s in statements:
            self._at += 1
            loop = (*around, -self._at)
            match s:
                case Let() | Scratch():
                    self._reads(expr_names(s.value if isinstance(s, Let) else s.size), around)
                    self._gives(s.name, around)
                case StoreElement():
                    names = element_names(s.pointer, s.offset) | expr_names(s.value)
                    self._reads(names, around)
                case Free():
                    self._reads((s.name,), around)
                case For():
                    self._reads(expr_names(s.lower) | expr_names(s.upper), around)
                    self._gives(s.var, loop)
                    self._block(s.body, loop)
                case While():  # its condition is asked in each iteration
                    self._block(s.head, loop)
                    self._reads(expr_names(s.condition), loop)
                    self._block(s.body, loop)
                case If():
                    self._reads(expr_names(s.condition), around)
                    for branch in (s.body, s.orelse):
                        self._at += 1
                        self._block(branch, (*around, self._at))
                case Launch() | Return():
                    for expr in parts(s)[0]:
                        self._reads(expr_names(expr), around)

    def _reads(self, names: Iterable[str], around: tuple[int, ...]) -> None:
        self._at += 1
        for name in names:
            self.read.setdefault(name, []).append(_Occurrence(self._at, around))

    def _gives(self, name: str, around: tuple[int, ...]) -> None:
        self._at += 1
        self.given.setdefault(name, []).append(_Occurrence(self._at, around))


def _sees_one(read: _Occurrence, stores: Sequence[_Occurrence]) -> bool:
    before = [s for s in stores if s.at < read.at]
    if not before:
        return False
    last = before[-1]
    if read.around[: len(last.around)] != last.around:
        return False
    loops = [block for block in read.around[len(last.around) :] if block < 0]
    others = (s for s in stores if s is not last)
    return not any(b in s.around for s in others for b in loops)
