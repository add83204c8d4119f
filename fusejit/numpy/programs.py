"""`Program`: the operations of a window as a function that `fuse_jit` compiles.

A window is written as the source of a straight-line function: which functions read which results,
arguments and views, and which results can be seen afterwards. Dtypes, sizes and numbers are no part
of it; `fuse_jit` handles these. Windows of one source share a `Program`. NumPy runs the first ones.
Once they have cost enough time, the function is compiled. The decision depends on counts and sizes
alone, so that two runs of a script give the same bits.
"""

from __future__ import annotations

import linecache
import operator
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy
from numpy._core import umath

from fusejit.numpy.report import REPORT

LARGEST_LITERAL = 8  # larger integers in subscripts are arguments, not part of the source

FEWEST_VISITS = 2  # windows of a program that NumPy runs in any case
MAX_PROGRAMS = 10_000

COMPILE_SECONDS = 0.2, 0.02
"""What compiling a function is estimated to cost: in any case, and for each operation. A program
has to have taken NumPy as long."""

LOAD_SECONDS = 0.5
"""The time that all windows have to have taken before programs are counted. Loading the compiler
takes some tenths of a second."""

SECONDS_PER_BYTE = 2e-11  # NumPy's, for the bytes of operands and results

_SLOW = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh arctan2 power cbrt remainder hypot fmod logaddexp logaddexp2"
)
SLOW_FUNCTIONS = frozenset(_SLOW.split())
"""Names of functions that are estimated to take NumPy 2 ns for an element, beside the bytes."""

_NAMES: dict[Any, str] = {
    f: name for name, f in vars(numpy).items() if type(f) is numpy.ufunc and f.__name__ == name
}
CLIP: Any = vars(umath)["clip"]
_NAMES[CLIP] = "clip"


PATH_ATTRIBUTES = frozenset(("T", "real", "imag"))
"""Attributes that stand in paths of views beside subscripts."""


class Form(NamedTuple):
    """A function of NumPy beside ufuncs, with its options.

    ``function(*operands, out)`` computes an operation when a window is replayed; ``template`` is
    the source of its result, or of a store into ``{out}``. It writes nothing but the result, which
    it does not read, so that it can run again if an exception of a signal handler interrupts it.
    """

    function: Callable[..., Any]
    template: str
    is_elementwise: bool = False

    def __call__(self, *operands: Any) -> None:
        self.function(*operands)


class Described(NamedTuple):
    """A window as the source of a function, its arguments, and the time NumPy is estimated to take.

    The last parameter of the function is an array that it writes when all is done; its arguments
    are arrays and numbers, then the memory of live results.
    """

    source: str
    arguments: list[Any]
    num_operations: int
    seconds: float


class Program:
    """What is known of the windows of one source: how many, and their estimated time by NumPy."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.visits = 0
        self.seconds = 0.0
        self.function: Callable[..., Any] | None = None
        self.is_refused = False

    def is_due(self, described: Described) -> bool:
        """Count a window; return whether the compiled function is to run it."""
        if self.function is not None:
            return True
        self.visits += 1
        self.seconds += described.seconds
        once, each = COMPILE_SECONDS
        return (
            not self.is_refused
            and self.visits > FEWEST_VISITS
            and self.seconds > once + each * described.num_operations
        )

    def run(self, arguments: list[Any]) -> None:
        """Run the compiled function; compile it before its first run.

        Raises
        ------
        FusejitError
            If it cannot be compiled whole. Nothing has been written then.
        """
        if self.function is None:
            from fusejit.api import decorated_function  # which needs all that compiles

            begin = time.perf_counter()
            REPORT.compiled += 1
            function = function_of(self.source)
            self.function = decorated_function(function, window_options())
            self.function(*arguments)
            REPORT.compile_seconds += time.perf_counter() - begin
        else:
            self.function(*arguments)
        REPORT.runs += 1

    def refuse(self, error: Exception) -> None:
        """Note that the function cannot run such windows: NumPy runs them from now on."""
        self.is_refused = True
        self.function = None
        REPORT.refused[str(error)] += 1


def window_options() -> Any:
    """The options of `fuse_jit` for windows."""
    from fusejit.options import options_from_environment

    return options_from_environment(fullgraph=True, warn=False, tiering=False)


_seconds = 0.0  # the estimated time of the windows that NumPy ran in this process


def are_counted(num_bytes: int) -> bool:
    """Count the bytes of a window's results; return whether programs are to be counted."""
    global _seconds
    _seconds += 3 * num_bytes * SECONDS_PER_BYTE
    return _seconds >= LOAD_SECONDS


_PROGRAMS: dict[str, Program] = {}


def program_of(source: str) -> Program:
    """The program of a source."""
    found = _PROGRAMS.get(source)
    if found is None:
        if len(_PROGRAMS) >= MAX_PROGRAMS:
            del _PROGRAMS[next(iter(_PROGRAMS))]
        found = _PROGRAMS[source] = Program(source)
    return found


