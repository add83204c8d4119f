"""The general form of a definition: inputs are read through strided views, one axis for each dim.

    I[n, oh * strides[0] + kh * dilations[0], c]   becomes   I_0[n, oh, kh, c]

A view has extents and strides of its own, so that one op serves every window, stride and dilation.
Numbers that a call has put into the formula become operands, so that it serves these too.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import Dim
from fusejit.ir.definitions.binding import Binding
from fusejit.ir.definitions.definition import Access, Definition, OperandSpec, Role
from fusejit.ir.definitions.indices import ATTRIBUTE, DIM, EXTENT, Index, dim, extent
from fusejit.ir.definitions.scalars import READS, Scalar, element


@dataclass(frozen=True, slots=True)
class ViewSource:
    """Where an input of the general form comes from.

    Attributes
    ----------
    operand : str
        An input of the definition.
    access : Access or None
        The elements that the view has; None for the operand as it is.
    dims : tuple of str
        The axes of the view.
    number : float or None
        The number that it is, if it is none of the definition's operands.
    """

    operand: str
    access: Access | None = None
    dims: tuple[str, ...] = ()
    number: float | None = None

    def layout(self, binding: Binding) -> tuple[tuple[int, ...], list[list[int]], list[int]]:
        """The extents of the axes, the steps of each along the operand's axes, and its start."""
        assert self.access is not None
        definition = binding.definition
        results = definition.indexing_map(self.access, binding.extents, binding.attributes).results
        places = [definition.dims.index(d) for d in self.dims]
        extents = tuple(binding.dims[d].constant for d in self.dims)
        return (
            extents,
            [[r.coefficient(Dim(p)) for r in results] for p in places],
            [r.constant for r in results],
        )


def general_form(
    definition: Definition, *, has_numbers: bool = False
) -> tuple[Definition, tuple[ViewSource, ...]]:
    """A definition that reads views, and where each of its inputs comes from.

    With ``has_numbers`` the constants of the formula that are Python floats are inputs too. It is
    the definition without its library call where no input needs a view, or where the views would
    not have an extent that the formula names.
    """
    plain = replace(definition, library_call=None)
    viewed = [a for a in dict.fromkeys(definition.accesses) if _needs_view(definition, a)]
    made, sources = _with_views(plain, viewed)
    if not _has_extents(made):
        made, sources = plain, tuple(ViewSource(o.name) for o in definition.inputs)
    used = {name for i in _indices(made) for name in i.names(ATTRIBUTE)}
    attributes = {name: v for name, v in definition.attributes.items() if name in used}
    made = replace(made, attributes=attributes)
    return _with_numbers(made, sources) if has_numbers else (made, sources)


def _with_numbers(
    definition: Definition, sources: tuple[ViewSource, ...]
) -> tuple[Definition, tuple[ViewSource, ...]]:
    """The floats of the formula as inputs; exponents stay what they are, as 2.0 is a square."""
    names = {o.name for o in definition.operands}
    operands: list[OperandSpec] = []
    numbers: list[ViewSource] = []

    def lifted(scalar: Scalar) -> Scalar:
        if scalar.op == "const" and scalar.attr[1] is None and type(scalar.attr[0]) is float:
            name = next(n for k in range(1000) if (n := f"number_{k}") not in names)
            names.add(name)
            type_ = f"T_{name}"
            operands.append(OperandSpec(name, Role.SCALAR, type_, (), is_weak=True))
            numbers.append(ViewSource(name, number=scalar.attr[0]))
            return element(name)
        if not scalar.operands or scalar.op.removeprefix("np.") in ("power", "float_power"):
            return scalar
        return replace(scalar, operands=tuple(map(lifted, scalar.operands)))

    updates = tuple(replace(u, value=lifted(u.value)) for u in definition.updates)
    made = replace(
        definition,
        operands=(*definition.inputs, *operands, *definition.outputs),
        accesses=(*definition.accesses, *(Access(o.name, ()) for o in operands)),
        updates=updates,
    )
    return made, (*sources, *numbers)


