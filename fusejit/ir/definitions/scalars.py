"""Payload expressions: what an op computes of the current elements of its operands.

A `Scalar` is data: a tree over elements, constants, indices, casts and functions. Functions are
rows of the table of scalar ops (`np.exp`, `+`, `<`, ..), with NumPy's meaning and NumPy's promotion
of types, or one of `FUNCTIONS`, which have the meaning of MLIR's linalg dialect: division toward
zero, halves rounded away from zero, integers read as signed or unsigned. Booleans are NumPy's or
the dialect's, as the definition says.

`PayloadLowering` writes a tree as a payload once the dtypes are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.composed_functions import COMPOSED, COMPOSED_BY_NAME, Lower
from fusejit.ir.definitions.indices import DIM, Index, parse_index
from fusejit.ir.definitions.written_types import NAMED_TYPES, kernel_dtype, written_type
from fusejit.ir.linalg_functions import FUNCTIONS, Function, converted
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS, UFUNC_ROWS
from fusejit.ir.types import BOOL

READS = ("element", "padded", "gather")
"""The forms of scalars that read an operand."""

Token = Any
"""What NumPy's promotion sees: a dtype, or the type of a weak Python number."""
Typed = tuple[int, Token]
"""A ref of a payload under construction, and its token."""


@dataclass(frozen=True, eq=False, slots=True)
class Scalar(NDArrayOperatorsMixin):
    """One number, computed at each point of the domain.

    Attributes
    ----------
    op : str
        ``"element"``, ``"padded"``, ``"gather"``, ``"const"``, ``"index"``, ``"cast"``, or a
        function's name.
    operands : tuple of Scalar
        Of a padded element the value outside of its operand, of a gathered one its subscripts.
    attr : object
        Of an element the operand's name and its subscripts; of a constant the number and its type;
        of an index the expression; of a cast the type and whether it is signed.
    """

    op: str
    operands: tuple[Scalar, ...] = ()
    attr: Any = None

    @staticmethod
    def of(value: Any) -> Scalar:
        """``value`` itself, or the constant or the extent it is."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, Index):
            number = getattr(value, "number", None)
            if number is not None:
                return Scalar("const", (), (number, None))
            if value.names("dim"):
                raise TypeError(f"the dim {value} is a number only in a subscript: index({value})")
            return Scalar("index", (), value)
        if isinstance(value, (bool, int, float, complex, np.generic)):
            return Scalar("const", (), (value, None))
        exact = getattr(type(value), "exact", None)
        if exact is not None:  # a number of a traced call: the op is made for its value
            return Scalar.of(exact(value))
        name = getattr(value, "operand_name", None)
        if name is not None:
            raise TypeError(f"{name} has axes, or is an output: give its subscripts, {name}[..]")
        raise TypeError(f"a payload computes numbers, not {type(value).__name__}")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        row = UFUNC_ROWS.get(ufunc)
        if method == "__call__" and not kwargs and ufunc in COMPOSED:
            return apply(ufunc.__name__, *inputs)
        if method != "__call__" or kwargs or row is None:
            if ufunc is np.positive and method == "__call__":
                return self
            how = "" if method == "__call__" else f".{method}"
            raise TypeError(f"np.{ufunc.__name__}{how} is not a function of the scalar table")
        return apply(f"np.{row.name}" if row.name in FUNCTIONS else row.name, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where and len(args) == 3 and not kwargs:
            return apply("select", *args)
        name = getattr(function, "__name__", str(function))
        raise TypeError(f"np.{name} is not a function of scalars; a payload computes one number")

    def conjugate(self) -> Scalar:
        """``np.conjugate`` of it."""
        return apply("conjugate", self)

    conj = conjugate

    def __abs__(self) -> Scalar:
        return apply("absolute", self)

    def __bool__(self) -> bool:
        raise TypeError("a payload has no branches: choose with np.where(condition, a, b)")

    def __float__(self) -> float:
        raise TypeError("a payload computes with NumPy's functions: np.sin(x), not math.sin(x)")

    def __iter__(self) -> Any:
        raise TypeError("an element is one number")

    # -- queries --------------------------------------------------------------------------------
    def elements(self) -> list[tuple[str, tuple[Index, ...]]]:
        """The elements it reads, each once, from left to right."""
        return list(dict.fromkeys(s.attr for s in self.parts() if s.op in READS))

    def type_variables(self) -> list[str]:
        """The type variables that it names."""
        types = {"cast": 0, "const": 1}
        named = [s.attr[types[s.op]] for s in self.parts() if s.op in types]
        return [type_ for type_ in named if isinstance(type_, str)]

    def parts(self) -> Iterator[Scalar]:
        """It and all that it is made of, from left to right."""
        yield self
        for operand in self.operands:
            yield from operand.parts()

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.operands))
        if self.op == "gather":
            name, _places = self.attr
            places = [str(o.attr) if o.op == "index" else str(o) for o in self.operands]
            return f"{name}[{', '.join(places)}]"
        if self.op in ("element", "padded"):
            name, subscripts = self.attr
            text = f"{name}[{', '.join(map(str, subscripts))}]" if subscripts else name
            return text if self.op == "element" else f"padded({text}, {inner})"
        if self.op == "const":
            number, type_ = self.attr
            if callable(number):
                return f"{number.__name__}({type_name(type_)})"
            return f"{number!r}" if type_ is None else f"const({type_name(type_)}, {number!r})"
        if self.op == "index":
            return f"index({self.attr})" if self.attr.names("dim") else str(self.attr)
        if self.op == "cast":
            type_, is_signed = self.attr
            return f"cast{'' if is_signed else '_unsigned'}({type_name(type_)}, {inner})"
        return f"{self.op}({inner})"

    def __repr__(self) -> str:
        return f"Scalar({self})"


def type_name(type_: Any) -> str:
    """A type as a formula writes it."""
    return type_ if isinstance(type_, str) else str(np.dtype(type_))


def apply(name: str, *operands: Any) -> Scalar:
    """A function of scalars."""
    return Scalar(name, tuple(map(Scalar.of, operands)))


def element(operand: str, subscripts: tuple[Index, ...] = ()) -> Scalar:
    """An element of an operand."""
    return Scalar("element", (), (operand, subscripts))


def padded(operand: str, subscripts: tuple[Index, ...], outside: Scalar) -> Scalar:
    """An element of an operand, or ``outside`` where a subscript leaves it."""
    return Scalar("padded", (outside,), (operand, subscripts))


def gathered(operand: str, subscripts: Sequence[Any]) -> Scalar:
    """An element of an operand at places that are dims, or integers of other operands."""
    places = tuple(Index.of(0) if isinstance(s, Scalar) else s for s in subscripts)
    read = tuple(s if isinstance(s, Scalar) else Scalar("index", (), s) for s in subscripts)
    return Scalar("gather", read, (operand, places))


# -------------------------------------------------------------------- names that formulas may use
def cast(dtype: Any, x: Any) -> Scalar:
    """``x`` in another type; integers are signed. True is 1, and -1 in the dialect's ops."""
    return Scalar("cast", (Scalar.of(x),), (written_type(dtype), True))


