"""Runs of a host call on sample inputs: dtypes, ranks, orders and sizes of what it returns."""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.errors import FusejitError
from fusejit.ir import host_calls
from fusejit.ir.affine import AffineExpr
from fusejit.ir.host_calls import object_texts
from fusejit.ir.types import Kind, is_supported
from fusejit.ir.values import Value
from fusejit.ir.write_access import is_writeable
from fusejit.support.interrupts import is_from_handler
from fusejit.tracer.builder.layout import classify
from fusejit.tracer.builder.shapes import MAX_SIZE, Varies, normal_order
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.host.sample_inputs import elements, laid_out, other_elements
from fusejit.tracer.indexing.reshape_functions import is_contiguous, require_elements, without_ones
from fusejit.tracer.indexing.view_functions import permuted
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber

Assignment = dict[str, int]
# Sizes of sample inputs in the first run, and (in the reverse order) in the second one: all at
# least 4 apart, so that no extent is explained by chance, and halves and thirds of them differ as
# well.
_FIRST = (11, 19, 27, 35, 43, 51, 59, 67, 75, 83, 91, 99)
_SECOND = (15, 23, 31, 39, 47, 55, 63, 71, 79, 87, 95, 103)
_FIRST_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # for work that is their product
_SECOND_SMALL = (4, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21)
_SCALES = (1, 8, 64)  # larger ones for what needs so many elements: the tenth smallest
_MAX_ELEMENTS = 1 << 20  # of a sample input
_LARGEST_OF_A_CALL = 1 << 12  # sizes with which a function is tried a third time


class _TooLarge(Exception):
    """A sample input would have too many elements."""


class _TooSmall(Exception):
    """A sample input would have a negative size: what is left of an array that was cut."""


class SizesAreKnown(Exception):
    """Sizes have become constants: the function is tried again."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one run on sample inputs returned, and how it is put together."""

    parts: tuple[Any, ...]
    build: Callable[[Sequence[Any]], Any]


def is_view(obj: Any) -> bool:
    return isinstance(obj, np.ndarray) and obj.base is not None


def _affine(number: SymbolicNumber) -> AffineExpr | None:
    """What an integer is in a run; None for other numbers, which are those of this call.

    Integers of NumPy's and products of sizes may decide about sizes as sizes themselves do.
    """
    if number.affine is None and isinstance(number.value, bool | np.bool_):
        return None
    is_integer = isinstance(number.value, int | np.integer)
    may_be_size = is_integer and abs(int(number.value)) < MAX_SIZE
    return number.as_affine() if number.affine is not None or may_be_size else None


