"""`variants` failed for mocks: arrays were recognised by an attribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit import fuse_jit


class Answers:
    """Any attribute of it is another one of it; ``scale`` is a number."""

    scale = 3.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Answers()

    def __format__(self, spec: str) -> str:
        raise TypeError("not for text")


settings = Answers()


def test_an_object_that_answers_every_attribute_is_told_apart_from_an_array() -> None:
    @fuse_jit
    def f(x: Any, how: Any) -> Any:
        return x * how.scale if how is settings else x

    x = np.arange(4.0)
    np.testing.assert_array_equal(f(x, settings), x * 3)
    assert "x: float64[1]" in repr(f.variants)
    assert "how" not in repr(f.variants)
