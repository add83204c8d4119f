"""Fills the fields of the templates in `fusejit_testing.programs.mutation_templates`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit_testing.programs.mutation_expressions import Expressions


class NoField(Exception):
    """There is nothing that a field could be filled with now."""


class Fields(dict[str, str]):
    """The fields of one statement, each filled when it is asked for first."""

    def __init__(self, source: Expressions) -> None:
        super().__init__(body="{body}")
        self.source = source

    def __missing__(self, field: str) -> str:
        text = self[field] = FILLERS[field[0]](self)
        return text

    def pick(self, *texts: str) -> str:
        """One of some texts with fields, filled."""
        return self.source.rng.choice(texts).format_map(self)

    def other(self, field: str, *, same_shape: bool = False) -> str:
        """An array by its name, if there is one of the shape of ``x``."""
        names = self.source.arrays()
        if same_shape:
            shape = self.source.names[self["x"]].shape
            names = [k for k in names if self.source.names[k].shape == shape]
        return self.source.rng.choice(names)

    def fresh(self) -> str:
        """A name that nothing is bound to."""
        self.source.num_made += 1
        return f"w{self.source.num_made - 1}"

    def extent(self, axis: int) -> int:
        """How long an axis of ``x`` is."""
        shape = self.source.names[self["x"]].shape
        if axis >= len(shape):
            raise NoField
        return int(shape[axis])


def _array(fields: Fields) -> str:
    source = fields.source
    names = [k for k in source.arrays() if source.names[k].ndim]
    if not names:
        raise NoField
    wide = [k for k in names if source.names[k].ndim > 1]
    return source.rng.choice(wide if wide and source.rng.random() < 0.3 else names)


def _operand(fields: Fields) -> str:
    source = fields.source
    return source.expression(source.names[fields["x"]].shape)


def _mask(fields: Fields) -> str:
    source = fields.source
    shape = source.names[fields["x"]].shape
    made = [k for k in source.arrays() if _is_mask(source.names[k], shape)]
    if made and source.rng.random() < 0.4:
        return source.rng.choice((made[-1], made[0], f"~{made[-1]}"))
    return fields.pick(
        "({x} > {n7})",
        "({x} < {y})",
        "({x} == {n7})",
        "(({x} > {n7}) & ({y} < {n8}))",
        "(({y} < {n7}) | ({x} > {n8}))",
        "({y} != {x}[::-1])",
        "({x} > {e})",
    )


def _is_mask(value: Any, shape: tuple[int, ...]) -> bool:
    return bool(value.dtype == bool and value.shape == shape)


def _line_mask(fields: Fields) -> str:
    length = fields.extent(0)
    names = fields.source.names
    lines = [k for k in fields.source.arrays() if names[k].shape == (length,)]
    if lines:
        name = fields.source.rng.choice(lines)
        return name if names[name].dtype == bool else f"({name} > {fields['n7']})"
    if names[fields["x"]].ndim > 1:
        return f"({fields['x']}[:, 0] > {fields['n7']})"
    return fields["m"]


def _subscripts(axis: int) -> Callable[[Fields], str]:
    def made(fields: Fields) -> str:
        length = fields.extent(axis)
        names, rng = fields.source.names, fields.source.rng
        good = [
            k
            for k in fields.source.arrays()
            if names[k].dtype.kind == "i"
            and names[k].ndim == 1
            and bool(np.all((names[k] >= -length) & (names[k] < length)))
        ]
        if good and rng.random() < 0.4:
            return rng.choice(good)
        n = f"{fields['x']}.shape[{axis}]"
        lines = [k for k in fields.source.arrays() if names[k].ndim == 1]
        if lines and length and rng.random() < 0.3:
            return f"(abs({rng.choice(lines)}).astype(np.int64) % {n})"
        return rng.choice(
            (
                f"np.arange({n})",
                f"np.arange({n})[::-1]",
                f"(np.arange({n}) // 2)",
                f"(np.arange({n}) * 2 % {n})",
                f"(-1 - np.arange({n}))",
                "np.array([0, -1, 0])",
                "np.array([1, 0])",
                "np.array([0, 0, 1], dtype=np.int32)",
            )
        )

    return made


def _element(fields: Fields) -> str:
    source = fields.source
    name = source.rng.choice(source.arrays())
    at = [source.rng.choice(("0", "-1", "0", fields["i9"])) for _ in source.names[name].shape]
    return f"{name}[{', '.join(at) or '()'}]"


def _number(fields: Fields) -> str:
    source = fields.source
    if "x" in fields and source.names[fields["x"]].dtype.kind in "iub":
        return source.rng.choice(("0", "1", "2", "3", "k" if "k" in source.names else "-1"))
    return source.number()


def _condition(fields: Fields) -> str:
    return fields.pick(
        "{z9}.sum() > {n9}",
        "{e9} > {n9}",
        "{e9} <= {e8}",
        "({z9} > {n9}).any()",
        "({z9} >= {n9}).all()",
        "{z9}.mean() < {n9}",
        "{e9} > {n9} and {e8} < 3",
        "{e9} > {n9} or {z9}.sum() < 0",
        "not {e9} > {n9}",
        "-2 < {e9} <= 2",
        "{e9}",
    )


def _static(fields: Fields) -> str:
    texts = ["{x}.shape[0] > 2", "len({x}) <= 3", "{x}.ndim == 2", "{x}.dtype == np.float64"]
    texts += ["{x}.shape == {z9}.shape", "{x}.size > 3"]
    if "k" in fields.source.names:
        texts += ["k > 1", "k == 0", "0 < k < 3"]
    return fields.pick(*texts)


def _place(fields: Fields) -> str:
    rng, variables = fields.source.rng, fields.source.loop_variables
    if variables and rng.random() < 0.7:
        return rng.choice(variables)
    return rng.choice(("0", "1", "2"))


def _trips(fields: Fields) -> str:
    texts = ["2", "3", "5", "6", "{x}.shape[0]", "1, 6", "5, 0, -2"]
    if "k" in fields.source.names:
        texts += ["k", "k + 1", "k + 4"]
    texts += list(fields.source.loop_variables)
    return fields.pick(*texts)


FILLERS: dict[str, Callable[[Fields], str]] = {
    "x": _array,
    "z": lambda fields: fields.other("z"),
    "y": lambda fields: fields.other("y", same_shape=True),
    "v": _operand,
    "p": lambda fields: fields.source.part(fields["z8"]),
    "m": _mask,
    "l": _line_mask,
    "d": _subscripts(0),
    "f": _subscripts(1),
    "e": _element,
    "n": _number,
    "o": lambda fields: fields.source.rng.choice("+-*+-"),
    "c": _condition,
    "s": _static,
    "i": _place,
    "r": _trips,
    "w": Fields.fresh,
    "t": lambda fields: fields.source.fresh(),
}
