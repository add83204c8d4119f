"""Random programs made for grouping: reductions, what needs them, neighbours, and stores.

A program is Python text over ``x`` and ``y`` of shape ``(n, m)``. Each variable's shape is known as
a tuple of axes, an axis being a letter and how much shorter it is (``("n", 1)`` is ``n - 1``), so
that every step makes sense for all sizes from 4 on.
"""

from __future__ import annotations

from random import Random

Axis = tuple[str, int]
Shape = tuple[Axis, ...]

ONE: Axis = ("1", 0)
N: Axis = ("n", 0)
M: Axis = ("m", 0)
_UNARY = ("np.sqrt(abs({}))", "np.exp(-abs({}))", "({} * 0.5 - 1)", "-{}", "np.tanh({})", "abs({})")
_BINARY = ("({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "({} / (2 + abs({})))")
_REDUCE = ("sum", "max", "mean", "min", "sum", "mean")


def random_program(seed: int) -> str:
    """The text of ``def program(x, y)``, the same for the same seed."""
    return _Maker(Random(seed)).make()


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {"x": (N, M), "y": (N, M)}

    def make(self) -> str:
        """Some steps, then what is returned."""
        for _ in range(self.rng.randint(4, 10)):
            self.rng.choice(self.steps())()
        made = [v for v in self.shapes if v not in "xy"]
        results = self.rng.sample(made, min(len(made), self.rng.randint(1, 3)))
        if made and made[-1] not in results:
            results.append(made[-1])
        body = [*self.lines, f"return ({''.join(f'{v}, ' for v in results)})"]
        return "def program(x, y):\n" + "".join(f"    {line}\n" for line in body)

    def steps(self) -> list:  # type: ignore[type-arg]
        """Each as often as it should come."""
        return [
            *[self.unary] * 3,
            *[self.binary] * 4,
            *[self.reduce] * 4,
            *[self.neighbours] * 2,
            self.transpose,
            self.flip,
            self.store,
            self.store_into_fresh,
            self.in_place,
        ]

    def add(self, text: str, shape: Shape) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape

    def pick(self, least_rank: int = 0) -> str:
        """A variable, later ones more often."""
        known = [v for v, s in self.shapes.items() if len(s) >= least_rank]
        return max(self.rng.choice(known), self.rng.choice(known), key=known.index)

    def unary(self) -> None:
        name = self.pick()
        self.add(self.rng.choice(_UNARY).format(name), self.shapes[name])

    def binary(self) -> None:
        one = self.pick()
        others = [v for v, s in self.shapes.items() if self.broadcast(self.shapes[one], s)]
        other = self.rng.choice(others)
        shape = self.broadcast(self.shapes[one], self.shapes[other])
        assert shape is not None
        pair = [one, other] if self.rng.random() < 0.5 else [other, one]
        self.add(self.rng.choice(_BINARY).format(*pair), shape)

    @staticmethod
    def broadcast(one: Shape, other: Shape) -> Shape | None:
        """The common shape, or None."""
        rank = max(len(one), len(other))
        left = (*[ONE] * (rank - len(one)), *one)
        right = (*[ONE] * (rank - len(other)), *other)
        axes = []
        for a, b in zip(left, right, strict=True):
            if a != b and ONE not in (a, b):
                return None
            axes.append(b if a == ONE else a)
        return tuple(axes)

    def reduce(self) -> None:
        name = self.pick(1)
        shape = self.shapes[name]
        axis = self.rng.randrange(len(shape))
        kept = self.rng.random() < 0.6
        if self.rng.random() < 0.1:
            self.add(f"{name}.{self.rng.choice(_REDUCE)}()", ())
            return
        keep = ", keepdims=True" if kept else ""
        rest = tuple(ONE if d == axis else s for d, s in enumerate(shape) if kept or d != axis)
        self.add(f"{name}.{self.rng.choice(_REDUCE)}(axis={axis}{keep})", rest)

    def neighbours(self) -> None:
        name = self.pick(1)
        shape = self.shapes[name]
        long = [d for d, (letter, less) in enumerate(shape) if letter != "1" and less < 2]
        if not long:
            return
        axis = self.rng.choice(long)
        before = ":, " * axis
        letter, less = shape[axis]
        kind = self.rng.choice(("({0}[{1}1:] - {0}[{1}:-1])", "{0}[{1}1:]", "{0}[{1}:-1]"))
        new = tuple((letter, less + 1) if d == axis else s for d, s in enumerate(shape))
        self.add(kind.format(name, before), new)

    def transpose(self) -> None:
        name = self.pick(2)
        self.add(f"{name}.T * 2", tuple(reversed(self.shapes[name])))

    def flip(self) -> None:
        name = self.pick(1)
        self.add(f"{name}[::-1] + 1", self.shapes[name])

    def value_for(self, shape: Shape) -> str:
        fits = [v for v, s in self.shapes.items() if self.broadcast(shape, s) == shape]
        return self.rng.choice(fits or ["2.5"])

    def store(self) -> None:
        target = self.rng.choice("xy")
        self.lines.append(f"{target}[...] = {self.value_for((N, M))}")

    def in_place(self) -> None:
        target = self.rng.choice("xy")
        operator = self.rng.choice(("+=", "-=", "*="))
        self.lines.append(f"{target} {operator} {self.value_for((N, M))}")

    def store_into_fresh(self) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = np.zeros_like(x)")
        self.shapes[name] = (N, M)
        inner = (("n", 2), M)
        self.lines.append(f"{name}[1:-1] = {self.value_for(inner)}")
