"""Make the code of entry stubs: generated text, or the user's statements after a guard."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, cast

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard
from fusejit.dataclass import dataclass, replace
from fusejit.support.frame_readers import names_in, shows_names
from fusejit.support.identity import standing_for
from fusejit.tracer.source.source_text import (
    FunctionSource,
    as_definition,
    compile_function,
    find_source,
)

LAUNCHING = """
def factory({free}):
    def entry_stub({parameters}):
        nonlocal {free}
        try:
            {result} = {own}.first
            try:
                {result} = {result}({arguments})
            except {own}.Exception as {error}:
                {result} = {own}.recover({error})
                if {result} is None:
                    raise
            if {result}.__class__ is {own}.Outcome:
                {result} = {own}.dispatch_miss({all}, {result})
                if {result} is {own}.INTERPRET:
                    return {own}.function({passed})
            return {result}
        except {own}.BaseException as {error}:
            {own}.strip_frames({error})
            raise
    return entry_stub
"""
_CALLING = """
def factory({{free}}):
    def entry_stub({{parameters}}):
{guard}
        try:
            return {{own}}.run({{arguments}})
        except {{own}}.BaseException as {{local}}:
            {{own}}.strip_frames({{local}})
            raise
    return entry_stub
"""
_DISPATCHED = """
    try:
        {local} = {own}.dispatch_miss({all})
        if {local} is {own}.INTERPRET:
            return {own}.function({passed})
        return {local}
    except {own}.BaseException as {local}:
        {own}.strip_frames({local})
        raise
"""
_GUARDED = f"""
nonlocal {{free}}
{{local}} = {{own}}.guard
if {{local}}({{arguments}}):{_DISPATCHED}"""
_SAMPLED = f"""
nonlocal {{free}}
for {{local}} in {{own}}.calls:
    break
else:{_DISPATCHED}"""
_BARE = """
nonlocal {free}
"""
_OF_KINDS = f"""
nonlocal {{free}}
{{local}} = {{own}}.type
if {{other_kinds}}:{_DISPATCHED}"""
_YIELDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """Statements that serve the calls of a decorated function in Python.

    Attributes
    ----------
    run : callable
        Runs them; takes the parameters by position.
    source : FunctionSource or None
        Their source, if there is one.
    helper : str or None
        A free name that they use besides those of the user's function.
    value : object
        The value of that name.
    """

    run: Callable[..., Any]
    source: FunctionSource | None = None
    helper: str | None = None
    value: Any = None

    @classmethod
    def of(cls, function: FunctionType, run: Callable[..., Any]) -> FunctionBody:
        """The statements of a function."""
        source = find_source(function)
        return cls(run, None if isinstance(source, str) else source)


@dataclass(frozen=True)
class StubLayout:
    """The free names of an entry stub's codes.

    Attributes
    ----------
    own : str
        The name of the stub's own cell.
    free : tuple of str
        That name and those of the user's function, in order.
    local : str
        A local name that the stub assigns.
    has_bodies : bool
        Whether the user's statements can stand in such a code.
    """

    own: str
    free: tuple[str, ...]
    local: str
    has_bodies: bool

    @classmethod
    def of(cls, code: CodeType, signature: inspect.Signature) -> StubLayout:
        """Choose names that a function does not use."""
        taken = {*names_in(code), *signature.parameters}
        prefix = "fusejit_"
        while not taken.isdisjoint((f"{prefix}own", f"{prefix}local")):
            prefix = f"_{prefix}"
        last = max((name for name in code.co_freevars if name.isascii()), default="")
        while prefix < last:  # its own name is the last: codes of two entry stubs may be exchanged
            prefix = f"z{prefix}"
        own = f"{prefix}own"
        free = tuple(sorted([own, *code.co_freevars]))
        return cls(
            own, free, f"{prefix}local", not code.co_flags & _YIELDS and not shows_names(taken)
        )

    def for_code(self, old: CodeType, new: CodeType) -> StubLayout:
        """Make the layout of code that replaced other code: cells stay in their places."""
        taken = {*names_in(new), *new.co_varnames}
        is_same = old.co_freevars == new.co_freevars and not taken & {self.own, self.local}
        has_frames = new.co_flags & _YIELDS or shows_names(taken)
        return replace(self, has_bodies=self.has_bodies and is_same and not has_frames)


def calling(guard: CallGuard) -> str:
    """The text that calls the user's function after the guard."""
    return _CALLING.format(guard=textwrap.indent(_form_of(guard), " " * 8))


