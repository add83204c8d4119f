"""The top of a kernel: parameters, sizes, pointers, and in the first kernel the checks of a call.

Everything the variant relies on and that depends on the arrays' sizes, strides and addresses is
checked here, in compiled code, before anything is written; a failing check returns a status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.lower.kernel_guards import is_kernel_guard, kernel_expr
from fusejit.ir.graph import Graph, Guard
from fusejit.ir.host import Path
from fusejit.ir.loops.index_math import (
    I64,
    Index,
    add,
    both,
    compute,
    floordiv,
    int_of,
    less,
    let,
    maximum,
    mul,
    negated,
    operand,
    sub,
)
from fusejit.ir.loops.mentioned_names import all_mentioned
from fusejit.ir.loops.nodes import (
    Call,
    Exit,
    Expr,
    Field,
    If,
    KernelParameter,
    Let,
    LoopKernel,
    Stmt,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.program import Program
from fusejit.ir.loops.scalar_math import convert
from fusejit.ir.ops import Write, walk
from fusejit.ir.values import Buffer, Layout

_MAX_ARRAY_SCOPE = 15


def kernel_top(
    program: Program,
    statements: Sequence[Stmt],
    arrays: Mapping[str, tuple[np.dtype, int]],
    number: int,
    symbols: Sequence[str],
) -> LoopKernel:
    """A kernel around ``statements``; the first one of a program checks the whole call.

    ``symbols`` are those that the launcher learns on its way.
    """
    graph = program.graph
    by_path = {b.origin.attr: n for n, b in program.arguments.items() if b.origin is not None}
    is_first = number == 0
    used = all_mentioned(statements)
    guards = _split_guards(program, by_path) if is_first else []
    wanted = [n for n in arrays if f"p_{n}" in used or (is_first and n in program.arguments)]
    sizes = _sizes(graph, by_path)
    needed = set(used)
    for guard in guards:
        needed |= _words(guard.expr)
    if is_first:
        for buffer in program.arguments.values():
            for extent in buffer.type.extents:
                needed |= extent.symbols()
    top: list[Stmt] = []
    parameters = [KernelParameter(n, arrays[n][0], arrays[n][1]) for n in wanted]
    for symbol in graph.symbols:
        if symbol.name not in needed:
            continue
        where = sizes.get(symbol.name)
        if where is not None and where[0] in wanted:
            top.append(Let(symbol.name, Field(where[0], "shape", where[1])))
        else:
            parameters.append(KernelParameter(symbol.name, I64))
    parameters += [KernelParameter(n, I64) for n in symbols if n in used]
    for at, scalar in enumerate(graph.scalars):
        name = f"x{at}"
        if name in used:
            dtype = scalar.value.type.dtype
            parameters.append(KernelParameter(name, dtype))
            top.append(Let(name, convert(Var(name), dtype), rebind=True))
    if is_first:
        top += _checks(program, guards, by_path)
    for at, name in enumerate(wanted):
        if name in program.arguments:
            top += _strides(name, program.arguments[name], used)
        if f"p_{name}" in used:
            scope = at + 1 if at < _MAX_ARRAY_SCOPE else 0
            top.append(Let(f"p_{name}", Call("flat_scoped", (Var(name), operand(scope)))))
    return LoopKernel(f"kernel{number}", tuple(parameters), [*top, *statements])


def _words(expr: object) -> set[str]:
    text = "".join(c if c.isalnum() or c == "_" else " " for c in str(expr))
    return set(text.split())


def _sizes(graph: Graph, by_path: Mapping[Path, str]) -> dict[str, tuple[str, int]]:
    """Symbols that are the length of an argument's axis: name -> (array, axis)."""
    found = {}
    for symbol in graph.symbols:
        if symbol.expr.op == "size":
            path, axis = symbol.expr.attr
            if path in by_path:
                found[symbol.name] = (by_path[path], axis)
    return found


def _split_guards(program: Program, by_path: Mapping[Path, str]) -> list[Guard]:
    """Guards that the kernel can check; the others are left to the launcher."""
    known = frozenset(s.name for s in program.graph.symbols)
    mine = []
    for guard in program.graph.guards:
        if is_kernel_guard(guard.expr, by_path.__contains__, known):
            mine.append(guard)
        else:
            program.host_guards.append(guard)
    return mine


def _checks(program: Program, guards: Sequence[Guard], by_path: Mapping[Path, str]) -> list[Stmt]:
    checks: list[Stmt] = []
    for guard in guards:
        asked = kernel_expr(guard.expr, by_path.__getitem__)
        checks.append(_exit_if(negated(asked) if guard.expected else asked, Status.GUARD))
    for name, buffer in program.arguments.items():
        checks += _extent_checks(name, buffer, program.graph)
        checks.append(If(compute(">", Field(name, "size"), 0), _layout_checks(name, buffer)))
    return checks + _overlap_checks(program)


