"""NumPy that defers and fuses: ``import fusejit.numpy as np``.

Nearly all names are NumPy's own objects. Those that make arrays (`fusejit.numpy.creation`) return
an `Array` where the result is large, and a plain ndarray where it is small; with ``FUSEJIT_LAZY=0``
in the environment these are NumPy's own too. NumPy's functions take an `Array` and return one,
because it implements their protocols (`fusejit.numpy.array`). Operations on it are recorded
(`fusejit.numpy.window`), and windows of them are compiled (`fusejit.numpy.programs`).

Inside of functions with `fuse_jit`, calls compile as those of NumPy.

Examples
--------
>>> import numpy
>>> import fusejit.numpy as np
>>> np.exp is numpy.exp, np.linalg is numpy.linalg
(True, True)
>>> isinstance(np.zeros(200_000), numpy.ndarray)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from fusejit.numpy import method_table as method_table
from fusejit.numpy.array import Array as Array
from fusejit.numpy.creation import Grid, creators
from fusejit.numpy.report import report as report
from fusejit.numpy.settings import IS_ON
from fusejit.numpy.settings import threshold as threshold
from fusejit.numpy.window import eager as eager
from fusejit.numpy.window import explain as explain
from fusejit.numpy.window import window as window

__all__ = list(numpy.__all__)

if TYPE_CHECKING:
    from numpy import *  # noqa: F403
else:
    if IS_ON:
        from fusejit.numpy import random as random

        globals().update(creators(), mgrid=Grid(numpy.mgrid), ogrid=Grid(numpy.ogrid))
    else:
        globals().update({name: getattr(numpy, name) for name in numpy.__all__})

    def __getattr__(name: str) -> Any:
        value = globals()[name] = getattr(numpy, name)  # kept: the next look-up is a plain one
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *dir(numpy)})