def _needs_view(definition: Definition, access: Access) -> bool:
    """Whether a view can be read in place of an operand, whose strides are those of a call."""
    if access.is_padded or definition.operand(access.operand).role is not Role.INPUT:
        return False
    return all(map(_is_linear, access.subscripts)) and any(
        len(s.names(DIM)) > 1 or s.names(ATTRIBUTE) for s in access.subscripts
    )


def _is_linear(index: Index) -> bool:
    """Return whether dims are only added, and multiplied by numbers."""
    operands = [o for o in index.operands if isinstance(o, Index)]
    with_dims = [o for o in operands if o.names(DIM)]
    if index.op in ("//", "%") and with_dims:
        return False
    if index.op == "*" and len(with_dims) > 1:
        return False
    return all(map(_is_linear, operands))


def _with_views(
    definition: Definition, viewed: list[Access]
) -> tuple[Definition, tuple[ViewSource, ...]]:
    names = {o.name for o in definition.operands}
    sizes = _extents_of_dims(definition)
    operands: list[OperandSpec] = []
    sources: list[ViewSource] = []
    moved: dict[tuple[str, tuple[Index, ...]], Access] = {}
    for operand in definition.inputs:
        own = [a for a in definition.accesses if a.operand == operand.name]
        if any(a not in viewed for a in own) or not own:
            operands.append(operand)
            sources.append(ViewSource(operand.name))
        for access in dict.fromkeys(a for a in own if a in viewed):
            dims = _axes(definition, access)
            name = next(n for k in range(1000) if (n := f"{operand.name}_{k}") not in names)
            names.add(name)
            shape = tuple(sizes.get(d, extent(f"{d}_extent")) for d in dims)
            operands.append(OperandSpec(name, operand.role, operand.type, shape))
            sources.append(ViewSource(operand.name, access, dims))
            moved[access.operand, access.subscripts] = Access(name, tuple(map(dim, dims)))
    accesses = tuple(moved.get((a.operand, a.subscripts), a) for a in definition.accesses)
    updates = tuple(replace(u, value=_moved(u.value, moved)) for u in definition.updates)
    made = replace(
        definition,
        operands=(*operands, *definition.outputs),
        accesses=accesses,
        updates=updates,
    )
    return made, tuple(sources)


def _axes(definition: Definition, access: Access) -> tuple[str, ...]:
    """The axes of a view; the dims of a window stand before those that it moves along.

    So neighbours along the last axis of an output are neighbours in the view.
    """
    found = (
        d
        for s in access.subscripts
        for d in sorted(s.names(DIM), key=lambda d: d not in definition.reductions)
    )
    return tuple(dict.fromkeys(found))


def _has_extents(definition: Definition) -> bool:
    """Whether each extent that a definition names is that of some axis."""
    shapes = [e for o in definition.operands for e in o.shape]
    known = {name for e in shapes if e.op == EXTENT for name in e.names(EXTENT)}
    return all(name in known for i in _indices(definition) for name in i.names(EXTENT))


def _extents_of_dims(definition: Definition) -> dict[str, Index]:
    """The named extents of dims that are an axis by themselves."""
    found: dict[str, Index] = {}
    for access in definition.every_access:
        shape = definition.operand(access.operand).shape
        for subscript, size in zip(access.subscripts, shape, strict=True):
            name = subscript.as_dim()
            if name is not None and size.op == EXTENT:
                found.setdefault(name, size)
    return found


def _moved(scalar: Scalar, moved: Mapping[tuple[str, tuple[Index, ...]], Access]) -> Scalar:
    """An expression that reads the views."""
    if scalar.op == "element" and scalar.attr in moved:
        access = moved[scalar.attr]
        return replace(scalar, attr=(access.operand, access.subscripts))
    if not scalar.operands:
        return scalar
    return replace(scalar, operands=tuple(_moved(o, moved) for o in scalar.operands))


def _indices(definition: Definition) -> list[Index]:
    """Every integer expression of a definition."""
    found = [s for a in definition.every_access for s in a.subscripts]
    found += [e for o in definition.operands for e in o.shape]
    for update in definition.updates:
        for part in update.value.parts():
            found += [part.attr] if part.op == "index" else []
            found += part.attr[1] if part.op in READS else ()
    return found
