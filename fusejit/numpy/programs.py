"""`Program`: the operations of a window as a function that `fuse_jit` compiles.

A window is described by its structure: which functions read which results, arguments and views,
and which results can be seen afterwards. Dtypes, sizes and numbers are not part of it; `fuse_jit`
handles these. Windows of one structure share a `Program`. NumPy runs the first ones. Once they have
cost enough time, the window is written as the source of a straight-line function and compiled, in a
helper process if there is one (`fusejit.numpy.ahead`). The decision depends on counts and sizes
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

from fusejit.numpy import ahead
from fusejit.numpy.report import REPORT

ARGUMENT, NUMBER, DEAD, LIVE, STORED = -1, -2, -3, -4, -5
"""Tokens of a structure beside the numbers of slots: an array or a number that becomes an argument;
a new result that nobody sees afterwards, one that is seen, and one that later operations write."""

LARGEST_LITERAL = 8
"""Integers in subscripts up to this are part of the structure; larger ones are arguments."""

FEWEST_VISITS = 2
"""Windows of a structure that NumPy runs in any case."""

MOST_PROGRAMS = 10_000

ASK_SECONDS = 0.02, 0.5
"""The estimated time of windows of a structure, and of all windows, from which the helper process
compiles functions."""

COMPILE_SECONDS = 0.03, 0.003
"""What taking a compiled function into use is estimated to cost: in any case, and for each
operation. A structure has to have taken NumPy as long."""

LOAD_SECONDS = 1.0
"""The time that all windows have to have taken before the compiler is loaded, which takes some
tenths of a second."""

SECONDS_PER_BYTE = 4e-11
"""What NumPy is estimated to take for the bytes of operands and results."""

_NANOSECONDS = {
    1.0: "exp exp2 expm1 log log2 log10 log1p sqrt tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh arctan2 power cbrt",
    8.0: "sin cos remainder",
    12.0: "hypot fmod logaddexp logaddexp2 floor_divide",
}
_SECONDS_PER_ELEMENT = {
    getattr(numpy, name): 1e-9 * each
    for each, names in _NANOSECONDS.items()
    for name in names.split()
}
"""What these functions are estimated to take beyond that."""

_NAMES: dict[Any, str] = {
    f: name for name, f in vars(numpy).items() if type(f) is numpy.ufunc and f.__name__ == name
}
CLIP: Any = vars(umath)["clip"]
_NAMES[CLIP] = "clip"


PATH_ATTRIBUTES = frozenset(("T", "real", "imag"))
"""Attributes that stand in paths of views beside subscripts."""


class Form:
    """A function of NumPy beside ufuncs, with its options.

    It computes an operation when a window is replayed, and says how the source of a compiled window
    writes it. It writes nothing but its result, which it does not read, so that it can run again
    if an exception of a signal handler interrupts it.

    Attributes
    ----------
    function : callable
        ``function(*operands, out)`` writes the result.
    num_operands : int
    template : str
        The source of the result, or of a store into ``{out}``. Forms of one template are equal.
    """

    __slots__ = ("function", "num_operands", "template")

    def __init__(self, function: Callable[..., Any], num_operands: int, template: str) -> None:
        self.function = function
        self.num_operands = num_operands
        self.template = template

    def __call__(self, *operands: Any) -> None:
        self.function(*operands)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.template == other.template

    def __hash__(self) -> int:
        return hash(self.template)


class Described(NamedTuple):
    """A window in two halves: the structure, and the arguments of its function.

    Attributes
    ----------
    structure : tuple
        For each operation: the function (the dtype of a copy, None of a store), a token for each
        operand, and a token for its result.
    arguments : list
        Arrays and numbers, in the order of their tokens; then the memory of live results.
    seconds : float
        What NumPy is estimated to take.
    """

    structure: tuple[Any, ...]
    arguments: list[Any]
    seconds: float


class Program:
    """What is known of the windows of one structure.

    Attributes
    ----------
    structure : tuple
    visits : int
        Windows so far.
    seconds : float
        The estimated time of those that NumPy ran.
    question : int
        The number of the question to the helper process; 0 if there is none.
    function : callable or None
        The compiled function.
    is_refused : bool
        Whether it could not be compiled.
    """

    def __init__(self, structure: tuple[Any, ...]) -> None:
        self.structure = structure
        self.visits = 0
        self.seconds = 0.0
        self.question = 0
        self.function: Callable[..., Any] | None = None
        self.is_refused = False

    def is_due(self, seconds: float) -> bool:
        """Count a window; return whether the compiled function is to run it."""
        if self.function is not None:
            return True
        self.visits += 1
        self.seconds += seconds
        _PROCESS.seconds += seconds
        once, each = COMPILE_SECONDS
        num_operations = sum(not isinstance(t, int | tuple) for t in self.structure)
        return (
            not self.is_refused
            and self.visits > FEWEST_VISITS
            and self.seconds > once + each * num_operations
            and (_PROCESS.has_compiled or _PROCESS.seconds > LOAD_SECONDS)
        )

    def prepare(self, arguments: list[Any]) -> None:
        """Ask the helper process for the function, if it will probably be due soon."""
        if (
            not self.question
            and not self.is_refused
            and self.visits >= FEWEST_VISITS
            and self.seconds > ASK_SECONDS[0]
            and _PROCESS.seconds > ASK_SECONDS[1]
        ):
            self.question = ahead.ask(source_of(self.structure), arguments)

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
            ahead.wait(self.question)
            _PROCESS.has_compiled = True
            REPORT.compiled += 1
            function = function_of_source(source_of(self.structure))
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

    return options_from_environment(fullgraph=True, warn=False, retires=False)


class _Process:
    """What this process has done.

    Attributes
    ----------
    seconds : float
        The estimated time of windows that NumPy ran.
    has_compiled : bool
    """

    seconds = 0.0
    has_compiled = False


_PROCESS = _Process()

_PROGRAMS: dict[tuple[Any, ...], Program] = {}


def program_of(structure: tuple[Any, ...]) -> Program:
    """The program of a structure."""
    found = _PROGRAMS.get(structure)
    if found is None:
        if len(_PROGRAMS) >= MOST_PROGRAMS:
            del _PROGRAMS[next(iter(_PROGRAMS))]
        found = _PROGRAMS[structure] = Program(structure)
    return found


# ------------------------------------------------------------------------------------ description
class Describer:
    """Describes a window, operation by operation.

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
        self._slots: dict[int, int] = {}
        self._tokens: list[Any] = []
        self._memory: list[Any] = []
        self._arguments: list[Any] = []
        self._opaque: set[int] = set()
        self._made: set[int] = set()
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
        self._tokens.append(function)
        num_bytes = out.nbytes
        for operand in operands:
            if type(operand) is numpy.ndarray:
                if operand.ndim:
                    num_bytes += operand.nbytes
                    self._array(operand)
                    continue
                operand = operand[()]
            if function is numpy.power and numpy.isfinite(operand):
                self._tokens.append((type(operand), operand))
            else:
                self._tokens.append(NUMBER)
                self._arguments.append(operand)
        self._seconds += num_bytes * SECONDS_PER_BYTE
        self._seconds += out.size * _SECONDS_PER_ELEMENT.get(function, 0.0)
        if not is_new:
            self._array(out)
            return
        self._slots[id(out)] = len(self._slots)
        self._made.add(id(out))
        if is_seen:
            self._tokens.append(STORED if id(out) in self._written else LIVE)
            self._memory.append(out)
        else:
            self._tokens.append(DEAD)

    def described(self) -> Described | None:
        """The whole window; None if memory is used in a way that its function could not express."""
        if self._opaque & (self._made | self._written):
            return None
        arguments = [*self._arguments, *self._memory]
        return Described(tuple(self._tokens), arguments, self._seconds)

    def _array(self, array: Any) -> None:
        slot = self._slots.get(id(array))
        if slot is not None:
            self._tokens.append(slot)
            return
        path = self._paths.get(id(array))
        if path is not None:
            self._view(array.base, path)
        else:
            if array.base is not None:
                self._opaque.add(id(array.base))
            self._tokens.append(ARGUMENT)
            self._arguments.append(array)
        self._slots[id(array)] = len(self._slots)

    def _view(self, base: Any, path: tuple[Any, ...]) -> None:
        slot = self._slots.get(id(base))
        if slot is None:
            slot = ARGUMENT
            self._arguments.append(base)
            self._slots[id(base)] = len(self._slots)
        self._tokens.append((slot, tuple(map(self._step, path))))

    def _step(self, index: Any) -> Any:
        if type(index) is str:
            return index
        return tuple(map(self._subscript, index if type(index) is tuple else (index,)))

    def _subscript(self, item: Any) -> Any:
        if type(item) is slice:
            return tuple(map(self._bound, (item.start, item.stop, item.step)))
        return self._bound(item)

    def _bound(self, number: Any) -> Any:
        if number is None or number is ...:
            return number
        number = operator.index(number)
        if -LARGEST_LITERAL <= number <= LARGEST_LITERAL:
            return number
        self._arguments.append(number)
        return _NUMBER_BOUND


