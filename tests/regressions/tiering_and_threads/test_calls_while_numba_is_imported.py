"""A call that Numba makes during its import hung: the compiler thread waited for its locks.

The compiler's thread waited for import locks and dispatchers that the caller held. An extension
registered with Numba makes such calls, and so may an import hook.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fusejit.support.interrupts import compiler_is_taken, run_uninterruptible

EXTENSION = """
import numpy as np
from fusejit import fuse_jit

@fuse_jit(warn=False)
def scaled(x):
    return np.sqrt(x * x + 1.0)

def call(n=3):
    assert np.array_equal(scaled(np.ones(n)), scaled.__wrapped__(np.ones(n)))
    return len(scaled.variants)
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import extension

class Hook:
    calls = 0
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[2] and not self.calls:
            self.calls += 1
            assert extension.call() == 0

hook = Hook()
sys.meta_path.insert(0, hook)
if sys.argv[2] != "none":
    import numba
    assert hook.calls == 1
assert extension.call() == 1
print("done")
"""


@pytest.mark.parametrize("module", ["none", "numba.core.types"])
def test_they_are_plain_and_later_ones_are_compiled(module: str, tmp_path: Path) -> None:
    (tmp_path / "extension.py").write_text(EXTENSION)
    folder = tmp_path / "extension-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: extension\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[numba_extensions]\ninit = extension:call\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), module],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_the_compilers_thread_says_so() -> None:
    assert run_uninterruptible(compiler_is_taken)
    assert not compiler_is_taken()
