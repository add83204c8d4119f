"""What the first kernel of a launcher compares before anything runs, in a few nanoseconds.

A function's code and default values, and the version of a library's namespace, are words in memory;
native code compares them with what they were (`codegen.backend.native_entry`). A namespace in which
other names were changed has a new version: `IdentityWords.renew` notes it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.codegen.backend.native_layout import offsets_of_parts
from fusejit.codegen.launcher.debuggers import tracer_address, tracer_of_main_thread
from fusejit.codegen.launcher.library_state import OFFSET, LibraryState
from fusejit.support.identity import ServedCode, parts_of, served_for


class IdentityWords:
    """Words of memory and what they must hold.

    Attributes
    ----------
    pairs : list of (int, int)
        Address and value.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._libraries: list[tuple[int, LibraryState]] = []  # with their places in `pairs`
        self._served: list[tuple[int, ServedCode]] = []  # likewise
        self._keep: list[Any] = []
        self._tracer: tuple[int, Any] | None = None  # its index in `pairs`, and its value then
        self._entry: Callable[..., int] | None = None

    def add_function(self, function: FunctionType) -> bool:
        """Compare a function's code and default values; False if that cannot be done here."""
        offsets, parts = offsets_of_parts(), parts_of(function)
        if not offsets:
            return False
        start = id(function)
        for offset, part in zip(offsets, parts, strict=True):
            self.pairs.append((start + offset, 0 if part is None else id(part)))
        self._keep += [function, *parts]
        for served in served_for(function):
            self._served.append((len(self.pairs), served))
            self.pairs.append((id(served.entry_stub) + offsets[0], id(served.code)))
        return True

    def add_entry_stub(self, made: FunctionType, served: ServedCode) -> bool:
        """Compare what stands for a function that is called; False if that cannot be done here."""
        offsets = offsets_of_parts()
        if not offsets:
            return False
        if served.entry_stub is made:  # else a copy, to which we give no code
            self._served.append((len(self.pairs), served))
        for offset, part in zip(offsets, parts_of(made), strict=True):
            self.pairs.append((id(made) + offset, 0 if part is None else id(part)))
        self._keep += [made, *parts_of(made)]
        return True

    def add_library(self, state: LibraryState) -> None:
        """Compare the version of a library's namespace."""
        state.changed()
        self._libraries.append((len(self.pairs), state))
        self.pairs.append((id(state.namespace) + OFFSET, state.seen[0] % 2**64))
        self._keep.append(state.namespace)

    def add_debugger(self) -> bool:
        """Compare the trace function of the main thread; False if that cannot be done here."""
        address, seen = tracer_address(), tracer_of_main_thread()
        if not address:
            return False
        self._tracer = len(self.pairs), seen
        self.pairs.append((address, 0 if seen is None else id(seen)))
        return True

    def bind(self, entry: Callable[..., int]) -> Callable[..., int]:
        """The entry of a kernel that compares all this first."""
        from fusejit.codegen.backend.native_loader import comparing, keep_told  # loads a compiler

        of_stubs = [served for _, served in self._served]
        self._entry = comparing(entry, self.pairs, (*self._keep, *of_stubs))
        for place, served in self._served:
            keep_told(self._entry, place, served)
        return self._entry

    def renew(self) -> None:
        """Note the versions of namespaces that hold what they held, and who traces.

        A debugger does not: its calls do not come here.
        """
        if self._entry is None:
            return
        from fusejit.codegen.backend.native_loader import expect

        if self._tracer is not None and self._tracer[1] is not tracer_of_main_thread():
            place, seen = self._tracer[0], tracer_of_main_thread()
            self._tracer = place, seen
            expect(self._entry, place, 0 if seen is None else id(seen))
        for place, state in self._libraries:
            if state.version[0] != state.seen[0] and not state.changed():
                expect(self._entry, place, state.seen[0])
