"""A class's `__getattribute__` caused RecursionError: reading an argument ran the user's method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit


class Fields:
    """Has the items of a dictionary as its attributes, and no others."""

    def __init__(self, items: dict[str, Any]) -> None:
        object.__setattr__(self, "items", items)

    def __getattribute__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "items")[name]
        except KeyError:
            raise AttributeError(name) from None


def test_objects_that_find_their_attributes_are_pythons() -> None:
    @fuse_jit
    def scaled(fields: Any, x: np.ndarray) -> np.ndarray:
        return fields.factor * x

    with pytest.warns(FuseWarning, match="whose __getattribute__ is a function") as caught:
        assert scaled(Fields({"factor": 2.0}), np.ones(3)).tolist() == [2.0] * 3
    assert "internal error" not in "".join(str(w.message) for w in caught)
    with pytest.raises(AttributeError, match="factor"):
        scaled(Fields({}), np.ones(3))


def test_an_object_that_is_half_made() -> None:
    class Proxy:
        @fuse_jit
        def __init__(self, items: dict[str, Any]) -> None:
            self.items = items

        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, "items")[name]

    with pytest.warns(FuseWarning, match="whose __getattribute__ is a function"):
        assert Proxy({"a": 1}).a == 1


def test_the_method_itself_stays_as_it_is() -> None:
    """Python calls it for what fusejit asks of its argument: there was no end to it."""

    def find(self: Any, name: str) -> Any:
        return name * 2

    find.__name__ = "__getattribute__"
    with pytest.warns(FuseWarning, match="stays as it is"):
        kept = fuse_jit(find)
    assert type("Doubled", (), {"__getattribute__": kept})().ab == "abab"
