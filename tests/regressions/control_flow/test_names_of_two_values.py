"""`name == "big"` was False for a name of two possible values: neither was compared.

``y is None`` was False as well, and f-strings showed the text of an object of the tracer.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import compare_outcomes, decorate, run

CALLS = (np.arange(9.0), np.arange(9.0) - 30, np.arange(3.0))
TEXT = "name = 'small'\n    if x.sum() > 3:\n        name = 'big'"
NONE = "name = None\n    if x.sum() > 3:\n        name = x * 2"
QUESTIONS = (
    "x if name == 'big' else -x",
    "x if 'big' != name else -x",
    "x if name in ('big', 'b') else -x",
    "x if 'b' in name else -x",
    "x if name is None else -x",
    "x if name is not None else -x",
    "x if name is True else -x",
    "x if not name else -x",
    "x if isinstance(name, str) else -x",
    "x if type(name) is str else -x",
    "x if ('big', 1) == (name, 1) else -x",
    "[name, None].count(None)",
    "{'big': 1, 'small': 2, None: 3}.get(name, 4)",
    "len({name, 'big', 'small'})",
    "f'{name}!'",
    "'%s' % name",
    "'{}'.format(name)",
    "str(name)",
    "repr(name)",
    "name * 2",
    "2 @ name",
    "~name",
    "x.astype(float if name == 'big' else int)",
    "x if any(name == n for n in ('big', 'huge')) else -x",
    "print(f'{name}')",
    "print(name)",
    "name or 0",
    "x[0] if name is None and x.size else x[-1]",
)


def program(first: str, question: str) -> Any:
    text = f"def f(x):\n    {first}\n    return {question}\n"
    file = f"<two values {question!r} {first!r}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), {"np": np}, names)
    return names["f"]


@pytest.mark.filterwarnings("ignore:.*runs as plain NumPy:fusejit.FuseWarning")
@pytest.mark.filterwarnings("ignore:.*elementwise comparison failed")
@pytest.mark.parametrize("first", [TEXT, NONE], ids=["text", "None"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_never_another_answer(first: str, question: str, capsys: Any) -> None:
    """NumPy's answer, or a refusal."""
    function = program(first, question)
    decorated = decorate(function, jit=False)
    for x in CALLS:
        expected = run(function, (x,))
        printed = capsys.readouterr().out
        actual = run(decorated, (x,))
        if not isinstance(actual.error, UnsupportedError):
            compare_outcomes(expected, actual)
            assert capsys.readouterr().out == printed
