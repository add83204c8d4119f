"""A missing attribute in a skipped block gave an internal error: our hook raised the exception.

Attributes, items and calls are read and made by a hook for the program, and an exception that began
there counted as fusejit's own (SciPy's ``multivariate_normal`` asks a covariance for
``_support_mask`` where its rank is too low, and most have none).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check_not_compiled


def attribute(x: Any, obj: Any) -> Any:
    if x.sum() > 0:
        return x + obj.weights
    return x


def of_the_method(x: Any, obj: Any) -> Any:
    y = x * 2
    if np.any(obj.rank < x.shape[-1]):
        y[~obj.support(x)] = -np.inf
    return y


def key(x: Any, obj: Any) -> Any:
    if x.sum() > 0:
        x = x + obj.table["weights"]
    return x


def item(x: Any, obj: Any) -> Any:
    if x.sum() > 0:
        x = x + obj.row[5]
    return x


def conversion(x: Any, obj: Any) -> Any:
    if x.sum() > 0:
        x = x + float(obj.name)
    return x


def of_numpy(x: Any, obj: Any) -> Any:
    if x.sum() > 0:
        x = np.no_such_function(x)  # type: ignore[attr-defined]
    return x


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (attribute, "AttributeError"),
        (of_the_method, "AttributeError"),
        (key, "KeyError"),
        (item, "IndexError"),
        (conversion, "ValueError"),
        (of_numpy, "AttributeError"),
    ],
)
def test_blocks_that_do_not_run(function: Any, kind: str) -> None:
    given = SimpleNamespace(rank=np.int64(3), table={"bias": 1.0}, row=[1.0], name="linear")
    check_not_compiled(
        function, (-np.ones(3), given), f"raises {kind} under a condition that is known only"
    )
