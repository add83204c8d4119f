"""Cores: those that the process is bound to, and no more than its control group's share of time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fusejit.codegen.machine import cores

BOUND = 64


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 64 cores without control groups."""
    monkeypatch.setattr(cores, "_MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(cores, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(BOUND)), raising=False)
    return tmp_path


def put(system: Path, membership: str, **files: str) -> None:
    (system / "membership").write_text(membership)
    for name, text in files.items():
        path = system / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("max 100000", BOUND),
        ("9900000 100000", BOUND),
        ("0 0", BOUND),
        ("", BOUND),
    ],
)
def test_a_group_s_limit(system: Path, limit: str, expected: int) -> None:
    put(system, "0::/\n", **{"cpu.max": f"{limit}\n"})
    assert cores.available_cores() == expected


def test_the_least_of_the_groups_around(system: Path) -> None:
    put(
        system,
        "0::/pods/one/inner\n",
        **{
            "pods/cpu.max": "800000 100000",
            "pods/one/cpu.max": "300000 100000",
            "pods/one/inner/cpu.max": "max 100000",
        },
    )
    assert cores.available_cores() == 3


@pytest.mark.parametrize("controllers", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize("folder", ["docker/one", "."])
def test_groups_of_the_first_version(system: Path, controllers: str, folder: str) -> None:
    """In a container the group's name may be that outside, and its files those of the root."""
    place = f"{controllers}/{folder}"
    files = {f"{place}/cpu.cfs_quota_us": "400000\n", f"{place}/cpu.cfs_period_us": "100000\n"}
    put(system, f"3:cpuset:/\n2:{controllers}:/docker/one\n0::/\n", **files)
    assert cores.available_cores() == 4
    put(system, f"2:{controllers}:/docker/one\n", **{f"{place}/cpu.cfs_quota_us": "-1\n"})
    assert cores.available_cores() == BOUND


def test_without_groups(system: Path) -> None:
    assert cores.available_cores() == BOUND
    put(system, "0::/\n3:cpuset:/\n")
    assert cores.available_cores() == BOUND
