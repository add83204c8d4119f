"""`generic`: the explicit form of a structured op, as MLIR's ``linalg.generic`` has it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.ir.definitions.definition import (
    Access,
    Definition,
    DefinitionError,
    OperandSpec,
    Role,
    Update,
    dims_of,
    make_definition,
)
from fusejit.ir.definitions.guarded_reads import with_guards
from fusejit.ir.definitions.indices import Index, dim, extent
from fusejit.ir.definitions.scalars import element
from fusejit.structured.notation import update_of
from fusejit.structured.op import StructuredOp

_MAP = re.compile(r"\s*\(([^()]*)\)\s*(?:\[([^\]]*)\])?\s*->\s*\((.*)\)\s*", re.DOTALL)
Resolved = tuple[Definition, tuple[Any, ...], dict[str, Any]]
_ITERATORS = ("parallel", "reduction")
_OPS: dict[str, StructuredOp] = {}  # by the text of the definition
_MAX_OPS = 256


@dataclass(frozen=True, slots=True)
class AffineMap:
    """Dims, symbols, and one subscript per axis."""

    dims: tuple[str, ...]
    symbols: tuple[str, ...]
    results: tuple[Index, ...]

    def __str__(self) -> str:
        symbols = f"[{', '.join(self.symbols)}]" if self.symbols else ""
        return f"({', '.join(self.dims)}){symbols} -> ({', '.join(map(str, self.results))})"


def affine_map(source: str | Callable[..., Any] | AffineMap) -> AffineMap:
    """An indexing map.

    Parameters
    ----------
    source : str or callable
        ``"(i, j, k) -> (i, k)"``, with symbols ``"(i, j)[N] -> (i + j - N // 2)"``, or a function
        of the dims that returns one subscript or a tuple of them.

    Raises
    ------
    DefinitionError
        If it is no map.

    Examples
    --------
    >>> print(affine_map(lambda i, j, k: (i, k + 1)))
    (i, j, k) -> (i, k + 1)
    """
    if isinstance(source, AffineMap):
        return source
    if callable(source):
        dims = tuple(inspect.signature(source).parameters)
        found = source(*(dim(d) for d in dims))
        results = found if isinstance(found, tuple) else (found,)
        return AffineMap(dims, (), tuple(map(Index.of, results)))
    matched = _MAP.fullmatch(source)
    if matched is None:
        raise DefinitionError(f"{source!r} is not an indexing map: write '(i, j) -> (j, i)'")
    dims, symbols = (
        tuple(n.strip() for n in (g or "").split(",") if n.strip()) for g in matched.group(1, 2)
    )
    text = matched.group(3).strip()
    results = () if not text else _parsed(f"({text},)", dims, symbols, source)
    return AffineMap(dims, symbols, results)


def _parsed(text: str, dims: Any, symbols: Any, source: str) -> tuple[Index, ...]:
    scope = {d: dim(d) for d in dims} | {s: extent(s) for s in symbols}
    text = text.replace(" floordiv ", " // ").replace(" mod ", " % ")
    try:
        found = eval(text, {"__builtins__": {}}, scope)
    except (NameError, SyntaxError) as error:
        raise DefinitionError(f"{source!r} is not an indexing map: {error}") from None
    return tuple(map(Index.of, found))


class OpFamily:
    """A callable that makes an op for each call, because the call says what is computed.

    Parameters
    ----------
    resolve : callable
        From the arguments of a call to the op's definition, its inputs, and the keywords ``init``,
        ``out`` and ``dtype`` of its call.
    """

    def __init__(self, resolve: Callable[..., Resolved]) -> None:
        self.resolve = resolve
        self.__name__ = self.__qualname__ = resolve.__name__
        self.__doc__ = resolve.__doc__
        signature = inspect.signature(resolve)
        parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
        self.__signature__ = inspect.Signature(parameters)

    def __get__(self, instance: Any, owner: Any = None) -> OpFamily:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        definition, inputs, keywords = self.resolve(*args, **kwargs)
        return op_of(definition)(*inputs, **keywords)

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What a call returns, computed point by point by the interpreter of the IR, slowly."""
        definition, inputs, keywords = self.resolve(*args, **kwargs)
        return op_of(definition).reference(*inputs, **keywords)

    def __repr__(self) -> str:
        return f"<structured ops {self.__name__}{self.__signature__}>"


def given_only(**keywords: Any) -> dict[str, Any]:
    """The keywords of a call that are not None."""
    return {name: value for name, value in keywords.items() if value is not None}


def op_of(definition: Definition) -> StructuredOp:
    """One op for each definition, whose variants calls share."""
    text = str(definition)
    if text not in _OPS:
        if len(_OPS) >= _MAX_OPS:
            del _OPS[next(iter(_OPS))]
        _OPS[text] = StructuredOp(definition)
    return _OPS[text]


