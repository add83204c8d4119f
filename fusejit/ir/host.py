"""Host expressions: what the launcher computes in Python before it calls a kernel.

    host ::= path | size(path, axis) | const | op(host, ...)
    path ::= arg:a | global:dt | closure:w | made:g0 | path.attribute | path["key"] | path[3]

Sizes, scalar arguments and arithmetic on them are Python's own objects computed by Python's own
operators once per call, so their values and errors are Python's by construction. A `Symbol` of the
graph names an integer host expression; a scalar input of the graph names any other one; a guard is
one whose truth the launcher compares with what the trace saw.
"""

from __future__ import annotations

import ctypes
import functools
import json
import math
import operator
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Path:
    """How a call finds an outside object: a root (argument, global, closure cell), then steps.

    ``steps`` holds ``(".", name)`` for an attribute and ``("[]", key)`` for an item, and at the end
    perhaps ``("column", ListColumn)`` for a column of a list. ``text`` is what the user wrote, if
    the name is none of the user's.
    """

    root: str  # "arg", "global", "closure", "const" or "made"
    name: str
    steps: tuple[tuple[str, Any], ...] = ()
    text: str = field(default="", compare=False, repr=False)

    def found_from(self, root: Any) -> Any:
        """The object, given the one at its root."""
        for kind, key in self.steps:
            if kind == "column":
                root = key.found_in(root)
            else:
                root = getattr(root, key) if kind == "." else root[key]
        return root

    def attribute(self, name: str) -> Path:
        """The path of an attribute of the object."""
        return Path(self.root, self.name, (*self.steps, (".", name)), self.text)

    def item(self, key: Any) -> Path:
        """The path of an item of the object."""
        return Path(self.root, self.name, (*self.steps, ("[]", key)), self.text)

    def column(self, column: Any) -> Path:
        """The path of a column of the list."""
        return Path(self.root, self.name, (*self.steps, ("column", column)), self.text)

    def __str__(self) -> str:
        return f"{self.root}:{self.name}{self._tail()}"

    def user_text(self) -> str:
        """The path as the user would write it: ``cfg['lr']``, ``global dt``."""
        tail = self._tail()
        name = (f"({self.text})" if tail else self.text) if self.text else self.name
        return f"{'' if self.root == 'arg' else self.root + ' '}{name}{tail}"

    def _tail(self) -> str:
        forms = {".": ".{}", "[]": "[{!r}]", "column": " {}"}
        return "".join(forms[kind].format(key) for kind, key in self.steps)


def is_column(path: Path) -> bool:
    """Whether a path leads to a column of a list."""
    return bool(path.steps) and path.steps[-1][0] == "column"


@dataclass(frozen=True, slots=True)
class HostOp:
    """A row of `HOST_OPS`: the Python function and the text the launcher uses for it."""

    name: str
    function: Callable[..., Any]
    template: str
    is_operator: bool = False

    def text(self, operands: Sequence[str], is_operand: bool = True) -> str:
        """Python text, in parentheses if it is an operand of more text and would need some."""
        text = self.template.format(*operands)
        return f"({text})" if self.is_operator and is_operand else text


def generator_address(rng: Any) -> int:
    """The address of a generator's ``bitgen_t`` (numpy/random/bitgen.h).

    Raises
    ------
    AttributeError
        If its bit generator is no `BitGenerator` of NumPy.
    """
    address: int = rng.bit_generator.ctypes.bit_generator.value
    return address


TWISTER = ctypes.c_uint32 * 625
"""The state of Python's generator: where it is among its words, then the 624 words."""


def twister_address(rng: random.Random) -> int:
    """The address of a generator's state, a `TWISTER`.

    Source: CPython's Modules/_randommodule.c, ``RandomObject``.

    Raises
    ------
    AttributeError
        If this Python has another layout.
    """
    if not has_known_twister():
        raise AttributeError("random.Random has another layout")
    return id(rng) + object.__basicsize__


@functools.cache
def has_known_twister() -> bool:
    """Whether the state of `random.Random` stands in memory as `twister_address` says."""
    rng = random.Random(1)
    size = ctypes.sizeof(TWISTER)
    if sys.implementation.name != "cpython" or type(rng).__basicsize__ < size:
        return False
    rng.random()
    at, *words = TWISTER.from_address(id(rng) + object.__basicsize__)
    return bool(rng.getstate()[1] == (*words, at))


