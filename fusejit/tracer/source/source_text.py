"""The syntax tree of a function, if its source is still the one that was compiled.

The whole file is parsed, so that nodes keep the user's positions and enclosing classes are known
(private names are mangled by them). A node stands for the function only if compiling it gives the
function's own bytecode: a file or notebook cell that was edited since is refused.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import linecache
import warnings
import weakref
from collections.abc import Mapping, Sequence
from types import CellType, CodeType, FunctionType

from fusejit.dataclass import dataclass, field, replace
from fusejit.support.syntax import children, parse
from fusejit.tracer.source.new_statements import statement_of
from fusejit.tracer.source.original_text import WrittenTexts
from fusejit.tracer.source.source_texts import texts_for
from fusejit.tracer.source.tool_rewrites import (
    place_of,
    rewritten_asserts,
    with_names,
    written_names,
)

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURE_FLAGS = functools.reduce(
    int.__or__,
    (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names),
)
_NESTED = 0x10  # CO_NESTED: the copy always stands inside a factory function
_CODE_FIELDS = (
    "co_name",
    "co_code",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_exceptiontable",
)


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A function in its file.

    Attributes
    ----------
    node : FunctionNode
        The function.
    class_name : str or None
        The innermost class around it.
    imported : tuple of str
        Names that the module imports: CPython compiles ``np.exp(x)`` differently for them.
    parts : mapping of str to ast.expr
        What names stand for that are none of the user's.
    rewritten : FunctionNode or None
        The function as it was compiled, if that is not as it was written: pytest rewrites asserts.
    text : str
        The text in which the function stands; empty for a part of a function.
    given : frozenset of str or None
        Of a part of a function: the parameters of the whole function.
    """

    node: FunctionNode
    class_name: str | None
    imported: tuple[str, ...]
    parts: Mapping[str, ast.expr] = field(default_factory=dict)
    rewritten: FunctionNode | None = None
    text: str = field(default="", repr=False)
    given: frozenset[str] | None = None

    @property
    def as_compiled(self) -> FunctionNode:
        """The function whose bytecode Python runs."""
        return self.rewritten or self.node

    def of_part(self, node: FunctionNode) -> FunctionSource:
        """That of a function made from this one."""
        given = self.given
        if given is None:
            given = frozenset(a.arg for a in ast.walk(self.node.args) if isinstance(a, ast.arg))
        return replace(self, node=node, rewritten=None, text="", given=given)


def find_source(function: FunctionType) -> FunctionSource | str:
    """The syntax tree of ``function``, or the reason why there is none."""
    code = function.__code__
    made = _made_from_trees.get(id(code))
    if made is not None:
        return made
    why = "no source was found; define it in a file or in a cell of a notebook"
    matches: list[FunctionSource] = []
    for text in texts_for(function):
        try:
            candidates = _candidates(function, text)
        except (SyntaxError, ValueError, RecursionError):
            why = "its file was edited since: it no longer parses"
            continue
        if candidates or linecache.getlines(code.co_filename, function.__globals__):
            why = (
                "its source does not give its bytecode (edited since, or rewritten by another tool)"
            )
        for candidate in candidates:
            try:
                compiled = compile_function(candidate, candidate.as_compiled, code)
            except (SyntaxError, ValueError):
                continue
            if same_code(compiled, code):
                if list(compiled.co_positions()) == list(code.co_positions()):
                    return replace(candidate, text=text)
                matches.append(replace(candidate, text=text))
        if matches:  # positions differ in the prologue of decorated functions
            return matches[0]
    return why


def _candidates(function: FunctionType, text: str) -> Sequence[FunctionSource]:
    """The functions of a text that may be this one."""
    code = function.__code__
    by_line = _functions_by_line(code.co_filename, text)
    names = written_names(code)
    name = next((old for old, new in names.items() if new == code.co_name), code.co_name)
    found = by_line.get((code.co_firstlineno, name), ())
    if names:
        return [replace(one, node=with_names(one.node, names)) for one in found]
    tree = rewritten_asserts(function, text)
    if tree is None:
        return found
    written = {place_of(one.node): one.node for one in found}
    return [
        replace(one, node=written[place_of(one.node)], rewritten=one.node)
        for one in _functions_of(tree).get((code.co_firstlineno, name), ())
        if place_of(one.node) in written
    ]


