"""`FuseWarning`, shown at the user's line that made the call."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from fusejit.support.package_files import is_package_code


class FuseWarning(UserWarning):
    """A call ran as plain NumPy; the message says why. Shown once per function and cause."""


def warn(text: str) -> None:
    """Warn at the innermost line that is not fusejit's own."""
    warnings.warn(text, FuseWarning, stacklevel=_level_of_user())


def _level_of_user() -> int:
    """The stack level of the user's frame, as `warnings.warn` counts from its caller."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_package_code(frame.f_code):
        frame = frame.f_back
        level += 1
    return level
