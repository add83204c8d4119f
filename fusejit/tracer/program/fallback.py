"""How tracing stops without an error of its own, and whose an exception is that ends it."""

from __future__ import annotations

import dis
import re
from types import TracebackType

from fusejit.outcome import FAULT, Outcome, OutcomeKind, fallback, numpy_raising
from fusejit.support.package_files import is_package_code
from fusejit.tracer.program.active_trace import active_trace
from fusejit.tracer.program.locations import needs_python, raised_by_user_code, user_frames

CATCH_NOTHING = "ask for the condition first, or raise outside the decorated function"

WRONG_CALL = re.compile(
    r"unexpected keyword|required .*argument|positional argument|multiple values"
)
"""What Python says of a call whose function has no such parameters."""


class Fallback(Exception):
    """fusejit does not take this call; plain NumPy runs it on the caller's own arguments.

    Raised for arguments outside the machinery and wherever NumPy would raise: NumPy then raises
    its own error at the user's line.
    """

    def __init__(self, outcome: Outcome | str) -> None:
        self.outcome = outcome if isinstance(outcome, Outcome) else fallback(outcome)
        super().__init__(str(self.outcome))


def numpy_warns(warning: str) -> Fallback:
    """What to raise for an operation of which NumPy warns: NumPy runs the call and does so."""
    return Fallback(Outcome(OutcomeKind.NUMPY_WARNS, f"NumPy warns: {warning}"))


def numpy_raises(error: BaseException | str, otherwise: str = "") -> Exception:
    """What to raise for an operation for which NumPy (or Python) raises ``error``.

    ``otherwise`` says what was the case if it does not, where that cannot be known.

    The call falls back, as NumPy raises its own exception then. In a ``try`` the program may catch
    it, so that says nothing about the call: Python runs the statement. Few contexts of a ``with``
    end an exception; most are `np.errstate`.
    """
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    found = catcher()
    if found == "try":
        return needs_python(f"{text}, which the program may catch", CATCH_NOTHING)
    otherwise = otherwise or _if_it_does_not(text)
    if found == "with" and not otherwise:
        otherwise = f"a `with` has ended {text}"
    return Fallback(numpy_raising(f"NumPy raises {text}", otherwise))


def _if_it_does_not(text: str) -> str:
    """What was the case if Python and NumPy do not raise what has been met while tracing."""
    trace = active_trace()
    if trace is not None and trace.regions:
        return f"{text}, in a block that did not run"
    if trace is not None and trace.assumes_sizes:
        return f"{text}, of sizes that are not as assumed"
    return ""


def raised_while_tracing(error: BaseException, text: str) -> Fallback:
    """The `Fallback` for an exception that has left the program while it was traced.

    NumPy runs the call and raises it again. If it does not, the exception was no part of the
    program: it began in fusejit's own frames, or the program did not see what NumPy shows it.
    """
    what = f"{type(error).__name__}: {text}"
    place = fault_location(error)
    if place:
        return Fallback(numpy_raising(f"NumPy raises {what}", f"{FAULT}: {what} ({place})"))
    return Fallback(numpy_raising(f"NumPy raises {what}", _if_it_does_not(what)))


def fault_location(error: BaseException) -> str:
    """Where in fusejit an exception began, if it did and no ``raise`` of ours has meant it."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or _is_meant(innermost) or raised_by_user_code(innermost):
        return ""
    code = innermost.tb_frame.f_code
    if not is_package_code(code):
        return ""
    name = code.co_filename.rpartition("fusejit")[2].lstrip("/\\")
    return f"{name}:{innermost.tb_lineno}"


def _is_meant(at: TracebackType) -> bool:
    """Whether a ``raise`` statement runs there."""
    instructions = dis.get_instructions(at.tb_frame.f_code)
    found = next((i.opname for i in instructions if i.offset == at.tb_lasti), "")
    return found in ("RAISE_VARARGS", "RERAISE")


def catcher() -> str:
    """What stands around the program's place and may end an exception: ``try``, ``with``, or ""."""
    found = ""
    for frame in user_frames():
        code = frame.f_code
        if not code.co_exceptiontable:
            continue
        opcodes = {i.offset: i.opname for i in dis.get_instructions(code)}
        for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
            if entry.start <= frame.f_lasti < entry.end:
                if opcodes.get(entry.target + 2) != "WITH_EXCEPT_START":
                    return "try"
                found = "with"
    return found


class Retrace(Exception):
    """Start the trace again; the decision table has been changed."""
