"""`dtype.metadata` of another argument was returned: equal dtypes and texts shared a variant.

A variant serves all dtypes that are equal. ``np.dtype("i4", metadata=..)`` equals
``np.dtype("i4")``, so a function that asks for ``dtype.metadata`` had the answer for another one;
and a dtype or a text that was handed back was the one of the first call, where
`np.lib.format.drop_metadata` compares by ``is``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

PLAIN = np.dtype("i4")
TOLD = np.dtype("i4", metadata={"unit": "m"})


def test_metadata_is_asked_for() -> None:
    fused = fuse_jit(lambda d, x: (d.metadata is None, x + 1))
    x = np.arange(3.0)
    for dtype in (PLAIN, TOLD, PLAIN, np.dtype([("a", TOLD)])["a"]):
        assert fused(dtype, x)[0] is (dtype.metadata is None)


def test_alignment_and_fields_are_asked_for() -> None:
    fused = fuse_jit(lambda d, x: (d.isalignedstruct, d["a"].metadata is None, x + 1))
    x = np.arange(3.0)
    for dtype in (
        np.dtype([("a", PLAIN)]),
        np.dtype([("a", PLAIN)], align=True),
        np.dtype([("a", TOLD)]),
    ):
        assert fused(dtype, x)[:2] == (dtype.isalignedstruct, dtype["a"].metadata is None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PLAIN, TOLD),
        (np.dtype([("a", "f8")]), np.dtype([("a", "f8")])),
        ("text" * 100, "".join(["text"] * 100)),
        (b"text" * 100, b"".join([b"text"] * 100)),
    ],
)
def test_what_is_handed_back_is_the_very_object(first: Any, second: Any) -> None:
    fused = fuse_jit(lambda s, x: (s, x + 1))
    helped = fuse_jit(lambda s, x: (helper(s), x + 1))

    def helper(s: Any) -> Any:
        return s

    x = np.arange(3.0)
    for given in (first, second, first):
        assert fused(given, x)[0] is given
        assert helped(given, x)[0] is given
