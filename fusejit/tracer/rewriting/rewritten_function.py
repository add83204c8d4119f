"""The rewritten form of a function: rewritten code if its source can be used, a note if not."""

from __future__ import annotations

from types import CodeType, FunctionType

from fusejit.dataclass import dataclass
from fusejit.support.package_files import is_package_file
from fusejit.tracer.rewriting.rewrite_function import CannotRewrite, rewrite_node
from fusejit.tracer.source.definite_assignment import definitely_assigned_names
from fusejit.tracer.source.source_text import compile_function, find_source, with_code


@dataclass(frozen=True, slots=True)
class RewrittenFunction:
    """What is traced of the functions that have one code.

    Attributes
    ----------
    code : CodeType or None
        The rewritten code; None means that the function is traced plainly.
    helper : str
        The free variable of ``code`` that holds the callbacks.
    note : str or None
        Why the function is traced plainly, for `explain`.
    definitely_assigned : frozenset of str
        Names that have a value wherever they are read.
    """

    code: CodeType | None
    helper: str
    note: str | None
    definitely_assigned: frozenset[str] = frozenset()

    def bind(self, function: FunctionType, callbacks: object) -> FunctionType:
        """The user's function, rewritten, with ``callbacks`` in its closure."""
        if self.code is None:
            raise ValueError(f"{function.__qualname__} has no rewritten form")
        bound = with_code(function, self.code, {self.helper: callbacks})
        assert bound is not None
        bound.__defaults__, bound.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return bound


def rewritten_function(function: FunctionType, has_loops: bool = False) -> RewrittenFunction:
    """Rewrite a function, or say why it has to be traced plainly. Cached by code object.

    With ``has_loops``, recursions are loops.
    """
    key = (function.__code__, function.__code__.co_filename, has_loops)
    result = _cache.get(key)
    if result is None:
        if len(_cache) >= _CACHE_SIZE:
            _cache.clear()
        result = _cache[key] = _rewrite(function, has_loops)
    return result


_CACHE_SIZE = 1024
_cache: dict[tuple[CodeType, str, bool], RewrittenFunction] = {}


def _rewrite(function: FunctionType, has_loops: bool) -> RewrittenFunction:
    code = function.__code__
    source = find_source(function)
    if isinstance(source, str):
        return RewrittenFunction(None, "", f"{function.__qualname__} was traced plainly: {source}")
    try:
        is_ours = is_package_file(code.co_filename)
        node, helper = rewrite_node(source, code.co_freevars, has_loops, is_ours)
        made = compile_function(source, node, code, (helper,))
        return RewrittenFunction(made, helper, None, definitely_assigned_names(source.node))
    except CannotRewrite as error:
        note = f"{function.__qualname__} was traced plainly: {error} is not supported"
        return RewrittenFunction(None, "", note)
