"""Random programs for `fusejit.numpy`: views, stores, casts, errors, and foreign arrays.

A program is a list of lines that is run with NumPy and with the namespace. Each line stands in a
``try`` of its own, because many raise. In a program ``np`` is the namespace under test and
``numpy`` is NumPy, whose arrays are foreign to the namespace.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy

ARRAYS = "abcdef"
FOREIGN = "gh"
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<", "<=", "==", "!=", ">=", "@")
IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "&=", "|=", "**=")
UFUNCS = (
    "negative",
    "log",
    "sqrt",
    "abs",
    "sin",
    "square",
    "floor",
    "isnan",
    "conj",
    "sign",
    "exp",
)
BINARY_UFUNCS = (
    "add",
    "maximum",
    "minimum",
    "fmax",
    "arctan2",
    "subtract",
    "multiply",
    "hypot",
    "logical_and",
    "less",
)
REDUCTIONS = ("sum", "max", "mean", "any", "prod", "argmin", "std")
SHAPES = ("6", "(2, 3)", "(3, 2)", "(3,)", "(1, 3)", "(4, 3)", "(2, 1, 3)", "()", "0", "(6, 1)")
INDICES = (
    *("1:", ":-1", "::2", "::-1", "0", "-1", "...", "None", "1:3", ":, 1:", "..., 0", "9", ":, 0"),
    *("[0, 1]", "[2, 0, 0]", "..., None", ":0", "1:2, ::2", "[True, False]", "(0, 1)"),
)
SCALARS = ("2", "0", "-1.5", "True", "3.0", "1j", "300", "numpy.float32(2)", "numpy.int64(3)")


_INEXACT = frozenset(
    ("log", "sin", "exp", "arctan2", "hypot", "**", "**=", "sum", "mean", "prod", "std")
)
"""Functions of which kernels do not promise NumPy's bits."""


def _without(names: tuple[str, ...], is_exact: bool) -> tuple[str, ...]:
    return tuple(name for name in names if not (is_exact and name in _INEXACT))


