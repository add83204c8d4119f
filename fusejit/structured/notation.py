"""Index notation: a Python function whose body is the formula of an op.

    @structured_op
    def conv_1d(I: Tensor["T1", "OW + KW - 1"], K: Tensor["T2", "KW"], O: Output["U", "OW"]):
        O[ow] += cast(U, I[ow + kw]) * cast(U, K[kw])

The function is called once, with operands that note their subscripts. Names that are neither
parameters nor known otherwise are what their place makes them: a name of an annotation is a type
variable or an extent, any other name is a dim. Names of annotations mean this in the body too,
whatever the module calls so. A number of the module that is named in a formula is a constant where
a number is computed, and a dim in a subscript.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from fusejit.dataclass import replace
from fusejit.ir.definitions.definition import (
    Access,
    Definition,
    DefinitionError,
    OperandSpec,
    Role,
    Update,
    make_definition,
)
from fusejit.ir.definitions.guarded_reads import with_guards
from fusejit.ir.definitions.indices import DIM, Index, attribute_in_formula
from fusejit.ir.definitions.scalars import FORMULA_NAMES, Scalar, apply, gathered, padded
from fusejit.structured.annotations import _, annotated_operands, is_dtype, scope_of
from fusejit.support.frame_readers import names_read

COMBINING = {n: n for n in ("add", "multiply", "maximum", "minimum")}
COMBINING |= {n: n for n in ("max", "min", "max_unsigned", "min_unsigned")}
COMBINING |= {"logical_and": "and", "logical_or": "or"}
COMBINING |= {n: n for n in ("bitwise_and", "bitwise_or")}
"""Functions of two numbers that merge partial results in any order, and their combiners."""


class _Dim(Index):
    """A dim by its name; ``number`` is that of the module's variable with this name, if any."""

    __slots__ = ("number",)
    number: Any

    def __getitem__(self, subscripts: Any) -> Any:
        name = self.operands[0]
        raise DefinitionError(f"{name} is not defined: it is subscripted, but is no parameter")


def _dim(name: str, number: Any = None) -> _Dim:
    dim = _Dim(DIM, (name,))
    object.__setattr__(dim, "number", number)
    return dim


# ---------------------------------------------------------------------------------------- tracing
class _Formula:
    """What the body of a formula says, while it runs."""

    def __init__(self, operands: Sequence[OperandSpec]) -> None:
        self.operands = operands
        self.accesses: dict[Access, None] = {}
        self.updates: dict[str, Update] = {}
        self.domain: tuple[str, ...] | None = None

    def set_domain(self, *dims: Any) -> None:
        """``domain(m, n, k)``: the order of the dims."""
        self.domain = tuple(str(Index.of(d)) for d in dims)


class _Subscripted:
    """An operand in a formula."""

    def __init__(self, formula: _Formula, spec: OperandSpec) -> None:
        self._formula = formula
        self._spec = spec
        self.operand_name = spec.name

    def _access(self, subscripts: Any) -> Access:
        given = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        return Access(self._spec.name, tuple(map(_plain, given)))

    def __getitem__(self, subscripts: Any) -> Any:
        given = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        if any(isinstance(s, Scalar) for s in given):
            return self._gathered(given)
        access = self._access(subscripts)
        if self._spec.role is not Role.OUTPUT:
            self._formula.accesses[access] = None
        return _Element("element", (), (access.operand, access.subscripts))

    def _gathered(self, subscripts: tuple[Any, ...]) -> Scalar:
        """The element at places of which some are elements of inputs."""
        name = self._spec.name
        if self._spec.role is Role.OUTPUT:
            raise DefinitionError(f"{name} is an output, and is read where it is written")
        inputs = [o.name for o in self._formula.operands if o.role is Role.INPUT]
        for subscript in subscripts:
            if isinstance(subscript, Scalar):
                dims = [i.as_dim() for i in subscript.attr[1]] if subscript.op == "element" else []
                is_place = bool(dims) and subscript.attr[0] in inputs
                if not is_place or None in dims or len(set(dims)) < len(dims):
                    raise DefinitionError(
                        f"{name} is read at {subscript}: a place is a dim or an element of an "
                        "input, as in X[J[m]]"
                    )
            elif Index.of(subscript).as_dim() is None:
                raise DefinitionError(
                    f"{name} is read at {subscript}: beside elements of inputs stand dims alone"
                )
        places = tuple(s if isinstance(s, Scalar) else _plain(s) for s in subscripts)
        read = gathered(name, places)
        operand, read_at = read.attr
        self._formula.accesses[Access(operand, read_at, is_padded=True)] = None
        return read

    def at(self, *subscripts: Any, outside: Any) -> Scalar:
        """The element there, and ``outside`` where a subscript leaves the operand."""
        access = replace(self._access(subscripts), is_padded=True)
        self._formula.accesses[access] = None
        return padded(access.operand, access.subscripts, Scalar.of(outside))

    def __setitem__(self, subscripts: Any, value: Any) -> None:
        access = self._access(subscripts)
        if self._spec.role is not Role.OUTPUT:
            raise DefinitionError(f"{self._spec.name} is not an output and cannot be written")
        if access.operand in self._formula.updates:
            raise DefinitionError(f"{access.operand} is written twice")
        self._formula.updates[access.operand] = update_of(access, value, self._formula.operands)

    def _combined(self, name: str, value: Any) -> Any:
        if self._spec.shape or self._spec.role is not Role.OUTPUT:
            raise DefinitionError(f"{self._spec.name} has axes: give its subscripts")
        element = self[()]
        self[()] = getattr(element, name)(value)
        return self

    __iadd__ = functools.partialmethod(_combined, "__iadd__")
    __isub__ = functools.partialmethod(_combined, "__isub__")
    __imul__ = functools.partialmethod(_combined, "__imul__")
    __iand__ = functools.partialmethod(_combined, "__iand__")
    __ior__ = functools.partialmethod(_combined, "__ior__")

    def __bool__(self) -> bool:
        raise TypeError(f"{self._spec.name} has no value while an op is defined")


