"""The kernel cache with processes that crash, race, or find it damaged: the results are right."""

from __future__ import annotations

import os
import shutil
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
assert len(f.variants) == 1 and not f.variants.fallbacks
print("from cache" if f.variants[0].from_cache else "compiled", flush=True)
"""

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that fuses one function and checks its results."""
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="session")
def filled_cache(script: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder after one run."""
    folder = tmp_path_factory.mktemp("filled") / "cache"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FUSEJIT_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "compiled\n"
    return folder


@pytest.fixture
def cache(filled_cache: Path, tmp_path: Path) -> Path:
    """A cache folder of this test, filled; `run_python` uses it."""
    return Path(shutil.copytree(filled_cache, tmp_path / "cache"))


def files(folder: Path) -> list[Path]:
    """All files in a folder."""
    return sorted(p for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("damage", ["flipped", "truncated", "empty"])
def test_damaged_files(script: Path, run_python: Run, cache: Path, damage: str) -> None:
    assert files(cache)
    for path in files(cache):
        contents = path.read_bytes()
        middle = len(contents) // 2
        if damage == "flipped":
            changed = bytes([*contents[:middle], contents[middle] ^ 255, *contents[middle + 1 :]])
        else:
            changed = contents[:middle] if damage == "truncated" else b""
        path.write_bytes(changed)
    assert run_python(script).stdout == "compiled\n"


def test_a_folder_that_others_may_write(script: Path, run_python: Run, cache: Path) -> None:
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o777)
    assert run_python(script).stdout == "compiled\n"  # what lies there is not executed


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs root to give files away")
def test_a_folder_of_another_user(script: Path, run_python: Run, cache: Path) -> None:
    for path in (cache, *cache.rglob("*")):
        os.chown(path, 12345, 12345)
    assert run_python(script).stdout == "compiled\n"


@pytest.mark.usefixtures("cache")
def test_other_vector_functions(script: Path, run_python: Run) -> None:
    """A kernel that calls libmvec is not loaded by a process without it."""
    without = {"FUSEJIT_NO_LIBMVEC": "1", "FUSEJIT_NO_SVML": "1"}
    assert run_python(script, **without).stdout in ("compiled\n", "from cache\n")
    assert run_python(script).stdout == "from cache\n"  # both kinds lie side by side


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
    assert files(tmp_path / "cache"), "the child died before it wrote anything"
    assert run_python(script).stdout == "compiled\n"


PRODUCTS = """
import numpy as np
from fusejit import fuse_jit

def iterate(a, v, steps):
    for _ in range(steps):
        v = a @ v
        v = v / np.sqrt(v @ v)
    return v

fused = fuse_jit(fullgraph=True)(iterate)
a, v = np.random.default_rng(0).random((80, 80)), np.ones(80)
np.testing.assert_array_equal(fused(a, v, 20), iterate(a, v, 20))
print("from cache" if fused.variants[0].from_cache else "compiled")
"""


def test_products_in_loops(tmp_path: Path, run_python: Run) -> None:
    """The address of NumPy's product differs from process to process."""
    program = tmp_path / "program.py"
    program.write_text(PRODUCTS)
    assert [run_python(program).stdout for _ in range(2)] == ["compiled\n", "from cache\n"]
