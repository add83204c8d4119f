"""Which files belong to installed libraries."""

from __future__ import annotations

import os
import site
import sysconfig

_PACKAGES = tuple(
    os.path.realpath(folder) + os.sep
    for folder in {
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        *site.getsitepackages(),
        site.getusersitepackages(),
    }
)


def is_installed(filename: str) -> bool:
    """Whether a file does."""
    return os.path.realpath(filename).startswith(_PACKAGES)