def guard_text(guard: CallGuard, layout: StubLayout, signature: inspect.Signature) -> str:
    """The text of a guard before the user's statements."""
    return _form_of(guard).format(
        free=", ".join(layout.free),
        own=layout.own,
        local=layout.local,
        other_kinds=_other_kinds(guard, layout.own, layout.local, signature.parameters),
        **_by_position(signature),
    )


def _form_of(guard: CallGuard) -> str:
    """The text of a guard, by how many calls may pass at a time unwatched."""
    if not guard.unwatched:
        return _GUARDED
    if guard.unwatched != NEVER:
        return _SAMPLED
    return _OF_KINDS if guard.kinds() else _BARE


def _other_kinds(guard: CallGuard, own: str, local: str, parameters: Iterable[str]) -> str:
    """Whether an argument is not of the class that the guard asks for, as text."""
    kinds, names = guard.kinds(), list(parameters)
    return " or ".join(
        f"{local}({names[at]}) is not {own}.{kind.__name__}" for at, kind in kinds.items()
    )


def code_of_text(
    text: str,
    layout: StubLayout,
    signature: inspect.Signature,
    of_user: CodeType,
    guard: CallGuard | None = None,
) -> CodeType:
    """The code of a text above. Cells go by their places: no name of the user's is in it."""
    taken = {*signature.parameters}
    prefix = "_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    digits = len(str(len(layout.free)))
    neutral = [f"{prefix}{k:0{digits}}" for k in range(len(layout.free))]
    own, local = neutral[layout.free.index(layout.own)], f"{prefix}result"
    parameters = signature.parameters
    filled = text.format(
        other_kinds="" if guard is None else _other_kinds(guard, own, local, parameters),
        free=", ".join(neutral),
        parameters=_parameters(signature),
        result=local,
        local=local,
        error=f"{prefix}error",
        own=own,
        **_by_position(signature),
    )
    tree, line = ast.parse(filled), of_user.co_firstlineno
    for node in ast.walk(tree):  # tracebacks, debuggers and profilers show the user's function
        if hasattr(node, "lineno"):
            vars(node).update(lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)
    namespace: dict[str, Any] = {}
    exec(compile(tree, of_user.co_filename, "exec"), namespace)
    code = cast(CodeType, namespace["factory"](*neutral).__code__)
    assert code.co_freevars == tuple(neutral)
    code = code.replace(co_name=of_user.co_name, co_qualname=of_user.co_qualname)
    return standing_for(code, of_user, is_body=False)


def code_of_body(
    body: FunctionBody,
    asked: str,
    layout: StubLayout,
    signature: inspect.Signature,
    of_user: CodeType,
) -> CodeType | None:
    """The code of statements after the text of a guard; None if they have no source."""
    source = body.source
    definition = None if source is None else as_definition(source.as_compiled)
    if source is None or not layout.has_bodies or definition is None:
        return None
    helper = "" if body.helper is None else f"{body.helper} = {layout.own}.helper\n"
    prologue = ast.parse(asked + helper).body
    node = copy.copy(definition)
    node.args = _arguments(signature, node)
    for part in [part for statement in prologue for part in ast.walk(statement)]:
        ast.copy_location(part, node.body[0])
    node.body = [*prologue, *node.body]
    try:
        code = compile_function(source, node, of_user, (layout.own,))
    except (SyntaxError, ValueError, RecursionError):
        return None
    is_placed = code.co_freevars == layout.free
    return standing_for(code, of_user, is_body=True) if is_placed else None


def _parameters(signature: inspect.Signature) -> str:
    """The parameters as text; defaults are set afterwards."""
    empty = inspect.Parameter.empty
    bare = [
        p.replace(annotation=empty, default=empty if p.default is empty else None)
        for p in signature.parameters.values()
    ]
    return str(inspect.Signature(bare))[1:-1]


def _arguments(signature: inspect.Signature, at: ast.stmt) -> ast.arguments:
    """The parameters as syntax."""
    definition = ast.parse(f"def f({_parameters(signature)}): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    for part in ast.walk(definition.args):
        ast.copy_location(part, at)
    return definition.args


def _by_position(signature: inspect.Signature) -> dict[str, str]:
    """All parameters in order, as arguments, as a tuple, and as the user's function takes them."""
    arguments = ", ".join(signature.parameters)
    forms: dict[Any, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*{0}",
        inspect.Parameter.KEYWORD_ONLY: "{0}={0}",
        inspect.Parameter.VAR_KEYWORD: "**{0}",
    }
    passed = [forms.get(p.kind, "{0}").format(name) for name, p in signature.parameters.items()]
    return {
        "arguments": arguments,
        "all": f"({arguments}{',' if arguments else ''})",
        "passed": ", ".join(passed),
    }
