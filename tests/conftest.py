"""Fixtures of all tests: a private kernel cache.

What the tests decorate is compiled even where it does not pay: their arrays are small. Tests of
what is left to Python ask for it.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("FUSEJIT_TIERING", "0")
os.environ.setdefault("FUSEJIT_LAZY", "1")  # what is tested of `fusejit.numpy` is its own arrays


SLOW_FILES = (
    "ordinary/test_ordinary.py",
    "differential/test_argument_values.py",
    "property/test_mutation_fuzzer.py",
    "property/test_random_programs.py",
    "property/test_statement_programs.py",
    "differential/test_sets_in_loops.py",
    "robustness/test_rebinding.py",
    "robustness/test_statement_forms.py",
    "mlir/test_real_mlir.py",
    "differential/test_scalar_ops.py",
    "property/test_given_programs.py",
    "property/test_structured_ops.py",
    "structured/test_general_form.py",
    "robustness/test_debuggers.py",
    "robustness/test_fork_moments.py",
    "programs/test_programs.py",
    "linalg/test_values.py",
    "property/test_boundaries.py",
    "differential/test_recursions.py",
    "differential/test_list_idioms.py",
    "differential/test_lists_in_loops.py",
    "property/test_passes.py",
    "differential/test_statistics.py",
    "differential/test_identity_of_values.py",
    "differential/test_numbered_strings.py",
    "differential/test_lists_in_recursions.py",
    "property/test_policies.py",
    "transform/test_layouts.py",
    "differential/test_number_subclasses.py",
    "transform/test_convolutions.py",
    "differential/test_reductions.py",
    "fuse/test_group.py",
    "property/test_everyday_programs.py",
    "golden/test_public_numba.py",
    "differential/test_movement.py",
    "differential/test_dictionaries_in_loops.py",
    "robustness/test_arguments_are_let_go.py",
    "differential/test_union_scalars.py",
    "codegen/test_collapsed_loops.py",
    "linalg/test_values_by_rule.py",
    "differential/test_complex.py",
)
"""Files that take longest, slowest first: a worker that is given one last works alone on it.

``pytest --durations=0`` measures them. The order is a matter of balance only.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move slow files to the front (xdist keeps the order with ``--no-loadscope-reorder``)."""
    places = {name: at for at, name in enumerate(SLOW_FILES)}
    tests = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        name = item.path.relative_to(tests).as_posix() if tests in item.path.parents else ""
        return places.get(name, len(places))

    items.sort(key=place)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and tests live as long as the session: collections need not go through them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="module")
def small_heap() -> None:
    """Collections of a module that asks for many go through its own objects alone."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def private_cache() -> Iterator[None]:
    """Kernels of the tests are kept in a folder of this session, never in ~/.cache."""
    before = os.environ.get("FUSEJIT_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="fusejit-tests-") as folder:
        os.environ["FUSEJIT_CACHE_DIR"] = folder
        yield
        if before is None:
            del os.environ["FUSEJIT_CACHE_DIR"]
        else:
            os.environ["FUSEJIT_CACHE_DIR"] = before