@OpFamily
def generic(
    inputs: Sequence[Any],
    inits: Sequence[Any],
    indexing_maps: Sequence[Any],
    iterator_types: Sequence[str],
    payload: Callable[..., Any],
    *,
    symbols: Mapping[str, tuple[int, int]] | None = None,
    name: str = "generic",
    library_call: str | None = None,
    out: Any = None,
) -> Resolved:
    """Apply ``payload`` at each point of a domain: linalg's ``generic``.

    For each point of the domain the payload computes one number per init from the elements of the
    inputs and the inits at their maps. The extents of the domain follow from the operands.

    Parameters
    ----------
    inputs : sequence of array
    inits : sequence of array
        Where the results start. They are read if the payload reads them, and not modified.
    indexing_maps : sequence of str, callable or AffineMap
        One per input, then one per init; see `affine_map`.
    iterator_types : sequence of {"parallel", "reduction"}
        One per dim. A dim that the maps of all inits have is parallel, whatever is said of it.
    payload : callable
        From elements, in the order of the operands, to one number, or to a tuple of numbers. It is
        called once. It may use NumPy's functions of the scalar table, `np.where`, and `cast`,
        `const` and `index` of this package: ``index("i + 1")`` is a number.
    symbols : mapping, optional
        From symbols of maps to the operand and the axis that have the extent: ``{"N": (1, 0)}``.
    name : str
        The name of the op in reports.
    library_call : str, optional
        As in `structured_op`.
    out : array or tuple of array, optional
        Memory for the results, which start from what it holds; ``inits`` is an empty list then.

    Returns
    -------
    array or tuple of array
        New arrays of the inits' shapes and types.

    Raises
    ------
    DefinitionError
        If maps, iterator types and payload are no op.
    TypeError, ValueError
        As a call of a `StructuredOp`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> generic([x], [np.zeros(2)], ["(i, j) -> (i, j)", "(i, j) -> (i)"],
    ...         ["parallel", "reduction"], lambda a, total: total + a)
    array([ 3., 12.])
    """
    outs = out if isinstance(out, tuple) else () if out is None else (out,)
    how = indexing_maps, iterator_types, payload, symbols, name, library_call
    definition = define_generic(len(inputs), len(inits) or len(outs), *how)
    starts = {"out": outs} if outs else {"init": tuple(inits)}
    return definition, tuple(inputs), starts


def define_generic(
    num_inputs: int,
    num_inits: int,
    indexing_maps: Sequence[Any],
    iterator_types: Sequence[str],
    payload: Callable[..., Any],
    symbols: Mapping[str, tuple[int, int]] | None = None,
    name: str = "generic",
    library_call: str | None = None,
    numpy_bools: bool = True,
) -> Definition:
    """The op without its operands."""
    maps = [affine_map(m) for m in indexing_maps]
    if len(maps) != num_inputs + num_inits:
        raise DefinitionError(
            f"{name}: {len(maps)} indexing maps for {num_inputs + num_inits} operands"
        )
    dims = maps[0].dims if maps else ()
    for one in maps:
        if one.dims != dims:
            raise DefinitionError(f"{name}: the maps {maps[0]} and {one} have other dims")
    if len(iterator_types) != len(dims):
        raise DefinitionError(f"{name}: {len(iterator_types)} iterator types for {len(dims)} dims")
    for iterator in iterator_types:
        if iterator not in _ITERATORS:
            raise DefinitionError(f"{name}: {iterator!r} is neither 'parallel' nor 'reduction'")
    names = [f"in{k}" for k in range(num_inputs)] + [f"out{k}" for k in range(num_inits)]
    named = {tuple(place): symbol for symbol, place in (symbols or {}).items()}
    operands, accesses = [], []
    for k, (operand, one) in enumerate(zip(names, maps, strict=True)):
        shape = tuple(
            extent(named.get((k, axis), f"{operand}_{axis}")) for axis in range(len(one.results))
        )
        role = Role.INPUT if k < num_inputs else Role.OUTPUT
        operands.append(OperandSpec(operand, role, f"T{k}", shape))
        accesses.append(Access(operand, one.results))
    for parallel, iterator in zip(dims, iterator_types, strict=True):
        lacking = [a for a in accesses[num_inputs:] if parallel not in dims_of(a)]
        if iterator == "parallel" and lacking:
            raise DefinitionError(
                f"{name}: the map of {lacking[0].operand} lacks the parallel dim {parallel}, "
                "so that several points would write one element"
            )
    updates = _payload(name, payload, accesses, operands)
    reads, updates = with_guards(accesses[:num_inputs], updates)
    return make_definition(
        name,
        operands,
        reads,
        updates,
        dims=dims,
        library_call=library_call,
        numpy_bools=numpy_bools,
    )


def _payload(
    name: str,
    payload: Callable[..., Any],
    accesses: Sequence[Access],
    operands: Sequence[OperandSpec],
) -> list[Update]:
    """What the payload yields for each init."""
    elements = [element(a.operand, a.subscripts) for a in accesses]
    yielded = payload(*elements)
    results = yielded if isinstance(yielded, tuple) else (yielded,)
    inits = accesses[sum(operand.role is Role.INPUT for operand in operands) :]
    if len(results) != len(inits):
        raise DefinitionError(
            f"{name}: the payload returns {len(results)} numbers for {len(inits)} inits"
        )
    return [update_of(a, result, operands) for a, result in zip(inits, results, strict=True)]
