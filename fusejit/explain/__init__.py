"""`explain`: what was fused, what was not and why, and what that saves, as text."""

from fusejit.explain.text import explain_text

__all__ = ["explain_text"]
