"""Captured values that a loop or a branch reads first, and that are read again after it.

Regression: an array of a global or an attribute belonged to the region that read it first, so its
next read left the kernel: "a value made inside a loop or conditional is used outside".
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

D = np.arange(1.0, 8.0)
HELD = {
    "D": D,
    "C": D * (1 + 2j),
    "WIDE": np.arange(35.0).reshape(5, 7).T,
    "ONE": np.array([2.5]),
    "COUNTS": np.array([3, 1, 2, 0, 5, 4, 1]),
    "Z": 1.5 - 0.5j,
    "S": np.float32(0.1),
    "K": 3,
    "pair": (D * 2, D + 1),
    "o": SimpleNamespace(D=D * 3, parts=[D, D * 0.5], inner=SimpleNamespace(D=D - 1), scale=0.25),
    "table": {"k": D + 2, "z": 2 + 1j},
}
READS = (
    *("D[i]", "C[i]", "WIDE[i, 1]", "WIDE[i].sum()", "ONE[0]", "D[COUNTS[i]]", "Z", "S", "K"),
    *("pair[1][i]", "o.D[i]", "o.parts[1][i]", "o.inner.D[i]", "o.scale", "table['k'][i]"),
    *("table['z']", "D[1:][i - 1]", "o.D[::-1][i]", "D.mean()", "held[i]", "read(i)"),
)
FORMS = """
for i in range(len(x)):
    s = s + {read} * x[i]
for i in range(len(x)):
    s = s - {read} * x[i]
return s
---
for i in range(len(x)):
    s = s + {read} * x[i]
i = 2
return s + {read}
---
for i in range(len(x)):
    if x[i] > 0:
        s = s + {read} * x[i]
i = 1
return s * {read}
---
i = 3
if x[0] > 0:
    s = x[0] * {read}
else:
    s = x[1] - {read}
return s + {read}
---
i = 1
while x[i] > 0 and i < 4:
    for j in range(2):
        s = s + {read} * x[j]
    i += 1
if s.real > 2:
    s = s - {read}
return s + {read}
"""


def program(read: str, form: str) -> Callable[..., Any]:
    """A function whose lines are found, with a helper and a captured local array."""
    body = form.strip().format(read=read).replace("\n", "\n        ")
    text = (
        "def made(held):\n    def read(i):\n        return D[i] + o.D[i]\n"
        f"    def program(x, s):\n        {body}\n    return program\n"
    )
    name = f"<{text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = dict(HELD)
    exec(compile(text, name, "exec"), namespace)
    function: Callable[..., Any] = namespace["made"](D * 1.5)
    return function


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("form", range(5))
def test_reads_in_a_region_and_after_it(read: str, form: int) -> None:
    function = program(read, FORMS.split("---")[form])
    x = np.array([1.0, 2.0, 0.5, -1.0, 3.0, -0.25])
    check(function, (x, np.complex128(0)), (-x, np.complex128(0)))
