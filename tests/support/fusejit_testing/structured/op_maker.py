"""Makes random structured ops: a formula, or the arguments of `generic`, and their operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from fusejit_testing.structured.flaws import add_flaw
from fusejit_testing.structured.op_case import OpCase, Result
from fusejit_testing.structured.random_arrays import random_array
from fusejit_testing.structured.random_subscripts import (
    ATTRIBUTES,
    Domain,
    OperandText,
    SubscriptMaker,
)
from fusejit_testing.structured.random_values import (
    BOOL,
    COMPLEX_DTYPES,
    F64,
    I64,
    REAL_DTYPES,
    Value,
    ValueMaker,
    dtype_texts,
)

MAX_POINTS = 240
_COMMON = tuple(map(np.dtype, ("f8", "f8", "f4", "i8", "i4")))


def make_op(seed: int, sizes: int = 0) -> OpCase:
    """The op of a seed, and a call of it; other ``sizes`` are another call of the same op."""
    return _OpMaker(seed, sizes).case()


_OTHER_MEANINGS = ("np.float32", "np.dtype('i1')", "np.sin", "len", "3", "np")
"""What a module may have under the names of annotations."""


class _OpMaker:
    """Structure comes from ``rng``; sizes, layouts and numbers come from ``size_rng``."""

    def __init__(self, seed: int, sizes: int) -> None:
        self.seed = seed
        self.rng = rng = Random(seed)
        self.size_rng = Random(f"{seed} {sizes}")
        self.text_rng = Random(f"text {seed}")
        """What is the same op in another text."""
        self.is_formula = rng.random() < 0.65
        self.domain = self._domain()
        self.subscripts = SubscriptMaker(rng, self.size_rng, self.domain, self.is_formula)
        self.inputs: list[OperandText] = []
        self.outputs: list[OperandText] = []
        self.starts: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.numbers: list[str] = []
        self.merged: set[str] = set()
        """Outputs that lack a dim of another output."""

    def _domain(self) -> Domain:
        rng = self.rng
        parallel = ["i", "j", "k"][: rng.choice((0, 1, 1, 2, 2, 2, 3))]
        reductions = ["r", "s", "t"][: rng.choice((0, 0, 1, 1, 2, 3))]
        dims = [*parallel, *reductions]
        if rng.random() < 0.2:
            rng.shuffle(dims)
        sizes = {d: self.size_rng.choice((1, 2, 3, 4, 5, 7, 9, 17)) for d in dims}
        while math.prod(sizes.values()) > MAX_POINTS:
            largest = max(sizes, key=lambda d: sizes[d])
            sizes[largest] = sizes[largest] // 2
        if dims and self.size_rng.random() < 0.06:
            sizes[self.size_rng.choice(dims)] = 0
        return Domain(sizes, tuple(reductions))

    # -- operands -------------------------------------------------------------------------------
    def _dtype(self) -> np.dtype:
        way = self.rng.random()
        if way < 0.6:
            return self.rng.choice(_COMMON)
        return self.rng.choice(REAL_DTYPES if way < 0.93 else COMPLEX_DTYPES)

    def _fixed(self, dtype: np.dtype) -> str:
        """A dtype as an annotation names it."""
        return self.text_rng.choice(dtype_texts(dtype))

    def _add_inputs(self) -> None:
        rng = self.rng
        for name in "ABCD"[: rng.choice((0, 1, 1, 2, 2, 3, 4))]:
            operand = self._input(name, "Tensor")
            if rng.random() < 0.08 and self.is_formula:
                operand.role = "Number"
            else:
                for axis in range(rng.choice((0, 1, 1, 2, 2, 3, 4))):
                    operand.axes.append(self.subscripts.input_axis(name, axis))
            self.inputs.append(operand)

    def _input(self, name: str, role: str) -> OperandText:
        rng = self.rng
        same = [o for o in self.inputs if o.role == "Tensor"]
        if same and rng.random() < 0.4:
            like = rng.choice(same)
            return OperandText(name, role, like.type, like.dtype)
        dtype = self._dtype()
        type_ = self._fixed(dtype) if rng.random() < 0.1 else f'"T{name}"'
        return OperandText(name, role, type_, dtype)

    def _add_missing_dims(self, dims: Sequence[str]) -> None:
        """An operand with the dims whose extents are not known otherwise."""
        missing = [d for d in dims if d not in self.subscripts.plain and not self._is_solved(d)]
        if not missing:
            return
        is_shape = self.is_formula and self.rng.random() < 0.5
        for name, at in (("W", 0), ("X", 4)):
            if missing[at:]:
                operand = self._input(name, "Shape" if is_shape else "Tensor")
                for axis, dim in enumerate(missing[at : at + 4]):
                    operand.axes.append(self.subscripts.plain_axis(name, axis, dim))
                self.inputs.append(operand)

    def _is_solved(self, dim: str) -> bool:
        """Whether some axis is moved by this dim, and by others whose extents are known."""
        for operand in self.inputs:
            for axis in operand.axes:
                words = {w for w in axis.subscript.replace("[", " ").split() if w.isalpha()}
                moved = words & {*self.domain.sizes}
                others = moved - {dim, *self.subscripts.plain}
                is_step = not any(c in axis.subscript for c in "/%") and "- " not in axis.subscript
                if dim in moved and not others and is_step:
                    return True
        return False

    def _add_outputs(self) -> None:
        rng, parallel = self.rng, self.domain.parallel
        count = rng.choice((1, 1, 1, 2, 3))
        for name in "OPQ"[:count]:
            has_start = rng.random() < 0.55 or not self.is_formula
            dtype = self._dtype()
            type_ = f'"U{name}"'
            same = [o for o in self.inputs if o.role == "Tensor" and o.type.startswith('"')]
            if same and rng.random() < 0.3:
                like = rng.choice(same)
                type_, dtype = like.type, like.dtype
            elif not has_start:
                type_ = self._fixed(dtype)
            operand = OperandText(name, "Output", type_, dtype)
            dims = parallel
            if name == "P" and parallel and rng.random() < 0.2:  # it must be merged then
                dims = tuple(d for d in parallel if d != rng.choice(parallel))
                self.merged.add(name)
            operand.axes = self.subscripts.output_axes(name, dims, has_start=has_start)
            if has_start:
                self.starts.append(name)
            self.outputs.append(operand)

    # -- the case -------------------------------------------------------------------------------
    def case(self) -> OpCase:
        """The op and its call."""
        rng = self.rng
        self._add_inputs()
        self._add_outputs()
        self._add_missing_dims([*self.domain.sizes])
        updates, results = self._updates()
        text = self._formula(updates) if self.is_formula else self._generic(updates)
        data = self.size_rng
        arguments: dict[str, Any] = {}
        for operand in self.inputs:
            arguments[operand.name] = random_array(data, operand.shape, operand.dtype)
            if operand.role == "Number" and rng.random() < 0.5:
                arguments[operand.name] = arguments[operand.name][()]
        is_out = bool(self.starts) and rng.random() < 0.3
        for operand in self.outputs:
            if operand.name in self.starts:
                array = random_array(data, operand.shape, operand.dtype, is_new=is_out)
                arguments[operand.name] = array
        case = OpCase(
            self.seed,
            self.is_formula,
            text,
            [o.name for o in self.inputs if o.role != "Number"],
            self._call(is_out),
            arguments,
            results,
            self.starts if is_out else [],
            [] if is_out else self.starts,
        )
        case.sizes, case.values = self.domain.sizes, self.values
        case.operands = [*self.inputs, *self.outputs]
        given = [
            n if o.name not in self.starts else "None"
            for o, n in zip(self.outputs, self.numbers, strict=True)
        ]
        case.numbers = [eval(n, {"np": np}) for n in given]
        case.names = {f"N{d}": n for d, n in self.domain.sizes.items()} | ATTRIBUTES
        case.names |= {o.type.strip('"'): o.dtype for o in case.operands}
        add_flaw(Random(f"flaw {self.seed}"), case, {o.name: o for o in self.inputs})
        return case

    def _call(self, is_out: bool) -> str:
        rng = self.rng
        names = ", ".join(o.name for o in self.inputs)
        given = [o.name if o.name in self.starts else "None" for o in self.outputs]
        keywords = ""
        numbers = [self._number(o) if o.name not in self.starts else "None" for o in self.outputs]
        self.numbers = numbers if self.is_formula else ["None"] * len(numbers)
        if is_out and any(n != "None" for n in numbers):
            keywords = (
                f", init={numbers[0]}" if len(numbers) == 1 else f", init=({', '.join(numbers)})"
            )
        elif not is_out:
            given = [n if g == "None" else g for g, n in zip(given, numbers, strict=True)]
        if any(g != "None" for g in given):
            value = given[0] if len(given) == 1 else f"({', '.join(given)})"
            keywords += f", {'out' if is_out else 'init'}={value}"
        if not self.is_formula:
            inits = "" if is_out else ", ".join(given)
            symbols = ", symbols=SYMBOLS" if self.symbols else ""
            out = keywords if is_out else ""
            return (
                f"compute([{names}], [{inits}], MAPS, ITERATORS, payload{symbols}, name=NAME{out})"
            )
        if self.subscripts.uses_attributes and rng.random() < 0.3:
            keywords += ", strides=(1, 2)"
        return f"compute({names}{keywords})" if names else f"compute({keywords[2:]})"

    def _number(self, output: OperandText) -> str:
        """Where an output starts that no array is given for; mostly it is left out."""
        if self.rng.random() < 0.75:
            return "None"
        dtype = output.dtype
        number = {"b": "True", "f": "1.5", "c": "(1+0.5j)"}.get(dtype.kind, "3")
        if self.rng.random() < 0.4:
            return f"np.{'bool_' if dtype == BOOL else dtype.name}({number})"
        return number

    # -- formulas -------------------------------------------------------------------------------
    def _updates(self) -> tuple[list[str], list[Result]]:
        """The value of each output: statements of a formula, or what a payload returns."""
        rng = self.rng
        leaves = self._leaves()
        types = [
            (o.type.strip('"'), o.dtype)
            for o in (*self.inputs, *self.outputs)
            if self.is_formula and o.type.startswith('"') and o.role != "Shape"
        ]
        reduced = self.domain.sizes if self.merged else self.domain.reductions
        terms = math.prod(self.domain.sizes[d] for d in reduced)
        updates, results = [], []
        in_order = bool(self.starts) and not self.merged and rng.random() < 0.25
        for output in self.outputs:
            own = Value(self._element(output), output.dtype, has_zero_sign=False)
            seen = [*leaves]
            if in_order:
                seen += [
                    Value(self._element(o), o.dtype, is_exact=o.dtype.kind not in "fc")
                    for o in self.outputs
                    if o.name in self.starts
                ]
            maker = ValueMaker(rng, seen, self.is_formula, types)
            text, result = self._update(output, own, maker, terms, in_order)
            updates.append(text)
            results.append(result)
        return updates, results

    def _element(self, operand: OperandText) -> str:
        return operand.element if self.is_formula else operand.name.lower()

    def _leaves(self) -> list[Value]:
        rng, leaves = self.rng, []
        for operand in self.inputs:
            if operand.role == "Shape":
                continue
            leaf = Value(self._element(operand), operand.dtype)
            leaves += [leaf, leaf]
            if self.is_formula and operand.role == "Tensor" and rng.random() < 0.2:
                subscripts = self.subscripts.padded(operand)
                if rng.random() < 0.2 and operand.axes:
                    subscripts = operand.subscripts
                if subscripts:
                    number = {"b": "True", "f": "0.75", "c": "1j"}.get(operand.dtype.kind, "3")
                    text = f"{operand.name}.at({subscripts}, outside={number})"
                    leaves.append(Value(text, operand.dtype))
        for dim in self.domain.sizes:
            if rng.random() < 0.2 or not leaves:
                other = rng.choice([*self.domain.sizes])
                named = rng.choice((dim, dim, f"{dim} + 1", f"{dim} * 2 - {other}", f"{dim} // 2"))
                named = named if self.is_formula else f'"{named}"'
                leaves.append(Value(f"index({named})", I64))
        if not leaves:
            leaves.append(Value("const(np.float64, 1.25)", F64))
        return leaves

    def _has_singles(self, value: Value) -> bool:
        """Whether numbers of 32 bits may be among what a value is made of."""
        operands = (*self.inputs, *self.outputs)
        return any(o.dtype.char in "fF" for o in operands) or any(
            name in value.text for name in ("float32", "complex64")
        )

    def _update(
        self, output: OperandText, own: Value, maker: ValueMaker, terms: int, in_order: bool
    ) -> tuple[str, Result]:
        rng, dtype = self.rng, output.dtype
        kind = dtype.kind
        value = maker.of_dtype(dtype, rng.choice((1, 2, 2, 3)))
        combiner = self._combiner(output, in_order)
        if value.dtype != dtype and (in_order or combiner[:3] in ("max", "min")):
            value = maker.cast(value, dtype)
        if value.bound > 64 and kind in "fc":
            name = "where" if self.is_formula else "np.where"
            text = f"{name}(np.abs({value.text}) < 64, {value.text}, 1.5)"
            value = Value(text, value.dtype, 64.0, False)
        start = 4.0 if output.name in self.starts else 0.0
        unit = float(np.finfo(dtype).eps) if kind in "fc" else 0.0
        coarsest = float(np.finfo(np.float32).eps) if unit and self._has_singles(value) else unit
        rounding = 0.0 if value.is_exact else 64 * coarsest * max(value.bound, 1.0)
        target, text = self._element(output), value.text
        self.values.append((combiner, text))
        if combiner == "own":
            form, growth = self._own(kind)
            text = form.format(o=own.text, v=text)
            self.values[-1] = (combiner, text)
            bound = value.bound * (terms + 1) * growth + start
            tolerance = (terms + 1) * (rounding + 4 * unit * bound)
            return self._written(output, text), Result(dtype, bound, tolerance)
        if combiner == "":
            bound = value.bound + start
            return self._written(output, text), Result(dtype, bound, rounding)
        if combiner == "add":
            bound = value.bound * terms + start
            tolerance = (terms + 1) * (rounding + 2 * unit * bound) if kind in "fc" else 0.0
            written = f"{target} += {text}" if self.is_formula else f"{target} + {text}"
            return written, Result(dtype, bound, tolerance)
        if combiner == "multiply":
            if kind == "f":
                text, bound = self._near_one(text), 4.0 * 1.1 ** min(terms, 300)
                tolerance = (terms + 1) * bound * (80 * unit + rounding)
            else:
                bound = tolerance = 0.0
            written = f"{target} *= {text}" if self.is_formula else f"{target} * {text}"
            return written, Result(dtype, bound, tolerance)
        if combiner in ("and", "or"):
            sign = "&" if combiner == "and" else "|"
            written = (
                f"{target} {sign}= {text}"
                if self.is_formula
                else f"np.logical_{combiner}({target}, {text})"
            )
            return written, Result(dtype, 0.0, 0.0)
        written = f"{combiner}({target}, {text})"
        return self._written(output, written), Result(dtype, value.bound + start, rounding)

    def _near_one(self, text: str) -> str:
        """A factor of which many make no large product."""
        text = f"({text} * 0.001 + 1)"
        self.values[-1] = ("multiply", text)
        return text

    def _combiner(self, output: OperandText, in_order: bool) -> str:
        """What merges an output; empty for one that is written."""
        rng, kind = self.rng, output.dtype.kind
        if not self.domain.reductions and rng.random() < 0.7 and output.name not in self.merged:
            return ""
        if in_order and output.name in self.starts and rng.random() < 0.7:
            return "own"
        if kind == "c":
            return "add"
        if kind == "b":
            return rng.choice(("and", "or", "and", "or", "np.maximum"))
        names = ["add", "add", "add", "multiply", "np.maximum", "np.minimum"]
        if self.is_formula:
            names += ["max", "min"]
            names += ["max_unsigned", "min_unsigned"] if kind in "iu" else []
        return rng.choice(names)

    def _own(self, kind: str) -> tuple[str, float]:
        """A combiner of the op's own, and how much it may grow a number per term."""
        where = "where" if self.is_formula else "np.where"
        if kind == "b":
            return "({o} ^ {v})", 1.0
        if kind == "c":
            return "({o} * 0.5 + {v})", 1.0
        forms = [where + "({v} > {o}, {v}, {o})", "({o} - {v})", "np.maximum({v}, {o} - 1)"]
        forms += ["({o} * 0.5 + {v})"] if kind == "f" else ["({o} * 3 + {v})", "({o} ^ {v})"]
        return self.rng.choice(forms), 2.0

    def _written(self, output: OperandText, text: str) -> str:
        return f"{self._element(output)} = {text}" if self.is_formula else text

    # -- text -----------------------------------------------------------------------------------
    def _formula(self, updates: Sequence[str]) -> str:
        rng = self.rng
        parameters = []
        for operand in (*self.inputs, *self.outputs):
            axes = [
                a.annotation if a.annotation == "_" else f'"{a.annotation}"' for a in operand.axes
            ]
            items = [operand.type, *axes]
            parameters.append(f"{operand.name}: {operand.role}[{', '.join(items)}]")
        if self.subscripts.uses_attributes:
            parameters += [f"{name}={value}" for name, value in ATTRIBUTES.items()]
        body = [f"{o.element}" for o in self.inputs if o.role == "Shape" and o.axes]
        body += [o.element for o in self.inputs if o.role == "Tensor"]
        if rng.random() < 0.2 and self.domain.sizes:
            order = rng.sample([*self.domain.sizes], len(self.domain.sizes))
            body.insert(0, f"domain({', '.join(order)})")
        lines = "\n    ".join([*body, *updates])
        text = f"@structured_op\ndef op({', '.join(parameters)}):\n    {lines}\n"
        return self._other_meanings() + text

    def _other_meanings(self) -> str:
        """Statements that define some names of the annotations."""
        operands = [*self.inputs, *self.outputs]
        names = {o.type.strip('"') for o in operands if o.type.startswith('"')}
        names |= {a.annotation for o in operands for a in o.axes}
        rng = self.text_rng
        return "".join(
            f"{name} = {rng.choice(_OTHER_MEANINGS)}\n"
            for name in sorted(names)
            if name.isidentifier() and name != "_" and not hasattr(np, name) and rng.random() < 0.2
        )

    @property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """The extents that maps name."""
        operands = [*self.inputs, *self.outputs]
        found = {}
        for dim, (name, axis) in self.subscripts.plain.items():
            if any(f"N{dim} " in a.subscript for o in operands for a in o.axes):
                found[f"N{dim}"] = ([o.name for o in operands].index(name), axis)
        return found

    def _generic(self, updates: Sequence[str]) -> str:
        dims, symbols = ", ".join(self.domain.sizes), self.symbols
        named = f"[{', '.join(symbols)}]" if symbols else ""
        operands = [*self.inputs, *self.outputs]
        maps = [f"({dims}){named} -> ({o.subscripts})" for o in operands]
        outputs = [{w for a in o.axes for w in a.subscript.split()} for o in self.outputs]
        iterators = [
            "parallel" if all(d in found for found in outputs) else "reduction"
            for d in self.domain.sizes
        ]
        names = ", ".join(o.name.lower() for o in operands)
        values = updates[0] if len(updates) == 1 else f"({', '.join(updates)})"
        return (
            f"MAPS = {maps!r}\nITERATORS = {iterators!r}\nSYMBOLS = {symbols!r}\n\n\n"
            f"def payload({names}):\n    return {values}\n"
        )
