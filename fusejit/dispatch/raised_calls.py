"""Calls that raised: others like them are run by Python at once.

A call for which NumPy or the program raises has no variant, so it was looked up in tables before
Python ran it, at ten times the cost of raising. What lets it pass now is a guard of machine code
(`codegen.launcher.call_guard`): the classes, dtypes, ranks and largest sizes of a call that raised.
A call that passes and does not raise has been run by Python needlessly: then the guard goes, and
after `MAX_MISTAKES` of them none is made any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.codegen.launcher.call_guard import (
    ARRAYS,
    CONTAINERS,
    NEVER,
    CallGuard,
    Expected,
    expected_of,
)
from fusejit.dataclass import replace
from fusejit.dispatch.function_state import FunctionState

COUNTED_AT = 8  # calls that raise, before it is counted how many of all calls do
COUNTED_AGAIN = 4  # times as many more, until it is counted again
COUNTED_AFTER = 512  # more at most
MAX_MISTAKES = 4
MAX_KINDS = 4  # that have guards; others are looked up as before


class RaisedCalls:
    """What is known of the calls of one function that raised.

    Parameters
    ----------
    state : FunctionState
    counts : callable
        Is given the arguments of each call that has ended so, whether that comes often (after some
        calls, and after ever more of them), and whether a guard has told so.

    Attributes
    ----------
    guards : tuple of callable
        One for each kind of them: given the arguments of a call, whether it differs.
    """

    def __init__(self, state: FunctionState, counts: Callable[..., None]) -> None:
        self._state = state
        self._counts = counts
        self._calls, self._counted_at = 0, COUNTED_AT
        self.guards: tuple[Callable[..., bool], ...] = ()
        self._kinds: list[list[Expected]] = []
        self._mistakes = 0

    def run(self, args: tuple[Any, ...]) -> Any:
        """A call that is expected to raise: if it does, others like it are run by Python at once.

        Not under ``fullgraph=True``: one that does not raise must not be run by Python unseen. Nor
        where what can be compiled shall be: others like it may not raise.
        """
        try:
            return self._state.run_python(*args)
        except Exception:
            if self._state.options.tiering and not self._state.options.fullgraph:
                self._add(args)
            self.count(args, is_guarded=False)
            raise

    def run_expected(self, args: tuple[Any, ...]) -> Any:
        """A call that a guard takes for one of those that raise."""
        try:
            result = self._state.run_python(*args)
        except Exception:
            self.count(args, is_guarded=True)
            raise
        self._mistakes += 1
        self.forget()
        return result

    def count(self, args: tuple[Any, ...], *, is_guarded: bool) -> None:
        """One more call has raised, or ended in Python though a variant served it at first."""
        self._calls += 1
        is_often = self._calls >= self._counted_at
        if is_often:
            self._counted_at += min(COUNTED_AGAIN * self._counted_at, COUNTED_AFTER)
        self._counts(args, is_often=is_often, is_guarded=is_guarded)

    def _add(self, args: Sequence[Any]) -> None:
        """A call has raised."""
        if self._mistakes >= MAX_MISTAKES:
            return
        expected = [replace(expected_of(arg), limit=_size_of(arg)) for arg in args]
        kind = [replace(one, limit=0) for one in expected]
        for at, known in enumerate(self._kinds):
            if [replace(one, limit=0) for one in known] == kind:
                pairs = zip(expected, self._kinds.pop(at), strict=True)
                expected = [replace(one, limit=max(one.limit, k.limit)) for one, k in pairs]
                break
        self._kinds = [expected, *self._kinds][:MAX_KINDS]
        guards = [CallGuard(expected, NEVER, self._state.function) for expected in self._kinds]
        self.guards = tuple(guard.rejects for guard in guards)

    def forget(self) -> None:
        """The function was replaced, or it is not so."""
        self.guards, self._kinds = (), []


def _size_of(value: Any) -> int:
    """What the guard compares with its limit."""
    if type(value) in ARRAYS:
        return int(value.size)
    if type(value) is int:
        return max(min(value, NEVER), -NEVER)
    return len(value) if type(value) in CONTAINERS else NEVER
