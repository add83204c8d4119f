"""Other names for the local variables of a random program.

fusejit makes names of its own beside those of a program, and a name that begins like one of them
must be a name like any other. (Objects in variables such as ``_stack`` were not watched once.)
"""

from __future__ import annotations

import ast

PREFIXES = ("_st", "_st_", "_st_c", "_", "__", "fusejit_", "zfusejit_", "_part", "segment_")
EVERY = 3  # one program of so many


def with_local_names(text: str, seed: int) -> str:
    """The text of a module whose function ``f`` has other local names; the same for other seeds."""
    if seed % EVERY:
        return text
    prefix = PREFIXES[seed // EVERY % len(PREFIXES)]
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "f":
            names = _local_names(node)
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and part.id in names:
                    part.id = prefix + part.id
    return ast.unparse(tree)


def _local_names(function: ast.FunctionDef) -> set[str]:
    """The names that are assigned and are nothing else: no parameter, attribute or keyword."""
    parts = [*ast.walk(function)]
    stored = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    others: set[str] = set()
    for part in parts:
        for field, value in ast.iter_fields(part):
            if isinstance(value, str) and not (isinstance(part, ast.Name) and field == "id"):
                others.add(value)
        if isinstance(part, ast.Global | ast.Nonlocal):
            others.update(part.names)
    return stored - others