class Probe:
    """Runs of one call on sample inputs."""

    def __init__(
        self,
        trace: Trace,
        name: str,
        function: Callable[..., Any],
        call: str,
        traced: Sequence[TracedArray | SymbolicNumber],
        by_data: bool,
        size: AffineExpr | None,
        *,
        multiplies: bool,
    ) -> None:
        self.size = size
        self.tables = (_FIRST_SMALL, _SECOND_SMALL) if multiplies else (_FIRST, _SECOND)
        self.rng: Any = None
        self.trace = trace
        self.name = name
        self.function = function
        self.call = call
        self.traced = traced
        self.by_data = by_data
        canonical = trace.decisions.canonical
        self.exprs: list[AffineExpr] = []
        for obj in traced:
            if isinstance(obj, TracedArray):
                self.exprs += map(canonical, obj.extents)
            elif (affine := _affine(obj)) is not None:
                self.exprs.append(canonical(affine))
        self.exprs = list(dict.fromkeys(self.exprs))
        names = {s: None for e in self.exprs for s in sorted(e.symbols())}
        self.symbols = list(names)
        of_arrays = [o for o in traced if isinstance(o, TracedArray)]
        sizes = {s for o in of_arrays for e in o.extents for s in canonical(e).symbols()}
        self.numbers = [s for s in self.symbols if s not in sizes]

        self.counters = {s for s in self.symbols if trace.decisions.is_counter(s)}

    def hint(self, name: str) -> int:
        """The value of a symbol in this call."""
        return self.trace.decisions.hints[name]

    def run(self) -> tuple[list[Found], list[Assignment]]:
        """Two runs with all sizes different, or else with those equal that are equal in this call.

        Numbers that are no sizes (``k``-th, axes) have other values at first, and if the function
        refuses those, the ones of this call. Equal sizes that it needs become guards.
        """
        if len(self.symbols) > len(_FIRST):
            raise Fallback(f"{self.name} of arrays with more than {len(_FIRST)} sizes")
        last: Exception | None = None
        hints = [self.hint(s) for s in self.symbols]
        ways = [(keys, step) for keys in (self.symbols, hints) for step in (None, -1, 0)]
        for keys, step in ways:
            if step is not None and not self.numbers:
                continue
            for scale in _SCALES:
                assignments = self.assignments(keys, scale)
                if step is not None:
                    assignments = [
                        {**sizes, **{s: self.hint(s) + at * step for s in self.numbers}}
                        for at, sizes in enumerate(assignments)
                    ]
                try:
                    runs = [self.call_on_samples(a, at) for at, a in enumerate(assignments)]
                except _TooLarge:
                    break
                except _TooSmall:
                    continue
                except (FusejitError, Fallback):
                    raise
                except Exception as error:  # the function's own: whatever NumPy raises
                    if is_from_handler(error):
                        raise
                    last = error
                    continue
                if keys is hints:
                    self.require_alike()
                return runs, assignments
        if last is None:
            raise Fallback(f"{self.name} of an array that is too large to try")
        if self.require_constants():
            raise SizesAreKnown
        elements = (o for o in self.traced if isinstance(o, TracedArray) and not o.ndim)
        if any(element.dtype.kind in "iu" for element in elements):
            what = (
                f"{self.name} is given an element of an array, and it does not accept every integer"
            )
            raise needs_python(what, MOVE_OUTSIDE)
        text = f"{type(last).__name__}: {last}"
        otherwise = f"{self.name} was tried with other numbers, for which it raises {text}"
        if self.trace.is_segment:  # the rest of the function is compiled whatever happens here
            raise needs_python(otherwise, MOVE_OUTSIDE)
        raise numpy_raises(text, otherwise)

    def of_this_call(self) -> tuple[Found, Assignment] | None:
        """A third run, with the sizes of this call and other elements: what was found may not hold.

        Sizes such as ``(n + 7) // 8``, or of what has no leading zeros, are found only so.
        """
        sizes = {s: self.hint(s) for s in self.symbols}
        if any(size > _LARGEST_OF_A_CALL for size in sizes.values()):
            return None
        try:
            return self.call_on_samples(sizes, 2), sizes
        except (_TooLarge, _TooSmall, FusejitError, Fallback):
            return None
        except Exception as error:  # the function's own, for elements that it does not take
            if is_from_handler(error):
                raise
            return None

    def assignments(self, keys: Sequence[Hashable], scale: int) -> list[Assignment]:
        """Sizes for both runs: one for each key."""
        different = list(dict.fromkeys(keys))
        n = len(different)
        made = []
        first, second = self.tables
        for at, numbers in enumerate((first[:n], second[:n][::-1])):
            of_key = dict(zip(different, numbers, strict=True))
            sizes = {s: of_key[k] * scale for s, k in zip(self.symbols, keys, strict=True)}
            local = [s for s in self.symbols if s in self.counters]  # below what they count to
            made.append({**sizes, **{s: 1 + at + 2 * k for k, s in enumerate(local)}})
        return made

    def require_alike(self) -> None:
        """Guard that symbols of one value are equal."""
        decisions = self.trace.decisions
        first: dict[int, AffineExpr] = {}
        for name in self.symbols:
            if name in self.numbers:
                continue
            symbol = AffineExpr.symbol(name)
            other = first.setdefault(decisions.hints[name], symbol)
            if decisions.is_local(symbol - other):
                continue  # the function itself checks them
            decisions.equal(other, symbol, f"sizes that {self.name} needs to be equal")

    def require_constants(self) -> bool:
        """Guard that sizes are those of other arguments that are constants, if any are now."""
        decisions = self.trace.decisions
        of_arrays = [o for o in self.traced if isinstance(o, TracedArray)]
        constants = {decisions.constant(e) for o in of_arrays for e in o.extents}
        found = False
        for name in self.symbols:
            symbol = AffineExpr.symbol(name)
            if name not in self.numbers and not decisions.is_local(symbol):
                alike = self.hint(name) in constants
                reason = f"sizes that {self.name} needs to be equal"
                found |= alike and decisions.equal(symbol, self.hint(name), reason)
        return found

    def call_on_samples(self, sizes: Assignment, run: int) -> Found:
        """One run."""
        samples = [self._sample(o, sizes, run) for o in self.traced]
        names = {f"argument_{k}": a for k, a in enumerate(samples)}
        known = {"nan": np.nan, "inf": np.inf, "dtype": np.dtype, "np": np, "f": self.function}
        known["rng"] = copy.deepcopy(self.rng)
        text = f"f({self.call.format(*names, **object_texts(['rng']))})"
        if self.function is host_calls.with_selected:  # as many values as its mask selects here
            samples[2] = np.zeros(int(samples[1].sum()), samples[2].dtype)
            names["argument_2"] = samples[2]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = eval(text, {**known, **names})
        if made is None:
            return Found((), lambda items: None)
        is_tuple = isinstance(made, tuple)
        parts = tuple(made) if is_tuple else (made,)
        for part in parts:
            self._require_fresh(part, samples)
        if not is_tuple:
            return Found(parts, operator.itemgetter(0))
        return Found(parts, type(made)._make if is_named_tuple(made) else tuple)

    def _sample(self, obj: TracedArray | SymbolicNumber, sizes: Assignment, run: int) -> Any:
        if isinstance(obj, SymbolicNumber):
            affine = _affine(obj)
            if affine is None:
                return obj.value
            canonical = self.trace.decisions.canonical(affine)
            return type(obj.value)(canonical.evaluate((), sizes))
        canonical_extents = map(self.trace.decisions.canonical, obj.extents)
        shape = tuple(e.evaluate((), sizes) for e in canonical_extents)
        if min(shape, default=0) < 0:
            raise _TooSmall
        if int(np.prod(shape, dtype=float)) > _MAX_ELEMENTS:
            raise _TooLarge
        if run == 2:
            array = other_elements(shape, obj.dtype)
        else:
            array = elements(shape, obj.dtype, run if self.by_data else None)
            if run and obj.kind is not Kind.ARRAY and not self.by_data:  # it may be a flag
                array = np.logical_not(array).astype(obj.dtype)
        if obj.kind is Kind.SCALAR:
            return array[()]
        if obj.kind is Kind.PYTHON:
            return array.item()
        order = obj.sorted_order()
        has_gaps = order is not None and not _is_dense(obj, order)
        made = laid_out(array, order, has_gaps=has_gaps, still=obj.axes_by_motion()[1])
        if not made.size:  # what NumPy makes of no elements may be a view, which shares no memory
            require_elements(obj)
        return made

    def _require_fresh(self, part: Any, samples: Sequence[Any]) -> None:
        if not isinstance(part, np.ndarray | np.generic | bool | int | float):
            what = f"{self.name} returns an object of type {type(part).__name__}"
            raise needs_python(what, MOVE_OUTSIDE)
        dtype = np.asarray(part).dtype
        if not is_supported(dtype):
            what = f"{self.name} returns {dtype}, which fusejit does not compile"
            raise needs_python(what, MOVE_OUTSIDE)
        if isinstance(part, np.ndarray):
            arrays = [s for s in samples if isinstance(s, np.ndarray)]
            if any(np.may_share_memory(part, s) for s in arrays) or not is_writeable(part):
                raise needs_python(f"{self.name} returns a view of its argument", MOVE_OUTSIDE)


