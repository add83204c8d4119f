"""`explain`: the operations that wait, as a function, and what of it would be fused."""

from __future__ import annotations

import numpy

from fusejit.numpy.programs import described_window, function_of
from fusejit.numpy.replay import uses_of, visible
from fusejit.numpy.window import CURRENT


def explain() -> str:
    """Return the source of the operations that wait, and what of it would be fused. Runs nothing.

    Examples
    --------
    >>> import fusejit.numpy as np
    >>> np.explain()
    'no operation waits'
    """
    from fusejit.api import decorated_function  # which needs all that compiles
    from fusejit.options import options_from_environment

    window = CURRENT.window
    with window.lock:
        operations = window.operations
        if not operations:
            return "no operation waits"
        described = described_window(operations, window.paths, *visible(uses_of(operations)))
        if described is None:
            return f"{len(operations)} operations wait; no function could express them"
        function = function_of(described.source)
        decorated = decorated_function(function, options_from_environment(warn=False))
        explanation = decorated.explain(*described.arguments, numpy.zeros(1, numpy.int64))
    return f"{function.__doc__}\n{explanation}"
