"""NumPy under another name: ``import fusejit.numpy as np``.

Every public name is NumPy's own object, so a program works alike with either import, inside and
outside of decorated functions. Inside, calls are looked up by function object (`fusejit.tracer`),
whatever name they were reached by.

Examples
--------
>>> import numpy
>>> import fusejit.numpy as np
>>> np.exp is numpy.exp, np.linalg is numpy.linalg
(True, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

__all__ = list(numpy.__all__)

if TYPE_CHECKING:
    from numpy import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        value = globals()[name] = getattr(numpy, name)  # kept: the next look-up is a plain one
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *dir(numpy)})
