"""Whether a call draws on figures that it was not given: pyplot has a current one.

Such a call cannot be repeated, as the second one draws on what the first has left.
"""

from __future__ import annotations

import sys
from typing import Any


class Figures:
    """The figures of pyplot at one moment, from which on changes to them are noted."""

    def __init__(self) -> None:
        self._pyplot: Any = sys.modules.get("matplotlib._pylab_helpers")
        self._open = self._numbers()
        for figure in self._figures():
            figure.stale = False  # whatever changes a figure, or what is in it, sets this

    def _managers(self) -> list[Any]:
        return [] if self._pyplot is None else self._pyplot.Gcf.get_all_fig_managers()

    def _numbers(self) -> list[int]:
        """In the order in which they were looked at: the last one is the current one."""
        return [manager.num for manager in self._managers()]

    def _figures(self) -> list[Any]:
        return [manager.canvas.figure for manager in self._managers()]

    def have_changed(self) -> bool:
        """Whether a figure was opened, closed, chosen or drawn on since."""
        if self._pyplot is None:
            return sys.modules.get("matplotlib._pylab_helpers") is not None
        return self._open != self._numbers() or any(each.stale for each in self._figures())


def is_part_of_a_figure(value: Any) -> bool:
    """Whether it is an object of Matplotlib's: a copy would be one of the whole figure."""
    return type(value).__module__.partition(".")[0] in ("matplotlib", "mpl_toolkits")
