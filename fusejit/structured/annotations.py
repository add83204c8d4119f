"""Annotations of formulas: ``Tensor["T1", "M", "K"]``, and what their names mean."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Mapping, Sequence
from types import CellType, FunctionType
from typing import Any

import numpy as np

from fusejit.ir.definitions.definition import DefinitionError, OperandSpec, Role
from fusejit.ir.definitions.indices import EXTENT, Index, attribute_in_formula, extent, parse_index
from fusejit.ir.definitions.written_types import is_variable_name, written_type


class _Annotation:
    """``Tensor["T1", "M", "K"]``: a role, a type and the extents of the axes."""

    def __init__(self, role: Role, items: Any = ()) -> None:
        self.role = role
        self.items = items if isinstance(items, tuple) else (items,)

    @property
    def type(self) -> Any:
        """The type as it is written; a name without quotes is a text here."""
        first = self.items[0]
        is_name = isinstance(first, Index) and first.op == EXTENT
        return first.operands[0] if is_name else first

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents as they are written."""
        return self.items[1:]

    def __getitem__(self, items: Any) -> Any:
        return _Annotation(self.role, items)


Tensor: Any = _Annotation(Role.INPUT)
"""An input: ``Tensor["T1", "M", "K"]`` has elements of type T1 and the extents M and K."""
Output: Any = _Annotation(Role.OUTPUT)
"""A result, and where it starts."""
Number: Any = _Annotation(Role.SCALAR)
"""A number: ``Number["I32"]``."""
Shape: Any = _Annotation(Role.SHAPE)
"""An input of which only the extents are used, such as the window of a pooling."""


class _Window:
    """``_``: the least extent that holds all reads, which the subscript of the axis determines."""


_: Any = _Window()


def annotated_operands(
    function: FunctionType, parameters: Sequence[inspect.Parameter], attributes: Mapping[str, Any]
) -> tuple[list[OperandSpec], dict[str, Any]]:
    """The operands of a formula, and what the names of their annotations mean in its body.

    These are type variables, dtypes and extents.

    Raises
    ------
    DefinitionError
        If an annotation is none of an operand, or has a wrong type or extent.
    """
    operands: list[OperandSpec] = []
    names: dict[str, Any] = {}
    for parameter in parameters:
        annotation = _annotation(parameter, function, attributes)
        operand = _operand(parameter.name, annotation, attributes)
        written, type_ = annotation.type, operand.type
        if isinstance(type_, str):
            names[type_] = type_
        elif isinstance(written, str) and not hasattr(builtins, written):
            names[written] = type_.type
        for size in (e for e in operand.shape if e is not _):
            names |= {name: extent(name) for name in size.names(EXTENT)}
        operands.append(operand)
    return operands, names


def _annotation(
    parameter: inspect.Parameter, function: FunctionType, attributes: Mapping[str, Any]
) -> _Annotation:
    annotation = parameter.annotation
    if isinstance(annotation, str):  # from __future__ import annotations
        names = _AnnotationNames(scope_of(function), attributes)
        annotation = eval(annotation, function.__globals__, names)
    if not isinstance(annotation, _Annotation) or not annotation.items:
        raise DefinitionError(
            f'annotate {parameter.name} with Tensor["T", ..], Output, Number or Shape'
        )
    return annotation


def _operand(name: str, annotation: _Annotation, attributes: Mapping[str, Any]) -> OperandSpec:
    try:
        written = annotation.type
        is_attribute = isinstance(written, str) and written in attributes
        type_ = written_type(attributes[written] if is_attribute else written)
        shape: Any = tuple(
            e if e is _ else parse_index(e, attributes) if isinstance(e, str) else Index.of(e)
            for e in annotation.shape
        )
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"{name}: {error}") from error
    return OperandSpec(name, annotation.role, type_, shape)


class _AnnotationNames(dict[str, Any]):
    """Names of an annotation that is a text: those of operands, dtypes and modules, or extents."""

    def __init__(self, scope: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        names = {"Tensor": Tensor, "Output": Output, "Number": Number, "Shape": Shape, "_": _}
        for name, value in scope.items():
            if is_dtype(value) and is_variable_name(name):
                continue  # as with quotes
            if is_dtype(value) or isinstance(value, _Annotation) or inspect.ismodule(value):
                names[name] = value
        lists = {a: attribute_in_formula(a, default) for a, default in attributes.items()}
        super().__init__({**names, **lists})

    def __missing__(self, name: str) -> Index:
        if name.startswith("__") or hasattr(builtins, name):  # a debugger's name, or a type
            raise KeyError(name)
        return extent(name)


def is_dtype(value: Any) -> bool:
    """Whether it is a dtype, or a type of NumPy's numbers."""
    return isinstance(value, np.dtype) or (
        isinstance(value, type) and issubclass(value, np.generic)
    )


def scope_of(function: FunctionType) -> dict[str, Any]:
    """The names that a function sees; None for what the enclosing function has not bound yet."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: _contents(cell) for name, cell in cells}}


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that the enclosing function has not bound yet
        return None
