"""`explain`: a report of what was fused, what was not and why, and what that saves."""

from fusejit.explain.passes import passes_text
from fusejit.explain.segments import segments_text
from fusejit.explain.text import explain_text, sizes_of_call

__all__ = ["explain_text", "passes_text", "segments_text", "sizes_of_call"]
