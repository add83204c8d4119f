"""Types of numbers that may have several: their union, the number that holds each, and its tag.

::

    0 or np.int32     ->  np.int32: 0 fits it, so the value is an int32
    int or np.int32   ->  int64
    int or np.float64 ->  float64, with an `Assert` that the int is exact in it, where that can fail
    None or np.uint8  ->  uint8
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.ops.kernel_numbers import arithmetic, as_kernel_number, is_number, number_type
from fusejit.tracer.ops.traced_text import (
    OF_CHARACTER,
    OF_TEXT,
    TracedText,
    is_string,
    kernel_number_of_text,
    type_of_text,
)
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64, Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import (
    NumberType,
    OptionalTuple,
    TypeTest,
    TypeTests,
    UnionScalar,
    UnionType,
    is_union_scalar,
)

OF_NONE = UnionType((None,), BOOL)
_LARGEST_EXACT = 1 << 53  # in a float64
EXACT = "a Python int that may be a float has at most 53 bits"
"""The reason of checks that an integer is the same number as a float64."""


def has_type(obj: Any) -> bool:
    """Whether an object is a number of any type, a string, or None."""
    return obj is None or is_value(obj) or is_string(obj)


def is_value(obj: Any) -> bool:
    """Whether an object is a number of any type, or a string that only the kernel knows."""
    return is_number(obj) or is_union_scalar(obj) or isinstance(obj, TracedText)


def type_of(obj: Any) -> NumberType | UnionType:
    """The type of a number, of a string, or of None."""
    if obj is None:
        return OF_NONE
    if is_string(obj):
        return type_of_text(obj)
    return obj.type if is_union_scalar(obj) else number_type(obj)


def _types(type_: NumberType | UnionType) -> tuple[NumberType | None, ...]:
    return type_.types if isinstance(type_, UnionType) else (type_,)


def _order(type_: NumberType | None) -> tuple[Any, ...]:
    if type_ is None:
        return (0,)
    if type_[0] is Kind.TEXT:
        return (2, type_ == OF_TEXT)
    return (1, type_[0] is not Kind.PYTHON, type_[1].kind, type_[1].itemsize)


def union(*types: NumberType | UnionType) -> NumberType | UnionType | None:
    """The type of a number that has one of several; None if no dtype holds them all."""
    dtypes = [t.dtype if isinstance(t, UnionType) else t[1] for t in types if t != OF_NONE]
    return _union_in(types, _common(dtypes))


def joined(*objects: Any) -> NumberType | UnionType | None:
    """The type of a number that is one of ``objects``; None if no dtype holds them all.

    A literal that fits the dtype of the others asks for no wider one.
    """
    types = list(map(type_of, objects))
    known = [o for o in objects if o is not None and type(o) in (bool, int, float)]
    others = [
        t.dtype if isinstance(t, UnionType) else t[1]
        for t, o in zip(types, objects, strict=True)
        if o is not None and not any(o is k for k in known)
    ]
    dtype = _common(others) if others else None
    if others and dtype is None:
        return None
    for literal in known:
        if dtype is None or not _holds(dtype, literal):
            own = number_type(literal)[1]
            dtype = _common([own] if dtype is None else [dtype, own])
    return _union_in(types, dtype)


def _union_in(
    types: Iterable[NumberType | UnionType], dtype: np.dtype | None
) -> NumberType | UnionType | None:
    found = {own for t in types for own in _types(t)}
    texts = {own for own in found if own is not None and own[0] is Kind.TEXT}
    has_numbers = bool(found - texts - {None})
    if texts and has_numbers and (dtype is None or dtype.kind not in "if" or dtype.itemsize < 8):
        return None  # nothing holds both
    if OF_TEXT in texts:
        found = found - texts | {OF_TEXT}
    all_types = tuple(sorted(found, key=_order))
    if len(all_types) == 1:
        return OF_NONE if all_types[0] is None else all_types[0]
    if texts and not has_numbers:
        return UnionType(all_types, I64)
    if dtype is not None and dtype.kind == "c":  # Python's or NumPy's
        return None if None in all_types else (Kind.SCALAR, dtype)
    return None if dtype is None else UnionType(all_types, dtype)


def _common(dtypes: Sequence[np.dtype]) -> np.dtype | None:
    """The smallest dtype that holds numbers of all: integers as floats up to 53 bits."""
    if not dtypes or any(d.kind not in "biuf" for d in dtypes):
        return dtypes[0] if len(set(dtypes)) == 1 else None
    made = np.result_type(*dtypes)
    is_rounded = made.kind == "f" and all(d.kind != "f" for d in dtypes)  # int64 with uint64
    return None if is_rounded else made


def _holds(dtype: np.dtype, literal: Any) -> bool:
    """Whether a number of the program's text is the same number in a dtype."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return not isinstance(literal, float) and bool(info.min <= literal <= info.max)
    if dtype.kind != "f" or (not isinstance(literal, float) and abs(literal) > _LARGEST_EXACT):
        return False
    with np.errstate(all="ignore"):
        rounded = float(dtype.type(literal))
    return rounded == literal or (rounded != rounded and literal != literal)


