"""Random NumPy programs full of views and stores: what the mutation fuzzer runs.

`fusejit_testing.programs.mutation_maker` makes a program statement by statement while NumPy
executes it: a statement that NumPy refuses, or whose numbers would no longer be exact, is thrown
away. What is left runs without an error on the arguments it was made with. All numbers are small
multiples of 1/64, so that sums are exact in any order and results can be compared bit by bit.

    def f(a, b):
        t0 = a[::-1]              persistent views, views of views
        b[1:] -= t0[:-1]          overlapping stores
        for i in range(2):        unrolled loops
            t0[i] = b.sum()
        a, b = b, a
        return a, t0[1:], a       arguments, views, one object twice
"""

from __future__ import annotations

import atexit
import functools
import linecache
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from fusejit_testing.argument_kinds import KINDS
from fusejit_testing.programs.local_names import with_local_names

IMPORTS = """\
import numpy as np


"""
_FUNCTIONS = """\
def bump(x, k):
    x += k
    return x[::-1]


def first_half(x):
    return x[: x.shape[0] // 2]


def ordered(x, y):
    if x.shape[0] > y.shape[0]:
        return x, y
    return y, x


def same(x):
    return x


def through(x):
    return same(same(x))


def checked(x, least=1):
    if x.ndim < least:
        raise ValueError(f"{x.ndim} axes are less than {least}")
    return through(x)


def both(x, y):
    return same(x), through(y)


def either(x, y):
    return same(x) if x.shape[0] >= y.shape[0] else y


def as_array(x, dtype=None):
    x = np.asarray(x, dtype=dtype)
    return checked(x)


def at_least(x):
    return np.atleast_1d(as_array(x))


"""
HELPERS = IMPORTS + _FUNCTIONS


@functools.cache
def helpers() -> dict[str, Any]:
    """What the names of `HELPERS` stand for, in a file of their own that all programs share."""
    folder = tempfile.TemporaryDirectory(prefix="fusejit-helpers-")
    atexit.register(folder.cleanup)
    file = Path(folder.name) / "mutation_helpers.py"
    file.write_text(HELPERS)
    namespace: dict[str, Any] = {"__name__": "mutation_helpers"}
    exec(compile(HELPERS, str(file), "exec"), namespace)
    return {k: v for k, v in namespace.items() if not k.startswith("__")}


# ------------------------------------------------------------------------------------- programs
@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument: ``dims`` are names of sizes; ``layout`` says how the memory of an array lies.

    A parameter of dtype "int" is a Python int, found among the sizes of a call by its name. One of
    dtype "value" is an object of the kind that ``layout`` names, and the call says which of two.
    """

    name: str
    dtype: str
    dims: tuple[str, ...]
    layout: str  # C, F, step, reversed, offset, broadcast; same:<name>, part:<name> share memory


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of text, or the header of a loop or branch with a body; ``else`` is one of its own."""

    text: str
    body: tuple[Statement, ...] = ()

    def lines(self, indent: str) -> Iterator[str]:
        """The source of the statement."""
        yield indent + self.text
        for statement in self.body:
            yield from statement.lines(indent + "    ")


def parse(text: str) -> tuple[Statement, ...]:
    """The statements of a text, four spaces for each level."""
    made: list[Statement] = []
    lines = text.split("\n") if text else []
    while lines:
        header = lines.pop(0)
        depth = next((k for k, line in enumerate(lines) if line[:4].strip()), len(lines))
        made.append(Statement(header, parse("\n".join(t[4:] for t in lines[:depth]))))
        del lines[:depth]
    return tuple(made)


