"""Random expressions over the arrays of a program that NumPy has executed so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

LARGEST = 2.0**12
FINEST = 2.0**-6
MAX_ELEMENTS = 120
DTYPE_TEXTS = ("np.float64", "np.float32", "np.int64", "np.int32")


@dataclass(slots=True)
class Expressions:
    """Makes expressions from what names are bound to now.

    Attributes
    ----------
    rng : random.Random
    names : dict
        The namespace in which NumPy executes the program while it is made.
    num_made : int
        How many names were bound so far.
    loop_variables : list of str
        Those of the loops around the statement that is being made.
    in_loop : bool
        Whether that statement may jump.
    """

    rng: Random
    names: dict[str, Any]
    num_made: int = 0
    loop_variables: list[str] = field(default_factory=list)
    in_loop: bool = False

    # -- names ------------------------------------------------------------------------------------
    def arrays(self) -> list[str]:
        """Names bound to arrays, the latest twice."""
        found = [k for k, v in self.names.items() if isinstance(v, np.ndarray)]
        return found + found[-2:]

    def values(self) -> list[np.ndarray]:
        """All arrays."""
        return [v for v in self.names.values() if isinstance(v, np.ndarray)]

    def fresh(self, prefix: str = "t") -> str:
        """A name to bind: mostly new, sometimes one that is bound already."""
        if self.rng.random() < 0.15 and len({*self.arrays()}) > 1:
            return self.rng.choice(self.arrays())
        self.num_made += 1
        return f"{prefix}{self.num_made - 1}"

    # -- expressions ------------------------------------------------------------------------------
    def number(self) -> str:
        """A literal, or the argument ``k``."""
        if "k" in self.names and self.rng.random() < 0.2:
            return "k"
        return self.rng.choice(("0", "1", "2", "-1", "3", "0.5", "-2.0", "1.5", "True"))

    def index(self, length: int) -> str:
        """The index of one axis."""
        if "k" in self.names and self.rng.random() < 0.2:
            return self.rng.choice(
                ("k", "k:", ":k", "-k:", ":-k", "k::-1", "k:k + 2", "::k", "1 - k")
            )
        if self.loop_variables and self.rng.random() < 0.3:
            i = self.rng.choice(self.loop_variables)
            return self.rng.choice((i, f"{i}:", f":{i}", f"{i} + 1", f"-{i} - 1", f"{i}::2"))
        return self.rng.choice(
            (
                ":",
                ":",
                "1:",
                ":-1",
                "1:-1",
                "::-1",
                "::2",
                "1::2",
                "::-2",
                "-2::-1",
                ":2",
                "-2:",
                "2:0:-1",
                "3:1",
                "0",
                "-1",
                "1",
                ":1",
            )
        )

    def view(self, name: str) -> str:
        """A view of an array that is bound to a name."""
        array = self.names[name]
        if not array.ndim:
            return f"{name}[...]"
        roll = self.rng.random()
        if array.ndim > 1 and roll < 0.2:
            return f"{name}.T"
        if roll < 0.27:
            new = self.rng.choice(("None, :", ":, None", "..., None", "None"))
            return f"{name}[{new}]"
        if roll < 0.33:
            return f"{name}[..., {self.index(array.shape[-1])}]"
        if roll < 0.36 and array.ndim > 1:
            return self.rng.choice((f"np.swapaxes({name}, 0, 1)", f"{name}.transpose(1, 0)"))
        axes = self.rng.randint(1, array.ndim)
        return f"{name}[{', '.join(self.index(n) for n in array.shape[:axes])}]"

    def part(self, name: str) -> str:
        """A view, or a view of it."""
        text = self.view(name)
        if self.rng.random() < 0.15:
            text += self.rng.choice(("[1:]", "[::-1]", ".T", "[:-1]", "[::2]"))
        return text

    def operand(self, shape: tuple[int, ...]) -> str:
        """An expression that broadcasts to ``shape``."""
        for _ in range(12):
            name = self.rng.choice(self.arrays())
            text = name if self.rng.random() < 0.35 else self.part(name)
            if self.varies(text):
                continue
            if broadcasts(self.evaluate(text), shape):
                return text
        return self.number()

    def varies(self, text: str) -> bool:
        """Whether the extents of an operand depend on a loop: what of 1 broadcasts is not known."""
        return any(f"{i}:" in text or f":{i}" in text for i in self.loop_variables)

    def evaluate(self, text: str) -> Any:
        """The value of an expression, or None where NumPy refuses it."""
        try:
            with np.errstate(all="ignore"):
                return eval(text, self.names)
        except Exception:
            return None

    def is_array(self, text: str) -> bool:
        """Whether an expression is an array now, not a scalar."""
        return isinstance(self.evaluate(text), np.ndarray)

    def expression(self, shape: tuple[int, ...]) -> str:
        """A computation that broadcasts to ``shape``."""
        roll = self.rng.random()
        a = self.operand(shape)
        if roll < 0.25:
            return a
        b = self.operand(shape) if self.rng.random() < 0.7 else self.number()
        if roll < 0.75:
            return f"{a} {self.rng.choice(('+', '-', '*', '+', '-'))} {b}"
        if roll < 0.8:
            return f"({a} + {b}) * {self.operand(shape)}"
        if roll < 0.85:
            return f"np.where({a} > {b}, {self.operand(shape)}, {self.operand(shape)})"
        if roll < 0.9:
            return f"{a} {self.rng.choice(('<', '>=', '==', '!='))} {b}"
        if roll < 0.95:
            return self.rng.choice((f"-{a}", f"abs({a})", f"np.square({a})"))
        return f"({a}).astype({self.rng.choice(DTYPE_TEXTS)})"

    def target(self) -> tuple[str, tuple[int, ...]] | None:
        """Something that is stored into, and its shape."""
        name = self.rng.choice(self.arrays())
        text = self.part(name)
        value = self.evaluate(text)
        if not isinstance(value, np.ndarray | np.generic):
            return None
        if not text.endswith("]"):
            text += "[...]"
        return text, value.shape


def broadcasts(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether ``value`` is an array that broadcasts to ``shape``."""
    if not isinstance(value, np.ndarray | np.generic):
        return False
    try:
        return np.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        return False


def numpy_copies_wrongly(target: Any, value: Any) -> bool:
    """Whether NumPy may overwrite elements of ``value`` before it has read them.

    ``x[::2] = x[:3]`` copies forwards without a temporary: NumPy 2.4 takes one only for strides of
    opposite signs, and goes backwards only if the value starts before the target.
    """
    if not isinstance(target, np.ndarray) or not isinstance(value, np.ndarray):
        return False
    if not np.may_share_memory(target, value):
        return False
    return target.ndim == 1 and target.strides[-1:] != value.strides[-1:]


def is_exact(value: Any) -> bool:
    """Whether all numbers are small multiples of 1/64: sums of them are exact in any order."""
    if isinstance(value, list | tuple):
        return all(map(is_exact, value))
    if isinstance(value, dict):
        return all(map(is_exact, value.values()))
    if not isinstance(value, np.ndarray | np.generic):
        return True
    if value.size > MAX_ELEMENTS:
        return False
    if value.dtype.kind == "b" or not value.size:
        return True
    if value.dtype.kind == "c":
        return is_exact(value.real) and is_exact(value.imag)
    with np.errstate(all="ignore"):
        wide = np.asarray(value, np.float64)
        return bool(
            np.all(np.abs(wide) <= LARGEST) and np.all(np.rint(wide / FINEST) == wide / FINEST)
        )
