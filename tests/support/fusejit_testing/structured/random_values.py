"""Random payload expressions: text, with the dtype and the size that the number has.

Numbers stay small, and a float that is not exact in every implementation (a sine, a sum) never
decides anything: it is not compared, rounded or converted to an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

BOOL, I64, F64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)
REAL_DTYPES = tuple(
    map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))
)
COMPLEX_DTYPES = (np.dtype("c8"), np.dtype("c16"))
LARGEST = 1e4
"""A float that may be larger is replaced by a number."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression.

    Attributes
    ----------
    bound : float
        Of the absolute value, of floats and complex numbers.
    is_exact : bool
        Whether NumPy and kernels compute the same bits.
    has_zero_sign : bool
        Whether the sign of a zero is determined: that of a maximum is not.
    """

    text: str
    dtype: np.dtype
    bound: float = 4.0
    is_exact: bool = True
    has_zero_sign: bool = True


def dtype_texts(dtype: np.dtype) -> list[str]:
    """The dtype in all ways that annotations and formulas write it."""
    name = dtype.name
    of_numpy = f"np.{'bool_' if dtype == BOOL else name}"
    return [of_numpy, f"np.dtype({of_numpy})", f'"{name}"', f"np.dtype('{name}')"]


class ValueMaker:
    """Makes expressions of given leaves.

    Parameters
    ----------
    is_formula : bool
        Whether the names of index notation (``max``, ``div``, ``where``) have a meaning.
    types : sequence of (str, np.dtype)
        Type variables that casts may name.
    """

    def __init__(
        self,
        rng: Random,
        leaves: Sequence[Value],
        is_formula: bool,
        types: Sequence[tuple[str, np.dtype]] = (),
    ) -> None:
        self.rng = rng
        self.leaves = leaves
        self.is_formula = is_formula
        self.types = types

    # -- any value ------------------------------------------------------------------------------
    def value(self, depth: int) -> Value:
        """An expression of some dtype."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return rng.choice(self.leaves)
        form = rng.choice((self._arithmetic,) * 3 + (self._function, self._where, self._compared))
        if rng.random() < 0.15:
            return self.cast(self.value(depth - 1), rng.choice(REAL_DTYPES))
        return self.tame(form(depth - 1))

    def of_dtype(self, dtype: np.dtype, depth: int) -> Value:
        """An expression that an output of the dtype takes."""
        value = self.value(depth)
        is_free = np.can_cast(value.dtype, dtype, "same_kind") and not (
            value.dtype.kind in "iu" and dtype.kind in "fc"  # such an integer may be large
        )
        if is_free and self.rng.random() < 0.5:
            return value
        return self.cast(value, dtype)

    def tame(self, value: Value) -> Value:
        """It, or a number where it is large or not finite."""
        if value.dtype.kind not in "fc" or value.bound <= LARGEST:
            return value
        where = self._where_name()
        text = f"{where}(np.abs({value.text}) < 1000, {value.text}, 1.5)"
        return replace(value, text=text, bound=1000.0)

    def cast(self, value: Value, dtype: np.dtype) -> Value:
        """It in another dtype; a float becomes an integer only where the integer holds it."""
        rng, text, source = self.rng, value.text, value.dtype
        if source == dtype and rng.random() < 0.7:
            return value
        if source.kind == "c" and dtype.kind != "c":
            text, source = f"np.abs({text})", F64
            value = replace(value, is_exact=False)
        if source.kind == "f" and dtype.kind in "iub" and not value.is_exact:
            return Value(self._constant(dtype), dtype)
        if source.kind == "f" and dtype.kind in "iu":
            if dtype.kind == "u":
                text = f"np.abs({text})"
            text = f"{self._where_name()}(np.abs({text}) < 100, {text}, 7.0)"
        name = rng.choice(("cast", "cast", "cast_unsigned"))
        if source.kind in "fc" or dtype.kind in "fc":
            name = "cast"
        named = [t for t, known in self.types if known == dtype]
        plain = f"np.{dtype.name}"
        written = rng.choice([*named, plain]) if dtype != BOOL else plain
        if written == plain:
            written = Random(text).choice(dtype_texts(dtype))
        bound = value.bound
        if source.kind in "iub" and dtype.kind in "fc":
            if source.kind != "b":
                text = f"({text} % 50)"
            bound = 50.0
        return Value(
            f"{name}({written}, {text})", dtype, bound, value.is_exact, value.has_zero_sign
        )

    # -- forms ----------------------------------------------------------------------------------
    def _where_name(self) -> str:
        return self.rng.choice(("where", "np.where")) if self.is_formula else "np.where"

    def _constant(self, dtype: np.dtype) -> str:
        number = {"b": "True", "f": "1.25", "c": "(0.5+2j)"}.get(dtype.kind, "3")
        return f"const(np.{'bool_' if dtype == BOOL else dtype.name}, {number})"

    def _pair(self, depth: int) -> tuple[Value, Value]:
        """Two values, mostly of one dtype."""
        first = self.value(depth)
        if self.rng.random() < 0.3:
            return first, Value(self._constant(first.dtype), first.dtype)
        second = self.value(depth)
        if first.dtype != second.dtype and self.rng.random() < 0.7:
            second = self.cast(second, first.dtype)
        return first, second

    def _promoted(self, ufunc: np.ufunc, *values: Value) -> np.dtype | None:
        try:
            found = ufunc.resolve_dtypes((*(v.dtype for v in values), None))
        except TypeError:
            return None
        known = (*REAL_DTYPES, *COMPLEX_DTYPES)
        return found[-1] if all(d in known for d in found) else None

    def _arithmetic(self, depth: int) -> Value:
        rng = self.rng
        if rng.random() < 0.2:
            return self._with_number(depth)
        a, b = self._pair(depth)
        ufunc: np.ufunc
        symbol, ufunc = rng.choice(
            (("+", np.add), ("-", np.subtract), ("*", np.multiply), ("+", np.add))
        )
        if a.dtype.kind in "iub" and b.dtype.kind in "iub" and rng.random() < 0.4:
            symbol, ufunc = rng.choice(
                (
                    ("//", np.floor_divide),
                    ("%", np.remainder),
                    ("&", np.bitwise_and),
                    ("|", np.bitwise_or),
                    ("^", np.bitwise_xor),
                )
            )
        dtype = self._promoted(ufunc, a, b)
        if dtype is None:
            return a
        bound = a.bound * b.bound if symbol == "*" else a.bound + b.bound
        if dtype.kind in "fc" and not (a.dtype.kind in "fc" and b.dtype.kind in "fc"):
            return a if a.dtype.kind in "fc" else b  # an integer has no bound
        is_exact = a.is_exact and b.is_exact and not (dtype.kind == "c" and symbol == "*")
        text = f"({a.text} {symbol} {b.text})"
        return Value(text, dtype, bound, is_exact, a.has_zero_sign and b.has_zero_sign)

    def _with_number(self, depth: int) -> Value:
        """A value and a Python number, which has no dtype of its own."""
        a = self.value(depth)
        if a.dtype == BOOL:
            return replace(a, text=f"(~{a.text})")
        if a.dtype.kind in "iu":
            text = self.rng.choice(("({} + 2)", "({} * 3)", "(5 - {})", "({} >> 1)", "(-{})"))
        else:
            text = self.rng.choice(("({} + 2)", "({} * 0.5)", "(1.5 - {})", "(3 * {})", "(-{})"))
        return replace(a, text=text.format(a.text), bound=3 * a.bound + 2)

    def _compared(self, depth: int) -> Value:
        a, b = self._pair(depth)
        if not (a.is_exact and b.is_exact):
            return a
        if "c" in (a.dtype.kind, b.dtype.kind):
            return Value(f"({a.text} == {b.text})", BOOL)
        return Value(f"({a.text} {self.rng.choice(('<', '<=', '==', '!=', '>'))} {b.text})", BOOL)

    def _where(self, depth: int) -> Value:
        a, b = self._pair(depth)
        condition = self._condition(depth)
        dtype = np.result_type(a.dtype, b.dtype)
        if dtype.kind in "fc" and {a.dtype.kind, b.dtype.kind} & {*"iu"}:
            return a if a.dtype.kind in "fc" else b
        if dtype not in (*REAL_DTYPES, *COMPLEX_DTYPES):
            return a
        return Value(
            f"{self._where_name()}({condition.text}, {a.text}, {b.text})",
            dtype,
            max(a.bound, b.bound),
            a.is_exact and b.is_exact,
            a.has_zero_sign and b.has_zero_sign,
        )

    def _condition(self, depth: int) -> Value:
        for _ in range(5):
            value = self._compared(depth)
            if value.dtype == BOOL:
                return value
        return Value("const(np.bool_, True)", BOOL)

    def _function(self, depth: int) -> Value:
        a = self.value(depth)
        kind = a.dtype.kind
        if kind == "c":
            return replace(a, text=f"np.square({a.text})", bound=a.bound**2, is_exact=False)
        makers: list[Callable[[Value, int], Value]] = [self._extremum]
        makers += [self._float_function] * 3 if kind == "f" else []
        makers += [self._integer_function] * 2 if kind in "iu" else []
        return self.rng.choice(makers)(a, depth)

    def _extremum(self, a: Value, depth: int) -> Value:
        b = self.cast(self.value(depth), a.dtype)
        names = ["np.maximum", "np.minimum", "np.fmax", "np.fmin"]
        if self.is_formula:
            names += ["max", "min"]
            names += ["max_unsigned", "min_unsigned"] if a.dtype.kind in "iub" else []
        text = f"{self.rng.choice(names)}({a.text}, {b.text})"
        return Value(text, a.dtype, max(a.bound, b.bound), a.is_exact and b.is_exact, False)

    def _integer_function(self, a: Value, depth: int) -> Value:
        b = self.cast(self.value(depth), a.dtype)
        forms = ["np.abs({0})", "np.sign({0})", "np.square({0})", "np.invert({0})"]
        forms += ["np.left_shift({0}, {1} & 3)", "np.right_shift({0}, {1} & 3)"]
        forms += ["np.fmod({0}, {1})"]
        if self.is_formula:
            forms += ["div({0}, {1})", "div_unsigned({0}, {1})", "sub({0}, {1})"]
        return replace(a, text=self.rng.choice(forms).format(a.text, b.text))

    def _float_function(self, a: Value, depth: int) -> Value:
        rng = self.rng
        smooth = [
            ("np.exp(-np.abs({}))", 1.0),
            ("np.sin({})", 1.0),
            ("np.tanh({})", 1.0),
            ("np.arctan({})", 2.0),
            ("np.log1p(np.abs({}))", 10.0),
        ]
        exact = [
            ("np.abs({})", a.bound),
            ("np.sqrt(np.abs({}))", a.bound + 1),
            ("np.square({})", a.bound**2),
        ]
        stepped = [
            ("np.floor({})", a.bound + 1),
            ("np.trunc({})", a.bound),
            ("np.rint({})", a.bound + 1),
            ("np.sign({})", 1.0),
        ]
        if self.is_formula:
            smooth += [("rsqrt(np.abs({}) + 1)", 1.0), ("reciprocal(np.abs({}) + 1)", 1.0)]
            stepped += [("round({})", a.bound + 1), ("ceil({})", a.bound + 1)]
            smooth += [("erf({})", 1.0), ("powf(np.abs({}) + 1, const({t}, 0.5))", a.bound + 1)]
        if rng.random() < 0.25:
            b = self.cast(self.value(depth), a.dtype)
            text = f"({a.text} / (np.abs({b.text}) + 1))"
            is_exact = a.is_exact and b.is_exact
            return Value(text, a.dtype, a.bound, is_exact, a.has_zero_sign)
        row = rng.choice([(smooth, False), (exact, True), (stepped, True)])
        if row[0] is stepped and not a.is_exact:
            row = (exact, True)
        form, bound = rng.choice(row[0])
        text = form.replace("{t}", f"np.{a.dtype.name}").format(a.text)
        return replace(a, text=text, bound=bound, is_exact=a.is_exact and row[1])
