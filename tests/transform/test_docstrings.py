"""Each primitive shows the IR before and after it in its docstring: the examples are run."""

from __future__ import annotations

import doctest
import importlib
from types import ModuleType

import numpy as np
import pytest

from fusejit.transform.core.base import BaseHandle
from fusejit.transform.schedules import Handle, schedule

PRIMITIVES = sorted(name for name in vars(Handle) if not name.startswith("_"))

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_of(primitive: str) -> ModuleType:
    return importlib.import_module(vars(Handle)[primitive].__module__)


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_before_and_after(primitive: str) -> None:
    module = module_of(primitive)
    assert module.__doc__ is not None
    globs = {"np": np, "schedule": schedule}
    example = doctest.DocTestParser().get_doctest(module.__doc__, globs, primitive, None, None)
    assert any(".show()" in e.source for e in example.examples), "no IR is shown"
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert not result.failed, "".join(report)


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_documented(primitive: str) -> None:
    """Each primitive says what it raises, and stands in the table of docs/transform.md."""
    function = vars(Handle)[primitive]
    assert "ScheduleError" in (function.__doc__ or "")
    assert not hasattr(BaseHandle, primitive)
