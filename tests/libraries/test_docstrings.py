"""The docstring judge: what becomes of examples, and that it finds what differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.docstrings import judge
from fusejit_testing.docstrings.examples import Example, as_function, cuts, documented, example_of
from fusejit_testing.libraries.records import Kind


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    monkeypatch.setenv("FUSEJIT_TIERING", "0")


def function() -> None:
    """Something.

    >>> import numpy as np
    >>> x = np.arange(3)
    >>> x + 1
    array([1, 2, 3])
    >>> y = x * 2; print(y)
    [0 2 4]
    >>> import matplotlib.pyplot as plt
    >>> fig = plt.figure()
    >>> fig.show()
    >>> x[5]
    Traceback (most recent call last):
    IndexError: index 5 is out of bounds
    >>> for k in range(2):
    ...     y = y + k
    >>> y
    array([1, 3, 5])
    """


def test_an_example_has_the_statements_that_neither_raise_nor_draw() -> None:
    example = example_of("function", function)
    assert example is not None
    assert [*example.statements] == [
        "import numpy as np",
        "x = np.arange(3)",
        "x + 1",
        "y = x * 2",
        "print(y)",
        "for k in range(2):\n    y = y + k",
        "y",
    ]
    assert cuts(example) == [0, 2, 4]


def test_an_example_is_a_function_of_what_its_first_statements_bind() -> None:
    example = example_of("function", function)
    assert example is not None
    made = as_function(example, 2, {"x": np.arange(3)}, {"np": np})
    seen, bound = made(np.arange(3))
    np.testing.assert_array_equal(seen[0], [1, 2, 3])
    np.testing.assert_array_equal(seen[-1], [1, 3, 5])
    np.testing.assert_array_equal(bound[0], [1, 3, 5])


def test_examples_of_chance_are_left_out() -> None:
    def random() -> None:
        """>>> np.random.default_rng().random()"""

    assert example_of("random", random) is None


@pytest.mark.parametrize("name", ["norm", "det", "solve", "outer", "matrix_power", "cond"])
def test_examples_of_numpy(name: str) -> None:
    found = dict(documented("numpy.linalg"))
    example = example_of(name, found[f"numpy.linalg.{name}"])
    assert example is not None
    forms = [*judge.judged(example, 60.0)]
    assert forms
    assert [f for f in forms if f.kind is not None] == []


def test_what_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(made: Any) -> Any:
        return lambda *args: made(*(a + 1 for a in args))

    example = Example("sums", ("import numpy as np", "x = np.arange(3)", "x.sum()"))
    assert [f.kind for f in judge.judged(example, 60.0)] == [None, None]
    monkeypatch.setattr(judge, "fuse_jit", other)
    assert [f.kind for f in judge.judged(example, 60.0)] == [None, Kind.WRONG]


def test_what_comes_to_no_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(made: Any) -> Any:
        def call(*args: Any) -> Any:
            while True:
                pass

        return call

    monkeypatch.delenv("FUSEJIT_UNJITTED")
    monkeypatch.setattr(judge, "fuse_jit", endless)
    example = Example("sums", ("1 + 1",))
    assert [f.kind for f in judge.judged(example, 0.5)] == [Kind.HANG]
