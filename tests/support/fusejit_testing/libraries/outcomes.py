"""What a call has come to: a result or an exception, arguments afterwards, and what was counted."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from fusejit.errors import FusejitError, InternalError, ParseError, VerificationError
from fusejit.support.package_files import is_package_file
from fusejit_testing.libraries.counters import Counters
from fusejit_testing.libraries.differences import without_addresses
from fusejit_testing.libraries.randomness import Randomness
from fusejit_testing.libraries.records import Kind


@dataclass(slots=True, eq=False)
class Outcome:
    """A call that has ended.

    Attributes
    ----------
    result
        What it returned.
    error : BaseException or None
        What it raised.
    args, kwargs
        Its arguments as it left them.
    drawn : Randomness
        The global generators afterwards.
    counted : Counters
        The integers in classes afterwards.
    """

    result: Any
    error: BaseException | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    drawn: Randomness
    counted: Counters


def same_error(expected: BaseException | None, actual: BaseException) -> bool:
    """Whether two exceptions are of one class and text; addresses aside."""
    texts = [without_addresses(str(error)) for error in (expected, actual)]
    return type(expected) is type(actual) and texts[0] == texts[1]


def kind_of(error: BaseException) -> Kind:
    """Whose an exception is that the undecorated function does not raise."""
    if isinstance(error, InternalError | VerificationError | ParseError):
        return Kind.ERROR
    if isinstance(error, FusejitError):
        return Kind.REFUSED
    frames = traceback.extract_tb(error.__traceback__)
    ours = frames[-1].filename if frames else ""
    is_ours = is_package_file(ours)
    return Kind.ERROR if is_ours else Kind.WRONG


def text_of(error: BaseException | None) -> str:
    """An exception in a finding."""
    if error is None:
        return "a result"
    return f"{type(error).__name__}: {str(error)[:1000]}"
