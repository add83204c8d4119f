"""Makes random mutation programs, statement by statement, while NumPy executes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from fusejit.testing.mutation_programs import HELPERS, MutationProgram, Parameter, Statement

LARGEST = 2.0**12
FINEST = 2.0**-6
MAX_ELEMENTS = 120


# ------------------------------------------------------------------------------------ generator
@dataclass(slots=True)
class _Maker:
    rng: Random
    names: dict[str, Any]
    num_made: int = 0
    loop_variables: list[str] = field(default_factory=list)

    # -- statements -------------------------------------------------------------------------------
    def statement(self, depth: int) -> Statement | None:
        """A random statement that NumPy accepts now, executed; or None if it does not."""
        kind = self.rng.choices(_KINDS, _WEIGHTS)[0]
        if kind in ("loop", "branch", "rows") and depth:
            kind = "store"
        before = {k: v for k, v in self.names.items() if k != "__builtins__"}
        memory = [(a, a.copy()) for a in before.values() if isinstance(a, np.ndarray)]
        made, loops = self.num_made, list(self.loop_variables)
        statement = self.block(kind, depth) if kind in ("loop", "branch", "rows") else None
        if statement is None and kind not in ("loop", "branch", "rows"):
            text = getattr(self, f"_{kind}")()
            statement = None if text is None else Statement(text)
        self.loop_variables = loops
        if statement is not None and self.runs(statement):
            return statement
        for array, contents in memory:
            if array.flags.writeable:
                array[...] = contents
        self.names.clear()
        self.names.update(before)
        self.num_made = made
        return None

    def runs(self, statement: Statement) -> bool:
        """Execute a statement; whether NumPy took it and all numbers are still exact."""
        try:
            with np.errstate(all="ignore"):
                exec("\n".join(statement.lines("")), self.names)
        except Exception:
            return False
        return bool(self.arrays()) and all(is_exact(v) for v in self.names.values())

    def block(self, kind: str, depth: int) -> Statement | None:
        """A loop or a branch; its body is made against the first pass."""
        names = self.arrays()
        if kind == "rows":
            array, row = self.rng.choice(names), self.fresh("r")
            header = f"for {row} in {array}:"
            value = self.names[array]
            if not value.ndim or not len(value):
                return None
            self.names[row] = value[0]
        elif kind == "loop":
            index = f"i{depth}"
            header = f"for {index} in range({self.rng.choice((0, 1, 2, 2, 3))}):"
            self.names[index] = 0
            self.loop_variables.append(index)
        else:
            array = self.rng.choice(names)
            if not self.names[array].ndim:
                return None
            test = self.rng.choice((">", "<", ">=", "=="))
            header = f"if {array}.shape[0] {test} {self.rng.randint(1, 4)}:"
        body: list[Statement] = []
        saved = dict(self.names), [(a, a.copy()) for a in self.values()]
        for _ in range(self.rng.randint(1, 3)):
            inner = self.statement(depth + 1)
            if inner is not None:
                body.append(inner)
        for array_, contents in saved[1]:
            if array_.flags.writeable:
                array_[...] = contents
        self.names.clear()
        self.names.update(saved[0])
        if kind == "rows":
            del self.names[row]
        return Statement(header, tuple(body)) if body else None

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
        """A literal."""
        return self.rng.choice(("0", "1", "2", "-1", "3", "0.5", "-2.0", "1.5", "True"))

    def index(self, length: int) -> str:
        """The index of one axis."""
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
            if broadcasts(self.evaluate(text), shape):
                return text
        return self.number()

    def evaluate(self, text: str) -> Any:
        """The value of an expression, or None where NumPy refuses it."""
        try:
            with np.errstate(all="ignore"):
                return eval(text, self.names)
        except Exception:
            return None

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
        return f"({a}).astype({self.rng.choice(_DTYPE_TEXTS)})"

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

    # -- kinds of statements ----------------------------------------------------------------------
    def _view(self) -> str:
        return f"{self.fresh('v')} = {self.part(self.rng.choice(self.arrays()))}"

    def _compute(self) -> str:
        shape = self.rng.choice(self.values()).shape
        return f"{self.fresh()} = {self.expression(shape)}"

    def _store(self) -> str | None:
        target = self.target()
        if target is None:
            return None
        text = self.expression(target[1])
        if numpy_copies_wrongly(self.evaluate(target[0]), self.evaluate(text)):
            text = f"({text}).copy()"
        return f"{target[0]} = {text}"

    def _update(self) -> str | None:
        target = self.target()
        op = self.rng.choice(("+=", "-=", "*=", "+=", "-="))
        return None if target is None else f"{target[0]} {op} {self.expression(target[1])}"

    def _in_place(self) -> str:
        name = self.rng.choice(self.arrays())
        op = self.rng.choice(("+=", "-=", "*=", "+=", "-="))
        return f"{name} {op} {self.expression(self.names[name].shape)}"

    def _overlap(self) -> str:
        name = self.rng.choice(self.arrays())
        ndim = self.names[name].ndim
        choices = [
            "{x}[1:] -= {x}[:-1]",
            "{x}[:-1] += {x}[1:]",
            "{x}[:] = {x}[::-1]",
            "{x}[::2] = {x}[: ({x}.shape[0] + 1) // 2] * 1",
            "{x}[1:-1] = {x}[:-2] + {x}[2:]",
            "{x} += {x}[::-1]",
            "{x}[2:] = {x}[:-2] - {x}[1:-1]",
            "{x}[1:], {x}[:-1] = {x}[:-1], {x}[1:]",
            "{x}[0], {x}[-1] = {x}[-1], {x}[0]",
        ]
        if ndim > 1:
            choices += [
                "{x} += {x}.T",
                "{x}[:] = {x}.T",
                "{x}[1:, 1:] -= {x}[:-1, :-1]",
                "{x}[1:, :-1] = {x}[:-1, 1:]",
                "{x}[:, 1:] += {x}[:, :-1]",
                "{x} -= {x}[0]",
                "{x} -= {x}[:, :1]",
                "{x}.T[1:] *= {x}.T[:-1]",
                "{x}[0] = {x}[:, 0] * 1",
            ]
        return self.rng.choice(choices).format(x=name)

    def _masked(self) -> str:
        name = self.rng.choice(self.arrays())
        shape = self.names[name].shape
        number = self.number()
        if self.rng.random() < 0.5:
            return f"{name}[{name} {self.rng.choice(('>', '<', '=='))} {number}] = {self.number()}"
        return f"{name}[{self.operand(shape)} > {self.operand(shape)}] = {self.number()}"

    def _out(self) -> str:
        name = self.rng.choice(self.arrays())
        text = name if self.rng.random() < 0.4 else self.part(name)
        value = self.evaluate(text)
        shape = value.shape if isinstance(value, np.ndarray) else ()
        ufunc = self.rng.choice(("add", "subtract", "multiply"))
        call = f"np.{ufunc}({self.operand(shape)}, {self.operand(shape)}, out={text})"
        return call if self.rng.random() < 0.6 else f"{self.fresh()} = {call}"

    def _swap(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        return f"{x}, {y} = {y}, {x}"

    def _alias(self) -> str:
        return f"{self.fresh()} = {self.rng.choice(self.arrays())}"

    def _create(self) -> str:
        x = self.rng.choice(self.arrays())
        made = self.rng.choice(
            (
                f"{x}.copy()",
                f"{self.part(x)}.copy()",
                f"np.zeros_like({x})",
                f"np.ones_like({self.part(x)})",
                f"np.zeros({x}.shape)",
                f"np.full({x}.shape, 2, dtype=np.int64)",
                f"np.ones({x}.shape[:1], dtype=np.float32)",
                f"np.arange({x}.shape[0])",
                f"np.full_like({x}, 1)",
                f"np.array({x})",
                f"np.asarray({x})",
                f"{x}.astype({self.rng.choice(_DTYPE_TEXTS)})",
            )
        )
        return f"{self.fresh()} = {made}"

    def _empty(self) -> str:
        x, new = self.rng.choice(self.arrays()), self.fresh()
        make = self.rng.choice((f"np.empty_like({x})", f"np.empty({x}.shape)"))
        fill = self.rng.choice(("[...] = 3", f"[...] = {x}", ".fill(2)"))
        return f"{new} = {make}; {new}{fill}"

    def _reduce(self) -> str:
        x = self.rng.choice(self.arrays())
        text = x if self.rng.random() < 0.5 else self.part(x)
        ops = ("sum",) if self.names[x].dtype.kind == "f" else ("sum", "max", "min")
        arguments = self.rng.choice(("", "axis=0", "axis=-1", "axis=0, keepdims=True"))
        return f"{self.fresh('s')} = {text}.{self.rng.choice(ops)}({arguments})"

    def _element(self) -> str:
        x = self.rng.choice(self.arrays())
        zeros = ", ".join(self.rng.choice(("0", "-1")) for _ in range(self.names[x].ndim))
        return f"{self.fresh('e')} = {x}[{zeros or '()'}]"

    def _scalars(self) -> str | None:
        names = [k for k, v in self.names.items() if isinstance(v, np.generic)]
        if not names:
            return None
        s, x = self.rng.choice(names), self.rng.choice(self.arrays())
        return self.rng.choice((f"{s} += 1", f"{x}[...] = {s}", f"{x} += {s}", f"{s} = {s} * 2"))

    def _helper(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        new = self.fresh("h")
        return self.rng.choice(
            (
                f"{new} = bump({x}, 1)",
                f"{new} = bump({self.part(x)}, 2)",
                f"{new} = first_half({x})",
                f"{x}, {new} = ordered({x}, {y})",
            )
        )

    def _fill(self) -> str:
        return f"{self.part(self.rng.choice(self.arrays()))}.fill({self.number()})"

    def _container(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        new = self.fresh("c")
        return self.rng.choice(
            (
                f"pair = [{x}, {y}]; pair[0] += 1; {new} = pair[1]",
                f"pair = ({x}, {y}); pair[1][...] = {self.number()}; {new} = pair[0]",
                f"named = {{'x': {x}}}; named['x'] -= 1; {new} = named['x']",
            )
        )


_DTYPE_TEXTS = ("np.float64", "np.float32", "np.int64", "np.int32")
_TABLE = {
    "view": 5,
    "compute": 4,
    "store": 6,
    "update": 4,
    "in_place": 4,
    "overlap": 4,
    "masked": 2,
    "out": 2,
    "swap": 1.5,
    "alias": 1,
    "create": 2,
    "empty": 0.7,
    "reduce": 1.5,
    "element": 1,
    "scalars": 1,
    "helper": 1,
    "fill": 0.5,
    "container": 0.5,
    "loop": 1.5,
    "branch": 0.7,
    "rows": 0.5,
}
_KINDS, _WEIGHTS = list(_TABLE), list(_TABLE.values())


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
    opposite signs, and goes backwards only if the value starts in front of the target.
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
    with np.errstate(all="ignore"):
        wide = np.asarray(value, np.float64)
        return bool(
            np.all(np.abs(wide) <= LARGEST) and np.all(np.rint(wide / FINEST) == wide / FINEST)
        )


def make_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = Random(seed)
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
    program = MutationProgram(seed, tuple(parameters), (), (), "one", (sizes, dict(sizes), others))
    names: dict[str, Any] = {}
    exec(HELPERS, names)
    names.update(zip((p.name for p in parameters), program.arguments(0), strict=True))
    maker = _Maker(rng, names)
    body: list[Statement] = []
    for _ in range(rng.randint(3, 14)):
        statement = maker.statement(0)
        if statement is not None:
            body.append(statement)
    returned: list[str] = []
    for _ in range(rng.randint(0, 4)):
        name = rng.choice([k for k, v in names.items() if isinstance(v, np.ndarray | np.generic)])
        text = name
        if isinstance(names[name], np.ndarray):
            text = maker.part(name) if rng.random() < 0.35 else name
            if rng.random() < 0.1:
                text = f"{maker.operand(names[name].shape)} + {name}"
        if maker.evaluate(text) is not None:
            returned.append(text)
    if returned and rng.random() < 0.1:
        returned.append(returned[0])
    container = rng.choice(("tuple", "tuple", "list", "dict", "nested", "one"))
    return replace(program, body=tuple(body), returned=tuple(returned), container=container)
