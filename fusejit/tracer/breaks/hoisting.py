"""What can be computed before a statement that Python has to run.

::

    log.add(i, np.abs(x).sum())        part0 = np.abs(x).sum()     # compiled
                                       log.add(i, part0)           # Python's

The parts of an expression are taken out in the order in which Python evaluates them. Names,
constants and attributes of names stay; so does all of a statement in which a part is evaluated
under a condition, or several times, or where taking a part out would change the order: what stays
before a part is then read after it, which is seen if the part is not quiet::

    self.log.add(self.fit(x))          part0 = self.log.add        # Python's: fit may bind it again
                                       part1 = self.fit(x)
                                       part0(part1)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Set
from typing import Any, cast

from fusejit.support.syntax import children, copied, walk
from fusejit.tracer.breaks.quiet import is_quiet
from fusejit.tracer.source.bound_names import evaluated_at_once

_ORDERED = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)  # in the middle of an expression
OperandSlot = tuple[ast.AST | list[ast.expr], str | int]  # where an operand stands


def is_trivial(node: ast.AST | None) -> bool:
    """Whether an expression computes nothing."""
    match node:
        case None | ast.Name() | ast.Constant():
            return True
        case ast.Lambda() | ast.GeneratorExp():
            return all(map(is_trivial, evaluated_at_once(node)))
        case ast.Attribute():
            return is_trivial(node.value)
        case ast.UnaryOp():
            return isinstance(node.operand, ast.Constant)
        case ast.Tuple() | ast.List():
            return all(map(is_trivial, node.elts))
        case ast.Slice():
            return all(map(is_trivial, (node.lower, node.upper, node.step)))
        case ast.Starred() | ast.keyword():
            return is_trivial(node.value)
        case ast.Dict():
            return all(map(is_trivial, (*node.keys, *node.values))) and None not in node.keys
    return False


def is_idle(node: ast.stmt) -> bool:
    """Whether a statement only moves values between names, or counts."""
    match node:
        case ast.Pass():
            return True
        case ast.Expr() | ast.Return():
            return is_trivial(node.value)
        case ast.Assign():
            return is_trivial(node.value) and all(map(_is_name, node.targets))
        case ast.AugAssign():
            return _is_name(node.target) and isinstance(node.value, ast.Constant)
    return False


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


class Hoist:
    """Takes parts out of statements.

    Parameters
    ----------
    fresh : callable
        Makes a name that the function does not use.
    local : set of str
        The function's own names.
    rebound : set of str
        Those that its inner functions bind again; no call binds the others.
    """

    def __init__(self, fresh: Callable[[], str], local: Set[str], rebound: Set[str]) -> None:
        self._fresh = fresh
        self._local = local
        self._rebound = rebound
        self.moved: set[ast.stmt] = set()  # statements that only hold on to what is read first
        self.values: dict[str, ast.expr] = {}  # what the names that it made stand for

    def statement(self, node: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
        """What is computed first, and the statement that uses it. Changes ``node``."""
        match node:
            case ast.AugAssign() if not self._stays(node.target):
                return self._in_place(node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if all(map(_is_name, targets)) or is_trivial(node.value):
                    return self.parts(node.value), node
                return [self._taken_out((node, "value"))], node
            case ast.Expr() | ast.Return() if node.value is not None:
                return self.parts(node.value), node
        return [], node

    def _in_place(self, node: ast.AugAssign) -> tuple[list[ast.stmt], ast.stmt]:
        """``o.n += f(x)``: the old value, the right-hand side, the sum, and the store.

        So for names that the function declares global, or that inner functions bind.
        """
        if is_trivial(node.value) or not is_trivial_target(node.target):
            return [], node
        if not is_quiet(node.value) and not self._is_settled(node.target):
            return [], node
        old = copy.copy(node.target)
        old.ctx = ast.Load()
        stored = ast.copy_location(ast.Assign(targets=[node.target], value=old), node)
        taken = self._taken_out((stored, "value"))
        value = self._taken_out((node, "value"))
        name = cast(ast.Name, stored.value)
        node.target = ast.copy_location(ast.Name(id=name.id, ctx=ast.Store()), node)
        return [taken, value, node], stored

    def parts(self, node: ast.expr) -> list[ast.stmt]:
        """Take the operands of an expression out of it."""
        if any(isinstance(inner, _ORDERED) for inner in walk(node)):
            return []
        slots = _operand_slots(node)
        computed = [at for at, slot in enumerate(slots) if not is_trivial(_operand(slot))]
        if not computed:
            return []
        before = slots[: computed[-1] + 1]
        parts: list[ast.stmt] = []
        if not all(is_quiet(_operand(slot)) for slot in before):
            if any(isinstance(n, ast.JoinedStr) for n in _parents_of_values(node)):
                return []  # the text of a value is made before the next one is computed
            if isinstance(node, ast.Call):
                before, parts = self._function_first(node, before)
        parts += [self._taken_out(slot) for slot in before if not self._stays(_operand(slot))]
        return parts

    def _function_first(
        self, node: ast.Call, slots: list[OperandSlot]
    ) -> tuple[list[OperandSlot], list[ast.stmt]]:
        """Take out what is called, which the arguments may bind again; the slots that are left."""
        parts: list[ast.stmt] = []
        if isinstance(node.func, ast.Attribute) and not is_trivial(node.func):
            parts.append(self._taken_out(slots[0]))
            slots = slots[1:]
        if is_trivial(node.func) and not self._stays(node.func) and not _is_super(node.func):
            parts.append(self._taken_out((node, "func")))
            self.moved.add(parts[-1])
        return slots, parts

    def _stays(self, node: ast.expr) -> bool:
        """Whether it does not matter when an operand is read."""
        if isinstance(node, ast.Name):
            return node.id in self._local and node.id not in self._rebound
        if isinstance(node, ast.Lambda | ast.GeneratorExp):
            return all(map(self._stays, evaluated_at_once(node)))
        return isinstance(node, ast.Constant)

    def _is_settled(self, target: ast.expr) -> bool:
        """Whether naming a target twice gives the same slot, whatever runs between."""
        parts: list[ast.expr] = []
        if isinstance(target, ast.Attribute):
            parts = [target.value]
        elif isinstance(target, ast.Subscript):
            parts = [target.value, target.slice]
        return all(map(self._stays, parts))

    def _taken_out(self, slot: OperandSlot) -> ast.stmt:
        owner, key = slot
        node = _operand(slot)
        name = self._fresh()
        self.values[name] = copied(node)
        target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), node)
        instead = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node)
        if isinstance(owner, list):
            owner[cast(int, key)] = instead
        else:
            setattr(owner, cast(str, key), instead)
        return ast.copy_location(ast.Assign(targets=[target], value=node), node)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "super"


def _operand(slot: OperandSlot) -> ast.expr:
    owner, key = slot
    found = owner[cast(int, key)] if isinstance(owner, list) else getattr(owner, cast(str, key))
    return cast(ast.expr, found)


def _operand_slots(node: ast.expr) -> list[OperandSlot]:
    """Where the operands of an expression stand, in the order of their evaluation.

    Empty where one of them is evaluated under a condition, or is no expression of its own.
    """
    found: list[OperandSlot] = []
    match node:
        case ast.Call():
            if isinstance(node.func, ast.Attribute) and not is_trivial(node.func):
                found.append((node.func, "value"))
            found += [(node.args, at) for at in range(len(node.args))]
            found += [(keyword, "value") for keyword in node.keywords]
            if any(isinstance(a, ast.Starred) for a in node.args):
                return []
            if any(keyword.arg is None for keyword in node.keywords):
                return []
        case ast.BinOp():
            found = [(node, "left"), (node, "right")]
        case ast.UnaryOp():
            found = [(node, "operand")]
        case ast.Compare():
            found = [(node, "left")]
            if len(node.ops) == 1:
                found.append((node.comparators, 0))
        case ast.Subscript():
            found = [(node, "value")]
            if not any(isinstance(n, ast.Slice) for n in walk(node.slice)):
                found.append((node, "slice"))
        case ast.Attribute():
            found = [(node, "value")]
        case ast.Tuple() | ast.List():
            if not any(isinstance(e, ast.Starred) for e in node.elts):
                found = [(node.elts, at) for at in range(len(node.elts))]
        case ast.Dict():
            if all(k is not None and is_trivial(k) for k in node.keys):
                items = (node.keys, node.values)
                found = [(cast(Any, own), at) for at in range(len(node.keys)) for own in items]
        case ast.JoinedStr():
            values = [v for v in node.values if isinstance(v, ast.FormattedValue)]
            if all(map(_has_fixed_format, values)):
                found = [(value, "value") for value in values]
    return [inner for slot in found for inner in _inside_text(slot)]


def _parents_of_values(node: ast.expr) -> list[ast.expr]:
    """The expression, and the f-strings in it whose values are taken out."""
    found = [node]
    for inner in children(node):
        if isinstance(inner, ast.keyword | ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.JoinedStr):
            found += _parents_of_values(inner)
    return found


def _has_fixed_format(node: ast.FormattedValue) -> bool:
    """Whether nothing is computed for the format of a value."""
    return node.format_spec is None or not any(
        isinstance(inner, ast.FormattedValue) for inner in walk(node.format_spec)
    )


def _inside_text(slot: OperandSlot) -> list[OperandSlot]:
    """An f-string is no operand of its own: the values in it are."""
    node = _operand(slot)
    return _operand_slots(node) if isinstance(node, ast.JoinedStr) else [slot]


def is_trivial_target(node: ast.expr) -> bool:
    """Whether naming the target of an augmented assignment computes nothing."""
    match node:
        case ast.Attribute():
            return is_trivial(node.value)
        case ast.Subscript():
            return is_trivial(node.value) and is_trivial(node.slice)
    return isinstance(node, ast.Name)
