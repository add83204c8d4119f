"""The code of entry stubs: texts of ours, or the user's statements behind what is asked first."""

from __future__ import annotations

import ast
import copy
import dis
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, cast

from fusejit.codegen.launcher.call_guard import NEVER
from fusejit.dataclass import dataclass, replace
from fusejit.frame_readers import names_in, shows_names
from fusejit.identity import standing_for
from fusejit.tracer.capture.source_text import (
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
            {result} = {first}({arguments})
        except {rare}.Exception as {error}:
            {result} = {rare}.recover({error})
            if {result} is None:
                raise
        if {result}.__class__ is {Outcome}:
            return {rare}.dispatch_miss({all}, {result})
        return {result}
    return entry_stub
"""
CALLING = """
def factory({free}):
    def entry_stub({parameters}):
        nonlocal {free}
        if {guard}({arguments}):
            return {rare}.dispatch_miss({all})
        return {run}({arguments})
    return entry_stub
"""
_GUARDED = """
nonlocal {free}
if {guard}({arguments}):
    return {rare}.dispatch_miss({all})
"""
_SAMPLED = """
nonlocal {free}
for {count} in {calls}:
    break
else:
    return {rare}.dispatch_miss({all})
"""
_BARE = """
nonlocal {free}
"""
OWN_NAMES = ("first", "guard", "calls", "run", "helper", "rare", "Outcome")
_COPIES_CELLS, _DOES_NOTHING = dis.opmap["COPY_FREE_VARS"], dis.opmap["NOP"]
_YIELDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """Statements that Python runs in the place of a decorated function.

    Attributes
    ----------
    run : callable
        Runs them; takes the parameters by position.
    source : FunctionSource or None
        Where they stand; None if they are nowhere.
    helper : str or None
        A free name of theirs, besides those of the user's function.
    value : object
        What that name stands for.
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
    own : dict of str to str
        How the names in `OWN_NAMES` are spelled.
    free : tuple of str
        These and the user's, in order.
    count : str
        A local name of ours.
    has_bodies : bool
        Whether the user's statements can stand in such a code.
    """

    own: dict[str, str]
    free: tuple[str, ...]
    count: str
    has_bodies: bool

    @classmethod
    def of(cls, code: CodeType, signature: inspect.Signature) -> StubLayout:
        """That for a function of the user's."""
        taken = {*names_in(code), *signature.parameters}
        prefix = "fusejit_"
        while any(f"{prefix}{name}" in taken for name in (*OWN_NAMES, "count")):
            prefix = f"_{prefix}"
        last = max((name for name in code.co_freevars if name.isascii()), default="")
        while prefix < last:  # ours come last: codes of two entry stubs may be exchanged
            prefix = f"z{prefix}"
        own = {name: f"{prefix}{name}" for name in OWN_NAMES}
        free = tuple(sorted([*own.values(), *code.co_freevars]))
        count = f"{prefix}count"
        return cls(own, free, count, not code.co_flags & _YIELDS and not shows_names(taken))

    def for_code(self, old: CodeType, new: CodeType) -> StubLayout:
        """That for the code which has replaced another one: cells stay where they are."""
        taken = {*names_in(new), *new.co_varnames}
        is_same = old.co_freevars == new.co_freevars and not taken & {
            *self.own.values(),
            self.count,
        }
        has_frames = new.co_flags & _YIELDS or shows_names(taken)
        return replace(self, has_bodies=self.has_bodies and is_same and not has_frames)


def code_of_text(
    text: str, layout: StubLayout, signature: inspect.Signature, of_user: CodeType
) -> CodeType:
    """The code of a text above. Cells go by their places: no name of the user's is in it."""
    taken = {*signature.parameters}
    prefix = "_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    digits = len(str(len(layout.free)))
    neutral = [f"{prefix}{k:0{digits}}" for k in range(len(layout.free))]
    place = dict(zip(layout.free, neutral, strict=True))
    names = {name: place[spelled] for name, spelled in layout.own.items()}
    filled = text.format(
        free=", ".join(neutral),
        parameters=_parameters(signature),
        result=f"{prefix}result",
        error=f"{prefix}error",
        **_by_position(signature),
        **names,
    )
    namespace: dict[str, Any] = {}
    name = of_user.co_name
    exec(compile(filled, f"<fusejit entry stub of {name}>", "exec"), namespace)
    code = cast(CodeType, namespace["factory"](*neutral).__code__)
    assert code.co_freevars == tuple(neutral)
    return standing_for(code.replace(co_name=name, co_qualname=name), of_user)


def code_of_body(
    body: FunctionBody,
    unwatched: int,
    layout: StubLayout,
    signature: inspect.Signature,
    of_user: CodeType,
) -> CodeType | None:
    """The code of statements after what is asked; None if they have none."""
    source = body.source
    definition = None if source is None else as_definition(source.node)
    if source is None or not layout.has_bodies or definition is None:
        return None
    text = _GUARDED if not unwatched else _BARE if unwatched == NEVER else _SAMPLED
    free = ", ".join(layout.free)
    text = text.format(free=free, count=layout.count, **_by_position(signature), **layout.own)
    if body.helper is not None:
        text += f"{body.helper} = {layout.own['helper']}\n"
    prologue = ast.parse(text).body
    node = copy.copy(definition)
    node.args = _arguments(signature, node)
    for part in [part for statement in prologue for part in ast.walk(statement)]:
        ast.copy_location(part, node.body[0])
    node.body = [*prologue, *node.body]
    try:
        code = compile_function(source, node, of_user, tuple(layout.own.values()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    if code.co_freevars != layout.free:
        return None
    if unwatched == NEVER and body.helper is None and not of_user.co_freevars:
        code = _without_cells(code)
    return standing_for(code, of_user)


def _without_cells(code: CodeType) -> CodeType:
    """Code that uses none of its free variables, without the instruction that fetches them."""
    at = next(k for k in range(0, len(code.co_code), 2) if code.co_code[k] == _COPIES_CELLS)
    text = code.co_code
    return code.replace(co_code=text[:at] + bytes((_DOES_NOTHING, 0)) + text[at + 2 :])


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
    """All parameters in order, as arguments and as a tuple."""
    arguments = ", ".join(signature.parameters)
    return {"arguments": arguments, "all": f"({arguments}{',' if arguments else ''})"}
