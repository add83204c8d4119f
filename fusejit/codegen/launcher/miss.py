"""`Miss`: what a launcher returns when its variant does not serve a call."""

from __future__ import annotations


class Miss:
    """What a launcher returns instead of a result when its variant does not serve the call.

    With ``is_fault`` the launcher has failed, in front of anything that the caller could see.
    """

    __slots__ = ("is_fault", "reason")

    def __init__(self, reason: str, is_fault: bool = False) -> None:
        self.reason = reason
        self.is_fault = is_fault

    def __repr__(self) -> str:
        return f"<miss: {self.reason}>"


MISS = Miss("another variant")
