"""Tracer objects stayed in a dataclass: writes in functions without source were not checked.

Reads of captured objects in such a function were refused, writes were not. The ``__init__`` of a
dataclass had no source then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check_not_compiled


@dataclass
class Result:
    value: Any
    kept: Any = None


_WITHOUT_SOURCE: dict[str, Any] = {}
exec(
    """
def stores(obj, value): obj.value = value
def deletes(obj, value): del obj.kept; obj.kept = value
def by_setattr(obj, value): setattr(obj, "value", value)
def by_setattr_of_object(obj, value): object.__setattr__(obj, "value", value)
def by_vars(obj, value): vars(obj)["value"] = value
def by_getattr(obj, value): obj.kept = getattr(obj, "value") + value
""",
    _WITHOUT_SOURCE,
)
WRITERS = [Result.__init__, *(f for f in _WITHOUT_SOURCE.values() if callable(f))]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("write", WRITERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("by_keyword", [False, True])
def test_what_is_written_is_the_callers_number(write: Any, by_keyword: bool) -> None:
    def program(obj: Any, value: Any, x: np.ndarray) -> Any:
        if by_keyword:
            write(self=obj, value=value) if write is Result.__init__ else write(
                obj=obj, value=value
            )
        else:
            write(obj, value)
        return x + 1

    fused = fuse_jit(program)
    ours, theirs = Result(1), Result(1)
    for value in (4, np.float64(2.5), 7):
        expected = program(theirs, value, np.arange(3.0))
        assert np.array_equal(fused(ours, value, np.arange(3.0)), expected)
        assert [type(v) for v in vars(ours).values()] == [type(v) for v in vars(theirs).values()]
        assert vars(ours) == vars(theirs)


def test_it_is_refused_under_fullgraph() -> None:
    def program(obj: Any, value: Any, x: np.ndarray) -> Any:
        _WITHOUT_SOURCE["stores"](obj, value)
        return x + 1

    check_not_compiled(program, [Result(1), 4, np.arange(3.0)], "has no usable source")