class ProgramMaker:
    """Makes the lines of one program.

    Parameters
    ----------
    seed : int
    is_exact : bool
        Whether to leave out the functions of which kernels do not promise NumPy's bits, and most
        statements that are not recorded.
    """

    def __init__(self, seed: int, is_exact: bool = False) -> None:
        self.random = random.Random(seed)
        self.is_exact = is_exact
        self.binary = _without(BINARY, is_exact)
        self.in_place = _without(IN_PLACE, is_exact)
        self.reductions = _without(REDUCTIONS, is_exact)
        self.ufuncs = _without(UFUNCS, is_exact)
        self.binary_ufuncs = _without(BINARY_UFUNCS, is_exact)

    def program(self, num_lines: int) -> list[str]:
        """Return the lines of a program; the first ones make the arrays that others use."""
        lines = [f"{name} = {self.new('np')}" for name in reversed(ARRAYS)]
        lines += [f"{name} = {self.new('numpy')}" for name in FOREIGN]
        while len(lines) < num_lines:
            line = self.line()
            if self.random.random() < 0.06:
                inner = "; ".join([line, self.line()])
                line = f"for _ in range(3): {inner}"
            lines.append(line)
        return lines

    def choose(self, options: Any) -> Any:
        return self.random.choice(options)

    def name(self) -> str:
        return str(self.choose(ARRAYS[:4] if self.random.random() < 0.7 else ARRAYS))

    def operand(self) -> str:
        """A name, a view, a foreign array or a number."""
        chance = self.random.random()
        if chance < 0.55:
            return self.name()
        if chance < 0.7:
            return f"{self.name()}[{self.choose(INDICES)}]"
        if chance < 0.8:
            return str(self.choose(FOREIGN))
        return str(self.choose(SCALARS))

    def new(self, module: str) -> str:
        shape = self.choose(SHAPES[:7] if self.random.random() < 0.4 else SHAPES[:2])
        dtype = self.choose(DTYPES)
        order = self.choose(("", "", ", order='F'"))
        made = f"{module}.arange(6).reshape({self.choose(SHAPES[1:3])}{order}).astype('{dtype}')"
        return str(
            self.choose(
                (
                    made,
                    made,
                    f"{module}.ones({shape}, dtype='{dtype}'{order})",
                    f"{module}.full({shape}, {self.choose(SCALARS)})",
                    f"{module}.array([[1, 5, 2], [8, 0, 3]], dtype='{dtype}'{order})",
                    f"{module}.linspace(-1, 2, 6)",
                    f"{module}.zeros({shape}, dtype='{dtype}'{order})",
                )
            )
        )

    def line(self) -> str:
        """Return one statement."""
        forms: tuple[tuple[int, Callable[[], str]], ...] = (
            (2, lambda: f"{self.name()} = {self.new('np')}"),
            (
                8,
                lambda: (
                    f"{self.name()} = {self.operand()} {self.choose(self.binary)} {self.operand()}"
                ),
            ),
            (3, lambda: f"{self.name()} = np.{self.choose(self.ufuncs)}({self.operand()})"),
            (3, self.binary_ufunc),
            (5, lambda: f"{self.name()} = {self.name()}[{self.choose(INDICES)}]"),
            (5, lambda: f"{self.name()}[{self.choose(INDICES)}] = {self.operand()}"),
            (5, lambda: f"{self.name()} {self.choose(self.in_place)} {self.operand()}"),
            (3, lambda: f"{self.name()}[{self.choose(INDICES)}] += {self.operand()}"),
            (2, lambda: f"{self.name()} = {self.name()}"),
            (4, lambda: f"{self.name()} = {self.name()}.{self.method()}"),
            (2, lambda: f"{self.name()} = {self.name()}.astype('{self.choose(DTYPES)}')"),
            (
                2,
                lambda: (
                    f"s = {self.name()}.{self.choose(self.reductions)}({self.choose(('', '0'))})"
                ),
            ),
            (1, lambda: f"s = np.{self.choose(self.reductions)}({self.operand()}, axis=-1)"),
            (
                2,
                lambda: f"{self.name()}[{self.name()} > {self.choose(SCALARS)}] = {self.operand()}",
            ),
            (1, lambda: f"{self.name()} = {self.name()}[{self.name()} > 1]"),
            (2, self.function),
            (2, lambda: f"{self.name()} = {self.name()}.{self.choose(('T', 'real', 'imag'))}"),
            (2, lambda: f"{self.choose(FOREIGN)}[...] = {self.operand()}"),
            (2, lambda: f"{self.choose(FOREIGN)} += {self.operand()}"),
            (1, lambda: f"{self.choose(FOREIGN)} = numpy.asarray({self.name()})[...]"),
            (1, lambda: f"m = memoryview(numpy.asarray({self.name()}))"),
            (1, lambda: f"{self.name()}.{self.choose(('shape', 'real', 'imag', 'flat'))} = 3"),
            (1, lambda: f"{self.name()}.shape = {self.choose(SHAPES)}"),
            (1, lambda: f"{self.name()}.flags.writeable = {self.choose(('False', 'True'))}"),
            (1, lambda: f"del {self.name()}"),
            (
                1,
                lambda: (
                    f"s = {self.choose(('repr', 'float', 'bool', 'len', 'list'))}({self.name()})"
                ),
            ),
        )
        weights = [weight for weight, _ in forms]
        if self.is_exact and self.random.random() < 0.9:
            weights = [8, 20, 8, 8, 12, 12, 12, 8, 3, 0, 5, 3, 3, 6, 0, 6, 5]
            weights += [0] * (len(forms) - len(weights))
        return self.random.choices([form for _, form in forms], weights)[0]()

    def binary_ufunc(self) -> str:
        name = self.choose(self.binary_ufuncs)
        call = f"np.{name}({self.operand()}, {self.operand()}"
        out = self.choose(("", "", f", out={self.name()}", f", out={self.choose(FOREIGN)}"))
        where = self.choose(("", "", "", f", where={self.name()} > 1, out={self.name()}"))
        if name == "less":  # of 300 and uint8, with ``where``: NumPy 2.4 may crash
            where = ""
        options = where or out
        return f"{self.name()} = {call}{options})"

    def method(self) -> str:
        shape = self.choose(SHAPES)
        options = (
            *("T", "copy()", "ravel()", f"reshape({shape})", "transpose()", "flatten()", "real"),
            *("squeeze()", "swapaxes(0, -1)", "clip(0, 2)", "cumsum()", "view()", "imag", "base"),
            *("view('int32')", "diagonal()", "round()", "repeat(2)", "conj()", "mT", "copy('F')"),
        )
        return str(self.choose(options))

    def function(self) -> str:
        x, y, z, mask = (self.name() for _ in range(4))
        options = (
            f"np.copyto({x}, {y})",
            f"np.copyto({self.choose(FOREIGN)}, {y}, casting='unsafe')",
            f"{x} = np.where({mask}, {y}, {z})",
            f"{x} = np.concatenate([{y}, {z}])",
            f"{x} = np.broadcast_to({y}, (4, 2, 3))",
            f"np.put({x}, [0, 2], {y})",
            f"np.fill_diagonal({x}, 9)",
            f"np.putmask({x}, {mask}, {y})",
            f"{x}.sort()",
            f"{x}.fill({self.choose(SCALARS)})",
            f"{x} = np.clip({y}, 1, {z})",
            f"{x}, {y} = {y}, {x}",
            f"{x} = np.split({y}, 2)[0]",
            f"np.add.at({x}, [0, 0, 1], {self.choose(SCALARS)})",
            f"{x} = np.add.accumulate({y})",
            f"{x} = np.stack([{y}, {y}])",
            f"{x} = np.asarray({self.choose(FOREIGN)})",
            f"{x} = np.array({y}, dtype='float32')",
            f"{x} = np.ascontiguousarray({y})",
            f"{x} = np.roll({y}, 1)",
            f"np.random.RandomState(0).shuffle({x})",
            f"{x} = np.sort({y}, axis=0)",
            f"{x} = np.full_like({y}, 3)",
            f"{x} = np.modf({y})[1]",
            f"s = np.shares_memory({x}, {y})",
        )
        return str(self.choose(options))


