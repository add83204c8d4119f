"""The callbacks of functions that call themselves, or share names with functions inside them."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.capture.attribute_access import AttributeAccess
from fusejit.tracer.carried.attributes import Objects
from fusejit.tracer.flow import recursions
from fusejit.tracer.flow.saved_names import SavedNames
from fusejit.tracer.program.callables import function_name
from fusejit.tracer.program.captures import CaptureRegistry
from fusejit.tracer.program.locations import OWN, current_location, needs_python
from fusejit.tracer.program.shared_names import SharedNames
from fusejit.tracer.source.entry_stubs import is_entry_stub
from fusejit.tracer.values.operand_types import represented_type
from fusejit.tracer.values.union_scalar import is_union_scalar

RESULT = f"{OWN}_result"  # of `RecursionBlocks`
Invoke = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class RecursionPrimitives:
    """Callbacks of one function, see `FunctionPrimitives`."""

    def __init__(
        self,
        function: FunctionType,
        captures: CaptureRegistry,
        access: AttributeAccess,
        invoke: Invoke,
    ) -> None:
        self._function = function
        self._captures = captures
        self._access = access
        self._invoke = invoke

    memo_key, memo_value = staticmethod(recursions.memo_key), staticmethod(recursions.memo_value)
    require_cache = staticmethod(recursions.require_cache)
    require_depth = staticmethod(recursions.require_depth)
    require_builtin = staticmethod(recursions.require_builtin)

    def shared_names(self) -> SharedNames:
        """The object that holds the names which inner functions rebind."""
        made, trace = SharedNames(), running_trace()
        if trace is not None:
            trace.owned(Objects).note(trace, made)
        return made

    def saved_names(self, place: int) -> SavedNames | list[Any]:
        """The stack for what names hold while a function calls itself."""
        if (trace := running_trace()) is None:
            return []
        key = trace.visit(("saved", place, self._function.__qualname__, current_location()))
        return SavedNames(trace, key)

    def save(self, stack: SavedNames | list[Any], held: tuple[Any, ...]) -> None:
        """Save what names hold."""
        if isinstance(stack, list):
            stack.append(held)
        else:
            stack.push(held)

    def moved(self, stack: SavedNames | list[Any], held: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the names hold once that is saved, until they are bound again."""
        return held if isinstance(stack, list) else stack.moved(held)

    def restored(self, stack: SavedNames | list[Any], count: int) -> Any:
        """What the names hold again."""
        return stack.pop() if isinstance(stack, list) else stack.pop(count)

    def handed_back(self, result: Any, names: tuple[str, ...]) -> Any:
        """What a call is about to return, when nobody has its own names any more."""
        return recursions.own_lists(result, frozenset(names))

    def returned(self, result: Any) -> Any:
        """What a call has returned."""
        found = recursions.returned(self._function.__qualname__, result)
        return recursions.own_lists(found, frozenset({RESULT}))

    def require_itself(self, function: Any) -> None:
        """The function that a recursion calls is the one that runs: its name was not rebound."""
        own = getattr(function, "__func__", function)
        if is_entry_stub(own):
            own = self._captures.decorated(own, None)[0]
        code = getattr(own, "__code__", None)
        if code is not self._function.__code__ and code is not sys._getframe(1).f_code:
            what = f"calls {function_name(function)}, which another function has wrapped"
            raise needs_python(what, "write the recursion as a loop")

    def index_of(self, bound: Any) -> Any:
        """A bound of a range."""
        if not is_union_scalar(bound) and represented_type(bound) is int:
            return bound
        return self._invoke(operator.index, (bound,), {})

    def length_of(self, items: Any) -> Any:
        """How many items a loop runs over that reads them by their places."""
        recursions.require_sequence(items)
        return self._invoke(len, (items,), {})

    def item_at(self, items: Any, place: Any) -> Any:
        """The item at a place of them."""
        return self._access.item(items, place)