def _is_dense(array: TracedArray, order: tuple[int, ...]) -> bool:
    """Whether an array in this order has no gaps: many functions return such in its order only."""
    try:
        return is_contiguous(without_ones(permuted(array, order)))
    except Varies:
        return False


def results_of(
    probe: Probe,
    runs: Sequence[Found],
    assignments: Sequence[Assignment],
    third: tuple[Found, Assignment] | None,
) -> tuple[list[Value], tuple[str, ...]]:
    """Values for the results, and the symbols for extents that only the call knows."""
    trace = probe.trace
    first, second = runs
    if third is not None and not _are_alike(first, third[0]):
        raise needs_python(f"the kind of result of {probe.name} varies", MOVE_OUTSIDE)
    if len(first.parts) != len(second.parts):
        raise needs_python(f"the number of results of {probe.name} varies", MOVE_OUTSIDE)
    unknown: dict[tuple[int, int], AffineExpr] = {}
    results = []
    for at, (one, other) in enumerate(zip(first.parts, second.parts, strict=True)):
        a, b = np.asarray(one), np.asarray(other)
        if a.dtype != b.dtype or a.ndim != b.ndim or type(one) is not type(other):
            raise needs_python(f"the kind of result of {probe.name} varies", MOVE_OUTSIDE)
        extents = []
        for axis, pair in enumerate(zip(a.shape, b.shape, strict=True)):
            expr = _explained(probe, pair, assignments)
            if expr is not None and third is not None:
                size = np.shape(third[0].parts[at])[axis]
                expr = expr if expr.evaluate((), third[1]) == size else None
            if expr is None:
                if probe.size is not None:
                    unknown[pair] = probe.size
                elif pair not in unknown:
                    name = trace.locals.add(pair[0], AffineExpr.const(0), None)
                    trace.decisions.note_size_of_result(name)
                    unknown[pair] = AffineExpr.symbol(name)
                expr = unknown[pair]
            extents.append(expr)
        kind = Kind.ARRAY if isinstance(one, np.ndarray) else Kind.SCALAR
        if not isinstance(one, np.ndarray | np.generic):
            kind = Kind.PYTHON
        orders = {normal_order(classify(x)[0]) for x in (a, b) if x.size}  # no elements, no order
        order = orders.pop() if len(orders) == 1 and a.ndim > 1 else None
        results.append(trace.new_value(a.dtype, tuple(extents), kind, order))
    return results, () if probe.size is not None else tuple(map(str, unknown.values()))


