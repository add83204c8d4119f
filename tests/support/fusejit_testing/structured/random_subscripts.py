"""Random operands: a subscript for each axis, what its annotation says, and its extent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

ATTRIBUTES = {"strides": (1, 2), "dilations": (2, 1)}
"""Attributes of some ops and their defaults."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Dims with their sizes; a size may be 0."""

    sizes: dict[str, int]
    reductions: tuple[str, ...]

    @property
    def parallel(self) -> tuple[str, ...]:
        """The dims that outputs have."""
        return tuple(d for d in self.sizes if d not in self.reductions)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its subscript, its extent, and the extent as the annotation has it."""

    subscript: str
    size: int
    annotation: str


@dataclass(slots=True)
class OperandText:
    """An operand of an op.

    Attributes
    ----------
    role : str
        ``"Tensor"``, ``"Number"``, ``"Shape"`` or ``"Output"``.
    type : str
        As the annotation has it.
    """

    name: str
    role: str
    type: str
    dtype: np.dtype
    axes: list[Axis] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(axis.size for axis in self.axes)

    @property
    def subscripts(self) -> str:
        """The subscripts, as in the formula."""
        return ", ".join(axis.subscript for axis in self.axes)

    @property
    def element(self) -> str:
        """The element at its subscripts; a number has none."""
        if self.role == "Number":
            return self.name
        return f"{self.name}[{self.subscripts or '()'}]"


class SubscriptMaker:
    """Makes axes over a domain.

    Parameters
    ----------
    is_formula : bool
        Whether attributes and extents of annotations may be named.
    """

    def __init__(self, rng: Random, size_rng: Random, domain: Domain, is_formula: bool) -> None:
        self.rng = rng
        self.size_rng = size_rng
        self.domain = domain
        self.is_formula = is_formula
        self.uses_attributes = is_formula and rng.random() < 0.2
        self.plain: dict[str, tuple[str, int]] = {}
        """For each dim with an axis of its own, an operand and an axis that have its extent."""
        self._numbered = 0

    def new_extent(self) -> str:
        """A name that no other axis has."""
        self._numbered += 1
        return f"E{self._numbered}"

    def plain_axis(self, operand: str, axis: int, dim: str) -> Axis:
        """``x[.., d, ..]``."""
        name = f"N{dim}" if self.rng.random() < 0.6 or dim not in self.plain else self.new_extent()
        if dim not in self.plain:
            self.plain[dim] = operand, axis
        return Axis(dim, self.domain.sizes[dim], name)

    def input_axis(self, operand: str, axis: int) -> Axis:
        """An axis of an operand that is read."""
        rng, dims = self.rng, [*self.domain.sizes]
        if not dims or rng.random() < 0.05:
            return self._constant()
        dim = rng.choice(dims)
        if rng.random() < 0.62:
            return self.plain_axis(operand, axis, dim)
        form = rng.choice((self._window,) * 4 + (self._shifted, self._divided, self._reversed))
        return form(dim)

    def _constant(self) -> Axis:
        at = self.rng.randrange(3)
        size = at + 1 + self.rng.randrange(2)
        return Axis(str(at), size, self.rng.choice((self.new_extent(), str(size))))

    def _sized(self, subscript: str, reach: int, slack: int = 2) -> Axis:
        """An axis that holds subscripts up to ``reach``, perhaps longer."""
        size = max(reach, 0) + 1 + self.size_rng.randrange(slack + 1)
        return Axis(subscript, size, self.new_extent())

    def _window(self, dim: str) -> Axis:
        """``o*s + k*d``, which may have more dims."""
        rng, sizes = self.rng, self.domain.sizes
        dims = [dim, *rng.sample([d for d in sizes if d != dim], min(len(sizes) - 1, 1))]
        terms, reach = [], 0
        for at, one in enumerate(dims):
            factor = rng.choice((1, 1, 2, 3) if len(dims) > 1 else (2, 3))
            text = one if factor == 1 else f"{one} * {factor}"
            if self.uses_attributes and len(dims) > 1 and rng.random() < 0.7:
                name = ("strides", "dilations")[at]
                which = rng.randrange(2)
                factor, text = ATTRIBUTES[name][which], f"{one} * {name}[{which}]"
            terms.append(text)
            reach += factor * (sizes[one] - 1)
        unknown = [d for d in dims if d not in self.plain]
        subscript = " + ".join(terms)
        if self.is_formula and not unknown and rng.random() < 0.3:
            return Axis(subscript, max(reach, 0) + 1, "_")
        return self._sized(subscript, reach, 0 if unknown else 2)

    def _shifted(self, dim: str) -> Axis:
        """``2*i + 1``."""
        factor, shift = self.rng.choice((1, 1, 2)), self.rng.randrange(3)
        text = f"{dim} * {factor} + {shift}" if factor > 1 else f"{dim} + {shift}"
        return self._sized(text, factor * (self.domain.sizes[dim] - 1) + shift, factor - 1)

    def _divided(self, dim: str) -> Axis:
        """``i // 2`` or ``i % 3``, of a dim whose extent another axis has."""
        if dim not in self.plain:
            return self._shifted(dim)
        by, size = self.rng.choice((1, 2, 3, 4)), self.domain.sizes[dim]
        if self.rng.random() < 0.5:
            return self._sized(f"{dim} // {by}", (size - 1) // by)
        return self._sized(f"{dim} % {by}", by - 1)

    def _reversed(self, dim: str) -> Axis:
        """``N - 1 - i``, N being the extent of an axis that is ``i``."""
        if dim not in self.plain:
            return self._shifted(dim)
        name = f"N{dim}"
        return self._sized(f"{name} - 1 - {dim}", self.domain.sizes[dim] - 1)

    def padded(self, operand: OperandText) -> str | None:
        """Subscripts that may leave an operand; dims with an axis stay on an axis of its size."""
        rng, found = self.rng, []
        for axis in operand.axes:
            dims = [d for d in self.domain.sizes if d in self.plain]
            if not dims:
                return None
            dim = rng.choice(dims)
            if axis.subscript in self.domain.sizes and rng.random() < 0.4:
                found.append(axis.subscript)
                continue
            forms = ("{} - 1", "{} + 1", "2 * {} - 2", "{} - 1 + {}", "{} // 2 - 1", "1 - {}")
            found.append(rng.choice(forms).format(dim, rng.choice(dims)))
        return ", ".join(found)

    def output_axes(self, operand: str, dims: Sequence[str], *, has_start: bool) -> list[Axis]:
        """The axes of an output: its dims in some order, some of them strided or shifted."""
        rng = self.rng
        order = rng.sample(dims, len(dims)) if rng.random() < 0.4 else [*dims]
        axes: list[Axis] = []
        for dim in order:
            if not has_start or rng.random() < 0.85:
                axes.append(self._plain_output(operand, len(axes), dim, has_start))
                continue
            form = rng.choice((self._shifted, self._shifted, self._reversed))
            axes.append(form(dim))
        if has_start and len(axes) < 4 and rng.random() < 0.08:
            at = rng.randint(0, len(axes))
            axes.insert(at, self._constant())
            for dim, (name, axis) in self.plain.items():
                if name == operand and axis >= at:
                    self.plain[dim] = name, axis + 1
        return axes

    def _plain_output(self, operand: str, axis: int, dim: str, has_start: bool) -> Axis:
        if has_start:
            return self.plain_axis(operand, axis, dim)
        name = f"N{dim}" if dim in self.plain else self.new_extent()
        return Axis(dim, self.domain.sizes[dim], name)