def source_of(lines: list[str]) -> str:
    """Return the source of a function ``program(np, numpy, errors)`` that returns its names."""
    body = ["def program(np, numpy, errors):"]
    for number, line in enumerate(lines):
        body += [
            "    try:",
            f"        {line}",
            "    except Exception as error:",
            f"        errors.append(({number}, type(error).__name__, str(error)))",
        ]
    body.append("    return locals()")
    return "\n".join(body)


def outcome(lines: list[str], namespace: Any) -> tuple[Any, ...]:
    """Run a program, and describe all that it can see of its arrays and errors."""
    scope: dict[str, Any] = {}
    exec(compile(source_of(lines), "<program>", "exec"), scope)
    errors: list[tuple[int, str, str]] = []
    with numpy.errstate(all="ignore"):
        names = scope["program"](namespace, numpy, errors)
    for name in ("np", "numpy", "errors", "error", "_"):
        names.pop(name, None)
    # facts that need no values first: looking at values may end what is pending
    arrays = {n: v for n, v in names.items() if isinstance(v, numpy.ndarray)}
    identities = [(m, n) for m in arrays for n in arrays if m < n and arrays[m] is arrays[n]]
    # ``numpy.asarray(x)`` makes a new view of an `Array`, whose base is not x
    given_away = any("numpy.asarray(" in line for line in lines)
    bases = [(m, n) for m in arrays for n in arrays if arrays[m].base is arrays[n]]
    bases = [] if given_away else bases
    layouts = {n: (v.shape, v.dtype, v.strides, v.flags.writeable) for n, v in arrays.items()}
    shared = [
        (m, n)
        for m in arrays
        for n in arrays
        if m < n and numpy.shares_memory(arrays[m], arrays[n])
    ]
    values = {n: _described(v) for n, v in names.items()}
    errors = [
        (line, "" if _TEXTS.get(text, text) == _SEQUENCE else kind, _TEXTS.get(text, text))
        for line, kind, text in errors
    ]
    return errors, identities, bases, layouts, shared, values


# A foreign array calls ``float`` of an `Array` that is stored in one element, and passes on what
# that raises; of an ndarray it makes its own text, and its own class of exception.
_SEQUENCE = "setting an array element with a sequence."
_TEXTS = {"only 0-dimensional arrays can be converted to Python scalars": _SEQUENCE}


def _described(value: Any) -> Any:
    if isinstance(value, memoryview):
        return ("memoryview", value.tobytes())
    if isinstance(value, numpy.ndarray) and value.dtype == object:
        return (value.shape, repr(value.tolist()))
    if isinstance(value, numpy.ndarray):
        return (value.dtype, value.shape, value.tobytes())
    if isinstance(value, list):
        return [_described(v) for v in value]
    return (type(value), repr(value))
