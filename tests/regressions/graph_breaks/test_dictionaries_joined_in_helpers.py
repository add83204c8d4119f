"""``{**table, **options}`` in a helper was an internal error: a joined dictionary had no trace.

Where a loop changed the new dictionary in a way that is not compiled, it is Python's, and `merged`
took it for a traced one.
"""

from __future__ import annotations

from typing import Any

from fusejit_testing.against_python import check_against_python


def with_options(table: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {**table, **options}


def in_a_loop(xs: list[float]) -> dict[str, Any]:
    k, d = 0, {}
    for _ in xs:
        d = with_options(d, **{"b": k})
    return d


def test_options_joined_in_a_loop() -> None:
    check_against_python(in_a_loop, [([1.0, 2.0],), ([1.0, 2.0, 3.0],), ([],)])
