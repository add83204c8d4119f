"""Elements that both branches of a conditional load are loaded before it.

Before and after::

    if n7:                                both0 = get(p_a0, at0 + 1)
        n9 = get(p_a0, at0 + 1)           if n7:
    else:                                     n9 = both0
        y16v1 = get(p_a0, at0 + 1)        else:
        n9 = int_add(n3, y16v1)               n9 = int_add(n3, both0)

What is left is a choice without a jump, which no processor can guess wrong. LLVM does not load for
a branch that may not be taken, and sees that both do only where they begin with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from fusejit.codegen.analysis.chains import Access
from fusejit.codegen.analysis.rewriting import with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.mentioned_names import expr_names
from fusejit.ir.loops.nodes import Element, If, Let, Stmt, Var


def hoist_common_loads(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel, with such loads before the conditional."""
    names = (f"both{number}" for number in itertools.count())

    def block(statements: Sequence[Stmt]) -> list[Stmt]:
        return [new for s in statements for new in _hoisted(with_bodies(s, block), names)]

    return block(statements)


def _hoisted(s: Stmt, names: Iterator[str]) -> list[Stmt]:
    """A statement with its loads before it; conditionals inside it have hoisted theirs."""
    if not isinstance(s, If):
        return [s]
    body, orelse = [*s.body], [*s.orelse]
    others = dict(_first_loads(orelse))
    loads: list[Stmt] = []
    for access, at in _first_loads(body):
        if access not in others:
            continue
        name = next(names)
        loads.append(Let(name, Element(*access)))
        for branch, place in ((body, at), (orelse, others[access])):
            let = branch[place]
            assert isinstance(let, Let)
            branch[place] = replace(let, value=Var(name))
    return [*loads, replace(s, body=body, orelse=orelse)]


def _first_loads(statements: Sequence[Stmt]) -> Iterator[tuple[Access, int]]:
    """Elements that a branch loads whatever happens, before it does more than give names.

    Only those whose places are known before it.
    """
    own: set[str] = set()
    seen: set[Access] = set()
    for at, s in enumerate(statements):
        if not isinstance(s, Let):
            return
        if isinstance(s.value, Element):
            access = s.value.pointer, s.value.offset
            if access not in seen and not own & expr_names(s.value):
                yield access, at
            seen.add(access)
        own.add(s.name)
