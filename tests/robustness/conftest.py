"""Fixtures of the robustness tests: unjitted kernels by default, and child processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of functions decorated in the test run as plain Python: nothing is compiled."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


@pytest.fixture
def child_environment(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a child process with a cache folder of its own."""

    def make(**variables: str) -> dict[str, str]:
        cache = str(tmp_path / "cache")
        return {**os.environ, "PYTHONPATH": str(ROOT), "FUSEJIT_CACHE_DIR": cache, **variables}

    return make


@pytest.fixture
def run_python(
    child_environment: Callable[..., dict[str, str]],
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script in a fresh process that treats warnings as errors; it must exit with 0."""

    def run(script: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-W", "error", str(script)],
            env=child_environment(**variables),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