_NUMBER_BOUND = "number"


def described_window(
    operations: Sequence[Any],
    paths: dict[int, Any],
    is_seen: Sequence[bool],
    is_needed: Sequence[bool],
) -> Described | None:
    """Return a window as structure and arguments; None if a function could not express it."""
    written = {id(o.out if o.out.base is None else o.out.base) for o in operations if not o.is_new}
    describer = Describer(paths, written)
    for operation, seen, needed in zip(operations, is_seen, is_needed, strict=True):
        if needed:
            describer.add(operation.call, operation.out, operation.is_new, seen)
    return describer.described()


# ----------------------------------------------------------------------------------------- source
class _Writer:
    """Writes the source of the function of a structure."""

    def __init__(self, structure: tuple[Any, ...]) -> None:
        self._tokens = iter(structure)
        self._parameters: list[str] = []
        self._memory: list[str] = []
        self._lines: list[str] = []
        self._after: list[str] = []
        self._num_slots = 0

    def source(self) -> str:
        """The source."""
        for function in self._tokens:
            self._operation(function)
        parameters = ", ".join([*self._parameters, *self._memory, "done"])
        lines = [*self._lines, *self._after, "done[0] = 1"]
        return f"def window({parameters}):\n" + "".join(f"    {line}\n" for line in lines)

    def _operation(self, function: Any) -> None:
        num_operands = _num_operands(function)
        operands = [self._operand(next(self._tokens)) for _ in range(num_operands)]
        token = next(self._tokens)
        if token not in (DEAD, LIVE, STORED):
            out = self._operand(token)
            if type(function) is Form:
                self._lines.append(function.template.format(*operands, out=out))
            elif function is None:
                self._lines.append(f"{out}[...] = {operands[0]}")
            else:
                self._lines.append(f"{_value(function, [*operands, f'out={out}'])}")
            return
        name = self._slot()
        memory = f"m{name[1:]}"
        if token != DEAD:
            self._memory.append(memory)
        if token == STORED:  # later operations write its memory, perhaps through views
            if type(function) is numpy.ufunc:
                self._lines.append(_value(function, [*operands, f"out={memory}"]))
            else:
                self._lines.append(f"{memory}[...] = {_value(function, operands)}")
            self._lines.append(f"{name} = {memory}")
            return
        self._lines.append(f"{name} = {_value(function, operands)}")
        if token == LIVE:
            self._after.append(f"{memory}[...] = {name}")

    def _operand(self, token: Any) -> str:
        if token == ARGUMENT:
            name = self._slot()
            self._parameters.append(name)
            return name
        if token == NUMBER:
            return self._number()
        if type(token) is int:
            return f"x{token}"
        first, second = token
        if type(first) is type:
            return repr(second)
        base = self._operand(first)
        text = "".join(map(self._step, second))
        name = self._slot()
        self._lines.append(f"{name} = {base}{text}")
        return name

    def _step(self, step: Any) -> str:
        if type(step) is str:
            return f".{step}"
        texts = []
        for item in step:
            if type(item) is tuple:
                start, stop, by = (None if b is None else self._bound(b) for b in item)
                texts.append(f"{start or ''}:{stop or ''}" + (f":{by}" if by else ""))
            else:
                texts.append(self._bound(item))
        return f"[{', '.join(texts)}{',' if len(texts) == 1 else ''}]"

    def _bound(self, number: Any) -> str:
        if number == _NUMBER_BOUND:
            return self._number()
        return "..." if number is ... else repr(number)

    def _number(self) -> str:
        name = f"n{len(self._parameters)}"
        self._parameters.append(name)
        return name

    def _slot(self) -> str:
        self._num_slots += 1
        return f"x{self._num_slots - 1}"


def _num_operands(function: Any) -> int:
    if type(function) is Form:
        return function.num_operands
    return int(function.nin) if type(function) is numpy.ufunc else 1


def _value(function: Any, operands: list[str]) -> str:
    """The source of a result."""
    if type(function) is Form:
        return function.template.format(*operands)
    if type(function) is numpy.ufunc:
        return f"np.{_NAMES[function]}({', '.join(operands)})"
    return f"{operands[0]}.astype(np.dtype({function.str!r}))"


_counter = iter(range(10**9))


def source_of(structure: tuple[Any, ...]) -> str:
    """The function ``window`` of a structure: of its arguments, and of an array it writes last."""
    return _Writer(structure).source()


def function_of_source(source: str) -> Callable[..., Any]:
    """The function of a source."""
    filename = f"<window {next(_counter)} of fusejit.numpy>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope: dict[str, Any] = {"np": numpy, "__name__": __name__}
    exec(compile(source, filename, "exec"), scope)
    function: Callable[..., Any] = scope["window"]
    function.__doc__ = source
    return function
