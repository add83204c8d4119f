"""What a program does in NumPy: the values of all its expressions, seen one by one.

`observe` runs a program with every expression wrapped, so that a claim about it (a float16 appears,
a float is stored into integers, two sizes take the same decisions) is checked on NumPy's own values
and not on what fusejit says.
"""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusejit.tracer.builder.layout import classify
from fusejit_testing.compare import clone

_SEE, _CALL, _STORE, _VALUE = "_see", "_see_call", "_see_store", "_value"


@dataclass(slots=True)
class Facts:
    """What was seen in one call.

    ``pattern`` has the decisions that NumPy's own rules ask of sizes: how each argument lies in
    memory, and for each array that an expression gave, which axes are empty, 1 long or longer, and
    how its strides compare; calls of one pattern need one variant. ``dtypes`` are those of all
    values and of the loops that computed them, ``stores`` the dtype of the target and the value;
    ``integer_bits`` is the length of the longest Python integer.
    """

    dtypes: set[np.dtype] = field(default_factory=set)
    stores: list[tuple[np.dtype, Any]] = field(default_factory=list)
    pattern: list[Any] = field(default_factory=list)
    has_empty: bool = False
    integer_bits: int = 0

    def see(self, value: Any) -> Any:
        """Note a value and hand it on."""
        if isinstance(value, int):
            self.integer_bits = max(self.integer_bits, value.bit_length())
        if isinstance(value, np.ndarray | np.generic):
            self.dtypes.add(value.dtype)
        if isinstance(value, np.ndarray):
            self.has_empty |= not value.size
            self.pattern.append((tuple(min(n, 2) for n in value.shape), _stride_order(value)))
        return value

    def see_call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function; a ufunc may convert its operands to a dtype that no value has."""
        if isinstance(function, np.ufunc):
            tokens = [type(a) if type(a) in (int, float) else np.asarray(a).dtype for a in args]
            self.dtypes.update(function.resolve_dtypes((*tokens, None)))
        return self.see(function(*args, **kwargs))

    def see_store(self, target: Any, part: Any, value: Any) -> None:
        """Note that ``value`` is stored into ``part`` of ``target``."""
        self.see(part)
        self.stores.append((target.dtype, value))


def _stride_order(array: np.ndarray) -> tuple[int, ...]:
    """The sign of ``|stride i| - |stride j|`` for each pair of axes, those of length 1 too."""
    strides = [abs(s) for s in array.strides]
    return tuple(
        (a > b) - (a < b) for i, a in enumerate(strides) for b in strides[i + 1 :] if array.size
    )


def observe(source: str, args: Sequence[Any]) -> Facts:
    """Run ``def program(...)`` on clones of ``args``, until it ends or NumPy raises."""
    tree = ast.fix_missing_locations(_Wrapped().visit(ast.parse(source)))
    facts = Facts()
    for arg in args:
        facts.see(arg)
        if isinstance(arg, np.ndarray):
            facts.pattern.append(classify(arg))
    hooks = {_SEE: facts.see, _CALL: facts.see_call, _STORE: facts.see_store}
    namespace: dict[str, Any] = {"np": np, **hooks}
    exec(compile(tree, "<observed program>", "exec"), namespace)
    numpy_errors = (ArithmeticError, LookupError, TypeError, ValueError)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(*numpy_errors):  # what was seen so far counts
            namespace["program"](*clone(tuple(args)))
    return facts


class _Wrapped(ast.NodeTransformer):
    """``x[1:] = a + b`` as ``_value = _see(...); _see_store(x, x[1:], _value); x[1:] = _value``."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Call):
            return self.visit_Call(node)
        node = super().visit(node)
        if not isinstance(node, ast.expr) or isinstance(node, ast.Slice | ast.Starred):
            return node
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        return _call(_SEE, node) if is_read else node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """The arguments, and the function if it is a ufunc; a method is no value."""
        function = node.func
        if isinstance(function, ast.Attribute):
            function.value = self.visit(function.value)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return ast.Call(ast.Name(_CALL, ast.Load()), [function, *node.args], node.keywords)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """A store through a subscript is seen with its target."""
        (target,) = node.targets
        if not isinstance(target, ast.Subscript):
            return self.generic_visit(node)
        first = ast.Assign([ast.Name(_VALUE, ast.Store())], self.visit(node.value))
        node.value = ast.Name(_VALUE, ast.Load())
        return [first, _stored(target), node]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """``x[i] += y`` stores ``x[i] + y``."""
        if not isinstance(node.target, ast.Subscript):
            return self.generic_visit(node)
        sum_of = ast.BinOp(_loaded(node.target), node.op, node.value)
        first = ast.Assign([ast.Name(_VALUE, ast.Store())], self.visit(sum_of))
        return [first, _stored(node.target), node]


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _loaded(target: ast.Subscript) -> ast.Subscript:
    return ast.Subscript(target.value, target.slice, ast.Load())


def _stored(target: ast.Subscript) -> ast.Expr:
    return ast.Expr(_call(_STORE, target.value, _loaded(target), ast.Name(_VALUE, ast.Load())))