class _Element(Scalar):
    """An element of an operand, which ``+=`` and the like combine with a value."""

    __slots__ = ()

    def _combined(self, name: str, value: Any) -> Any:
        return apply(name, self, value)

    def __isub__(self, value: Any) -> Any:
        return apply("add", self, -Scalar.of(value))

    __iadd__ = functools.partialmethod(_combined, "add")
    __imul__ = functools.partialmethod(_combined, "multiply")
    __iand__ = functools.partialmethod(_combined, "bitwise_and")
    __ior__ = functools.partialmethod(_combined, "bitwise_or")


def _plain(subscript: Any) -> Index:
    """A subscript without the marks of its names: equal subscripts are equal objects."""
    index = Index.of(subscript)
    operands = tuple(_plain(o) if isinstance(o, Index) else o for o in index.operands)
    return Index(index.op, operands)


def update_of(access: Access, value: Any, operands: Sequence[OperandSpec]) -> Update:
    """``O[i] = f(O[i], x)`` as a combination where ``f`` is a combiner and ``x`` free of ``O``."""
    value = Scalar.of(value)
    for variable in value.type_variables():
        if all(variable != operand.type for operand in operands):
            raise DefinitionError(f"no operand has the type {variable}")
    key = access.operand, access.subscripts
    if value.op in COMBINING and len(value.operands) == 2:
        for own, other in (value.operands, value.operands[::-1]):
            if own.op == "element" and own.attr == key and key not in other.elements():
                return Update(access, other, COMBINING[value.op])
    for operand, subscripts in value.elements():
        if operand == access.operand and subscripts != access.subscripts:
            raise DefinitionError(
                f"{operand} is read at ({', '.join(map(str, subscripts))}), where it is not written"
            )
    return Update(access, value)


# ------------------------------------------------------------------------------------ definitions
def define(
    function: Callable[..., Any],
    library_call: str | None = None,
    values: Mapping[str, Any] | None = None,
    name: str = "",
    numpy_bools: bool = True,
) -> Definition:
    """The op that a function in index notation defines.

    Parameters
    ----------
    values : mapping, optional
        Of attributes that are neither integers nor lists of them: the formula is run with these.
    name : str
        Of the op, if it is not the function's.
    numpy_bools : bool
        As in `Definition`.

    Raises
    ------
    DefinitionError
        If the function is no formula; the text says what is wrong with which operand.
    """
    name = name or function.__name__
    if not isinstance(function, FunctionType):
        raise DefinitionError(f"{name} is not a Python function")
    try:
        return _defined(function, values or {}, name, library_call, numpy_bools)
    except (TypeError, ValueError) as error:
        what = str(error)
        if not what.startswith((f"{name}: ", f"{name} ")):
            what = f"{name}: {what}"
        raise DefinitionError(f"{what} ({_place(function, error)})") from error


