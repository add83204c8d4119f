"""`explain`: a report of what was fused, what was not and why, and what that saves."""

from fusejit.explain.passes import passes_text
from fusejit.explain.report import explain_text, sizes_of_call
from fusejit.explain.segment_report import segments_text

__all__ = ["explain_text", "passes_text", "segments_text", "sizes_of_call"]
