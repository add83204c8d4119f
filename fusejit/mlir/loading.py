"""`load`: a function of MLIR text as a callable on NumPy arrays, fused and compiled by fusejit."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.graph import Graph
from fusejit.ir.host import Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.interpreter.interpret import (
    argument_paths,
    check_guards,
    host_environment,
    interpret,
)
from fusejit.ir.ops import Operand
from fusejit.ir.payload import identity_payload
from fusejit.ir.results import HostLeaf, ResultLeaf, ResultSequence, ResultStructure, StaticLeaf
from fusejit.ir.source import Location
from fusejit.ir.traced import ArrayClass, CheckKind, PathCheck, TracedFunction
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.mlir.export.module_printer import mlir_text
from fusejit.mlir.read import MlirProgram, Parameter, read_mlir
from fusejit.options import options_from_environment
from fusejit.outcome import Outcome
from fusejit.stages import Compiled, Traced, traced_stage
from fusejit.support.locks import WorkLock, cut_short
from fusejit.tracer.builder.layout import classify

Key = tuple[ArrayClass, ...]


def load(text: str, function: str | None = None) -> MlirFunction:
    """Read a function from MLIR text; a call fuses, compiles and runs it on NumPy arrays.

    Needs MLIR's Python bindings: ``pip install 'fusejit[mlir]'``.

    Parameters
    ----------
    text : str
        A module with ``func.func`` over tensors or memrefs.
    function : str, optional
        Which function; without it, the module's only public one.

    Returns
    -------
    MlirFunction
        A callable that takes an array for each tensor and memref, and a number for each scalar.

    Raises
    ------
    MlirMissingError
        If the bindings are not installed.
    ParseError
        If MLIR does not accept the text.
    UnsupportedError
        If the function uses what fusejit's graphs have no form for; the message names the operation
        and its line.
    """
    return MlirFunction(text, function)


class MlirFunction:
    """A function read from MLIR text.

    Results are new arrays. Tensors are never modified, those that the text names as ``outs``
    included; memrefs hold what the function writes to them. It is compiled once for each
    combination of memory layouts.

    Attributes
    ----------
    program : MlirProgram
        The graph and the parameters.
    """

    def __init__(self, text: str, function: str | None = None) -> None:
        self.text = text
        self.program: MlirProgram = read_mlir(text, function)
        self.__name__ = self.program.name
        self._variants: dict[Key, Compiled] = {}
        self._newest: Callable[..., Any] | None = None
        self._lock = WorkLock()
        self._bare = _bare_function(self.program)
        self.__signature__ = inspect.signature(self._bare)

    def __call__(self, *args: Any) -> Any:
        """Run it.

        Parameters
        ----------
        *args
            One per parameter of the function: arrays of exactly the tensor's element type and
            rank, numbers for scalars.

        Raises
        ------
        TypeError
            If the number of arguments, a dtype or the type of an argument is wrong.
        ValueError
            If a rank is wrong, or sizes that MLIR takes for equal differ.
        """
        if self._newest is not None and len(args) == len(self.program.parameters):
            result = self._newest(*args)
            if not isinstance(result, Outcome):
                return result
        given = self._checked(args)
        if cut_short() and _classes(given) not in self._variants:
            self._check_sizes(given)
            return self._interpreted(given)
        variant = self._variant(given)
        result = variant.launch(*given)
        if isinstance(result, Outcome):
            self._check_sizes(given)
            return self._interpreted(given)
        self._newest = variant.launch
        return result

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.type}" for p in self.program.parameters)
        return f"<MLIR function {self.__name__}({parameters})>"

    # -- stages ---------------------------------------------------------------------------------
    @property
    def graph(self) -> Graph:
        """The graph that was read."""
        return self.program.graph

    def trace(self, *args: Any) -> Traced:
        """The stages for these arguments (C contiguous arrays without any)."""
        if not args:
            return self._stage(None)
        return self._stage(_classes(self._checked(args)))

    def mlir(self, *, fused: bool = False) -> str:
        """The function as MLIR text again, as it was read or fused."""
        return self.trace().fuse().mlir() if fused else mlir_text(self.graph)

    # -- calls ----------------------------------------------------------------------------------
    def _checked(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, checked against the parameters; numbers in their exact type."""
        parameters = self.program.parameters
        if len(args) != len(parameters):
            raise TypeError(f"{self.__name__}() takes {len(parameters)} arguments, not {len(args)}")
        return tuple(self._checked_argument(p, a) for p, a in zip(parameters, args, strict=True))

    def _checked_argument(self, parameter: Parameter, argument: Any) -> Any:
        name, dtype = f"{self.__name__}(): {parameter.name}", parameter.type.dtype
        if not parameter.is_tensor:
            try:
                kind: type = {"b": bool, "f": float}.get(dtype.kind, int)
                if kind is bool and not isinstance(argument, bool | np.bool_):
                    raise TypeError
                if not isinstance(argument, (int, float, np.generic)) or argument != kind(argument):
                    raise TypeError
                number = dtype.type(argument)
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"{name} is a number of type {dtype}, not {argument!r}") from None
            return int(number) if parameter.name in _index_names(self.graph) else number
        if type(argument) is not np.ndarray:
            raise TypeError(f"{name} is an array of {dtype}, not {type(argument).__name__}")
        if argument.dtype != dtype or not argument.dtype.isnative:
            raise TypeError(f"{name} is an array of {dtype}, not of {argument.dtype}")
        if argument.ndim != parameter.type.rank:
            raise ValueError(f"{name} has {parameter.type.rank} axes, not {argument.ndim}")
        if argument.flags.aligned:
            return argument
        if parameter.is_memory:
            raise ValueError(f"{name} is not aligned, and the function may write to it")
        return argument.copy()

    def _named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        return {p.name: a for p, a in zip(self.program.parameters, args, strict=True)}

    def _check_sizes(self, args: tuple[Any, ...]) -> None:
        given = self._named(args)
        broken = check_guards(self.graph, argument_paths(given, constants=self.program.constants))
        if broken is not None:
            arrays = {n: a for n, a in given.items() if isinstance(a, np.ndarray)}
            sizes = ", ".join(f"{n}: {a.shape}" for n, a in arrays.items())
            raise ValueError(f"{self.__name__}(): {broken.reason} ({sizes})")

    def _interpreted(self, args: tuple[Any, ...]) -> Any:
        """The results by the interpreter: for calls that no kernel serves (np.errstate raises)."""
        paths = argument_paths(self._named(args), constants=self.program.constants)
        values = interpret(self.graph, paths)
        environment = host_environment(self.graph, paths)
        leaves = [
            values[r] if isinstance(r, int) else r.evaluate(paths, environment)
            for r in self.program.results
        ]
        return None if not leaves else leaves[0] if len(leaves) == 1 else tuple(leaves)

    # -- compiling ------------------------------------------------------------------------------
    def _variant(self, args: tuple[Any, ...]) -> Compiled:
        """The variant for the layouts of these arguments."""
        key = _classes(args)
        with self._lock:
            if key not in self._variants:
                self._variants[key] = self._stage(key).fuse().lower().compile()
            return self._variants[key]

    def _stage(self, key: Key | None) -> Traced:
        """The function for arrays of given layouts, as the tracer hands over a Python function."""
        program = self.program
        if key is not None:
            arrays = iter(key)
            layouts = {at: next(arrays) for at, p in enumerate(program.parameters) if p.is_tensor}
            program = read_mlir(
                self.text,
                self.program.name,
                lambda number: (layouts[number].order, layouts[number].layout),
            )
        return traced_stage(self._bare, _as_traced(program), options_from_environment())


