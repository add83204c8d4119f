"""What may be split, and how its segments are compiled."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.segments.fused_functions import Decorate, FusedFunctions


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """A function that may be split.

    Attributes
    ----------
    function : FunctionType
    decorate : callable
        Makes the compiled form of each segment.
    fused : FusedFunctions
        Functions that Python calls and that are fused already.
    on_error : str
        What it does where it raises: see `fusejit.options`.
    failed : callable
        Is called with faults of ours; the function is then not split.
    plain : callable or None
        Runs it as it is, given all parameters by position; None if that is what it takes itself.
    tiering : bool
        Whether segments that do not pay are put back: see `fusejit.tiering.segment_profiler`.
    is_segment : bool
        Whether it is a segment, or what Python calls between segments.
    """

    function: FunctionType
    decorate: Decorate
    fused: FusedFunctions
    on_error: str
    failed: Callable[[Exception], None]
    plain: Callable[..., Any] | None = None
    tiering: bool = True
    is_segment: bool = False
