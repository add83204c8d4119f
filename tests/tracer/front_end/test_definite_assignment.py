"""Names that statements need, bind and read in inner scopes, for each form that binds names.

Regression: Python filled the table of an alignment (1.0x instead of 36x): names that a loop binds
counted as read later unless a plain assignment binds them again.
"""

from __future__ import annotations

import ast
import symtable
import textwrap

import pytest

from fusejit.tracer.source.bound_names import assigned, free_names, unbound
from fusejit.tracer.source.live_names import needed, surely_assigned

# statements, what they need, what they bind whatever way leads through them
CASES = [
    ("a, (b, *c) = v", "v", "a b c"),
    ("a[i], b.x = v", "a b i v", ""),
    ("a += 1", "a", "a"),
    ("a: int = v", "v", "a"),
    ("a: int", "", ""),
    ("with v as (a, b):\n    c = a", "v", ""),
    ("with v as a, v as b:\n    c = a", "v", "a"),
    ("with np.errstate() as a:\n    c = a", "np", "a c"),
    ("for a, b in v:\n    c = a", "v", ""),
    ("for a in v:\n    c = a\nelse:\n    c = 1", "v", "c"),
    ("while (a := v()):\n    b = a", "v", "a"),
    ("while True:\n    a = 1\n    if v:\n        break", "v", "a"),
    ("a = 1\ndel a", "", ""),
    ("a = 1\ndel a\nb = a", "a", "b"),
    ("a = 1\nfor b in v:\n    c = a\n    del a", "a v", ""),
    ("a = 1\nif v:\n    del a", "v", ""),
    ("try:\n    a = v()\nexcept E as b:\n    a = b", "v E", "a"),
    ("try:\n    a = v()\nexcept E as b:\n    pass\nc = b", "v E b", "c"),
    ("a = 1\ntry:\n    del a\nexcept E:\n    b = a", "E a", ""),
    ("try:\n    a = 1\nfinally:\n    b = 2", "", "a b"),
    ("match v:\n    case a, *b: pass\n    case {1: a}: b = 0\n    case _: a = b = 0", "v", "a b"),
    ("match v:\n    case [a]: pass", "v", ""),
    ("match v:\n    case E(x=a) | [a, _] if a: pass\n    case a: pass", "v E", "a"),
    ("import a.b, c as d", "", "a d"),
    ("from x import a as b", "", "b"),
    ("def a(b, c=v) -> E:\n    return b + w + a()", "v E w", "a"),
    ("def a():\n    def b():\n        return c\n    c = 1\n    return b", "", "a"),
    ("def a():\n    nonlocal b\n    b = 1", "b", "a"),
    ("class a(v):\n    b = c\n    def m(self):\n        return b", "v b c", "a"),
    ("a = lambda b, c=v: b + w", "v w", "a"),
    ("a = [b + c for b in v if b]", "v c", "a"),
    ("a = [b for b in b]", "b", "a"),
    ("a = [c for b in v if (c := b)]\nd = c", "v c", "a d"),
    ("a = {k: w for k, w in v}", "v", "a"),
    ("a = (b := v) + b", "v", "a b"),
    ("a = v and (b := 1) and b\nc = b", "v b", "a c"),
    ("a = (b := 1) if v else b", "v b", "a"),
    ("a = v < w < (b := 1)\nc = b", "v w b", "a c"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "read", "bound"), CASES)
def test_names_needed_and_bound(text: str, read: str, bound: str) -> None:
    body = ast.parse(text).body
    assert needed(body) == {*read.split()}
    assert surely_assigned(body) == {*bound.split()}


@pytest.mark.parametrize("text", [c[0] for c in CASES])
def test_what_statements_bind_is_what_python_takes_for_local(text: str) -> None:
    inside = f"def f():\n{textwrap.indent(text, '    ')}\n"
    if "nonlocal" in text:
        inside = f"def f():\n    b = 0\n{textwrap.indent(text, '    ')}\n"
    (function,) = symtable.symtable(inside, "<t>", "exec").get_children()
    local = {s.get_name() for s in function.get_symbols() if s.is_local()}
    body = ast.parse(inside).body[0].body  # type: ignore[attr-defined]
    assert assigned(body) == local - ({"a"} if text == "a: int" else set())
    assert unbound(body) <= local


def test_free_names_are_those_of_the_symbol_table() -> None:
    text = "def f(p, *q, r=d, **s):\n    def g():\n        k = 1\n        return k + h + x\n"
    text += "    return [x + k for x in y] + [lambda z: z + w + p]\n"
    assert free_names(ast.parse(text).body[0]) == {"h", "x", "k", "y", "w"}
