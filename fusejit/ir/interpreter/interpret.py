"""What the IR means: a slow, obvious interpreter on NumPy arrays.

`interpret` runs a graph on the caller's own arrays, as the compiled function would: stores write
into them, and views of them come out as real views. Every element is read through its map by an
array of indices, which is checked against the extents; every result is checked against its type.

Numerics
--------
Sums of floats are added in the order of `fusejit.ir.interpreter.summation`, several reduced dims
one after the
other from the last to the first; products of floats from the first element to the last. A start
value is combined last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.errors import InternalError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, Guard
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.host_calls import call_with, host_function, sizes_of
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.interpreter.interpret_generic import run_generic
from fusejit.ir.interpreter.mapped_access import (
    check_bounds,
    copy_that_lies_like,
    evaluate_on_grid,
    gather,
    in_order,
    real_view,
    reshaped,
    scatter,
    uninitialised,
)
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Block,
    Cond,
    ConstantOp,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
    walk,
)
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit.ir.write_access import WriteAccess, mark

Paths = Callable[[Path], Any]
HostFunctions = Mapping[str, Callable[..., Any]]


def interpret(graph: Graph, paths: Paths, host_functions: HostFunctions | None = None) -> list[Any]:
    """Run a graph; guards are not looked at.

    Parameters
    ----------
    graph : Graph
        A graph that `fusejit.ir.verifier.verify.verify` accepts.
    paths : callable
        Gives the object at a path; for plain arguments `argument_paths` makes one.
    host_functions : mapping, optional
        The functions that host calls name.

    Returns
    -------
    list
        One object per result of the graph: an array with the strides the value asks for, a NumPy
        scalar, a Python number, or a view of a buffer.

    Raises
    ------
    InternalError
        If the graph reads or writes outside an array, or an op gives another shape or dtype than
        its type says.
    """
    with np.errstate(all="ignore"):
        return _Interpreter(graph, paths, host_functions or {}).run()


def check_guards(graph: Graph, paths: Paths) -> Guard | None:
    """The first guard that does not hold for a call, or None: the graph serves the call."""
    names = host_environment(graph, paths)
    for guard in graph.guards:
        if bool(guard.expr.evaluate(paths, names)) != guard.expected:
            return guard
    return None


def argument_paths(
    arguments: Mapping[str, Any],
    closure: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Paths:
    """Paths that are found in mappings from names to objects."""
    roots = {"arg": arguments, "closure": closure or {}, "const": constants or {}}
    return lambda path: path.found_from(roots[path.root][path.name])


def host_environment(graph: Graph, paths: Paths) -> Mapping[str, Any]:
    """The symbols and scalar inputs of a call, by name, each computed when first asked for."""
    exprs = {s.name: s.expr for s in graph.symbols}
    exprs |= {s.value.name: s.expr for s in graph.scalars}
    return _HostNames(exprs, paths)


class _HostNames(dict[str, Any]):
    def __init__(self, exprs: dict[str, HostExpr], paths: Paths) -> None:
        self._exprs = exprs
        self._paths = paths

    def __missing__(self, name: str) -> Any:
        self[name] = self._exprs[name].evaluate(self._paths, self)
        return self[name]


class _Interpreter:
    def __init__(self, graph: Graph, paths: Paths, host_functions: HostFunctions) -> None:
        self.graph = graph
        self.host_functions = host_functions
        self.paths = paths
        names = host_environment(graph, paths)
        self.symbols: dict[str, int] = {s.name: int(names[s.name]) for s in graph.symbols}
        self.values: dict[Value, np.ndarray] = {}
        self.lies_like: dict[Value, np.ndarray] = {}  # loads of whole buffers of any strides
        self.buffers: dict[Buffer, np.ndarray] = {}
        for scalar in graph.scalars:
            number = names[scalar.value.name]
            self.define(scalar.value, np.asarray(number, scalar.value.type.dtype))
        for buffer in graph.buffers:
            if buffer.origin is not None:
                array = buffer.origin.evaluate(paths, names)
                self.check(repr(buffer), buffer.type, array)
                self.buffers[buffer] = array

    def run(self) -> list[Any]:
        self.block(self.graph.block)
        handed_out: dict[Value, Any] = {
            value: self.values[value]
            for value in only_returned(self.graph, self.lies_like)
            if value in self.values
        }
        results: list[Any] = []
        for result in self.graph.results:
            if isinstance(result, View):
                results.append(self.view_result(result))
            else:
                if result not in handed_out:
                    handed_out[result] = as_numpy_would(result, self.values[result])
                results.append(handed_out[result])
        return results

    def view_result(self, view: View) -> np.ndarray:
        array = self.buffers[view.buffer]
        if view == View.whole(view.buffer):
            return array
        return real_view(array, self.indexing_map(view.map), self.shape(view.extents))

    # -- ops ------------------------------------------------------------------------------------
    def block(self, block: Block) -> list[np.ndarray]:
        for op in block.ops:
            self.op(op)
        return [self.values[v] for v in block.yields]

    def op(self, op: Op) -> None:
        arrays: list[np.ndarray] = []
        match op:
            case GenericOp():
                arrays = run_generic(op, self.values, self.symbols)
            case ConstantOp():
                arrays = [np.asarray(op.number, op.results[0].type.dtype)]
            case ViewOp():
                shape = self.shape(op.results[0].type.extents)
                arrays = [self.gathered(self.values[op.source], op.map, shape)]
            case ReshapeOp():
                shape = self.shape(op.results[0].type.extents)
                arrays = [reshaped(self.values[op.source], op.reassociation, shape)]
            case Alias():
                self.alias(op.buffer)
            case Load():
                arrays, buffer = [self.load(op.view)], op.view.buffer
                # a host function is given an argument of any strides as it lies
                if buffer.layout is Layout.STRIDED and op.view == View.whole(buffer):
                    self.lies_like[op.results[0]] = self.buffers[buffer]
            case Scatter():
                self.scatter(op)
            case Assert():
                if not self.values[op.condition].item():
                    raise IndexError(op.reason)
            case Store():
                self.store(op)
            case Alloc():
                shape = self.shape(op.buffer.type.extents)
                self.buffers[op.buffer] = in_order(
                    uninitialised(shape, op.buffer.type.dtype), op.buffer.order
                )
            case Bind():
                self.symbols[op.symbol] = int(self.values[op.value].item())
            case Loop():
                arrays = self.loop(op)
            case Cond():
                chosen = op.then_block if self.values[op.predicate].item() else op.else_block
                arrays = self.block(chosen)
            case HostCall():
                arrays = self.host_call(op)
            case _:
                raise InternalError(f"the interpreter does not know {type(op).__name__}")
        self.define_all(op.results, arrays)

    def load(self, view: View) -> np.ndarray:
        array = self.buffers[view.buffer]
        return self.gathered(array, view.map, self.shape(view.extents))

    def gathered(
        self, array: np.ndarray, indexing_map: IndexingMap, shape: tuple[int, ...]
    ) -> np.ndarray:
        """A copy that allows the stores a view would: a host function may hand out a view of it."""
        value = gather(array, indexing_map, shape, self.symbols)
        mark(value, WriteAccess.of(array))
        return value

    def store(self, op: Store) -> None:
        target = self.buffers[op.view.buffer]
        shape = self.shape(op.view.extents)
        value = self.values[op.value]
        if value.shape != shape:
            raise InternalError(f"a value of shape {value.shape} is stored to a view of {shape}")
        if op.mask is not None:
            mask = self.values[op.mask]
            if mask.shape != shape:
                raise InternalError(f"a mask of shape {mask.shape} for a view of {shape}")
            value = np.where(mask, value, self.load(op.view))
        scatter(target, op.view.map, value, self.symbols)

    def scatter(self, op: Scatter) -> None:
        """One point after the other, through the view's map."""
        target = self.buffers[op.view.buffer]
        extents = self.shape(op.view.extents)
        value = self.values[op.value]
        where = []
        for subscript in op.subscripts:
            if isinstance(subscript, AffineExpr):
                where.append(evaluate_on_grid(subscript, value.shape, self.symbols))
            else:
                array = self.values[subscript.value].astype(np.int64)
                where.append(gather(array, subscript.map, value.shape, self.symbols))
        if not op.from_start:
            where = [np.where(w < 0, w + n, w) for w, n in zip(where, extents, strict=True)]
        check_bounds(where, extents, "scatter")
        if op.distinct and len({*zip(*(w.ravel() for w in where), strict=True)}) < value.size:
            raise InternalError(f"a scatter of %{op.value.name} reaches one element twice")
        order = op.value.order or tuple(range(value.ndim))
        for ordered in np.ndindex(*(value.shape[axis] for axis in order)):
            point = tuple(ordered[order.index(axis)] for axis in range(value.ndim))
            dims = [int(w[point]) for w in where]
            at = tuple(r.evaluate(dims, self.symbols) for r in op.view.map.results)
            new = value[point]
            if op.combine is not None:
                new = SCALAR_OPS[op.combine].evaluate((target[at], new), target.dtype)
            target[at] = new

    def alias(self, buffer: Buffer) -> None:
        assert buffer.base is not None
        base = self.buffers[buffer.base]
        if buffer.part is not None:
            self.buffers[buffer] = getattr(base, buffer.part)
            return
        assert buffer.reassociation is not None
        array = reshaped(base, buffer.reassociation, self.shape(buffer.type.extents))
        if array.size and not np.shares_memory(array, base):
            raise InternalError(f"{buffer!r} cannot be a view of {buffer.base!r}")
        self.buffers[buffer] = array

    def loop(self, op: Loop) -> list[np.ndarray]:
        carried = [self.values[v] for v in op.carried]

        def iterate() -> list[np.ndarray]:
            self.define_all(op.body.arguments, carried)
            return self.block(op.body)

        if op.condition is not None:
            while True:
                self.define_all(op.condition.arguments, carried)
                (go_on,) = self.block(op.condition)
                if not go_on.item():
                    return carried
                carried = iterate()
        induction, *ends = op.counted
        lower, upper = self.shape(ends)
        for i in range(lower, upper, op.step):
            self.symbols[induction] = i
            carried = iterate()
        self.symbols.pop(induction, None)
        return carried

    def host_call(self, op: HostCall) -> list[np.ndarray]:
        function = self.host_functions.get(op.function)
        if function is None:
            try:
                function = host_function(op.function)
            except (ImportError, AttributeError, ValueError) as error:
                raise InternalError(f"no host function {op.function!r} was given") from error
        arguments = [
            copy_that_lies_like(self.lies_like[v], self.values[v])
            if v in self.lies_like
            else as_numpy_would(v, self.values[v])
            for v in op.arguments
        ]
        for value, argument in zip(op.arguments, arguments, strict=True):
            if isinstance(argument, np.ndarray):
                mark(argument, max(WriteAccess.of(argument), WriteAccess.of(self.values[value])))
        objects = [o.evaluate(self.paths, {}) for o in op.objects]
        returned = call_with(op, function, arguments, objects)
        parts = list(returned) if isinstance(returned, tuple) else [returned]
        parts = parts if op.results else []
        arrays = [np.asarray(p, v.type.dtype) for p, v in zip(parts, op.results, strict=True)]
        for name, at, axis in sizes_of(op):
            self.symbols[name] = arrays[at].shape[axis]
        return arrays

    # -- values ---------------------------------------------------------------------------------
    def define_all(self, values: Sequence[Value], arrays: Sequence[np.ndarray]) -> None:
        for value, array in zip(values, arrays, strict=True):
            self.define(value, array)

    def define(self, value: Value, array: np.ndarray) -> None:
        self.check(repr(value), value.type, array)
        self.values[value] = array

    def check(self, name: str, type_: TensorType, array: np.ndarray) -> None:
        shape = self.shape(type_.extents)
        if not isinstance(array, np.ndarray):
            raise InternalError(f"{name} is a {type(array).__name__}, not an array")
        if array.shape != shape or array.dtype != type_.dtype:
            raise InternalError(
                f"{name} : {type_} is {shape} in this call, not {array.dtype} of {array.shape}"
            )

    def shape(self, extents: Sequence[AffineExpr]) -> tuple[int, ...]:
        return tuple(e.evaluate((), self.symbols) for e in extents)

    def indexing_map(self, indexing_map: IndexingMap) -> IndexingMap:
        return indexing_map.substitute_symbols(
            {name: AffineExpr.const(number) for name, number in self.symbols.items()}
        )


