"""A program whose whole file is decorated, as if a decorator stood above every function in it."""

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.programs.program import Program

NAME = "fuse_jit"  # of the decorator, in the decorated file


def decorated(program: Program, decorator: Callable[..., Any]) -> Program:
    """The same program out of a fresh copy of its file with all functions decorated.

    Those are the functions of the module and the methods of its classes; the decorator is the
    innermost one, so that ``@property`` and ``@dataclass`` see what they saw before. Lines, names
    and text stay those of the file. What builds the arguments is left as it is.

    Parameters
    ----------
    program
        A program of the corpus.
    decorator
        From a function to what replaces it.
    """
    name = program.function.__module__
    module = ModuleType(name)
    path = Path(str(sys.modules[name].__file__))
    vars(module).update({"__file__": str(path), NAME: decorator})
    exec(compile(decorated_tree(path), str(path), "exec", dont_inherit=True), vars(module))
    programs: tuple[Program, ...] = module.PROGRAMS
    copy = next(p for p in programs if p.name == program.name)
    return replace(copy, arguments=getattr(copy.arguments, "__wrapped__", copy.arguments))


def decorated_tree(path: Path) -> ast.Module:
    """The syntax tree of a file with the decorator's name at each function outside of functions."""
    tree = ast.parse(path.read_text("utf-8"), str(path))
    bodies = [tree.body]
    while bodies:
        for statement in bodies.pop():
            if isinstance(statement, ast.FunctionDef):
                mark = ast.copy_location(ast.Name(NAME, ast.Load()), statement)
                mark.end_lineno, mark.end_col_offset = mark.lineno, mark.col_offset
                statement.decorator_list.append(mark)
            elif isinstance(statement, ast.ClassDef):
                bodies.append(statement.body)
    return tree