# what NumPy computes of a float in its own way: as good as the kernel's, with other last bits
NUMPY_FUNCTIONS: tuple[np.ufunc, ...] = (
    *(np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
)

MAKE_GENERATORS: tuple[Callable[..., Any], ...] = (
    np.random.default_rng,
    np.random.RandomState,
    random.Random,
)
"""What makes generators of random numbers: each is given a seed."""

# functions of `math`, named alike in kernels; and those of two numbers
_MATH_FUNCTIONS = (
    "sqrt exp log sin cos tan tanh floor ceil log10 log2 log1p expm1 exp2 cbrt asin "
    "acos atan sinh cosh asinh acosh atanh degrees radians isnan isinf isfinite trunc "
    "gamma lgamma erf erfc"
)
_MATH_OF_TWO = ("atan2", "hypot", "copysign", "fmod")

_OPERATORS: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("add", operator.add, "{0} + {1}"),
    ("sub", operator.sub, "{0} - {1}"),
    ("mul", operator.mul, "{0} * {1}"),
    ("truediv", operator.truediv, "{0} / {1}"),
    ("floordiv", operator.floordiv, "{0} // {1}"),
    ("mod", operator.mod, "{0} % {1}"),
    ("pow", operator.pow, "{0} ** {1}"),
    ("lshift", operator.lshift, "{0} << {1}"),
    ("rshift", operator.rshift, "{0} >> {1}"),
    ("bitand", operator.and_, "{0} & {1}"),
    ("bitor", operator.or_, "{0} | {1}"),
    ("bitxor", operator.xor, "{0} ^ {1}"),
    ("neg", operator.neg, "-{0}"),
    ("pos", operator.pos, "+{0}"),
    ("invert", operator.invert, "~{0}"),
    ("lt", operator.lt, "{0} < {1}"),
    ("le", operator.le, "{0} <= {1}"),
    ("gt", operator.gt, "{0} > {1}"),
    ("ge", operator.ge, "{0} >= {1}"),
    ("eq", operator.eq, "{0} == {1}"),
    ("ne", operator.ne, "{0} != {1}"),
    ("not", operator.not_, "not {0}"),
    ("is_not", operator.is_not, "{0} is not {1}"),
    ("and", lambda a, b: bool(a) and bool(b), "bool({0}) and bool({1})"),
    ("or", lambda a, b: bool(a) or bool(b), "bool({0}) or bool({1})"),
)
_CALLS: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("abs", abs, "abs({0})"),
    ("truth", bool, "bool({0})"),
    ("min", min, "min({0}, {1})"),
    ("max", max, "max({0}, {1})"),
    ("int", int, "int({0})"),
    ("float", float, "float({0})"),
    ("round", round, "round({0})"),
    *((name, getattr(math, name), f"math.{name}({{0}})") for name in _MATH_FUNCTIONS.split()),
    *((name, getattr(math, name), f"math.{name}({{0}}, {{1}})") for name in _MATH_OF_TWO),
    ("math_pow", math.pow, "math.pow({0}, {1})"),
    ("is_integer", operator.methodcaller("is_integer"), "({0}).is_integer()"),
    ("bits", generator_address, "bits({0})"),
    ("twister", twister_address, "twister({0})"),
    *((f.__name__, f, f"{f.__name__}({{0}})") for f in MAKE_GENERATORS),
    *((f"np_{f.__name__}", f, f"np.{f.__name__}({{0}})") for f in NUMPY_FUNCTIONS),
)
HOST_NAMES: dict[str, Callable[..., Any]] = {
    "bits": generator_address,
    "twister": twister_address,
    **{function.__name__: function for function in MAKE_GENERATORS},
}
"""What the texts of some ops name."""
MAY_RAISE = frozenset([*_MATH_FUNCTIONS.split(), *_MATH_OF_TWO, "math_pow", "pow", "int", "round"])
"""Ops that raise for some numbers: the launcher computes them before anything is modified."""
HOST_OPS: dict[str, HostOp] = {
    **{name: HostOp(name, fn, text, is_operator=True) for name, fn, text in _OPERATORS},
    **{name: HostOp(name, fn, text) for name, fn, text in _CALLS},
}


def errstate_text(keywords: Mapping[str, str]) -> str:
    """Keywords of ``np.errstate`` in graphs: ``divide=ignore, over=warn``."""
    return ", ".join(f"{name}={value}" for name, value in keywords.items())


def errstate_keywords(text: str) -> dict[str, Any]:
    """The keywords that `errstate_text` has written."""
    return dict(part.split("=") for part in text.split(", ") if text)


_NEGATED = {"eq": "ne", "ne": "eq"}
_NEGATED_ORDERS = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}  # where there is no NaN
_INTEGER_OPS = ("add", "sub", "mul", "floordiv", "mod", "neg", "abs", "min", "max")


