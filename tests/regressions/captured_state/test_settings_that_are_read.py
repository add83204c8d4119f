"""`np.get_printoptions()` kept its first value: it ran in tracing as a pure function.

``np.get_printoptions``, ``np.geterr`` and the texts of arrays counted as pure functions, of which
calls without traced arguments are made while tracing; so a later ``np.printoptions`` was not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit import fuse_jit


def test_print_options() -> None:
    def formatted(x: Any) -> Any:
        options = np.get_printoptions()
        return np.format_float_positional(x, precision=options["precision"]), options["nanstr"]

    fused = fuse_jit(formatted)
    number = np.float64(1 / 7)
    assert fused(number) == formatted(number)
    with np.printoptions(precision=3, nanstr="NAN"):
        assert fused(number) == formatted(number) == ("0.143", "NAN")


def test_error_settings() -> None:
    def divided(x: Any) -> Any:
        setting = np.geterr()["divide"]
        return x + 1, setting

    fused = fuse_jit(divided)
    x = np.arange(2.0)
    assert fused(x)[1] == np.geterr()["divide"]
    with np.errstate(divide="ignore"):
        assert fused(x)[1] == "ignore"


def test_texts_of_arrays() -> None:
    def text(x: Any) -> Any:
        return np.array2string(np.full(2, 1 / 3)), np.array_repr(np.full(1, 1 / 3)), x + 1

    fused = fuse_jit(text)
    x = np.arange(2.0)
    assert fused(x)[:2] == text(x)[:2]
    with np.printoptions(precision=2):
        assert fused(x)[:2] == text(x)[:2] == ("[0.33 0.33]", "array([0.33])")
