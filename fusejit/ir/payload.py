"""Payload: the scalar program of a generic op, as SSA data.

    payload ::= { instr ; ... ; yield ref, ... }
    instr   ::= t0 = op ref, ... : dtype
              | t0 = const number : dtype
              | t0 = index (affine expression) : i64
              | t0 = cast ref : dtype
              | t0 = extract in1[ref, ...] : dtype
    ref     ::= in0 .. | out0 .. | t0 ..

`in<k>` is the element of input `k`, `out<k>` the element of init `k`. `index` is an affine
expression of the domain's dims and the graph's symbols. `extract` reads input `k` at computed
subscripts (a gather); the map of that input is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir import complex_numbers
from fusejit.ir.affine import AffineExpr
from fusejit.ir.complex_numbers import STRUCTURAL
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import BOOL, dtype_name
from fusejit.ir.types import I64 as I64


@dataclass(frozen=True, slots=True)
class Instr:
    """One instruction: ``op`` is a row of `SCALAR_OPS`, or const, index, cast, extract.

    ``operands`` number the block arguments first (inputs, then inits), then the instructions.
    ``attr`` is the number of a ``const``, the expression of an ``index``, and the input number of
    an ``extract``.
    """

    op: str
    operands: tuple[int, ...]
    dtype: np.dtype
    attr: Any = None

    def key(self) -> tuple[Any, ...]:
        """What makes two instructions the same (tells 0.0 from -0.0, and NaN from nothing)."""
        attr = repr(self.attr) if self.op == "const" else self.attr
        return (self.op, self.operands, self.dtype, attr)


@dataclass(frozen=True, slots=True)
class Payload:
    """``arguments`` are the dtypes of in0.., out0..; ``results`` are the refs that are yielded."""

    arguments: tuple[np.dtype, ...]
    num_inputs: int
    instrs: tuple[Instr, ...]
    results: tuple[int, ...]

    # -- queries --------------------------------------------------------------------------------
    @property
    def num_arguments(self) -> int:
        """Inputs plus inits."""
        return len(self.arguments)

    @property
    def inits(self) -> tuple[np.dtype, ...]:
        """The dtypes of the elements of inits."""
        return self.arguments[self.num_inputs :]

    def dtype_of(self, ref: int) -> np.dtype:
        """The dtype of a block argument or an instruction."""
        if ref < self.num_arguments:
            return self.arguments[ref]
        return self.instrs[ref - self.num_arguments].dtype

    def constant_of(self, ref: int) -> Any | None:
        """The number that a ref is, converted or not; None if it is no constant."""
        instr = self.instrs[ref - self.num_arguments] if ref >= self.num_arguments else None
        if instr is None or instr.op not in ("const", "cast"):
            return None
        number = instr.attr if instr.op == "const" else self.constant_of(instr.operands[0])
        return None if number is None else np.array(number).astype(instr.dtype).item()

    def used_arguments(self) -> frozenset[int]:
        """Which block arguments are read, by operands, extracts or the yield."""
        used = set(self.results)
        for instr in self.instrs:
            used.update(instr.operands)
            if instr.op == "extract":
                used.add(instr.attr)
        return frozenset(used.intersection(range(len(self.arguments))))

    def reads_init(self, index: int) -> bool:
        """Whether the element of init ``index`` is read."""
        return self.num_inputs + index in self.used_arguments()

    def has_index(self) -> bool:
        """Whether it asks where it is in the domain."""
        return any(i.op == "index" and i.attr.dims() for i in self.instrs)

    def gathered(self) -> frozenset[int]:
        """The inputs that it reads at computed subscripts."""
        return frozenset(i.attr for i in self.instrs if i.op == "extract")

    def has_extract(self) -> bool:
        """Whether it gathers."""
        return bool(self.gathered())

    def symbols(self) -> frozenset[str]:
        """The graph symbols it reads."""
        return frozenset().union(*(i.attr.symbols() for i in self.instrs if i.op == "index"))

    def over(
        self,
        dims: Sequence[AffineExpr] | Mapping[int, AffineExpr],
        symbols: Mapping[str, AffineExpr] | None = None,
    ) -> Payload:
        """The payload over other dims and symbols; the old ones are expressions of these."""
        instrs = (
            replace(i, attr=i.attr.substitute(dims, symbols)) if i.op == "index" else i
            for i in self.instrs
        )
        return replace(self, instrs=tuple(instrs))

    # -- meaning --------------------------------------------------------------------------------
    def evaluate(
        self,
        arguments: Sequence[Any],
        index: Callable[[AffineExpr], Any],
        extract: Callable[[int, Sequence[Any]], Any],
    ) -> tuple[Any, ...]:
        """Run it on NumPy scalars, or on arrays elementwise.

        ``index`` gives the value of an affine expression, ``extract`` gathers from an input.
        """
        values: list[Any] = list(arguments)
        for instr in self.instrs:
            operands = [values[o] for o in instr.operands]
            if instr.op == "const":
                value = instr.dtype.type(instr.attr)
            elif instr.op == "index":
                value = index(instr.attr)
            elif instr.op == "cast":
                value = np.asarray(operands[0]).astype(instr.dtype)[()]
            elif instr.op == "extract":
                value = extract(instr.attr, operands)
            else:
                value = SCALAR_OPS[instr.op].evaluate(operands, instr.dtype)
            values.append(value)
        return tuple(values[r] for r in self.results)

    # -- printing -------------------------------------------------------------------------------
    def ref_name(self, ref: int) -> str:
        """``in0``, ``out0`` or ``t0``."""
        if ref < self.num_inputs:
            return f"in{ref}"
        if ref < self.num_arguments:
            return f"out{ref - self.num_inputs}"
        return f"t{ref - self.num_arguments}"

    def instr_text(self, position: int) -> str:
        """The right-hand side of instruction ``position``."""
        instr = self.instrs[position]
        names = ", ".join(map(self.ref_name, instr.operands))
        if instr.op == "const":
            body = f"const {instr.attr!r}"
        elif instr.op == "index":
            body = f"index ({instr.attr})"
        elif instr.op == "extract":
            body = f"extract in{instr.attr}[{names}]"
        else:
            body = f"{instr.op} {names}"
        return f"{body} : {dtype_name(instr.dtype)}"

    def __str__(self) -> str:
        lines = [f"t{i} = {self.instr_text(i)}" for i in range(len(self.instrs))]
        lines.append("yield " + ", ".join(map(self.ref_name, self.results)))
        return "{ " + "; ".join(lines) + " }"


class PayloadBuilder:
    """Builds a payload instruction by instruction; equal instructions are made once.

    ``a + b`` and ``b + a`` are equal, as are other rows that are commutative.

    >>> b = PayloadBuilder([np.dtype("f8")], [np.dtype("f8")])
    >>> print(b.finish([b.op("mul", [0, 0], np.dtype("f8"))]))
    { t0 = mul in0, in0 : f64; yield t0 }
    """

    def __init__(self, inputs: Sequence[np.dtype], inits: Sequence[np.dtype]) -> None:
        self.arguments = (*inputs, *inits)
        self.num_inputs = len(inputs)
        self.instrs: list[Instr] = []
        self._made: dict[tuple[Any, ...], int] = {}

    def add(self, instr: Instr) -> int:
        """Append an instruction (or find the equal one) and return its ref."""
        if instr.op in STRUCTURAL and (known := self._known_part(instr)) is not None:
            return known
        key = instr.key()
        row = SCALAR_OPS.get(instr.op)
        if row is not None and row.commutative:
            key = (instr.op, tuple(sorted(instr.operands)), *key[2:])
        if key not in self._made:
            self.instrs.append(instr)
            self._made[key] = len(self.arguments) + len(self.instrs) - 1
        return self._made[key]

    def op(self, name: str, operands: Sequence[int], dtype: np.dtype) -> int:
        """A row of the scalar op table."""
        if name not in STRUCTURAL and any(self.dtype_of(o).kind == "c" for o in operands):
            return complex_numbers.applied(self, name, operands, dtype)
        return self.add(Instr(name, tuple(operands), dtype))

    def const(self, value: Any, dtype: np.dtype) -> int:
        """A number of the given dtype."""
        if dtype.kind == "c":
            return complex_numbers.constant(self, value, dtype)
        return self.add(Instr("const", (), dtype, dtype.type(value).item()))

    def index(self, expr: AffineExpr) -> int:
        """An affine expression of dims and symbols, as int64."""
        return self.add(Instr("index", (), I64, expr))

    def cast(self, ref: int, dtype: np.dtype) -> int:
        """``ref`` in another dtype; nothing when it has that dtype already."""
        source = self.dtype_of(ref)
        if source == dtype:
            return ref
        if "c" in (source.kind, dtype.kind):
            return complex_numbers.converted(self, ref, dtype)
        return self.add(Instr("cast", (ref,), dtype))

    def extract(self, operand: int, subscripts: Sequence[int], dtype: np.dtype) -> int:
        """Element of input ``operand`` at computed subscripts."""
        return self.add(Instr("extract", tuple(subscripts), dtype, operand))

    def padded(
        self,
        operand: int,
        subscripts: Sequence[AffineExpr],
        extents: Sequence[AffineExpr],
        leaving: Sequence[bool],
        outside: int,
    ) -> int:
        """``where(all(0 <= i < n), x[clip(i, 0, n - 1)], outside)``, of the axes ``leaving``."""
        zero, clipped, inside = self.const(0, I64), [], None
        for subscript, extent, may_leave in zip(subscripts, extents, leaving, strict=True):
            ref = self.index(subscript)
            if may_leave:
                last = self.op("minimum", [ref, self.index(extent - 1)], I64)
                within = self.op("maximum", [last, zero], I64)
                test = self.op("equal", [ref, within], BOOL)
                inside = test if inside is None else self.op("logical_and", [inside, test], BOOL)
                ref = within
            clipped.append(ref)
        dtype = self.dtype_of(operand)
        element = self.extract(operand, clipped, dtype)
        return element if inside is None else self.op("select", [inside, element, outside], dtype)

    def subscript(self, ref: int, extent: AffineExpr) -> int:
        """An index as NumPy takes it, which may count from the end, counted from the start."""
        dtype = self.dtype_of(ref)
        ref = self.cast(ref, I64)
        if dtype.kind == "u" and dtype.itemsize < 8:
            return ref
        is_negative = self.op("less", [ref, self.const(0, I64)], BOOL)
        from_end = self.op("add", [ref, self.index(extent)], I64)
        return self.op("select", [is_negative, from_end, ref], I64)

    def inline(
        self,
        payload: Payload,
        arguments: Sequence[int | None],
        rewrite: Callable[[Instr], Instr] | None = None,
    ) -> tuple[int, ...]:
        """Copy the instructions of ``payload``, its arguments replaced by refs; gives its results.

        ``rewrite`` sees each instruction before its operands are renumbered (to remap ``index``
        expressions and ``extract`` operands); by default ``extract`` reads what has replaced its
        input. An argument that nothing reads may be None.
        """
        refs: list[int | None] = list(arguments)

        def renumbered(ref: int) -> int:
            new = refs[ref]
            if new is None:
                raise ValueError(f"{payload.ref_name(ref)} is read but was given no value")
            return new

        def moved(instr: Instr) -> Instr:
            return replace(instr, attr=renumbered(instr.attr)) if instr.op == "extract" else instr

        for instr in payload.instrs:
            new = (rewrite or moved)(instr)
            refs.append(self.add(replace(new, operands=tuple(map(renumbered, new.operands)))))
        return tuple(map(renumbered, payload.results))

    def _known_part(self, instr: Instr) -> int | None:
        """A part of what was put together, and what is put together from its own parts."""
        made = [self.instr_of(o) for o in instr.operands]
        if instr.op != "complex":
            (whole,) = made
            if whole is None or whole.op != "complex":
                return None
            return whole.operands[instr.op == "imag"]
        real, imag = made
        if real is None or imag is None or (real.op, imag.op) != ("real", "imag"):
            return None
        return real.operands[0] if real.operands == imag.operands else None

    def instr_of(self, ref: int) -> Instr | None:
        """The instruction after a ref, or None for a block argument."""
        n = len(self.arguments)
        return self.instrs[ref - n] if ref >= n else None

    def dtype_of(self, ref: int) -> np.dtype:
        """The dtype of a ref made so far."""
        n = len(self.arguments)
        return self.arguments[ref] if ref < n else self.instrs[ref - n].dtype

    def finish(self, results: Sequence[int]) -> Payload:
        """The payload that yields ``results``; instructions nothing needs are dropped."""
        return drop_dead(
            Payload(self.arguments, self.num_inputs, tuple(self.instrs), tuple(results))
        )


def drop_dead(payload: Payload) -> Payload:
    """The payload without the instructions that no result needs; the same object if all are."""
    n = payload.num_arguments
    live = {r for r in payload.results if r >= n}
    for position in reversed(range(len(payload.instrs))):
        if n + position in live:
            live.update(o for o in payload.instrs[position].operands if o >= n)
    if len(live) == len(payload.instrs):
        return payload
    new_ref: dict[int, int] = {i: i for i in range(n)}
    kept: list[Instr] = []
    for position, instr in enumerate(payload.instrs):
        if n + position in live:
            kept.append(replace(instr, operands=tuple(new_ref[o] for o in instr.operands)))
            new_ref[n + position] = n + len(kept) - 1
    return replace(payload, instrs=tuple(kept), results=tuple(new_ref[r] for r in payload.results))


def identity_payload(*dtypes: np.dtype) -> Payload:
    """``{ yield in0 }``: a copy, or one of each of several inputs."""
    n = len(dtypes)
    return Payload((*dtypes, *dtypes), n, (), tuple(range(n)))


def binary_payload(name: str, dtype: np.dtype) -> Payload:
    """``{ t0 = name in0, in1; yield t0 }``."""
    builder = PayloadBuilder([dtype, dtype], [dtype])
    return builder.finish([builder.op(name, [0, 1], dtype)])


def iterate_refs(payload: Payload) -> Iterator[tuple[int, Instr]]:
    """Each instruction with the ref other instructions know it by."""
    for position, instr in enumerate(payload.instrs):
        yield payload.num_arguments + position, instr
