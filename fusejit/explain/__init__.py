"""Reports of `explain`: fused operations, refused ones, and the reasons."""

from fusejit.explain.passes import passes_text
from fusejit.explain.short_report import explain_interpreted, explain_segments, explain_variant

__all__ = [
    "explain_interpreted",
    "explain_segments",
    "explain_variant",
    "passes_text",
]