AGAIN = 1.0
"""Seconds after which a deadline that has passed is told again."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, where signals can (the main thread of Unix).

    It is raised again and again: CPython puts a ValueError in its place if it comes in the middle
    of ``int("x")``, which a program may catch.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(number: int, frame: Any) -> None:
        raise TimeoutError(f"takes longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    outer, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    start = time.monotonic()
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        left = max(0.001, outer - (time.monotonic() - start)) if outer else 0
        signal.setitimer(signal.ITIMER_REAL, left, again)


@dataclass(frozen=True, slots=True)
class MutationProgram:
    """A program with sizes to call it with; "variation" in a call is that of `vary`.

    ``header`` is the line that begins the function ``f``, if it has more than the names of the
    parameters; ``outside`` is the text of the module before the function.
    """

    seed: int
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    returned: tuple[str, ...]
    container: str
    calls: tuple[dict[str, int], ...]
    header: str = ""
    outside: str = ""

    @property
    def source(self) -> str:
        """Its text with all that it needs: it runs by itself."""
        return HELPERS + with_local_names(self.outside + self.text, self.seed)

    @property
    def text(self) -> str:
        """The text of the function ``f``."""
        names = ", ".join(p.name for p in self.parameters)
        lines = [self.header or f"def f({names}):"]
        for statement in self.body:
            lines += statement.lines("    ")
        lines.append(f"    return {self.result_text()}")
        return "\n".join(lines) + "\n"

    def result_text(self) -> str:
        """The expression that is returned."""
        items = ", ".join(self.returned)
        match self.container:
            case "one":
                return self.returned[0] if self.returned else "None"
            case "list":
                return f"[{items}]"
            case "dict":
                return "{" + ", ".join(f"'{k}': {r}" for k, r in enumerate(self.returned)) + "}"
            case "nested":
                first = "".join(f"{item}, " for item in self.returned[:1])
                return f"({first}), [{', '.join(self.returned[1:])}]"
        return f"({items},)" if self.returned else "None"

    def arguments(self, call: int) -> tuple[Any, ...]:
        """The arguments of one of its calls, the same ones each time."""
        rng = np.random.default_rng([self.seed, call])
        made: dict[str, Any] = {}
        for parameter in self.parameters:
            variation = self.calls[call].get("variation", 0)
            changed = vary(parameter, variation, self.parameters)
            made[parameter.name] = make_argument(changed, self.calls[call], rng, made)
        return tuple(made.values())

    def load(self, folder: Path, outside: str = "") -> Callable[..., Any]:
        """Write its text into ``folder`` and return the function ``f`` that it defines.

        ``outside`` is text of the module before it. The helpers are those of all programs.
        """
        text = with_local_names(outside + self.outside + self.text, self.seed)
        function: Callable[..., Any] = self.names(folder, text)["f"]
        return function

    def names(self, folder: Path, text: str, **given: Any) -> dict[str, Any]:
        """Write a text into ``folder``, run it with helpers and what is given, return all names."""
        source = IMPORTS + text
        with tempfile.NamedTemporaryFile(
            "w", suffix=".py", prefix=f"program_{self.seed}_", dir=folder, delete=False
        ) as file:
            file.write(source)
        linecache.checkcache(file.name)
        namespace: dict[str, Any] = {**helpers(), **given, "__name__": "mutation_program"}
        sys.modules.setdefault(
            "mutation_program", ModuleType("mutation_program")
        )  # dataclasses ask
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # "is" with a literal
            exec(compile(source, file.name, "exec"), namespace)
        return namespace

    def smaller(self) -> Iterator[MutationProgram]:
        """The programs with one statement, result or call less."""
        for body in _without_one(self.body):
            yield replace(self, body=body)
        for k in range(len(self.returned)):
            yield replace(self, returned=self.returned[:k] + self.returned[k + 1 :])
        if len(self.calls) > 1:
            yield replace(self, calls=self.calls[:-1])


def _without_one(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for k, statement in enumerate(body):
        if statement.text.endswith("# bound"):
            continue  # without it a loop may not end
        yield body[:k] + body[k + 1 :]
        if statement.body:
            yield body[:k] + statement.body + body[k + 1 :]
            for inner in _without_one(statement.body):
                if inner:
                    yield (*body[:k], replace(statement, body=inner), *body[k + 1 :])


# ------------------------------------------------------------------------------------ arguments
def random_parameters(rng: Random) -> tuple[tuple[Parameter, ...], tuple[dict[str, int], ...]]:
    """Parameters, and the sizes of four calls: two alike, other ones, and another layout."""
    parameters: list[Parameter] = []
    for name in "abc"[: rng.choice((1, 2, 2, 3))]:
        dims = rng.choice((("n",), ("n",), ("m",), ("n", "m"), ("n", "n"), ("m", "n")))
        layouts = ["C"] * 5 + ["step", "reversed", "offset"]
        if len(dims) > 1:
            layouts += ["F", "F", "broadcast"]
        if parameters and rng.random() < 0.04:
            other = rng.choice(parameters)
            layout = rng.choice(("same:", "part:")) + other.name
            parameters.append(Parameter(name, other.dtype, other.dims, layout))
            continue
        dtype = rng.choice(("float64",) * 4 + ("float32", "int64", "int64", "bool", "int32"))
        parameters.append(Parameter(name, dtype, dims, rng.choice(layouts)))
    sizes = {d: rng.choice((0, 1, 2, 3, 3, 4, 4, 5, 5, 6)) for d in "nm"}
    if rng.random() < 0.5:
        sizes["m"] = sizes["n"]
    others = {d: max(0, sizes[d] + rng.choice((-2, -1, 0, 1, 1, 3))) for d in "nm"}
    if rng.random() < 0.35:
        parameters.append(Parameter("k", "int", (), "number"))
        sizes["k"] = rng.choice((-1, 0, 1, 1, 2, 2, 3))
        others["k"] = sizes["k"] + rng.choice((-1, 0, 0, 1))
    varied = {**rng.choice((sizes, others)), "variation": rng.choice((1, 2, 3))}
    return tuple(parameters), (sizes, dict(sizes), others, varied)


def vary(parameter: Parameter, variation: int, parameters: tuple[Parameter, ...]) -> Parameter:
    """The parameter in another layout (1), or in memory shared with one before it (2, 3)."""
    if parameter.dtype in ("int", "value"):
        return parameter
    if variation == 1:
        return replace(parameter, layout={"C": "step", "F": "offset"}.get(parameter.layout, "C"))
    if variation:
        for other in parameters[: parameters.index(parameter)]:
            if (other.dtype, len(other.dims)) == (parameter.dtype, len(parameter.dims)):
                kind = "same" if variation == 2 else "part"
                return replace(parameter, layout=f"{kind}:{other.name}")
    return parameter


def make_argument(
    parameter: Parameter,
    sizes: dict[str, int],
    rng: np.random.Generator,
    made: dict[str, Any],
) -> Any:
    """The argument for a parameter; ``made`` are the arguments before it."""
    if parameter.dtype == "int":
        return sizes[parameter.name]
    if parameter.dtype == "value":
        return KINDS[parameter.layout][sizes[parameter.name]]
    if parameter.layout.startswith("same:"):
        return made[parameter.layout[5:]]
    if parameter.layout.startswith("part:"):
        whole = made[parameter.layout[5:]]
        return whole[1:] if len(whole) > 1 else whole
    shape = tuple(sizes[d] for d in parameter.dims)
    dtype = np.dtype(parameter.dtype)

    def filled(shape: tuple[int, ...]) -> np.ndarray:
        if dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(dtype)
        low = 0 if dtype.kind == "u" else -6
        numbers = rng.integers(low, 7, shape)
        return (numbers * 0.5).astype(dtype) if dtype.kind == "f" else numbers.astype(dtype)

    match parameter.layout:
        case "F":
            return np.asfortranarray(filled(shape))
        case "step":
            return filled(tuple(2 * n for n in shape))[tuple(slice(1, None, 2) for _ in shape)]
        case "reversed":
            return filled(shape)[::-1]
        case "offset":
            return filled(tuple(n + 3 for n in shape))[tuple(slice(2, n + 2) for n in shape)]
        case "broadcast":
            return np.broadcast_to(filled(shape[1:]), shape)
    return filled(shape)