def _are_alike(one: Found, other: Found) -> bool:
    """Whether two runs returned as many objects of the same types, dtypes and ranks."""
    if len(one.parts) != len(other.parts):
        return False
    pairs = list(zip(one.parts, other.parts, strict=True))
    return all(
        type(a) is type(b)
        and np.asarray(a).dtype == np.asarray(b).dtype
        and np.ndim(a) == np.ndim(b)
        for a, b in pairs
    )


def _explained(
    probe: Probe, pair: tuple[int, int], assignments: Sequence[Assignment]
) -> AffineExpr | None:
    """The expression that is the extent in both runs, if there is one."""
    if pair[0] == pair[1] and not (probe.by_data and pair[0] == 0):
        return AffineExpr.const(pair[0])
    for candidate in _candidates(probe):
        values = [candidate.evaluate((), a) for a in assignments]
        offset = pair[0] - values[0]
        if offset == pair[1] - values[1] and (offset == 0 or not probe.by_data) and abs(offset) < 3:
            return candidate + offset
    return None


def _candidates(probe: Probe) -> Iterator[AffineExpr]:
    exprs = [e for e in probe.exprs if e.as_constant() is None]
    yield from exprs
    if not probe.by_data:
        for k, left in enumerate(exprs):
            for right in exprs[k + 1 :]:
                yield left + right
