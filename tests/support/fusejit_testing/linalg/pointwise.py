"""References of the elementwise ops: NumPy's functions, and the dialect's where they differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fusejit_testing.linalg.cases import Case, cast, sample

UNARY: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "negf": lambda x: -x,
    "reciprocal": lambda x: 1 / x,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "square": lambda x: x * x,
    "tanh": np.tanh,
}
_POSITIVE = ("log", "rsqrt", "sqrt", "powf")


def divided(a: Any, b: Any) -> Any:
    """Integers are divided toward zero, one by one as fractions."""
    if a.dtype.kind not in "iu":
        return a / b
    quotient = [int(Fraction(int(x), int(y))) for x, y in zip(a.flat, b.flat, strict=True)]
    return np.array(quotient, a.dtype).reshape(a.shape)


def _unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the same bits as unsigned integers."""

    def run(a: Any, b: Any) -> Any:
        of = a.dtype.str.replace("i", "u")
        return function(a.view(of), b.view(of)).view(a.dtype)

    return run


BINARY: dict[str, tuple[Callable[..., Any], str]] = {
    "add": (np.add, "f8 f4 i4 i1 u1 c16 ?"),
    "sub": (np.subtract, "f8 f4 i4 i1 u1 c16"),
    "mul": (np.multiply, "f8 f4 i4 i1 u1 c16 ?"),
    "div": (divided, "f8 f4 i4 i1 u1 c16"),
    "div_unsigned": (_unsigned(lambda a, b: a // b), "i1 i4 i8 u2"),
    "max": (lambda a, b: a & b if a.dtype.kind == "b" else np.maximum(a, b), "f8 f4 i4 u1 ?"),
    "min": (lambda a, b: a | b if a.dtype.kind == "b" else np.minimum(a, b), "f8 f4 i4 u1 ?"),
    "powf": (np.power, "f8 f4"),
    "max_unsigned": (_unsigned(np.maximum), "i1 i4 i8 u2"),
    "min_unsigned": (_unsigned(np.minimum), "i1 i4 i8 u2"),
}
"""Functions, and the types that they are defined for; two are kinds of `elementwise` alone."""
SHAPES: tuple[tuple[int, ...], ...] = ((3, 5), (7,), (2, 1, 3), (), (0, 4), (2, 3, 2, 2))


def operands(name: str, count: int, shape: tuple[int, ...], dtype: Any) -> list[np.ndarray]:
    """Arrays that the function is defined for."""
    rng = np.random.default_rng(count + len(shape) + sum(map(ord, name)))
    made = [sample(rng, shape, dtype) for _ in range(count)]
    if name in _POSITIVE:
        made = [np.abs(x) + x.dtype.type(0.5) for x in made]
    elif name in ("round", "floor", "ceil"):
        made = [np.asarray(np.round(x * 4) / 2, x.dtype) for x in made]  # has halves
    elif name.startswith("div"):
        made[1] = np.where(made[1] == 0, np.asarray(3, made[1].dtype), made[1])
    elif name == "reciprocal":
        made = [x + np.copysign(x.dtype.type(0.5), x) for x in made]
    return [np.asarray(x, dtype) for x in made]


def expected_of(name: str, inputs: list[np.ndarray]) -> np.ndarray:
    """What the op computes."""
    function = UNARY.get(name) or BINARY[name][0]
    with np.errstate(all="ignore"):
        return np.asarray(function(*inputs), inputs[0].dtype)


def cases(name: str) -> list[Case]:
    """Cases of a named op with one input or two."""
    types = "f8 f4 f8 f4" if name in UNARY else BINARY[name][1]
    found = []
    for number, dtype in enumerate(types.split()):
        shape = SHAPES[number % len(SHAPES)]
        inputs = operands(name, 1 if name in UNARY else 2, shape, dtype)
        expected = expected_of(name, inputs)
        start = sample(np.random.default_rng(1), shape, dtype)
        label = f"{name} {dtype} {shape}"
        found.append(Case(label, tuple(inputs), {}, expected, start, expected))
    return found


def selections() -> list[Case]:
    """Cases of ``select``."""
    found = []
    for number, dtype in enumerate(("f8", "f4", "i1", "c16", "?")):
        shape = SHAPES[number]
        rng = np.random.default_rng(number)
        condition, a, b = (sample(rng, shape, t) for t in ("?", dtype, dtype))
        expected = np.where(condition, a, b)
        label = f"select {dtype} {shape}"
        found.append(Case(label, (condition, a, b), {}, expected, a.copy(), expected))
    return found


COPIES = ("f8 f4", "f8 i4", "i1 i4", "i1 f8", "i4 i1", "? i4", "u1 i4", "i4 ?", "c16 c8", "f4 f4")


def copies() -> list[Case]:
    """Cases of ``copy``: every sort of cast, with and without sign."""
    found = []
    for number, types in enumerate(COPIES):
        source, target = types.split()
        shape = SHAPES[number % len(SHAPES)]
        rng = np.random.default_rng(number)
        x = sample(rng, shape, source)
        if source == "f8" and target == "i4":
            x = np.asarray(x * 10)
        for how in ("cast_signed", "cast_unsigned"):
            if source == "f8" and target == "i4" and how == "cast_unsigned":
                x = np.abs(x)
            y = cast(x, target, how == "cast_signed")
            if target == "?":  # the low bit
                y = x % 2 == 1
            start = sample(rng, shape, target)
            label = f"copy {source}->{target} {how}"
            found.append(Case(label, (x,), {"cast": how, "dtype": target}, y, start, y))
    return found


def random_numbers(low: float, high: float, seed: int, shape: tuple[int, int]) -> np.ndarray:
    """``fill_rng_2d`` with Python's integers."""

    def step(x: int) -> int:
        return (x * 1103515245 + 12345) % 2**32

    mixed = [[step(n + step(m + seed)) for n in range(shape[1])] for m in range(shape[0])]
    signed = np.array([[x - 2**32 * (x >= 2**31) for x in row] for row in mixed], np.float64)
    signed = signed.reshape(shape)
    return np.asarray((signed + 2147483647.0) * ((high - low) * 2.3283064e-10) + low)
