"""Functions and kernels that differ in the places of elements alone take those as arguments.

A loop that is unrolled makes one function of each iteration, and where a library is called in
between one kernel: the same loops with other integers in their subscripts. With names for these
integers the functions are one to LLVM, and the kernels are compiled once.

    def chunk1(lo, hi, p, q):           def chunk1(lo, hi, p, q, place0):
        for d0 in range(lo, hi):            for d0 in range(lo, hi):
            put(q, d0, get(p, d0 + 8))  ->      put(q, d0, get(p, d0 + place0))
    ...                                 ...
    parallel_for(chunk1, n, 9, p, q)    parallel_for(chunk1, n, 9, p, q, 8)

Only what is added to a subscript or to a bound of a loop gets a name, and factors of sizes in it:
steps through memory and numbers of iterations are worth knowing when loops become vectors. So are
distances within one memory that is read and written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fusejit.codegen.analysis.chains import elements
from fusejit.codegen.analysis.function_forms import Form, module_form
from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import with_bodies, with_operands
from fusejit.dataclass import dataclass, replace
from fusejit.ir.loops.index_math import operand
from fusejit.ir.loops.mentioned_names import all_mentioned, given_names, memory_of, parts
from fusejit.ir.loops.nodes import (
    Call,
    Element,
    Expr,
    For,
    If,
    Integer,
    Launch,
    Let,
    LoopFunction,
    LoopModule,
    Pointer,
    Return,
    Stmt,
    StoreElement,
    While,
)
from fusejit.ir.loops.polynomial import Polynomial

MANY = 3
"""Functions or kernels that must be alike: fewer cost less than knowing the integers may gain."""

_FIRST = 2  # the place of the first parameter of a function after the bounds of a chunk
_HOLE = Polynomial.name("?")  # in place of an integer while functions are compared


@dataclass(frozen=True)
class SharedKernel:
    """The functions of a kernel, and integers that it is given after its other arguments."""

    module: LoopModule
    numbers: tuple[tuple[str, int], ...] = ()


def share_functions(module: LoopModule) -> LoopModule:
    """A kernel whose functions are fewer but for their names: each is launched at one place."""
    if len(module.functions) <= MANY:
        return module
    launches, streamed = _launches(module), _streamed(module)
    groups: dict[Any, list[tuple[LoopFunction, list[int]]]] = {}
    for function in module.functions[:-1]:
        if function.name in launches:
            values: list[int] = []
            form = Form.of(_with_integers(function, streamed, _holes(values)))
            if values:
                groups.setdefault((form.parts, form.order), []).append((function, values))
    prefix = ""
    changed: dict[str, LoopFunction] = {}
    given: dict[str, list[int]] = {}
    for members in groups.values():
        columns = _columns([values for _, values in members]) if len(members) >= MANY else {}
        if not columns:
            continue
        prefix = prefix or _unused([module])
        names = {at: f"{prefix}{number}" for at, number in columns.items()}
        for function, values in members:
            numbers = {name: values[at] for at, name in names.items()}
            named = _with_integers(function, streamed, _named(names))
            parameters = (*function.parameters, *numbers)
            changed[function.name] = replace(named, parameters=parameters)
            given[function.name] = [*numbers.values()]
    if not changed:
        return module
    functions = (changed.get(f.name, f) for f in module.functions)
    return LoopModule(tuple(_with_arguments(f, given) for f in functions))


def share_kernels(modules: Sequence[LoopModule], signatures: Sequence[Any]) -> list[SharedKernel]:
    """Kernels, those that are alike as one but for the names in it.

    Parameters
    ----------
    modules : sequence of LoopModule
        One of each kernel of a program.
    signatures : sequence
        What each takes; only kernels that take the same are alike.
    """
    result = [SharedKernel(module) for module in modules]
    if len(modules) < MANY:
        return result
    outlines = [(*map(_size, m.functions), s) for m, s in zip(modules, signatures, strict=True)]
    times = Counter(outlines)
    groups: dict[Any, list[tuple[int, list[int]]]] = {}
    for at, (module, outline) in enumerate(zip(modules, outlines, strict=True)):
        if times[outline] < MANY:
            continue
        values: list[int] = []
        form = module_form(_module_with_integers(module, _holes(values)))
        groups.setdefault((form, outline[-1]), []).append((at, values))
    for members in groups.values():
        columns = _columns([values for _, values in members]) if len(members) >= MANY else {}
        prefix = _unused([modules[at] for at, _ in members])
        names = {at: f"{prefix}{number}" for at, number in columns.items()}
        for at, values in members if names else ():
            shared = _handed_down(_module_with_integers(modules[at], _named(names)), names)
            if shared is not None:
                numbers = {name: values[column] for column, name in names.items()}
                result[at] = SharedKernel(shared, tuple(numbers.items()))
    return result


def _size(function: LoopFunction) -> int:
    return sum(1 for _ in flat(function.body))


def _launches(module: LoopModule) -> dict[str, str]:
    """Function -> the one that launches it, of those that are launched at one place."""
    found: dict[str, list[str]] = {}
    for function in module.functions:
        for launch in _launches_of(function.body):
            found.setdefault(launch.function, []).append(function.name)
    return {name: by[0] for name, by in found.items() if len(by) == 1}


def _launches_of(statements: Iterable[Stmt]) -> Iterator[Launch]:
    return (s for s in flat(statements) if isinstance(s, Launch))


def _streamed(module: LoopModule) -> dict[str, str]:
    """Function -> the result that it streams: how that is aligned has to be known."""
    launches = (launch for f in module.functions for launch in _launches_of(f.body))
    names = {launch.function for launch in launches if launch.is_streamed}
    return {f.name: f.parameters[_FIRST] for f in module.functions if f.name in names}


def _holes(values: list[int]) -> Callable[[int], Polynomial]:
    """Notes integers, and puts one name in place of all."""

    def hole(value: int) -> Polynomial:
        values.append(value)
        return _HOLE

    return hole


def _named(names: dict[int, str]) -> Callable[[int], Polynomial]:
    """Gives names to some of the integers, by their place."""
    places = iter(range(2**62))

    def named(value: int) -> Polynomial:
        name = names.get(next(places))
        return Polynomial.const(value) if name is None else Polynomial.name(name)

    return named


def _columns(rows: Sequence[Sequence[int]]) -> dict[int, int]:
    """Numbers for the integers that differ, by their place; equal columns have one number."""
    numbers: dict[tuple[int, ...], int] = {}
    found = {}
    for at, column in enumerate(zip(*rows, strict=True)):
        if len(set(column)) > 1:
            found[at] = numbers.setdefault(column, len(numbers))
    return found


def _unused(modules: Iterable[LoopModule]) -> str:
    """The beginning of names that no function has."""
    known = {n for m in modules for f in m.functions for n in (*f.parameters, *_names(f))}
    prefix = "place"
    while any(name.startswith(prefix) for name in known):
        prefix += "_"
    return prefix


def _names(function: LoopFunction) -> frozenset[str]:
    return all_mentioned(function.body)


def _with_arguments(function: LoopFunction, given: dict[str, list[int]]) -> LoopFunction:
    """A function whose launches hand integers on."""

    def launch(s: Launch) -> Launch:
        more = map(operand, given.get(s.function, ()))
        return replace(s, arguments=(*s.arguments, *more))

    return replace(function, body=_with_launches(function.body, launch))


def _with_launches(statements: Iterable[Stmt], changed: Callable[[Launch], Launch]) -> list[Stmt]:
    return [
        changed(s)
        if isinstance(s, Launch)
        else with_bodies(s, lambda body: _with_launches(body, changed))
        for s in statements
    ]


def _module_with_integers(module: LoopModule, given: Callable[[int], Polynomial]) -> LoopModule:
    """All functions of a kernel with other integers, those that launches hand on too."""

    def handed(expr: Expr) -> Expr:
        constant = expr.value.as_constant() if isinstance(expr, Integer) else None
        return expr if constant is None else Integer(given(constant))

    def launch(s: Launch) -> Launch:
        return replace(s, arguments=tuple(map(handed, s.arguments)))

    streamed = _streamed(module)
    functions = [_with_integers(f, streamed, given) for f in module.functions]
    return LoopModule(tuple(replace(f, body=_with_launches(f.body, launch)) for f in functions))


def _handed_down(module: LoopModule, names: dict[int, str]) -> LoopModule | None:
    """``kernel`` has more parameters, and hands them to the functions that read them.

    None where it does not launch all of those itself.
    """
    every = dict.fromkeys(names.values())
    launches = _launches(module)
    read = {f.name: [n for n in every if n in _names(f)] for f in module.functions[:-1]}
    if any(launches.get(name) != module.kernel.name for name, own in read.items() if own):
        return None

    def launch(s: Launch) -> Launch:
        return replace(s, arguments=(*s.arguments, *map(operand, read[s.function])))

    kernel = module.kernel
    body = _with_launches(kernel.body, launch)
    functions = [
        replace(f, parameters=(*f.parameters, *read[f.name])) for f in module.functions[:-1]
    ]
    kernel = replace(kernel, parameters=(*kernel.parameters, *every), body=body)
    return LoopModule((*functions, kernel))


# ---------------------------------------------------------------------------------------- integers
def _with_integers(
    function: LoopFunction, streamed: Mapping[str, str], given: Callable[[int], Polynomial]
) -> LoopFunction:
    """A function with other integers where they may have names, asked for in order."""
    fixed = _read_and_written(function.body) | {streamed.get(function.name, "")}
    return replace(function, body=_Integers(function, fixed, given).block(function.body))


class _Integers:
    """Walks through the integers of a function that may have a name.

    Offsets from ``fixed`` pointers stay as they are.
    """

    def __init__(
        self, function: LoopFunction, fixed: Collection[str], given: Callable[[int], Polynomial]
    ) -> None:
        self.given = given
        self.fixed = fixed
        self.sizes = frozenset(function.parameters) - {"lo", "hi"} - given_names(function.body)

    def block(self, statements: Iterable[Stmt]) -> list[Stmt]:
        return [self.statement(s) for s in statements]

    def statement(self, s: Stmt) -> Stmt:
        match s:
            case Let():
                return replace(s, value=self.expression(s.value))
            case StoreElement():
                offset = self.offset(s.pointer, s.offset)
                return replace(s, offset=offset, value=self.expression(s.value))
            case For():
                s = replace(s, lower=self.bound(s.lower), upper=self.bound(s.upper))
            case While():
                head, condition = self.block(s.head), self.expression(s.condition)
                return replace(s, head=head, condition=condition, body=self.block(s.body))
            case If():
                s = replace(s, condition=self.expression(s.condition))
            case Launch():
                return replace(s, numbers=tuple(map(self.expression, s.numbers)))
            case Return(value=value):
                return s if value is None else replace(s, value=self.expression(value))
        return with_bodies(s, self.block)

    def expression(self, expr: Expr) -> Expr:
        if isinstance(expr, Element):
            return replace(expr, offset=self.offset(expr.pointer, expr.offset))
        if isinstance(expr, Call) and expr.reads_memory:
            pointer, start, *others = expr.operands
            return replace(expr, operands=(pointer, self.bound(start), *others))
        return with_operands(expr, self.expression)

    def offset(self, pointer: Pointer, offset: Polynomial) -> Polynomial:
        return offset if memory_of(pointer) in self.fixed else self.polynomial(offset)

    def bound(self, expr: Expr) -> Expr:
        """A bound of a loop; the number of iterations of ``range(8)`` is worth knowing."""
        if isinstance(expr, Integer) and not expr.value.is_constant:
            return Integer(self.polynomial(expr.value))
        return self.expression(expr)

    def polynomial(self, value: Polynomial) -> Polynomial:
        constant = 0
        total = Polynomial.const(0)
        for factors, coefficient in value.terms:
            names = Polynomial(((factors, 1),))
            if not factors:
                constant = coefficient
            elif abs(coefficient) != 1 and names.names() <= self.sizes:
                total = total + self.given(coefficient) * names
            else:
                total = total + names * coefficient
        return total + self.given(constant)


def _read_and_written(statements: Iterable[Stmt]) -> set[str]:
    every = [*flat(statements)]
    read = {memory_of(p) for s in every for expr in parts(s)[0] for p, _ in elements(expr)}
    return read & {memory_of(s.pointer) for s in every if isinstance(s, StoreElement)}