_made_from_trees: dict[int, FunctionSource] = {}  # by the ids of code that is alive


def made_from(code: CodeType, source: FunctionSource) -> None:
    """Note the tree of code that was compiled from part of a function: it stands in no file."""
    _made_from_trees[id(code)] = source
    weakref.finalize(code, _made_from_trees.pop, id(code), None).atexit = False


def texts_in(function: FunctionType) -> Mapping[str, str]:
    """What the user wrote instead of names that are none of the user's, in a part of a function."""
    made = _made_from_trees.get(id(function.__code__))
    return {} if made is None else WrittenTexts(made.parts)


def given_to(function: FunctionType) -> frozenset[str] | None:
    """The parameters of the function that ``function`` is a part of; None if it is whole."""
    made = _made_from_trees.get(id(function.__code__))
    return None if made is None else made.given


def as_definition(node: FunctionNode) -> ast.FunctionDef | None:
    """The function as a ``def``: of a lambda one that returns its value; None if it is async."""
    if isinstance(node, ast.FunctionDef):
        return node
    if not isinstance(node, ast.Lambda):
        return None
    returned = ast.copy_location(ast.Return(value=node.body), node.body)
    made = ast.FunctionDef(name="<lambda>", args=node.args, body=[returned], decorator_list=[])
    return ast.copy_location(made, node)


