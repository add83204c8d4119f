"""What programs do with a number of one of several types (`fusejit.tracer.values.union_scalar`).

An operation is computed once, on the number that holds all types, if it is the same for each of
them: integers are compared by value, and a loop of NumPy that is chosen for each of the types takes
the number converted to its dtype. Otherwise it is a conditional on the tag with the operation on
one type in each branch, and the result may again have one of several types.
"""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.ops import Assert
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.comparisons import COMPARISONS
from fusejit.tracer.ops.kernel_numbers import (
    arithmetic,
    as_kernel_number,
    chosen,
    is_number,
    number_type,
    truth_of,
)
from fusejit.tracer.ops.number_values import type_text
from fusejit.tracer.ops.traced_text import TEXT_OPS, compared, is_kernel_string, is_string
from fusejit.tracer.ops.union_types import (
    assembled,
    has_type_at,
    joined,
    mixes_strings,
    narrowed,
    of_some,
    only,
    relabelled,
    selected,
    tag,
    tag_number,
    type_of,
    typed,
    union,
    wide,
)
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python, unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operand_types import (
    BOOL,
    F64,
    I64,
    operand_of,
    represented_type,
    resolve,
)
from fusejit.tracer.values.operator_names import OPERATORS, SIGNS
from fusejit.tracer.values.pooled_objects import pooled
from fusejit.tracer.values.symbolic_number import NUMBER_OPS
from fusejit.tracer.values.union_scalar import (
    UNION_OPS,
    Choice,
    NumberType,
    OptionalTuple,
    TypeTest,
    TypeTests,
    UnionScalar,
    UnionType,
    is_union_scalar,
)

_SIGNS = {OPERATORS[name]: sign for name, sign in SIGNS.items()}
_SAME_IN_FLOATS = {
    np.add,
    np.subtract,
    np.multiply,
    np.negative,
    np.positive,
    np.absolute,
}  # Python's are NumPy's, and never raise
_EQUALITIES = (np.equal, np.not_equal)
_Outcome = tuple[str, np.dtype, NumberType]  # the rule, the dtype of the loop, what it gives


# ------------------------------------------------------------------------------------- conditionals
def in_branch_of_each_type(either: UnionScalar, function: Callable[[Any], Any]) -> Any:
    """``function`` of the number as one of each type, in a branch of its own."""

    def rest(place: int) -> Any:
        if place == len(either.type.types) - 1:
            return function(typed(either, place))
        return UNION_OPS.choose(
            has_type_at(either, place),
            lambda: function(typed(either, place)),
            lambda: rest(place + 1),
        )

    return rest(0)