def only_returned(graph: Graph, lie_right: Collection[Value]) -> set[Value]:
    """Arrays that a host function makes and the program returns: they are handed out as they are.

    Not if views of them are returned too, nor what a loop or branch makes and something reads.
    Those of several axes are laid out by their order where the arguments here may lie otherwise.
    """
    ops = list(walk(graph.block))
    calls = [op for op in ops if isinstance(op, HostCall)]
    outer = {v for op in graph.block.ops if isinstance(op, HostCall) for v in op.results}
    made = {
        v
        for op in calls
        for v in op.results
        if v.kind is Kind.ARRAY
        and (len(v.type.extents) == 1 or all(a in lie_right for a in op.arguments))
    }
    read = {v for op in ops for v in op.operand_values}
    moved = {v for op in ops for block in op.blocks for v in block.yields}
    views = (op for op in ops if isinstance(op, ViewOp | ReshapeOp))
    outer -= {op.source for op in views if {*op.results} & {*graph.results}}
    return made - (read - outer) - moved


def as_numpy_would(value: Value, array: np.ndarray) -> Any:
    """A fresh object of the kind and with the strides that NumPy would hand out."""
    if value.kind is Kind.PYTHON:
        return array.item()
    if value.kind is Kind.SCALAR:
        return array[()]
    return in_order(array, value.order)
