"""Texts for `help` and for notebooks, which say that a function is fused."""

from __future__ import annotations

import html
from typing import Any

from fusejit.support.identity import own_signature

NOTE = "Fused by fusejit: see its explain, check, trace and variants."


def fused_doc(doc: str | None) -> str:
    """The docstring of a function with a last paragraph that says that it is fused."""
    if not doc:
        return NOTE
    indented = [line for line in doc.splitlines()[1:] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in indented), default=0)
    return f"{doc.rstrip()}\n\n{' ' * margin}{NOTE}\n{' ' * margin}"


def shown_function(function: Any, **formats: Any) -> dict[str, str]:
    """Show a decorated function in IPython, as text and HTML."""
    head = f"<fused function {function.__qualname__}{own_signature(function.__wrapped__)}>"
    variants = repr(function.variants)
    shown = f"<code>{html.escape(head)}</code><pre>{html.escape(variants)}</pre>"
    return {"text/plain": f"{head}\n{variants}", "text/html": shown}
