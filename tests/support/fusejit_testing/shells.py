"""IPython without a terminal, for tests of what notebooks do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def ipython_shell() -> Iterator[Any]:
    """A shell of IPython; what it changes in the process is put back."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    main, hooks = sys.modules["__main__"], (sys.displayhook, sys.excepthook)
    try:
        yield InteractiveShell.instance(config=config)
    finally:
        InteractiveShell.clear_instance()
        sys.modules["__main__"], (sys.displayhook, sys.excepthook) = main, hooks