# ------------------------------------------------------------------------------------ their values
def _scalar(name: str, operands: Sequence[Any], dtype: np.dtype, kind: Kind, op: str) -> Any:
    """One scalar op on numbers of the kernel, whose dtypes are those of its payload."""
    loops = [BOOL if op == "select" and not at else dtype for at in range(len(operands))]

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return builder.op(op, refs, dtype)

    return emit_scalar(name, operands, loops, dtype, compute, kind)


def selected(test: TracedArray, first: Any, second: Any, dtype: np.dtype, kind: Kind) -> Any:
    """``first if test else second`` of numbers of one dtype, both computed."""
    return _scalar("select", (test, first, second), dtype, kind, "select")


def wide(obj: Any, dtype: np.dtype) -> TracedArray:
    """A number in the dtype that holds it exactly; 0 for None."""
    if obj is None:
        obj = 0
    if is_union_scalar(obj):
        obj = obj.value
    if is_string(obj):
        obj = kernel_number_of_text(obj)
    if type(obj) is int and dtype.kind == "f" and abs(obj) > _LARGEST_EXACT:
        what = "has a number that is a float or an integer beyond 53 bits"
        raise needs_python(what, "use floats only, or integers only")
    if type(obj) in (bool, int, float):
        return as_kernel_number(dtype.type(obj))
    if dtype.kind == "f":
        _require_exact(obj, dtype)
    return as_kernel_number(obj, Kind.SCALAR, dtype)


def _require_exact(number: Any, dtype: np.dtype) -> None:
    """An `Assert` that an integer is the same number as a float, unless its type says so."""
    own = number_type(number)[1]
    if own.kind not in "iu" or own.itemsize < dtype.itemsize:
        return
    affine = number.affine if isinstance(number, SymbolicNumber) and number.is_local else None
    if affine is not None and abs(affine.constant) < _LARGEST_EXACT // 2:
        return  # sizes and counters are far smaller
    number = as_kernel_number(number)

    def fits(builder: PayloadBuilder, refs: list[int]) -> int:
        low = builder.op("greater_equal", [refs[0], builder.const(-_LARGEST_EXACT, I64)], BOOL)
        high = builder.op("less_equal", [refs[0], builder.const(_LARGEST_EXACT, I64)], BOOL)
        return builder.op("logical_and", [low, high], BOOL)

    operand = Operand(own, array=number)
    ok = emit_scalar("exact", [operand], [I64], BOOL, fits)
    current_trace().emit(Assert(condition=ok.value(), reason=EXACT, error="53 bits"))


def tag_number(type_: UnionType, place: int) -> TracedArray:
    """The tag of the type at ``place``."""
    kind, dtype = type_.tag
    return as_kernel_number(dtype.type(place), kind)


def _place_of(own: NumberType | None, type_: UnionType) -> int:
    """The place of a type among those of ``type_``, where characters may be strings."""
    if own == OF_CHARACTER and own not in type_.types:
        own = OF_TEXT
    return type_.types.index(own)


def tag(obj: Any, type_: UnionType) -> TracedArray:
    """The tag that a number has among the types of ``type_``."""
    if not is_union_scalar(obj):
        return tag_number(type_, _place_of(_types(type_of(obj))[0], type_))
    if obj.type.types == type_.types:
        return obj.tag
    return relabelled(obj, type_, obj.type.types)