class _Writer:
    """Writes the function of a window, operation by operation, and collects its arguments.

    Parameters
    ----------
    paths : dict
        From the ids of views to the subscripts that make them of their base.
    written : set of int
        The ids of arrays that operations write after they are made.
    """

    def __init__(self, paths: dict[int, Any], written: set[int]) -> None:
        self._paths = paths
        self._written = written
        self._names: dict[int, str] = {}
        self._made: set[int] = set()
        self._opaque: set[int] = set()
        self._parameters: list[str] = []
        self._arguments: list[Any] = []
        self._memory: list[Any] = []
        self._memory_names: list[str] = []
        self._lines: list[str] = []
        self._after: list[str] = []
        self._seconds = 0.0

    def add(self, call: tuple[Any, ...], out: Any, is_new: bool, is_seen: bool) -> None:
        """Append an operation."""
        function, *operands = call
        if type(function) is partial:
            function = function.func
        elif function is operator.setitem:
            function = out.dtype if is_new else None
            del operands[:2]
        else:
            del operands[-1]
        texts = [self._operand(function, operand) for operand in operands]
        used = [o for o in (out, *operands) if type(o) is numpy.ndarray]
        is_slow = type(function) is Form or getattr(function, "__name__", "") in SLOW_FUNCTIONS
        self._seconds += sum(o.nbytes for o in used) * SECONDS_PER_BYTE
        self._seconds += max(o.size for o in used) * 2e-9 * is_slow
        if not is_new:
            self._lines.append(_store(function, texts, self._array(out)))
            return
        name = self._new_name(out)
        self._made.add(id(out))
        if not is_seen:
            self._lines.append(f"{name} = {_value(function, texts)}")
            return
        memory = f"m{name[1:]}"
        self._memory.append(out)
        self._memory_names.append(memory)
        if id(out) not in self._written:
            self._lines.append(f"{name} = {_value(function, texts)}")
            self._after.append(f"{memory}[...] = {name}")
            return
        if type(function) is numpy.ufunc:
            self._lines.append(_store(function, texts, memory))
        else:
            self._lines.append(f"{memory}[...] = {_value(function, texts)}")
        self._lines.append(f"{name} = {memory}")

    def described(self) -> Described | None:
        """The whole window; None if memory is used in a way that its function could not express."""
        if self._opaque & (self._made | self._written):
            return None
        parameters = ", ".join([*self._parameters, *self._memory_names, "done"])
        lines = [f"def window({parameters}):", *self._lines, *self._after, "done[0] = 1"]
        arguments = [*self._arguments, *self._memory]
        source = "\n    ".join(lines) + "\n"
        return Described(source, arguments, len(self._lines), self._seconds)

    def _operand(self, function: Any, operand: Any) -> str:
        if type(operand) is numpy.ndarray:
            if operand.ndim:
                return self._array(operand)
            operand = operand[()]
        if function is numpy.power and numpy.isfinite(operand):
            return repr(operand)  # fuse_jit has short forms of some powers
        return self._number(operand)

    def _array(self, array: Any) -> str:
        name = self._names.get(id(array))
        if name is not None:
            return name
        path = self._paths.get(id(array))
        if path is None:
            if array.base is not None:
                self._opaque.add(id(array.base))
            return self._argument(array)
        base = self._names.get(id(array.base)) or self._argument(array.base)
        text = "".join(map(self._step, path))
        name = self._new_name(array)
        self._lines.append(f"{name} = {base}{text}")
        return name

    def _new_name(self, array: Any) -> str:
        name = self._names[id(array)] = f"x{len(self._names)}"
        return name

    def _argument(self, array: Any) -> str:
        name = self._new_name(array)
        self._parameters.append(name)
        self._arguments.append(array)
        return name

    def _number(self, number: Any) -> str:
        name = f"n{len(self._parameters)}"
        self._parameters.append(name)
        self._arguments.append(number)
        return name

    def _step(self, index: Any) -> str:
        if type(index) is str:
            return f".{index}"
        texts = [*map(self._subscript, index if type(index) is tuple else (index,))]
        return f"[{', '.join(texts)}{',' if len(texts) == 1 else ''}]"

    def _subscript(self, item: Any) -> str:
        if type(item) is not slice:
            return self._bound(item)
        start, stop, step = map(self._bound, (item.start, item.stop, item.step))
        texts = ["" if text == "None" else text for text in (start, stop, step)]
        return ":".join(texts if texts[2] else texts[:2])

    def _bound(self, number: Any) -> str:
        if number is None or number is ...:
            return "..." if number is ... else "None"
        number = operator.index(number)
        if -LARGEST_LITERAL <= number <= LARGEST_LITERAL:
            return repr(number)
        return self._number(number)


def described_window(
    operations: Sequence[Any],
    paths: dict[int, Any],
    is_seen: Sequence[bool],
    is_needed: Sequence[bool],
) -> Described | None:
    """Return a window as function and arguments; None if a function could not express it."""
    written = {id(o.out if o.out.base is None else o.out.base) for o in operations if not o.is_new}
    writer = _Writer(paths, written)
    for operation, seen, needed in zip(operations, is_seen, is_needed, strict=True):
        if needed:
            writer.add(operation.call, operation.out, operation.is_new, seen)
    return writer.described()


def _value(function: Any, operands: list[str]) -> str:
    """The source of a result."""
    if type(function) is Form:
        return function.template.format(*operands)
    if type(function) is numpy.ufunc:
        return f"np.{_NAMES[function]}({', '.join(operands)})"
    return f"{operands[0]}.astype(np.dtype({function.str!r}))"


def _store(function: Any, operands: list[str], out: str) -> str:
    """The source of a result that is written to memory."""
    if type(function) is Form:
        return function.template.format(*operands, out=out)
    if function is None:
        return f"{out}[...] = {operands[0]}"
    return _value(function, [*operands, f"out={out}"])


_counter = iter(range(10**9))


def function_of(source: str) -> Callable[..., Any]:
    """The function of a source."""
    filename = f"<window {next(_counter)} of fusejit.numpy>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope: dict[str, Any] = {"np": numpy, "__name__": __name__}
    exec(compile(source, filename, "exec"), scope)
    function: Callable[..., Any] = scope["window"]
    function.__doc__ = source
    return function