def compile_function(
    source: FunctionSource, node: FunctionNode, like: CodeType, free: Sequence[str] = ()
) -> CodeType:
    """Compile ``node`` with the scopes, flags and file of ``like``; return its code object.

    Parameters
    ----------
    source : FunctionSource
        Tells the enclosing class.
    node : FunctionNode
        The function to compile, as it was written or rewritten.
    like : CodeType
        The function's own code: its free variables and file are used.
    free : sequence of str, optional
        More names that may be free in the function.
    """
    inner: ast.stmt
    if isinstance(node, ast.Lambda):
        bare = ast.Lambda(args=_bare_arguments(node.args), body=node.body)
        inner = ast.Expr(value=ast.copy_location(bare, node))
    else:
        inner = copy.copy(node)
        inner.decorator_list = []
        inner.returns = None
        inner.args = _bare_arguments(node.args)
    ast.copy_location(inner, node)
    definition = inner
    own = [name for name in like.co_freevars if name != "__class__" or not source.class_name]
    free = [*own, *free]
    if source.class_name:
        outer: ast.ClassDef = statement_of(f"class {source.class_name}: pass", node)
        outer.body = [definition]
        inner = outer
    names = [] if isinstance(inner, ast.Expr) else [inner.name]
    own_names = [name for name in names if name not in free]
    factory: ast.FunctionDef = statement_of("def factory(): pass", node)
    factory.args.args = [ast.arg(arg=name) for name in free]
    factory.body = [ast.Global(names=own_names), inner] if own_names else [inner]
    imports = ast.Import(names=[ast.alias(name=name) for name in source.imported])
    parts: list[ast.stmt] = [imports] if source.imported else []
    module = ast.Module(body=[*parts, factory], type_ignores=[])
    vars(definition)["type_params"] = []  # required from Python 3.12 on; ignored before
    ast.fix_missing_locations(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(
            module,
            like.co_filename,
            "exec",
            flags=like.co_flags & _FUTURE_FLAGS,
            dont_inherit=True,
        )
    for _ in range(3 if source.class_name else 2):
        (code,) = [const for const in code.co_consts if isinstance(const, CodeType)]
    assert isinstance(code, CodeType)
    return _with_qualname(code, code.co_qualname, like.co_qualname)


def with_code(
    function: FunctionType, code: CodeType, cells: Mapping[str, object]
) -> FunctionType | None:
    """Make a function of other code that stands where ``function`` does, without default values.

    Its closure has the cells of ``function`` and new ones for the values in ``cells``; None if the
    code needs more.
    """
    known = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    known.update((name, CellType(value)) for name, value in cells.items())
    if any(name not in known for name in code.co_freevars):
        return None
    closure = tuple(known[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, None, closure)
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    return made


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same; lines and columns are not compared."""
    if any(getattr(one, field) != getattr(other, field) for field in _CODE_FIELDS):
        return False
    if (one.co_flags | _NESTED) != (other.co_flags | _NESTED):
        return False
    return _same_constants(one.co_consts, other.co_consts)


def _same_constants(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same_constants, one, other))
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return {(type(c), repr(c)) for c in one} == {(type(c), repr(c)) for c in other}
    if isinstance(one, (float, complex)):
        return repr(one) == repr(other)
    return one == other


@functools.lru_cache(maxsize=32)
def _functions_by_line(
    filename: str, text: str
) -> dict[tuple[int, str], tuple[FunctionSource, ...]]:
    """All functions of a text by first line and name, as code objects give them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parse(text, filename=filename, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert isinstance(tree, ast.Module)
    return _functions_of(tree)


def _functions_of(tree: ast.Module) -> dict[tuple[int, str], tuple[FunctionSource, ...]]:
    """As `_functions_by_line`.

    A function stands there once for each unit that may have been compiled with it, as that decides
    which names are known as imports: the module, the statement alone (a cell of IPython), or the
    body of the function around it (a cell of marimo).
    """
    found: dict[tuple[int, str], tuple[FunctionSource, ...]] = {}
    whole = imports_in(tree)
    pending: list[tuple[ast.AST, str | None, tuple[tuple[str, ...], ...]]] = [
        (statement, None, (whole, imports_in(statement))) for statement in reversed(tree.body)
    ]
    while pending:
        node, class_name, units = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(node, ast.Lambda):
                key = (node.lineno, "<lambda>")
            else:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                key = (first, node.name)
            made = (FunctionSource(node, class_name, names) for names in dict.fromkeys(units))
            found[key] = (*found.get(key, ()), *made)
        if isinstance(node, ast.FunctionDef):
            units = (*units[:2], imports_in(ast.Module(body=node.body, type_ignores=[])))
        if isinstance(node, ast.ClassDef):
            captures = (*node.bases, *node.keywords, *node.decorator_list)
            pending += [(child, class_name, units) for child in captures]
            pending += [(child, node.name, units) for child in node.body]
        else:
            pending += [(child, class_name, units) for child in children(node)]
    return found


def imports_in(tree: ast.AST) -> tuple[str, ...]:
    """The names that a tree imports, without those of functions and classes in it."""
    names: dict[str, None] = {}
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = (alias.asname or alias.name.partition(".")[0] for alias in node.names)
            names.update((name, None) for name in bound if name != "*")
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            pending += children(node)
    return tuple(names)


def _bare_arguments(arguments: ast.arguments) -> ast.arguments:
    """Without annotations and default values, which belong to the enclosing scope."""

    def bare(argument: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(arg=argument.arg), argument)

    none = ast.Constant(value=None)
    return ast.arguments(
        posonlyargs=[bare(a) for a in arguments.posonlyargs],
        args=[bare(a) for a in arguments.args],
        vararg=bare(arguments.vararg) if arguments.vararg else None,
        kwonlyargs=[bare(a) for a in arguments.kwonlyargs],
        kw_defaults=[None if d is None else none for d in arguments.kw_defaults],
        kwarg=bare(arguments.kwarg) if arguments.kwarg else None,
        defaults=[none for _ in arguments.defaults],
    )


def _with_qualname(code: CodeType, old: str, new: str) -> CodeType:
    """Give the function and what is nested in it the names it has in the user's module."""
    name = code.co_qualname
    if name.startswith(old):  # not so for ``global C; class C``
        name = new + name.removeprefix(old)

    def renamed(constant: object) -> object:
        if isinstance(constant, CodeType):
            return _with_qualname(constant, old, new)
        # the body of a class holds its own qualified name
        return name if constant == code.co_qualname and code.co_qualname != old else constant

    return code.replace(co_qualname=name, co_consts=tuple(map(renamed, code.co_consts)))