def for_each_type(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args)``, in a branch for each type of the first argument that has several."""
    args = tuple(map(narrowed, args))
    at = next((k for k, a in enumerate(args) if is_union_scalar(a)), None)
    if at is None:
        return function(*args, **kwargs)

    def call(number: Any) -> Any:
        return for_each_type(function, *args[:at], number, *args[at + 1 :], **kwargs)

    return in_branch_of_each_type(args[at], call)


def in_either_case(maybe: OptionalTuple, function: Callable[[Any], Any]) -> Any:
    """``function`` of the tuple or object, and of None, in a branch of its own."""
    known = narrowed(maybe)
    if not isinstance(known, OptionalTuple):
        return function(known)
    return UNION_OPS.choose(maybe.tag, lambda: function(maybe.items), lambda: function(None))


def without_none(number: Any, text: Callable[[], str], error: str = "TypeError") -> Any:
    """A number that is not None: an `Assert`, whose failure is an error with ``text``."""
    if not is_union_scalar(number) or number.type.types[0] is not None:
        return number
    none = has_type_at(number, 0)
    holds = ARRAY_OPS.operator(np.logical_not, (none,))
    check = Assert(condition=holds.value(), reason=text(), error=error)
    number.trace.emit(check)
    return of_some(number, range(1, len(number.type.types)))


def _type_name(obj: Any) -> str:
    kind = represented_type(obj)
    is_numpy = issubclass(kind, np.generic | np.ndarray)
    return f"numpy.{kind.__name__}" if is_numpy else kind.__name__


# ---------------------------------------------------------------------------------------- operators
def operator(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    """A Python operator, or a call of a ufunc, on numbers of several types."""
    operands = tuple(map(narrowed, operands))
    if ufunc in _EQUALITIES and any(_may_be_none(o) or mixes_strings(o) for o in operands):
        return for_each_type(lambda *given: _equality(ufunc, given), *operands)
    if any(operand is None for operand in operands):  # narrowed to it
        if ufunc in _EQUALITIES:
            return _equality(ufunc, operands)
        raise needs_python("computes with None", MOVE_OUTSIDE)
    for k, operand in enumerate(operands):
        if _may_be_none(operand):
            others = [_type_name(o) for o in operands[1 - k :][:1] if not is_union_scalar(o)]

            def text(k: int = k, others: list[str] = others) -> str:
                names = others if k else ["NoneType", *others]
                names = [*names, "NoneType"] if k else names
                listed = " and ".join(map(repr, names))
                if ufunc is np.absolute:
                    return "bad operand type for abs(): 'NoneType'"
                if ufunc in COMPARISONS:
                    return f"{_SIGNS[ufunc]!r} not supported between instances of {listed}"
                return f"unsupported operand type(s) for {_SIGNS.get(ufunc, '?')}: {listed}"

            number = without_none(operand, text)
            return operator(ufunc, (*operands[:k], number, *operands[k + 1 :]))
    if any(map(mixes_strings, operands)):
        are_strings = any(map(is_string, operands))
        operands = tuple(only(o, strings=are_strings) for o in operands)
    if not any(map(is_union_scalar, operands)):
        return _of_one_type(ufunc, *operands)
    made = _at_once(ufunc, operands)
    if made is not None:
        return made
    return for_each_type(functools.partial(_of_one_type, ufunc), *operands)


def in_place(ufunc: np.ufunc, operands: tuple[Any, ...], out: TracedArray) -> Any:
    """``out += number``."""
    sign = f"{_SIGNS.get(ufunc, '?')}="
    text = f"unsupported operand type(s) for {sign}: 'numpy.ndarray' and 'NoneType'"
    numbers = [only(without_none(narrowed(o), lambda: text), strings=False) for o in operands]
    return for_each_type(lambda *given: ARRAY_OPS.operator(ufunc, given, out=out), *numbers)


def _may_be_none(obj: Any) -> bool:
    return is_union_scalar(obj) and obj.type.types[0] is None


def _equality(ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
    if any(o is None for o in operands):
        both = all(o is None for o in operands)
        return both if ufunc is np.equal else not both
    if len({*map(is_string, operands)}) == 2:  # no number is a string
        return ufunc is not np.equal
    return _of_one_type(ufunc, *operands)


def _of_one_type(ufunc: np.ufunc, *operands: Any) -> Any:
    if not any(map(is_kernel_string, operands)):
        return ARRAY_OPS.operator(ufunc, operands)
    if ufunc is np.add and all(map(is_string, operands)):
        return TEXT_OPS.added(*operands)
    made = compared(ufunc, operands) if ufunc in COMPARISONS else NotImplemented
    if made is NotImplemented:
        raise needs_python("computes with a string that only compiled code knows", MOVE_OUTSIDE)
    return made


def _at_once(
    ufunc: np.ufunc, operands: tuple[Any, ...], call: Callable[..., Any] | None = None
) -> Any:
    """One op for all types of the operands, if it is the same for each.

    ``call`` is given for a call of the ufunc, whose result is NumPy's also for Python's numbers.
    """
    if not all(is_union_scalar(o) or is_number(o) or isinstance(o, TracedArray) for o in operands):
        return None
    unions = list({id(o): o for o in operands if is_union_scalar(o)}.values())
    if any(t is None for e in unions for t in e.type.types):
        return None
    ways = list(itertools.product(*(range(len(e.type.types)) for e in unions)))
    outcomes = []
    for way in ways:
        places = {id(e): place for e, place in zip(unions, way, strict=True)}
        types = [o.type.types[places[id(o)]] if is_union_scalar(o) else None for o in operands]
        outcome = _outcome(ufunc, types, operands, call is None)
        if outcome is None:
            return None
        outcomes.append(outcome)
    if len({outcome[:2] for outcome in outcomes}) != 1:
        return None
    loop = outcomes[0][1]
    if loop.kind == "f" and loop != F64 and any(e.value.dtype == I64 for e in unions):
        return None  # Python's ints are rounded twice
    kinds = [outcome[2] for outcome in outcomes]
    kind = Kind.PYTHON if all(k is Kind.PYTHON for k, _ in kinds) else Kind.SCALAR
    converted = {id(e): as_kernel_number(e.value, kind, loop) for e in unions}
    operands = tuple(converted.get(id(o), o) for o in operands)
    made = ARRAY_OPS.operator(ufunc, operands) if call is None else call(*operands)
    if len(set(kinds)) == 1:
        return made
    result = union(*kinds)
    assert isinstance(result, UnionType)
    value = as_kernel_number(made, Kind.SCALAR, result.dtype)
    if len(unions) == 1:
        return assembled(result, value, relabelled(unions[0], result, kinds))
    place = tag_number(result, result.types.index(kinds[0]))
    for way, type_ in zip(ways, kinds, strict=True):
        if type_ != kinds[0]:
            tests = [has_type_at(e, at) for e, at in zip(unions, way, strict=True)]
            test = functools.reduce(functools.partial(arithmetic, np.logical_and), tests)
            this = tag_number(result, result.types.index(type_))
            place = selected(test, this, place, result.tag[1], Kind.PYTHON)
    return assembled(result, value, place)


def _outcome(
    ufunc: np.ufunc,
    types: Sequence[NumberType | None],
    operands: Sequence[Any],
    is_operator: bool,
) -> _Outcome | None:
    """How an operation is computed if the operands have ``types``, or their own where that is None.

    None where it is not the same for a number of such a type as for one that was converted.
    """
    own = [
        given or (number_type(o) if is_number(o) else (Kind.ARRAY, o.dtype))
        for given, o in zip(types, operands, strict=True)
    ]
    dtypes = [t[1] for t in own]
    all_python = is_operator and all(t[0] is Kind.PYTHON for t in own)
    are_whole = all(d.kind in "biu" for d in dtypes)
    if any(d.kind == "c" or d == np.uint64 for d in dtypes) or ufunc is np.matmul:
        return None
    has_array = any(t[0] is Kind.ARRAY for t in own)
    result_kind = Kind.ARRAY if has_array else Kind.PYTHON if all_python else Kind.SCALAR
    if ufunc in COMPARISONS and are_whole:
        return "by value", I64, (result_kind, BOOL)
    if all_python:
        has_float_form = ufunc in COMPARISONS or ufunc in _SAME_IN_FLOATS
        if ufunc is np.true_divide:  # by a number of the text, which is not 0
            has_float_form = type(operands[1]) in (int, float) and operands[1] != 0
        if are_whole or not has_float_form:
            return None
        return "floats", F64, (result_kind, BOOL if ufunc in COMPARISONS else F64)
    tokens = [
        operand_of(o if given is None else as_sample(given))
        for given, o in zip(types, operands, strict=True)
    ]
    *loop, result = resolve(ufunc, tokens)
    if len(set(loop)) != 1 or loop[0].kind not in "iuf":
        return None
    weak = [t for t in types if t is not None and t[0] is Kind.PYTHON]
    if weak and loop[0].kind in "iu" and loop[0] != I64:
        return None  # it has to fit
    return ("floats" if loop[0] == F64 else "loop"), loop[0], (result_kind, result)


def as_sample(type_: NumberType) -> Any:
    """A number of a type, of which only the type counts."""
    kind, dtype = type_
    zero = dtype.type(0)
    return zero.item() if kind is Kind.PYTHON else zero


# --------------------------------------------------------------------- truth, identity, conversions
def tuple_of_maybe(obj: OptionalTuple, text: str, error: str = "TypeError") -> Any:
    """The tuple, where it is one; elsewhere an error with ``text``."""
    known = narrowed(obj)
    if known is None:
        raise numpy_raises(f"{error}: {text}")
    if isinstance(known, OptionalTuple):
        obj.trace.emit(Assert(condition=obj.tag.value(), reason=text, error=error))
    return obj.items


def object_of_maybe(obj: Any, name: str) -> Any:
    """The object whose attribute is asked for, where it is one; elsewhere an AttributeError."""
    if not isinstance(obj, OptionalTuple) or pooled(obj.items) is None:
        return obj
    text = f"'NoneType' object has no attribute {name!r}"
    return tuple_of_maybe(obj, text, LEFT_TO_PYTHON)


def truth(number: UnionScalar) -> Any:
    """Whether it is true: None and 0 are not."""
    number = narrowed(number)
    if not is_union_scalar(number):
        return truth_of(number) if number is not None else False
    return truth_of(number.value)  # that of None is 0


def is_none(obj: Any) -> Any:
    """``obj is None``."""
    obj = narrowed(obj)
    if isinstance(obj, OptionalTuple):
        made: TracedArray = ARRAY_OPS.operator(np.logical_not, (obj.tag,))
        obj.trace.owned(TypeTests)[made.value()] = TypeTest(obj.tag.value(), frozenset([0]), 2)
        return made
    return has_type_at(obj, 0) if _may_be_none(obj) else obj is None


def _converted(name: str, number: UnionScalar) -> Any:
    """``int(x)``, ``float(x)``."""

    def text() -> str:
        return f"{name}() argument must be a string or a real number, not 'NoneType'"

    number = without_none(number, text)
    convert = PRIMITIVES[getattr(builtins, name)]
    if mixes_strings(number):
        return for_each_type(convert, number)
    return convert(number.value if is_union_scalar(number) else number)


def _extremum(ufunc: np.ufunc, *args: Any, **kwargs: Any) -> Any:
    items = args[0] if len(args) == 1 else args
    if kwargs or not isinstance(items, list | tuple):
        return NotImplemented
    return functools.reduce(lambda best, item: chosen(best, item, ufunc), map(narrowed, items))


def one_of_two(best: Any, item: Any, ufunc: np.ufunc) -> Any:
    """``item if item < best else best`` of numbers of different types."""
    takes_item = truth_of(item < best if ufunc is np.less else item > best)
    if not isinstance(takes_item, TracedArray):
        return item if takes_item else best
    type_ = joined(best, item)
    if type_ is None:
        names = " or ".join(type_text(type_of(o)) for o in (best, item))
        what = f"takes the min or max of numbers that no dtype holds both of ({names})"
        raise unsupported(what, "convert one of them first, with np.float64(..) or int(..)")
    if not isinstance(type_, UnionType):
        kind, dtype = type_
        item, best = (as_kernel_number(o, Kind.SCALAR, dtype) for o in (item, best))
        return selected(takes_item, item, best, dtype, kind)
    value = selected(
        takes_item, wide(item, type_.dtype), wide(best, type_.dtype), type_.dtype, Kind.SCALAR
    )
    kind, dtype = type_.tag
    place = selected(takes_item, tag(item, type_), tag(best, type_), dtype, kind)
    return assembled(type_, value, place)


def choice(number: Any) -> Any:
    """What the function returns: a number of each type, of which the launcher takes one."""
    one = narrowed(number)
    if isinstance(one, OptionalTuple):
        return Choice(one.tag, (None, one.items))
    if not is_union_scalar(one):
        return one
    return Choice(one.tag, tuple(typed(one, place) for place in range(len(one.type.types))))


def as_integer(obj: Any) -> Any:
    """An index or a bound that has one of several integer types, as a Python int."""
    obj = narrowed(obj)
    if not is_union_scalar(obj):
        return obj
    obj = without_none(obj, lambda: "an index is an integer, not None", LEFT_TO_PYTHON)
    obj = only(obj, strings=False)
    if not is_union_scalar(obj):
        return obj
    if any(t is None or t[1].kind not in "iu" for t in obj.type.types):
        return obj.refuse("needs the integer of")
    return as_kernel_number(obj.value, Kind.PYTHON, I64)


def as_stored(value: UnionScalar, target: TracedArray) -> Any:
    """A number that can be stored at once; None if the store depends on its type."""
    dtype, own = target.dtype, value.type
    if any(t is None or t[0] is Kind.TEXT for t in own.types):
        return None
    is_whole = own.dtype.kind in "biu"
    if dtype.kind in "iu" and is_whole and np.can_cast(own.dtype, dtype, "safe"):
        return value.value
    if dtype == F64 or (dtype.kind == "f" and own.dtype.kind == "f"):
        return value.value
    return None


def store(array: TracedArray, index: Any, value: Any) -> None:
    """``array[index] = value`` with a number of one of several types."""
    value = narrowed(value)
    at_once = as_stored(value, array) if is_union_scalar(value) else value
    if at_once is not None:
        ARRAY_OPS.setitem(array, index, at_once)
        return
    text = "float() argument must be a string or a real number, not 'NoneType'"
    if array.dtype.kind in "iu":
        text = (
            "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"
        )
    number = only(without_none(value, lambda: text), strings=False)
    for_each_type(lambda one: ARRAY_OPS.setitem(array, index, one), number)


def call(function: Any, handler: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    """A call of a function that is traced."""
    rule = _CALLS.get(function)
    if rule is not None:
        return rule(*args, **kwargs)
    if isinstance(function, np.ufunc) and not kwargs and len(args) == function.nin:
        text = "loop of ufunc does not support argument 0 of type NoneType"
        args = tuple(only(without_none(narrowed(a), lambda: text), strings=False) for a in args)
        made = _at_once(function, args, handler) if any(map(is_union_scalar, args)) else None
        if made is not None:
            return made

    if function in (builtins.len, builtins.ord):
        args = tuple(only(a, strings=True) for a in args)

    def one(*given: Any, **options: Any) -> Any:
        result = handler(*given, **options)
        return function(*given, **options) if result is NotImplemented else result

    return for_each_type(one, *args, **kwargs)


_CALLS: dict[Any, Callable[..., Any]] = {
    builtins.abs: lambda x: operator(np.absolute, (x,)),
    builtins.min: lambda *args, **kwargs: _extremum(np.less, *args, **kwargs),
    builtins.max: lambda *args, **kwargs: _extremum(np.greater, *args, **kwargs),
    builtins.int: lambda x: _converted("int", x),
    builtins.float: lambda x: _converted("float", x),
    builtins.bool: lambda x: NUMBER_OPS.kernel_arithmetic("truth", (truth(x),)),
    builtins.print: lambda *args, **kwargs: PRIMITIVES[builtins.print](*args, **kwargs),
    builtins.range: lambda *ends: PRIMITIVES[builtins.range](*map(as_integer, ends)),
}