def _place(function: FunctionType, error: BaseException) -> str:
    """The line of a formula that an error comes from, else its first line."""
    code, at = function.__code__, error.__traceback__
    line = code.co_firstlineno
    while at is not None:
        line = at.tb_lineno if at.tb_frame.f_code is code else line
        at = at.tb_next
    return f"{Path(code.co_filename).name}:{line}"


def _defined(
    function: FunctionType,
    values: Mapping[str, Any],
    name: str,
    library_call: str | None,
    numpy_bools: bool,
) -> Definition:
    parameters = inspect.signature(function).parameters
    attributes = {
        p.name: p.default for p in parameters.values() if p.default is not inspect.Parameter.empty
    }
    operands, names = annotated_operands(
        function,
        [p for p in parameters.values() if p.name not in attributes],
        {**attributes, **values},
    )
    inputs = [o for o in operands if o.role is not Role.OUTPUT]
    outputs = [o for o in operands if o.role is Role.OUTPUT]
    if not outputs:
        raise DefinitionError(f'{name} has no output: annotate one with Output["U", ..]')
    formula = _Formula(operands)
    run = bind_names(function, {"domain": formula.set_domain, **FORMULA_NAMES}, names)
    arguments: dict[str, Any] = {o.name: _Subscripted(formula, o) for o in operands}
    for operand in operands:
        if operand.role is Role.SCALAR:
            arguments[operand.name] = arguments[operand.name][()]
    for a, value in {**attributes, **values}.items():
        known = FORMULA_NAMES.get(value) if isinstance(value, str) else None  # a function
        arguments[a] = known or attribute_in_formula(a, value)
    run(**arguments)
    missing = [o.name for o in outputs if o.name not in formula.updates]
    if missing:
        raise DefinitionError(f"{name} does not write its output {missing[0]}")
    accesses = [a for o in inputs for a in formula.accesses if a.operand == o.name]
    updates = [formula.updates[o.name] for o in outputs]
    operands = with_windows(name, [*inputs, *outputs], [*accesses, *(u.access for u in updates)])
    accesses, updates = with_guards(accesses, updates)
    return make_definition(
        name,
        operands,
        accesses,
        updates,
        attributes=attributes,
        dims=formula.domain,
        doc=inspect.getdoc(function) or "",
        library_call=library_call,
        numpy_bools=numpy_bools,
    )


def with_windows(
    op: str, operands: Sequence[OperandSpec], accesses: Sequence[Access]
) -> list[OperandSpec]:
    """The operands with an extent in place of each ``_``."""
    by_name = {o.name: o for o in operands}
    extents: dict[str, Index] = {}
    for access in accesses:
        shape = by_name[access.operand].shape
        for subscript, size in zip(access.subscripts, shape, strict=False):
            dim = subscript.as_dim()
            if dim is not None and isinstance(size, Index):
                extents.setdefault(dim, size)

    def least(operand: OperandSpec, axis: int) -> Index:
        subscripts = next(a.subscripts for a in accesses if a.operand == operand.name)
        for dim in subscripts[axis].names(DIM):
            if dim not in extents:
                raise DefinitionError(
                    f"{op}: the extent of axis {axis} of {operand.name} does not follow from its "
                    f"subscript, as no operand has dim {dim} as an axis"
                )
        return subscripts[axis].substitute({d: e - 1 for d, e in extents.items()}) + 1

    return [
        replace(o, shape=tuple(least(o, k) if e is _ else e for k, e in enumerate(o.shape)))
        for o in operands
    ]


def bind_names(
    function: FunctionType, known: Mapping[str, Any], own: Mapping[str, Any]
) -> Callable[..., Any]:
    """The function with names bound as in a formula: those that nothing else defines are dims.

    Parameters
    ----------
    known : mapping
        What names mean that the module does not define, or not as something to call or as a dtype.
    own : mapping
        What names mean that the formula defines itself.
    """

    def meaning(name: str, found: Any) -> Any:
        if name in own:
            return own[name]
        if name in known and not callable(found) and not is_dtype(found):
            return known[name]
        if found is None:
            return getattr(builtins, name, None) or _dim(name)
        return _dim(name, found) if isinstance(found, (bool, int, float, complex)) else found

    code = function.__code__
    found = scope_of(function)
    scope: dict[str, Any] = {"__builtins__": builtins}
    scope |= {name: meaning(name, function.__globals__.get(name)) for name in names_read(code)}
    cells = tuple(CellType(meaning(name, found.get(name))) for name in code.co_freevars)
    return FunctionType(code, scope, function.__name__, function.__defaults__, cells)
