"""Random NumPy programs as source text, and their minimal forms when they fail.

A program is a function of one to three arrays and perhaps a number. Statements are drafted from a
list of forms over the names that exist, and run at once in two environments, the arguments at two
sizes: a draft that fails in one is thrown away, so programs run, and what broadcasts at one size
broadcasts at the other.
"""

from __future__ import annotations

import itertools
import linecache
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.ir.types import is_supported
from fusejit.ir.write_access import WriteAccess
from fusejit_testing.compare import arrays_in, clone

DTYPES = ("f8", "f8", "f8", "f4", "f4", "i8", "i4", "u1", "?")
SIZES = ({"n": 5, "m": 4, "k": 3}, {"n": 7, "m": 3, "k": 6})
Sizes = dict[str, int]
EDGE_SIZES = ({"n": 1, "m": 4, "k": 2}, {"n": 0, "m": 3, "k": 1}, {"n": 2, "m": 2, "k": 2})
_SLICES = (":", "1:", ":-1", "::-1", "::2", "1:-1", "-1::-1", "::-2", "1::2", "...", "0:2", ":1")
_INTEGERS = ("0", "-1", "1")
MAX_SIZE = 2000


@dataclass(frozen=True, slots=True)
class Argument:
    """An array argument: dtype, axes as names of sizes or "1", and how it lies in memory."""

    name: str
    dtype: str
    axes: tuple[str, ...]
    layout: str

    def make(self, sizes: dict[str, int], rng: np.random.Generator) -> np.ndarray:
        """An array of these sizes: numbers, and now and then special values."""
        shape = tuple(1 if a == "1" else sizes[a] for a in self.axes)
        if not shape:
            return np.array(_numbers(shape, self.dtype, rng))
        if self.layout == "F":
            return np.array(_numbers(shape, self.dtype, rng), order="F")
        if self.layout == "strided":
            wide = _numbers(tuple(2 * n for n in shape), self.dtype, rng)
            return wide[(slice(None, None, 2),) * len(shape)]
        if self.layout == "negative":
            return _numbers(shape, self.dtype, rng)[(slice(None, None, -1),) * len(shape)]
        if self.layout == "rolled" and len(shape) > 1:
            axes = (*range(1, len(shape)), 0)
            return _numbers(tuple(shape[a] for a in axes), self.dtype, rng).transpose(
                tuple(int(a) for a in np.argsort(axes))
            )
        if self.layout == "part":
            return _numbers(tuple(n + 1 for n in shape), self.dtype, rng)[
                (slice(1, None),) * len(shape)
            ]
        return _numbers(shape, self.dtype, rng)


def _numbers(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "u":
        return rng.integers(0, 256, shape).astype(dtype)
    if kind == "i":
        values = rng.integers(-50, 50, shape)
        info = np.iinfo(dtype)
        extremes = rng.choice([info.min, info.max, 0, 1, -1], shape)
        return np.where(rng.random(shape) < 0.1, extremes, values).astype(dtype)
    values = np.where(rng.random(shape) < 0.3, rng.integers(-3, 4, shape), rng.normal(size=shape))
    special = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-310, 1e300, 1e-42], shape)
    with np.errstate(all="ignore"):
        return np.where(rng.random(shape) < 0.08, special, values).astype(dtype)


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """Source text with what is needed to call it.

    ``inexact`` tells whether some result comes from a function that is within some ulp only.
    """

    seed: int
    arguments: tuple[Argument, ...]
    number: Any
    statements: tuple[str, ...]
    returned: str
    inexact: bool = False

    @property
    def source(self) -> str:
        """The text of a function ``program``."""
        names = ", ".join([*(a.name for a in self.arguments), "p"])
        lines = [f"    {line}" for s in self.statements for line in s.split("\n")]
        return "\n".join([f"def program({names}):", *lines, f"    return {self.returned}", ""])

    def call(self, sizes: dict[str, int], salt: int = 0) -> tuple[Any, ...]:
        """Arguments at these sizes."""
        rng = np.random.default_rng([self.seed, salt])
        return (*(a.make(sizes, rng) for a in self.arguments), self.number)

    def __str__(self) -> str:
        arguments = "\n".join(
            f"# {a.name}: {a.dtype}[{', '.join(a.axes)}] {a.layout}" for a in self.arguments
        )
        return f"# seed {self.seed}, p = {self.number!r}\n{arguments}\n{self.source}"


