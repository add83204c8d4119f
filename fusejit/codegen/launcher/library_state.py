"""Whether a library's modules still hold what the program has read of them: ``np.sin``, ``len``.

Nobody replaces them, so a call may ask no more than one comparison of two integers a module: the
version that CPython gives a dictionary, a new one whenever it is changed (PEP 509). If it is
another one, the values are compared, and the version is noted. Where dictionaries have no version
any more, the values are compared in each call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from fusejit.ir.traced import LibraryRead

OFFSET = 3 * ctypes.sizeof(ctypes.c_void_p)  # after the reference count, the type and the length
_MISSING = object()


def version_of(namespace: dict[str, Any]) -> memoryview:
    """The memory in which a dictionary has its version."""
    at = ctypes.c_uint64.from_address(id(namespace) + OFFSET)
    return memoryview(at).cast("B").cast("Q")


def _have_versions() -> bool:
    """Whether each change of a dictionary changes the number there."""
    probe: dict[str, Any] = {"a": 1}
    try:
        version = version_of(probe)
        seen = [version[0]]
        probe["a"] = 2
        seen.append(version[0])
        probe["b"] = 1
        seen.append(version[0])
        del probe["a"]
        seen.append(version[0])
    except (TypeError, ValueError):
        return False
    return len(set(seen)) == len(seen)


HAVE_VERSIONS = _have_versions()


class LibraryState:
    """The attributes of one module that a variant depends on.

    Attributes
    ----------
    namespace : dict
        That of the module.
    version : memoryview
        Its first item is the version of the namespace now.
    seen : list of int
        The version for which all values were as they should be.
    """

    def __init__(self, reads: Sequence[LibraryRead]) -> None:
        self.namespace = reads[0].namespace
        self._expected = [(read.name, read.value) for read in reads]
        self.seen = [-1]
        if HAVE_VERSIONS:
            self.version = version_of(self.namespace)

    def changed(self) -> bool:
        """Whether some value is another one."""
        now = self.version[0] if HAVE_VERSIONS else -1
        get = self.namespace.get
        if any(get(name, _MISSING) is not value for name, value in self._expected):
            return True
        self.seen[0] = now
        return False
