"""The kernel cache with processes that crash, race, or find it damaged: the results are right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import sys
import numpy as np
from fusejit import fuse_jit

@fuse_jit(fullgraph=True)
def f(x, y):
    x[1:] -= y[:-1]
    return np.exp(-x) * y

x, y = np.linspace(0, 1, 50), np.linspace(1, 2, 50)
expected = x.copy()
expected[1:] -= y[:-1]
for _ in range(2):
    ours = x.copy()
    np.testing.assert_allclose(f(ours, y), np.exp(-expected) * y, rtol=1e-14)
    np.testing.assert_array_equal(ours, expected)
assert len(f.variants) == 1 and not f.variants.declined
print("from cache" if f.variants[0].from_cache else "compiled", flush=True)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that fuses one function and checks its results."""
    path = tmp_path / "program.py"
    path.write_text(SCRIPT)
    return path


def cached(tmp_path: Path) -> list[Path]:
    """Files in the cache folder."""
    return sorted(p for p in (tmp_path / "cache").rglob("*") if p.is_file())


def test_damaged_files(script: Path, run_python: Run, tmp_path: Path) -> None:
    assert run_python(script).stdout == "compiled\n"
    assert run_python(script).stdout == "from cache\n"
    good = {path: path.read_bytes() for path in cached(tmp_path)}
    assert good
    for path, contents in good.items():
        middle = len(contents) // 2
        flipped = bytes([*contents[:middle], contents[middle] ^ 255, *contents[middle + 1 :]])
        path.write_bytes(flipped)
    assert run_python(script).stdout == "compiled\n"
    for path, contents in good.items():
        path.write_bytes(contents[: len(contents) // 3])
    assert run_python(script).stdout == "compiled\n"
    assert run_python(script).stdout == "from cache\n"


def test_a_folder_that_others_may_write(script: Path, run_python: Run, tmp_path: Path) -> None:
    assert run_python(script).stdout == "compiled\n"
    (tmp_path / "cache").chmod(0o777)
    for path in [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]:
        if path.is_dir():
            path.chmod(0o777)
    assert run_python(script).stdout == "compiled\n"  # what lies there is not executed


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs root to give files away")
def test_a_folder_of_another_user(script: Path, run_python: Run, tmp_path: Path) -> None:
    assert run_python(script).stdout == "compiled\n"
    for path in [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]:
        os.chown(path, 12345, 12345)
    assert run_python(script).stdout == "compiled\n"


def test_other_vector_functions(script: Path, run_python: Run) -> None:
    """A kernel that calls libmvec is not loaded by a process without it, nor the other way round."""
    assert run_python(script).stdout == "compiled\n"
    assert run_python(script, FUSEJIT_NO_LIBMVEC="1", FUSEJIT_NO_SVML="1").stdout in (
        "compiled\n",
        "from cache\n",  # a machine that has neither
    )
    assert run_python(script).stdout == "from cache\n"
    without = run_python(script, FUSEJIT_NO_LIBMVEC="1", FUSEJIT_NO_SVML="1")
    assert without.stdout == "from cache\n"


def start(script: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(script)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_two_processes_compile_at_once(
    script: Path, run_python: Run, child_environment: Callable[..., dict[str, str]]
) -> None:
    children = [start(script, child_environment()) for _ in range(2)]
    for child in children:
        output, _ = child.communicate(timeout=120)
        assert child.returncode == 0, output
        assert output in ("compiled\n", "from cache\n")
    assert run_python(script).stdout == "from cache\n"


def test_killed_while_writing(
    script: Path, run_python: Run, child_environment: Callable[..., Any], tmp_path: Path
) -> None:
    """A child stops in the middle of a cache write and is killed there."""
    stopping = tmp_path / "stopping.py"
    stopping.write_text(
        "import os, time\n"
        "real = os.replace\n"
        "def replace(*args, **kwargs):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "os.replace = os.rename = replace\n"
        "import pathlib\n"
        "pathlib.Path.replace = pathlib.Path.rename = replace\n"
        f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')\n"
    )
    child = start(stopping, child_environment())
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait(30)
    child.stdout.close()
    assert cached(tmp_path), "the child died before it wrote anything"
    assert run_python(script).stdout == "compiled\n"
    assert run_python(script).stdout == "from cache\n"