def cast_unsigned(dtype: Any, x: Any) -> Scalar:
    """``x`` in another type; integers are read and made as unsigned, and True is 1."""
    return Scalar("cast", (Scalar.of(x),), (written_type(dtype), False))


def const(dtype: Any, number: Any) -> Scalar:
    """A constant of a given type; of a function of the dtype its result."""
    return Scalar("const", (), (number, written_type(dtype)))


def index(expression: Any) -> Scalar:
    """The int64 value of a dim, or of an expression of dims such as ``"d0 + d1"``."""
    parsed = parse_index(expression, {}, DIM) if isinstance(expression, str) else expression
    return Scalar("index", (), Index.of(parsed))


# --------------------------------------------------------------------------------------- lowering
class PayloadLowering:
    """Writes payload expressions into a builder.

    Parameters
    ----------
    builder : PayloadBuilder
    elements : mapping
        Operand name and subscripts, and True for a padded access, to the ref of the payload's
        argument.
    dtypes : mapping
        Type variables to dtypes.
    affine : callable
        From an `Index` to an `AffineExpr` of the op's dims.
    extents : mapping
        The extents of operands that are read as padded ones, if they have elements.
    numpy_bools : bool
        Whether booleans are NumPy's, else those of the dialect.
    weak : mapping
        The types of operands that are Python numbers.
    """

    def __init__(
        self,
        builder: PayloadBuilder,
        elements: Mapping[Any, int],
        dtypes: Mapping[str, np.dtype],
        affine: Callable[[Index], AffineExpr],
        extents: Mapping[str, Sequence[AffineExpr]],
        numpy_bools: bool,
        weak: Mapping[str, type],
    ) -> None:
        self.builder = builder
        self._weak = weak
        self._elements = elements
        self._dtypes = dtypes
        self._affine = affine
        self._extents = extents
        self._numpy_bools = numpy_bools
        self._known: dict[int, Typed] = {}

    def lower(self, scalar: Scalar) -> Typed:
        """The ref of a number and its token; a part that stands in a tree twice is written once."""
        known = self._known.get(id(scalar))
        if known is None:
            known = self._known[id(scalar)] = self._lowered(scalar)
        return known

    def cast_to(self, scalar: Scalar, dtype: np.dtype, what: str) -> int:
        """The ref of a number in the dtype that takes it; NumPy's rule ``same_kind`` holds.

        Raises
        ------
        TypeError
            If the rule does not allow it.
        """
        ref, token = self.lower(scalar)
        kind = token if isinstance(token, np.dtype) else np.dtype(token)
        if token is int and dtype.kind in "uifc":
            kind = dtype
        if not np.can_cast(kind, dtype, "same_kind"):
            raise TypeError(f"{what} is of type {dtype} and cannot take {kind} without a cast")
        return self.strong(ref, token, dtype)

    def strong(self, ref: int, token: Token, dtype: np.dtype) -> int:
        """A number in a dtype: Python integers go to float32 through float64."""
        if token is int and dtype.kind in "fc":
            ref = self.builder.cast(ref, np.dtype(np.float64))
        return self.builder.cast(ref, dtype)

    def dtype_of(self, type_: str | np.dtype) -> np.dtype:
        """The dtype that a type of a formula stands for."""
        return self._dtypes[type_] if isinstance(type_, str) else type_

    # -- the forms of scalars -------------------------------------------------------------------
    def _lowered(self, scalar: Scalar) -> Typed:
        if scalar.op == "element":
            ref = self._elements[scalar.attr]
            return ref, self._weak.get(scalar.attr[0], self.builder.dtype_of(ref))
        if scalar.op == "const":
            return self._const(*scalar.attr)
        if scalar.op == "index":
            token = I64 if scalar.attr.names("dim") else int
            return self.builder.index(self._affine(scalar.attr)), token
        operands = [self.lower(operand) for operand in scalar.operands]
        if scalar.op == "padded":
            return self._padded(scalar, *operands)
        if scalar.op == "gather":
            return self._gathered(scalar, operands)
        if scalar.op == "cast":
            type_, is_signed = scalar.attr
            dtype = self.dtype_of(type_)
            return self._cast(self._strong(operands[0]), dtype, is_signed), dtype
        if scalar.op in FUNCTIONS:
            return self._function(FUNCTIONS[scalar.op], operands)
        if scalar.op in COMPOSED_BY_NAME:
            return self._composed(*COMPOSED_BY_NAME[scalar.op], operands)
        return self._row(scalar.op.removeprefix("np."), operands)

    def _composed(self, ufunc: np.ufunc, lower: Lower, operands: Sequence[Typed]) -> Typed:
        """A function of NumPy that no row of the table computes."""
        *loop, result = ufunc.resolve_dtypes((*(token for _, token in operands), None))
        kernel_dtype(result)
        refs = [self.strong(*typed, dtype) for typed, dtype in zip(operands, loop, strict=True)]
        return lower(self.builder, refs, result), result

    def _cast(self, ref: int, dtype: np.dtype, is_signed: bool) -> int:
        source = self.builder.dtype_of(ref)
        if source == dtype or not (self._numpy_bools and BOOL in (source, dtype)):
            return converted(self.builder, ref, dtype, is_signed)
        if source == BOOL:
            return self.builder.cast(ref, dtype)
        zero = self.builder.const(np.zeros((), source)[()], source)
        return self.builder.op("not_equal", [ref, zero], BOOL)

    def _padded(self, scalar: Scalar, outside: Typed) -> Typed:
        """An element, or the value outside of its operand."""
        name, subscripts = scalar.attr
        number = self._elements[(*scalar.attr, True)]
        dtype = self.builder.dtype_of(number)
        other = self.strong(*outside, dtype)
        if name not in self._extents:  # it has no element
            return other, dtype
        places = [self._affine(subscript) for subscript in subscripts]
        leaving = [subscript.as_dim() is None for subscript in subscripts]
        return self.builder.padded(number, places, self._extents[name], leaving, other), dtype

    def _gathered(self, scalar: Scalar, subscripts: Sequence[Typed]) -> Typed:
        """An element at places that are elements; negative ones count from the end."""
        name, _places = scalar.attr
        number = self._elements[(*scalar.attr, True)]
        dtype = self.builder.dtype_of(number)
        if name not in self._extents:  # it has no element, and no place may be read
            return self.builder.const(np.zeros((), dtype)[()], dtype), dtype
        places = []
        for (ref, token), extent in zip(subscripts, self._extents[name], strict=True):
            if np.dtype(token).kind not in "iu":
                raise TypeError(f"{name} is indexed by integers, not by {np.dtype(token)}")
            places.append(ref if token is int else self.builder.subscript(ref, extent))
        return self.builder.extract(number, places, dtype), dtype

    def _const(self, number: Any, type_: Any) -> Typed:
        if callable(number):  # of the dtype, such as a combiner's identity
            number = number(self.dtype_of(type_))
        if type_ is None and isinstance(number, (np.generic, bool)):
            type_ = kernel_dtype(np.asarray(number).dtype)
        if type_ is not None:
            dtype = self.dtype_of(type_)
            return self.builder.const(np.asarray(number).astype(dtype)[()], dtype), dtype
        dtype = np.asarray(number).dtype
        return self.builder.const(number, kernel_dtype(dtype)), type(number)

    def _strong(self, typed: Typed) -> int:
        ref, token = typed
        return ref if isinstance(token, np.dtype) else self.strong(ref, token, np.dtype(token))

    def _function(self, function: Function, operands: Sequence[Typed]) -> Typed:
        """A function of linalg, whose operands have one type."""
        dtypes = {token for _, token in operands if isinstance(token, np.dtype)}
        if len(dtypes) > 1:
            names = " and ".join(sorted(map(str, dtypes)))
            raise TypeError(f"{function.name} takes operands of one type, not {names}: cast them")
        dtype = dtypes.pop() if dtypes else np.result_type(*(t(0) for _, t in operands))
        if dtype.kind not in function.kinds:
            raise TypeError(f"{function.name} is not defined for {dtype}")
        if dtype == BOOL and self._numpy_bools:
            function = FUNCTIONS.get(f"{function.name}_unsigned", function)
        refs = [self.strong(ref, token, dtype) for ref, token in operands]
        return function.lower(self.builder, refs, dtype), dtype

    def _row(self, name: str, operands: Sequence[Typed]) -> Typed:
        row = SCALAR_OPS[name]
        tokens = [token for _, token in operands]
        if row.ufunc is not None:
            *loop, result = row.ufunc.resolve_dtypes((*tokens, None))
        elif name == "select":
            given = [t if isinstance(t, np.dtype) else t(0) for t in tokens[1:]]
            result = np.result_type(*given)
            loop = [BOOL, result, result]
        else:
            loop, result = [np.dtype(t) for t in tokens], np.dtype(tokens[0])
        for dtype in (*loop, result):
            kernel_dtype(dtype)
        if row.template(loop[0]) is None and loop[0].kind != "c":
            raise TypeError(f"{name} of {loop[0]} is not compiled: cast the operands")
        refs = [
            self.strong(ref, token, dtype)
            for (ref, token), dtype in zip(operands, loop, strict=True)
        ]
        return self.builder.op(name, refs, result), result


def _named(name: str) -> Callable[..., Scalar]:
    def function(*operands: Any) -> Scalar:
        return apply(name, *operands)

    function.__name__ = name
    function.__doc__ = f"linalg's ``{name}`` of scalars."
    return function


FORMULA_NAMES: dict[str, Any] = {
    **{name: _named(name) for name in FUNCTIONS},
    "cast": cast,
    "cast_signed": cast,
    "cast_unsigned": cast_unsigned,
    "const": const,
    "index": index,
    "select": _named("select"),
    "where": _named("select"),
    "inf": math.inf,
    **NAMED_TYPES,
}
"""What a name in a formula means that its module does not define."""