def _index_names(graph: Graph) -> set[str]:
    """The parameters that are integers of the launcher."""
    return {s.expr.attr.name for s in graph.symbols if s.expr.op == "path"}


def _as_traced(program: MlirProgram) -> TracedFunction:
    buffers = {b.name: b for b in program.graph.buffers}
    indices = _index_names(program.graph)
    checks = []
    for parameter in program.parameters:
        path = Path("arg", parameter.name)
        if parameter.is_tensor:
            buffer = buffers[parameter.name]
            order = tuple(range(parameter.type.rank)) if buffer.order is None else buffer.order
            expected = ArrayClass(
                parameter.type.dtype, parameter.type.rank, order, buffer.layout, buffer.writeable
            )
            checks.append(PathCheck(path, CheckKind.ARRAY, expected))
        else:
            kind = int if parameter.name in indices else parameter.type.dtype.type
            checks.append(PathCheck(path, CheckKind.TYPE, kind))
    leaves = tuple(ResultLeaf(r) if isinstance(r, int) else HostLeaf(r) for r in program.results)
    structure: ResultStructure = ResultSequence(tuple, leaves) if leaves else StaticLeaf(None)
    if len(leaves) == 1:
        (structure,) = leaves
    return TracedFunction(
        _with_numbers_copied(program.graph),
        checks,
        structure,
        Location("<mlir>", 1, program.name),
        constants=program.constants,
    )


def _with_numbers_copied(graph: Graph) -> Graph:
    """The graph with a copy of each number of the caller that it returns: kernels make results."""
    numbers = {scalar.value for scalar in graph.scalars}
    ops, results = list(graph.block.ops), list(graph.results)
    for at, result in enumerate(results):
        if isinstance(result, Value) and result in numbers:
            copied = Value(f"{result.name}_copy", result.type, Kind.SCALAR)
            number, payload = (
                Operand(result, IndexingMap.identity(0)),
                identity_payload(result.type.dtype),
            )
            ops.append(elementwise(copied, [number], payload, "copy"))
            results[at] = copied
    return replace(graph, block=replace(graph.block, ops=ops), results=tuple(results))


def _classes(args: tuple[Any, ...]) -> Key:
    """Dtype, rank and layout of the arrays among the arguments."""
    return tuple(
        ArrayClass(a.dtype, a.ndim, *classify(a), writeable=False)
        for a in args
        if isinstance(a, np.ndarray)
    )


def _bare_function(program: MlirProgram) -> Callable[..., Any]:
    """A Python function with the program's parameters: what a variant is compiled for."""
    names = ", ".join(p.name for p in program.parameters)
    name = program.name if program.name.isidentifier() else "function"
    namespace: dict[str, Any] = {}
    exec(compile(f"def {name}({names}): ...\n", "<mlir>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


__all__ = ["MlirFunction", "load"]