def _overlap_checks(program: Program) -> list[Stmt]:
    """No argument that is written may share memory with another: each is asked once where it is."""
    written = {op.view.buffer.root for op in walk(program.graph.block) if isinstance(op, Write)}
    names = list(program.arguments)
    is_written = [program.arguments[name] in written for name in names]
    checks: list[Stmt] = []
    if any(is_written) and len(names) > 1:
        for name in names:
            checks.append(Let(f"low_{name}", Call("low_address", (Var(name),))))
            checks.append(Let(f"high_{name}", Call("high_address", (Var(name),))))
    for at, name in enumerate(names):
        if not is_written[at]:
            continue
        checks += _own_overlap_checks(name, program.arguments[name])
        for k, other in enumerate(names):
            if k != at and not (is_written[k] and k < at):
                begins_before = less(f"low_{name}", f"high_{other}")
                meet = both(begins_before, less(f"low_{other}", f"high_{name}"))
                checks.append(_exit_if(meet, Status.OVERLAP))
    return checks


def _exit_if(condition: Expr, status: Status) -> Stmt:
    return If(condition, [Exit(status)])


def _is_long(name: str, axis: int) -> Expr:
    """Whether an axis has more than one element, so that its stride counts."""
    return compute(">", Field(name, "shape", axis), 1)


def _stride(name: str, axis: int) -> Field:
    return Field(name, "strides", axis)


def _extent_checks(name: str, buffer: Buffer, graph: Graph) -> list[Stmt]:
    """The axis lengths must be what the buffer's type says (constants, unified symbols)."""
    own = {
        s.expr.attr[1]: s.name
        for s in graph.symbols
        if s.expr.op == "size"
        and buffer.origin is not None
        and s.expr.attr[0] == buffer.origin.attr
    }
    checks = []
    for axis, extent in enumerate(buffer.type.extents):
        if extent.as_symbol() is None or own.get(axis) != extent.as_symbol():
            length = Field(name, "shape", axis)
            differs = compute("!=", length, Polynomial.from_affine(extent))
            checks.append(_exit_if(differs, Status.GUARD))
    return checks


def _layout_checks(name: str, buffer: Buffer) -> list[Stmt]:
    """Strides as the layout class promises; lengths of at most 1 make a stride irrelevant."""
    rank = buffer.type.rank
    checks = [_exit_if(negated(Call("itemsize_aligned", (Var(name),))), Status.LAYOUT)]
    order = buffer.order or tuple(range(rank))
    itemsize = buffer.type.dtype.itemsize
    if buffer.layout is Layout.CONTIGUOUS:
        expected: Index = itemsize
        for axis in reversed(order):
            differs = compute("!=", _stride(name, axis), expected)
            checks.append(_exit_if(both(differs, _is_long(name, axis)), Status.LAYOUT))
            if axis != order[0]:  # a name for each product: written out they would be longer each
                product = mul(expected, Field(name, "shape", axis))
                expected = f"{name}_dense{axis}"
                checks.append(let(expected, product))
        return checks
    if buffer.layout is Layout.UNIT and order:
        inner = order[-1]
        differs = compute("!=", _stride(name, inner), itemsize)
        checks.append(_exit_if(both(differs, _is_long(name, inner)), Status.LAYOUT))
    return checks + _order_checks(name, order)


def _order_checks(name: str, order: Sequence[int]) -> list[Stmt]:
    """No axis may step further than one outside of it; those of length 1 have no say, wherever."""
    outside = f"{name}_outside"  # how far the innermost of the long axes outside steps
    checks: list[Stmt] = []
    for at, axis in enumerate(order if len(order) > 1 else ()):
        step, is_long = compute("abs", _stride(name, axis)), _is_long(name, axis)
        if at:
            checks.append(_exit_if(both(less(outside, step), is_long), Status.LAYOUT))
        else:
            checks.append(let(outside, int_of(np.iinfo(np.int64).max)))
        if at < len(order) - 1:
            checks.append(If(is_long, [let(outside, step, rebind=True)]))
    return checks


def _own_overlap_checks(name: str, buffer: Buffer) -> list[Stmt]:
    """An argument that is written must not reach one element by two indices.

    Each axis must step over all that the axes inside it reach; slices of dense arrays do.
    """
    if buffer.layout is Layout.CONTIGUOUS:
        return []
    order = buffer.order or tuple(range(buffer.type.rank))
    checks = []
    reach = operand(buffer.type.dtype.itemsize)
    for axis in reversed(order):
        step = compute("abs", _stride(name, axis))
        checks.append(_exit_if(both(_is_long(name, axis), less(step, reach)), Status.OVERLAP))
        more = maximum(sub(Field(name, "shape", axis), 1), 0)
        reach = add(reach, mul(step, more))
    return checks


def stride_names(name: str, buffer: Buffer) -> list[str]:
    """What the strides of an argument are called, in elements."""
    return [f"{name}_st{axis}" for axis in range(buffer.type.rank)]


def _strides(name: str, buffer: Buffer, used: frozenset[str]) -> list[Stmt]:
    size = buffer.type.dtype.itemsize
    return [
        let(stride, floordiv(_stride(name, axis), size))
        for axis, stride in enumerate(stride_names(name, buffer))
        if stride in used
    ]