def relabelled(
    either: UnionScalar, type_: UnionType, types: Sequence[NumberType | None]
) -> TracedArray:
    """Translate a tag: type k of ``either`` becomes ``types[k]``, numbered as in ``type_``."""
    places = [_place_of(own, type_) for own in types]
    if places == list(range(len(type_.types))):
        return either.tag
    kind, dtype = type_.tag
    made = tag_number(type_, places[0])
    for k, place in enumerate(places[1:], start=1):
        if place != places[0]:
            made = selected(has_type_at(either, k), tag_number(type_, place), made, dtype, kind)
    return made


def has_type_at(either: UnionScalar, place: int) -> TracedArray:
    """Whether a number has the type at ``place``: a bool of the kernel."""
    num_types = len(either.type.types)
    made: TracedArray
    if num_types == 2:
        made = either.tag if place else ARRAY_OPS.operator(np.logical_not, (either.tag,))
    else:
        made = ARRAY_OPS.operator(np.equal, (either.tag, place))
    test = TypeTest(either.tag.value(), frozenset([place]), num_types)
    either.trace.owned(TypeTests)[made.value()] = test
    return made


def typed(either: UnionScalar, place: int) -> Any:
    """The number as one of the type at ``place``."""
    type_ = either.type.types[place]
    if type_ is None:
        return None
    value = either.value
    if type_[0] is Kind.TEXT:
        number = as_kernel_number(value, Kind.PYTHON, I64)
        return TracedText(either.trace, number, type_ == OF_CHARACTER)
    if type_ == (Kind.SCALAR, value.dtype):
        return value
    return as_kernel_number(value, *type_)


def assembled(type_: NumberType | UnionType, value: TracedArray, tag_: Any) -> Any:
    """A number made of its value and its tag."""
    return UnionScalar(type_, value, tag_) if isinstance(type_, UnionType) else value


def _type_indices(tag_: TracedArray, num_types: int) -> frozenset[int]:
    """Which of the types the conditionals around this place leave."""
    places = frozenset(range(num_types))
    key = tag_.value()
    for region in tag_.trace.regions:
        test = region.type_test()
        if test is not None and test.tag is key:
            places &= test.type_indices
    return places


def narrowed(obj: Any) -> Any:
    """A number as the conditionals around this place leave it: of one type, if they have asked."""
    if isinstance(obj, OptionalTuple):
        known = _type_indices(obj.tag, 2)
        return obj if len(known) == 2 else (obj.items if 1 in known else None)
    if not is_union_scalar(obj):
        return obj
    places = _type_indices(obj.tag, len(obj.type.types))
    if len(places) == 1:
        return typed(obj, *places)
    return obj if len(places) == len(obj.type.types) else of_some(obj, sorted(places))


def of_some(either: UnionScalar, places: Sequence[int]) -> Any:
    """A number that is known to have one of the types at ``places``."""
    if len(places) == 1:
        return typed(either, *places)
    types = [either.type.types[place] for place in places]
    type_ = UnionType(tuple(types), either.type.dtype)
    old = [t if k in places else types[0] for k, t in enumerate(either.type.types)]
    return UnionScalar(type_, either.value, relabelled(either, type_, old))


def mixes_strings(obj: Any) -> bool:
    """Whether it may be a string, and may be a number."""
    kinds = (
        {own[0] is Kind.TEXT for own in obj.type.types if own} if is_union_scalar(obj) else set()
    )
    return len(kinds) == 2


def only(obj: Any, *, strings: bool) -> Any:
    """The string, or the number, of what may be either: the call is Python's where it is the other.

    Python says what is wrong with it, or does something else.
    """
    obj = narrowed(obj)
    if not mixes_strings(obj):
        return obj
    types = enumerate(obj.type.types)
    places = [k for k, own in types if own and (own[0] is Kind.TEXT) is strings]
    tests = [has_type_at(obj, place) for place in places]
    holds = functools.reduce(functools.partial(arithmetic, np.logical_or), tests)
    reason = f"it is a {'string' if strings else 'number'}"
    current_trace().emit(Assert(condition=holds.value(), reason=reason, error=LEFT_TO_PYTHON))
    return of_some(obj, places)


def true_one(obj: Any) -> Any:
    """An object where it is known to be true: a number that may be None is not."""
    if not is_union_scalar(obj) or None not in obj.type.types:
        return obj
    obj = narrowed(obj)
    if not is_union_scalar(obj):
        return obj
    return of_some(obj, [k for k, own in enumerate(obj.type.types) if own is not None])