@dataclass(frozen=True, slots=True)
class HostExpr:
    """A tree over `HOST_OPS`; leaves are paths, sizes, constants and named symbols.

    ``op`` is a key of `HOST_OPS` (``attr`` is None, or the text of the ``np.errstate`` under which
    it is computed), or ``"path"`` (``attr`` a `Path`), ``"size"`` (``attr`` a path
    and an axis), ``"const"`` (``attr`` a Python number) or ``"name"`` (``attr`` a symbol or scalar
    input of the graph defined before).

    Attributes
    ----------
    num_nodes : int
        Of the tree: a part that stands in it twice counts twice, as it does in its text.
    """

    op: str
    operands: tuple[HostExpr, ...] = ()
    attr: Any = None
    num_nodes: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_nodes", 1 + sum(o.num_nodes for o in self.operands))

    @staticmethod
    def path(path: Path) -> HostExpr:
        """The object at ``path``."""
        return HostExpr("path", (), path)

    @staticmethod
    def size(path: Path, axis: int) -> HostExpr:
        """``path.shape[axis]``."""
        return HostExpr("size", (), (path, axis))

    @staticmethod
    def const(value: Any) -> HostExpr:
        """A number that the program's text contains."""
        return HostExpr("const", (), value)

    @staticmethod
    def named(name: str) -> HostExpr:
        """A symbol or scalar of the graph that is defined already."""
        return HostExpr("name", (), name)

    def evaluate(self, paths: Callable[[Path], Any], names: Mapping[str, Any]) -> Any:
        """Compute it: ``paths`` finds outside objects, ``names`` holds symbols and scalars."""
        if self.op == "path":
            return paths(self.attr)
        if self.op == "size":
            return paths(self.attr[0]).shape[self.attr[1]]
        if self.op == "const":
            return self.attr
        if self.op == "name":
            return names[self.attr]
        values = [o.evaluate(paths, names) for o in self.operands]
        function = HOST_OPS[self.op].function
        if self.attr:
            function = np.errstate(**errstate_keywords(self.attr))(function)
        return function(*values)

    def user_text(self, names: Mapping[str, HostExpr]) -> str:
        """It as the user would write it, symbols by what they stand for in ``names``.

        >>> HostExpr("eq", (HostExpr.size(Path("arg", "x"), 0), HostExpr.const(3))).user_text({})
        'x.shape[0] == 3'
        """
        return self._user_text(names, is_operand=False)

    def _user_text(self, names: Mapping[str, HostExpr], is_operand: bool = True) -> str:
        if self.op == "path":
            return str(self.attr.user_text())
        if self.op == "size":
            return f"{self.attr[0].user_text()}.shape[{self.attr[1]}]"
        if self.op == "const":
            return repr(self.attr)
        if self.op == "name":
            known = names.get(self.attr)
            return str(self.attr) if known is None else known._user_text(names, is_operand)
        if self.op == "not":
            (inner,) = self.operands
            opposite = _NEGATED.get(inner.op)
            if opposite is None and all(o._is_integer(names) for o in inner.operands):
                opposite = _NEGATED_ORDERS.get(inner.op)
            if opposite is not None:
                return HostExpr(opposite, inner.operands)._user_text(names, is_operand)
        return HOST_OPS[self.op].text([o._user_text(names) for o in self.operands], is_operand)

    def names(self) -> frozenset[str]:
        """The symbols and scalars that it reads."""
        if self.op == "name":
            return frozenset((self.attr,))
        return frozenset().union(*(o.names() for o in self.operands))

    @property
    def may_raise(self) -> bool:
        """Whether computing it may raise."""
        return self.op in MAY_RAISE or any(o.may_raise for o in self.operands)

    def _is_integer(self, names: Mapping[str, HostExpr]) -> bool:
        if self.op == "const":
            return isinstance(self.attr, int)
        if self.op == "name":
            return self.attr in names and names[self.attr]._is_integer(names)
        arithmetic = self.op in _INTEGER_OPS and all(o._is_integer(names) for o in self.operands)
        return self.op == "size" or arithmetic

    def __str__(self) -> str:
        if self.op == "path":
            return str(self.attr)
        if self.op == "size":
            return f"size({self.attr[0]}, {self.attr[1]})"
        if self.op == "const":
            return repr(self.attr)
        if self.op == "name":
            return str(self.attr)
        errstate = f" errstate {json.dumps(self.attr)}" if self.attr else ""
        return f"{self.op}({', '.join(map(str, self.operands))}){errstate}"
