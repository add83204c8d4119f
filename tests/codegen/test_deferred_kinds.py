"""Each error that a kernel ends with has a kind of its own in the status."""

from __future__ import annotations

from fusejit.codegen.intrinsics.statuses import KINDS, Status
from fusejit.codegen.launcher import runtime as launch_runtime
from fusejit.codegen.lower import deferred_errors


def test_no_two_errors_have_one_kind() -> None:
    kinds = [kind for kind, _, _ in deferred_errors._KINDS.values()] + [Status.LATE_RAISE]
    assert len(set(kinds)) == len(kinds)
    assert all(0 < kind <= KINDS for kind in kinds)


def test_no_error_has_the_status_of_a_call_that_numpy_runs_again() -> None:
    kinds = {kind for kind, _, _ in deferred_errors._KINDS.values()} | {Status.LATE_RAISE}
    assert not kinds & set(launch_runtime._BY_STATUS)