def load(program: RandomProgram, folder: Path, numpy: Any = np) -> FunctionType:
    """The function, from a file of its own (tracing reads its source), with ``numpy`` as ``np``."""
    with tempfile.NamedTemporaryFile(
        "w", suffix=".py", prefix=f"program{program.seed}_", dir=folder, delete=False
    ) as file:
        file.write(program.source)
    namespace: dict[str, Any] = {"np": numpy}
    exec(compile(program.source, file.name, "exec"), namespace)
    linecache.checkcache(file.name)
    function = namespace["program"]
    assert isinstance(function, FunctionType)
    return function


def many_sizes(seed: int) -> list[Sizes]:
    """Eight calls in a row: some axes empty, 1 long, or equal by chance."""
    rng = np.random.default_rng([7, seed])
    return [
        dict(zip("nmk", map(int, rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 6, 7], 3)), strict=True))
        for _ in range(8)
    ]


# ------------------------------------------------------------------------------------- generator
@dataclass
class _Emitter:
    """The program so far, and what its names hold at both sizes."""

    rng: np.random.Generator
    envs: list[dict[str, Any]]
    statements: list[str] = field(default_factory=list)
    frozen: list[Any] = field(default_factory=list)  # arrays that only may be returned
    numbers: set[str] = field(default_factory=lambda: {"p"})  # made of no array
    counter: int = 0
    inexact: bool = False  # whether some result is within some ulp only

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def arrays(self) -> list[str]:
        return [
            n
            for n, v in self.envs[0].items()
            if isinstance(v, np.ndarray | np.generic) and n not in self.numbers
        ]

    def usable(self) -> list[str]:
        return [n for n in self.arrays() if not self.is_frozen(n)]

    def is_frozen(self, name: str) -> bool:
        value = self.envs[0][name]
        return any(
            value is f
            or (
                isinstance(value, np.ndarray)
                and isinstance(f, np.ndarray)
                and np.shares_memory(value, f)
            )
            for f in self.frozen
        )

    def fresh(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    # -- expressions ------------------------------------------------------------------------
    def operand(self) -> str:
        choice = self.rng.random()
        names = self.usable()
        if choice < 0.72 and names:
            return str(self.pick(names[-4:] if self.rng.random() < 0.5 else names))
        if choice < 0.78:
            return "p"
        if choice < 0.83:
            arrays = [n for n in names if self.envs[0][n].ndim]
            if arrays:
                name = self.pick(arrays)
                return str(self.pick([f"{name}.shape[0]", f"len({name})", f"{name}.shape[-1]"]))
        if choice < 0.88:
            return str(
                self.pick(["np.float32(0.1)", "np.int32(3)", "np.float64(-1.5)", "np.uint8(7)"])
            )
        return str(self.pick(["2", "0.5", "-1", "3.7", "True", "1", "0", "-0.0", "100"]))

    def index(self, rank: int) -> str:
        count = int(self.rng.integers(1, rank + 1)) if rank else 0
        parts: list[str] = []
        for _ in range(count):
            part = self.pick(_INTEGERS) if self.rng.random() < 0.25 else self.pick(_SLICES)
            parts.append(":" if part == "..." and "..." in parts else part)
        if self.rng.random() < 0.15:
            parts.insert(int(self.rng.integers(len(parts) + 1)), "None")
        return ", ".join(parts) or "..."

    def reduction(self, name: str) -> str:
        rank = self.envs[0][name].ndim
        axes: list[Any] = [None, *range(-rank, rank)]
        axes += itertools.permutations(range(rank), 2)
        axis = self.pick(axes)
        keep = self.pick(["", "", ", keepdims=True"])
        function = self.pick(["sum", "sum", "mean", "max", "min", "any", "all"])
        dtype = ""
        if function in ("sum", "mean") and self.rng.random() < 0.2:
            dtype = self.pick([", dtype=np.float64", ", dtype=np.float32"])
        return f"np.{function}({name}, axis={axis}{dtype}{keep})"

    def expression(self, depth: int = 0) -> str:
        if depth and self.rng.random() < 0.5:
            return self.operand()
        name = self.operand()

        def e() -> str:
            return self.expression(depth + 1) if depth < 2 else self.operand()

        arrays = self.usable()
        form = int(self.rng.integers(24))
        if form < 7:
            operator = self.pick(["+", "-", "*", "/", "+", "-", "*"])
            return f"({e()} {operator} {e()})"
        if form == 7:
            return f"({e()} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {e()})"
        if form == 8:
            return f"np.{self.pick(['maximum', 'minimum'])}({e()}, {e()})"
        if form == 9:
            return f"np.where({e()}, {e()}, {e()})"
        if form == 10:
            function = self.pick([*_UNARY])
            if function == "signbit":  # the sign of a NaN is unspecified, in NumPy too
                return f"np.signbit(np.where({name} == {name}, {name}, 0))"
            return f"np.{function}({name})"
        if form == 11:
            return f"np.sqrt(np.abs({e()}))"
        if form == 12 and arrays:
            return self.power(self.pick(arrays), depth)
        if form == 13:
            return f"({name} {self.pick([*_INTEGRAL])} {self.operand()})"
        if form == 14 and arrays:
            return f"{self.pick(arrays)}.astype({self.pick(_CASTS)})"
        if form == 15 and arrays:
            name = self.pick(arrays)
            kind = self.pick(["np.int32", "np.int64", "np.uint8"])
            lower = "0.0" if kind == "np.uint8" else "-100.0"
            inside = f"({name} < 100.0) & ({name} > {lower})"
            return f"np.where({inside}, {name}, 0).astype({kind})"
        if form in (16, 17, 18) and arrays:
            name = self.pick(arrays)
            return f"{name}[{self.index(self.envs[0][name].ndim)}]"
        if form == 19 and arrays:
            name = self.pick(arrays)
            return str(self.pick([f"{name}.T", f"{name}[..., None]", f"{name}[None]"]))
        if form in (20, 21) and arrays:
            return self.reduction(self.pick(arrays))
        if form == 22 and arrays:
            name = self.pick(arrays)
            return str(
                self.pick(
                    [
                        f"np.zeros_like({name})",
                        f"np.zeros({name}.shape)",
                        f"np.ones({name}.shape, dtype=np.float32)",
                        f"np.full({name}.shape, 3)",
                        f"np.full_like({name}, 2)",
                        f"np.ones_like({name})",
                        f"np.arange({name}.shape[0])",
                        f"np.arange({name}.shape[0], dtype=np.float64)",
                        f"np.arange(1, {name}.shape[0])",
                        f"{name}.copy()",
                    ]
                )
            )
        return f"(-{name})"

    def power(self, base: str, depth: int) -> str:
        """A power; of a NumPy scalar, where NumPy takes no short form, a statement of its own."""
        exponent = self.pick(["2", "0.5", "-1", "1", "2.0"])
        if depth and isinstance(self.envs[0][base], np.generic):
            return f"({base} * {exponent})"
        return f"({base} ** {exponent})"

    def is_scalar_power(self, expression: str) -> bool:
        """Whether an expression is ``scalar ** number``, of which the last bits may differ."""
        base, _, exponent = expression.strip("()").partition(" ** ")
        return bool(exponent) and isinstance(self.envs[0].get(base), np.generic)

    # -- statements -------------------------------------------------------------------------
    def draft(self) -> tuple[str, bool]:
        """A statement, and whether its result may only be returned."""
        form = int(self.rng.integers(20))
        arrays = [n for n in self.usable() if isinstance(self.envs[0][n], np.ndarray)]
        writeable = [n for n in arrays if WriteAccess.of(self.envs[0][n]) is WriteAccess.WRITEABLE]
        if form < 10 or not writeable:
            value = self.expression()
            return f"{self.fresh()} = {value}", self.is_scalar_power(value)
        name = self.pick(writeable)
        rank = self.envs[0][name].ndim
        if form < 13:
            return f"{name}[{self.index(rank)}] = {self.expression(1)}", False
        if form < 15:
            return f"{name}[{self.index(rank)}] {self.pick('+-*')}= {self.expression(1)}", False
        if form == 15:
            return f"{name} {self.pick('+-*')}= {self.expression(1)}", False
        if form == 16:
            return f"{self.fresh()} = {name}[{self.index(rank)}]", False
        if form == 17:
            other = self.pick(arrays)
            return f"{name}, {other} = {other}, {name}", False
        if form == 18:
            inside = self.expression(1)
            return f"for i in range(3):\n    {name}[i % 2] = {name}[i % 2] + {inside}", False
        function = self.pick(["exp", "log", "sin", "cos", "tanh"])
        return f"{self.fresh()} = np.{function}({self.expression(1)})", True

    def add(self) -> bool:
        statement, inexact = self.draft()
        tried = [clone(env) for env in self.envs]
        for env in tried:
            try:
                with np.errstate(all="ignore"):
                    exec(statement, {"np": np}, env)
            except Exception:
                return False
            env.pop("i", None)
            if any(a.size > MAX_SIZE for a in arrays_in(env)):
                return False
        if not _same_classes(*tried) or not all(map(_is_compiled, tried[0].values())):
            return False
        frozen_names = [n for n in self.envs[0] if n not in ("p",) and self.is_frozen(n)]
        self.envs = tried
        self.frozen = [tried[0][n] for n in frozen_names]
        if inexact:
            self.inexact = True
            self.frozen.append(tried[0][statement.split(" = ")[0]])
        self.statements.append(statement)
        target, _, value = statement.partition(" = ")
        if target.isidentifier() and not set(self.arrays()) & set(re.findall(r"\w+", value)):
            self.numbers.add(target)
        return True


_UNARY = (
    *("abs", "square", "negative", "logical_not", "isnan", "isfinite", "signbit", "sign"),
    *("floor", "ceil", "trunc", "rint", "fabs", "deg2rad"),
)
_INTEGRAL = ("&", "|", "^", "//", "%", "//", "%", "<<", ">>")
_CASTS = ("np.float64", "np.float32", "np.bool_", "np.float64", "float")


def _is_compiled(value: Any) -> bool:
    return not isinstance(value, np.ndarray | np.generic) or is_supported(value.dtype)


def _same_classes(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether both environments have arrays of the same kinds, long where the other is long."""
    for name, a in first.items():
        b = second[name]
        if type(a) is not type(b):
            return False
        if isinstance(a, np.ndarray):
            if a.dtype != b.dtype or [min(n, 2) for n in a.shape] != [min(n, 2) for n in b.shape]:
                return False
            if 0 in a.shape:
                return False
    return True


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    rng = np.random.default_rng(seed)
    arguments = []
    for at in range(int(rng.integers(1, 4))):
        rank = int(rng.choice([0, 1, 1, 2, 2, 2, 3]))
        axes = tuple(str(rng.choice(["n", "n", "m", "m", "k", "1"])) for _ in range(rank))
        layout = str(rng.choice(["C", "C", "C", "F", "strided", "negative", "rolled", "part"]))
        arguments.append(Argument("xyz"[at], str(rng.choice(DTYPES)), axes, layout))
    number = [3, 2.5, -1, 0.1, True, np.float32(1.5), np.int64(4)][int(rng.integers(7))]
    program = RandomProgram(seed, tuple(arguments), number, (), "")
    names = [*(a.name for a in arguments), "p"]
    writer = _Emitter(
        rng, [dict(zip(names, program.call(s, i), strict=True)) for i, s in enumerate(SIZES)]
    )
    wanted, attempts = int(rng.integers(2, 13)), 0
    while len(writer.statements) < wanted and attempts < 80:
        writer.add()
        attempts += 1
    candidates = [n for n in writer.envs[0] if n != "p"]
    chosen = [candidates[-1]]
    chosen += [str(n) for n in rng.choice(candidates, int(rng.integers(0, 4)))]
    forms: list[Callable[[list[str]], str]] = [
        lambda r: r[0],
        lambda r: ", ".join(r),
        lambda r: "[" + ", ".join(r) + "]",
        lambda r: "{" + ", ".join(f"'k{i}': {n}" for i, n in enumerate(r)) + "}",
    ]
    return replace(
        program,
        statements=tuple(writer.statements),
        returned=forms[int(rng.choice([0, 1, 1, 1, 2, 3]))](chosen),
        inexact=writer.inexact,
    )
