"""A kernel with only a `stream_for` used one core: it did not start the pool."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import numpy as np
from fusejit import fuse_jit
from fusejit.codegen.machine import pool

f = fuse_jit(lambda a, b: a * b + a)
assert "stream_for(" in f.trace(np.ones(9), np.ones(9)).fuse().lower().source
f(np.ones(9), np.ones(9))
print(pool.pool_kind() == pool.start_pool())
"""


def test_the_pool_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "True"
