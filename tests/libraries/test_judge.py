"""The library judge, put to a library that was written for it."""

from __future__ import annotations

import copyreg
import decimal
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fusejit.errors import InternalError, UnsupportedError
from fusejit_testing.libraries import calls, replay, sampling
from fusejit_testing.libraries.__main__ import main
from fusejit_testing.libraries.arguments import NotCopied, copied
from fusejit_testing.libraries.calls import CallJudge
from fusejit_testing.libraries.copies import NUMPY_COPY, make_copy, rewritten
from fusejit_testing.libraries.decorated import Decorated, Entry, install
from fusejit_testing.libraries.differences import Comparison, Different
from fusejit_testing.libraries.known import known_reasons, reason_of
from fusejit_testing.libraries.randomness import Randomness
from fusejit_testing.libraries.records import Finding, Kind, TestRecord
from fusejit_testing.libraries.report import findings, text_report
from fusejit_testing.libraries.runner import Settings, _FileRun, judge_library

TOY = """
import itertools
import warnings
import numpy as np

_count = itertools.count()
total = 0


def double(x):
    return x * 2


def quadruple(x):
    return double(double(x))


registered = {double: "doubles"}
table = {"all": [double, (quadruple, np.sin)]}


def shift(x):
    x += 1
    return x


def mean(x):
    return x.sum() / x.size


def ticking(x):
    return x + next(_count)


def generator(seed):
    return np.random.default_rng(seed)


def use_up(items):
    return sum(items)


def use_up_with_a_warning(items):
    warnings.warn("used up", RuntimeWarning)
    return sum(items)


settings = {"style": ["-", ":"]}


def style(given):
    return settings["style"]


def draw(x):
    from matplotlib import pyplot
    pyplot.gca().set_title(str(x.sum()))
    return x + 1


def remember(x):
    global total
    total += 1
    return x + 1


class Scale:
    count = 0

    def __init__(self, factor):
        self.factor = factor
        Scale.count += 1
        self.name = f"scale[{Scale.count}]"

    def times(self, x):
        return x * self.factor

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def of(cls, x):
        return cls(x.sum())

    @property
    def squared(self):
        return self.factor ** 2
"""
TOY_TESTS = """
import os
import numpy as np
import toy


def test_right():
    x = np.arange(3.0)
    assert toy.quadruple(x).tolist() == [0, 4, 8]
    assert toy.shift(x) is x and x[0] == 1


def test_wrong():
    toy.ticking(np.arange(3.0))


def test_dies():
    os._exit(7)


def test_behind():
    assert toy.Scale(3.0).times(np.ones(2)).tolist() == [3, 3]


def test_fails_anyway():
    assert False
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on ``sys.path`` in which the toy library is installed."""
    package = tmp_path / "site" / "toy"
    (package / "tests").mkdir(parents=True)
    (package / "__init__.py").write_text(TOY)
    (package / "data.txt").write_text("data")
    (package / "tests" / "__init__.py").write_text("")
    (package / "tests" / "test_toy.py").write_text(TOY_TESTS)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    return tmp_path / "site"


class Judged:
    """The toy library in this process, decorated."""

    def __init__(self, module: ModuleType, decorated: Decorated, judge: CallJudge) -> None:
        self.toy: Any = module
        self.decorated, self.judge = decorated, judge

    def entry(self, name: str) -> Entry:
        return replay.entry_named(self.decorated, f"toy:{name}")

    def found(self) -> list[Finding]:
        return [*self.judge.findings.values()]


@pytest.fixture
def judged(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judged]:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(calls, "_count_traces", lambda judge: None)
    judge = CallJudge(tmp_path / "pickles")
    decorated = Decorated(["toy"], site, judge)
    install(decorated)
    sys.modules.pop("toy", None)
    import toy  # type: ignore[import-not-found]

    with judge.judging():
        yield Judged(toy, decorated, judge)
    sys.modules.pop("toy", None)


def test_right_calls_are_compared_and_nothing_is_found(judged: Judged) -> None:
    x = np.arange(4.0)
    assert judged.toy.quadruple(x).tolist() == [0, 4, 8, 12]
    assert judged.toy.shift(x) is x
    assert judged.toy.Scale.of(x).times(x).tolist() == [10, 20, 30, 40]
    assert judged.toy.Scale.half(x)[0] == 0.5
    assert judged.toy.Scale(3).squared == 9
    assert not judged.found()
    compared = {name: t.compared for name, t in judged.judge.tallies.items()}
    assert compared == {
        "toy:quadruple": 1,
        "toy:double": 2,  # as quadruple calls it
        "toy:shift": 1,
        "toy:Scale.__init__": 2,
        "toy:Scale.of": 1,
        "toy:Scale.times": 1,
        "toy:Scale.half": 1,
        "toy:Scale.squared": 1,
    }


def test_tables_of_functions_hold_what_the_names_hold(judged: Judged) -> None:
    double, (quadruple, sine) = judged.toy.table["all"]
    assert double is judged.toy.double
    assert quadruple is judged.toy.quadruple
    assert sine is np.sin


def test_tests_find_what_the_library_has_registered_for_its_functions(judged: Judged) -> None:
    from toy.tests import test_toy  # type: ignore[import-not-found]

    assert judged.toy.registered[judged.toy.double] == "doubles"
    sys.modules.pop(test_toy.__name__)
    sys.modules.pop("toy.tests")


@pytest.mark.parametrize(
    ("result", "what"),
    [
        (lambda x: x * 2 + np.float64(1e-3), "2 of 2 differ, first at (0,)"),
        (lambda x: (x * 2).astype(np.float32), "dtype float32 instead of float64"),
        (lambda x: (x * 2)[None], "shape (1, 2) instead of (2,)"),
        (lambda x: [*(x * 2)], "list [np.float64(2.0), np.float64(4.0)] instead of ndarray"),
        (lambda x: np.repeat(x * 2, 2)[::2], "strides [16] instead of [8]"),
        (lambda x: (x.__imul__(2), x * 1)[1], "arguments afterwards[0][0]: 2 of 2 differ"),
        (lambda x: x, "identity: [0] and [1][0] are one object"),
    ],
)
def test_a_wrong_result_is_found(judged: Judged, result: Any, what: str) -> None:
    entry = judged.entry("double")
    entry.fused = result
    assert judged.toy.double(np.array([1.0, 2.0])).tolist() == [2, 4]  # the caller sees NumPy's
    (finding,) = judged.found()
    assert finding.kind is Kind.WRONG
    assert what in finding.what
    assert finding.arguments == "float64[2] [1.0, 2.0]"


def test_an_identity_that_is_lost_is_found(judged: Judged) -> None:
    judged.entry("shift").fused = lambda x: x.__iadd__(1).copy()
    judged.toy.shift(np.zeros(2))
    (finding,) = judged.found()
    assert "identity" in finding.what


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnsupportedError("no"), Kind.REFUSED),
        (InternalError("oh"), Kind.ERROR),
        (ValueError("other"), Kind.WRONG),
    ],
)
def test_errors_are_told_apart(judged: Judged, error: Exception, kind: Kind) -> None:
    def raising(x: Any) -> Any:
        raise error

    judged.entry("double").fused = raising
    assert judged.toy.double(1) == 2
    (finding,) = judged.found()
    assert finding.kind is kind
    assert finding.what == f"{type(error).__name__}: {error} instead of a result"


def test_an_error_that_is_missed_or_worded_otherwise_is_found(judged: Judged) -> None:
    entry = judged.entry("double")
    entry.fused = lambda x: 0
    with pytest.raises(TypeError):
        judged.toy.double(None)
    entry.fused = lambda x: None + 2
    with pytest.raises(TypeError):
        judged.toy.double(None)
    assert sorted(f.what[:25] for f in judged.found()) == [
        "TypeError: unsupported op",
        "no error instead of TypeE",
    ]


def test_floats_may_differ_as_far_as_reordered_sums_do(judged: Judged) -> None:
    x = np.random.default_rng(0).random(1000)
    entry = judged.entry("mean")
    entry.fused = lambda x: np.float64(sum(x[::-1]) / x.size)
    judged.toy.mean(x)
    assert not judged.found()
    assert judged.judge.tallies["toy:mean"].near == 1
    entry.fused = lambda x: np.float64(x.sum() / x.size * (1 + 1e-10))
    judged.toy.mean(x)
    assert len(judged.found()) == 1


def test_what_cannot_be_repeated_runs_once_and_fused(judged: Judged) -> None:
    entry = judged.entry("use_up")
    runs = []
    entry.fused = lambda items: runs.append(1) or sum(items)  # type: ignore[func-returns-value]
    assert judged.toy.use_up(iter([1, 2])) == 3
    assert len(runs) == 1
    assert judged.toy.remember(1) == 2
    assert judged.toy.total == 1
    once = {name: t.once for name, t in judged.judge.tallies.items()}
    assert once == {"toy:use_up": 1, "toy:remember": 1}


def test_what_only_the_caller_sees_is_no_difference(judged: Judged) -> None:
    """What a function finds under a global name is in its argument too, but in no copy of it."""
    judged.toy.style(judged.toy.settings)
    assert not judged.found()
    assert judged.judge.tallies["toy:style"].copies == 1
    judged.entry("style").fused = lambda given: given["style"][::-1]
    judged.toy.style(judged.toy.settings)
    (finding,) = judged.found()
    assert "instead of" in finding.what


def test_what_is_another_in_each_call_is_no_difference(judged: Judged) -> None:
    """A generator that the system seeds; one with a seed is compared."""
    judged.toy.generator(None)
    judged.toy.generator(3)
    assert not judged.found()
    assert judged.judge.tallies["toy:generator"].copies == 1
    judged.entry("generator").fused = lambda seed: np.random.default_rng(4)
    judged.toy.generator(3)
    (finding,) = judged.found()
    assert "random numbers" in finding.what


def test_functions_that_draw_run_once(judged: Judged) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    drawn: list[float] = []
    judged.entry("draw").fused = lambda x: drawn.append(x[0]) or x + 1
    for k in range(3):
        judged.toy.draw(np.full(2, float(k)))
    tally = judged.judge.tallies["toy:draw"]
    assert (tally.alone, tally.once, tally.compared) == (1, 2, 0)
    assert drawn == [1.0, 2.0]
    assert tally.uncopied == {"draws on figures": 2}
    with pytest.raises(NotCopied, match="part of a figure"):
        copied([pyplot.gca()], {})
    pyplot.close("all")


def test_numbers_that_nobody_wrote_in_some_tests(judged: Judged) -> None:
    judged.judge.known = [("toy:ticking in *test_a*", "counts")]
    assert judged.judge.reason("toy:ticking") is None
    judged.judge.test = "tests/toy.py::test_a"
    assert judged.judge.reason("toy:ticking") == "counts"
    judged.toy.ticking(np.arange(2.0))
    assert not judged.found()


def test_calls_beyond_the_time_of_a_test_run_undecorated(judged: Judged) -> None:
    judged.judge.limit_ns = -1
    judged.toy.double(1.0)
    tally = judged.judge.tallies["toy:double"]
    assert (tally.calls, tally.plain, tally.compared) == (1, 1, 0)


def test_arguments_are_replayed_from_their_pickle(
    judged: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged.toy.ticking(np.arange(2.0))
    (finding,) = judged.found()
    sys.modules.pop("toy")
    (found,) = replay.replay(tmp_path / "pickles" / finding.pickle, tmp_path / "site")
    assert found.function == "toy:ticking"
    assert "toy:ticking(float64[2] [0.0, 1.0])" in capsys.readouterr().out


def test_copies_keep_strides_and_overlaps() -> None:
    base = np.arange(12.0).reshape(3, 4)
    objects = np.array([[1, None], [(), 2.5]], dtype=object)

    class Holder:
        def __init__(self) -> None:
            self.rows, self.column = base[::2], base[:, 1]

    given = [base[:, 1:3], Holder(), objects.T[::-1], np.ma.masked_array([1, 2], [True, False])]
    rows, holder, of_objects, masked = copied(given, {})
    assert (rows.strides, rows.tolist()) == (given[0].strides, given[0].tolist())
    assert holder.rows.strides == (64, 8)
    holder.column[0] = -1.0
    assert rows[0, 0] == holder.rows[0, 1] == -1.0
    assert base[0, 1] == 1.0
    assert of_objects.strides == given[2].strides
    assert of_objects.tolist() == given[2].tolist()
    assert masked.mask.tolist() == [True, False]


def test_copies_of_dense_memory_in_any_order_of_axes() -> None:
    base = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2).copy(order="K")
    assert not base.flags.forc
    view = base.T
    first, second = copied([base, view], {})
    assert (second.strides, second.tolist()) == (view.strides, view.tolist())
    first[0, 0, 0] = -1.0
    assert second[0, 0, 0] == -1.0
    assert copied(np.array(2.0), {}) == 2.0


def test_objects_in_arrays_are_copied_one_by_one() -> None:
    for shape in ((1,), (1, 1), (2, 2)):
        given = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            given[place] = np.arange(2.0)
        (made,) = copied([given], {})
        assert [item.tolist() for item in made.flat] == [[0.0, 1.0]] * given.size


def test_a_function_is_copied_with_what_it_closes_over() -> None:
    class Counter:
        count = 0

        def step(self) -> int:
            self.count += 1
            return self.count

    counter, met = Counter(), [1]

    def step(again: bool = True) -> int:
        met.append(1)
        return step(again=False) if again else counter.step()

    made, same = copied((step, counter), {})
    assert (made(), same.count, counter.count, met) == (1, 1, 0, [1])
    factor = 2.0

    def scaled(x: float) -> float:
        return x * factor

    assert copied(scaled, {}) is scaled


def test_a_function_that_uses_up_what_it_closes_over_is_not_copied() -> None:
    items = iter([1, 2])
    with pytest.raises(NotCopied, match="closes over what is not copied"):
        copied(lambda: next(items), {})


def test_an_object_that_is_copied_from_part_of_its_state_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def partly(context: decimal.Context) -> Any:
        return decimal.Context, ()

    given = decimal.Context(prec=5)
    assert copied(given, {}) is not given
    monkeypatch.setitem(copyreg.dispatch_table, decimal.Context, partly)
    assert copied(given, {}) is given


def test_warnings_of_calls_that_run_once_are_given(judged: Judged) -> None:
    with pytest.warns(RuntimeWarning, match="used"):
        assert judged.toy.use_up_with_a_warning(iter([1, 2])) == 3
    assert judged.judge.tallies["toy:use_up_with_a_warning"].once == 1


def test_copies_of_arrays_of_subclasses_keep_strides_and_what_they_share() -> None:
    masked = np.ma.masked_array(np.arange(12.0).reshape(3, 4), mask=False)[::2, ::-1].T
    copy, data = copied([masked, masked.data], {})
    assert copy.strides == masked.strides
    assert copy.mask.strides == masked.mask.strides
    assert vars(copy).keys() == vars(masked).keys()
    copy[0, 0] = -1.0
    assert data[0, 0] == -1.0
    assert masked[0, 0] == 3.0
    assert copied(np.ma.masked, {}) is np.ma.masked


def test_what_has_no_copy_of_its_kind_is_not_copied() -> None:
    class Sub(type(np.ma.masked)):  # type: ignore[misc]
        pass

    texts = np.array(["a", "b", "c"], dtype=np.dtypes.StringDType())
    with pytest.raises(NotCopied, match="a view of a Sub is a MaskedArray"):
        copied(Sub(), {})
    with pytest.raises(NotCopied, match="none of Python's"):
        copied(texts[1:], {})


def test_texts_are_compared_without_addresses() -> None:
    Comparison().same(repr(object()), repr(object()), "result")
    with pytest.raises(Different, match="instead of"):
        Comparison().same("<a at 0x12>", "<b at 0x12>", "result")


def test_copies_of_strided_views_that_overlap_themselves() -> None:
    base = np.arange(4.0)
    first, rows = copied([base, np.lib.stride_tricks.as_strided(base, (4, 4), (0, 8))], {})
    first[0] = -1.0
    assert rows.strides == (0, 8)
    assert rows[:, 0].tolist() == [-1.0] * 4


def test_copies_have_the_attributes_of_the_object_alone() -> None:
    polynomial = np.polynomial.Polynomial([1.0, 2.0])
    assert vars(copied(polynomial, {})).keys() == vars(polynomial).keys()
    assert copied(polynomial, {}) == polynomial


def test_numbers_behind_a_mask_are_nobodys() -> None:
    theirs = np.ma.masked_array([1.0, 2.0], [True, False])
    ours = np.ma.masked_array([7.0, 2.0], [True, False])
    comparison = Comparison()
    comparison.same(theirs, ours, "result")
    assert not comparison.inexact
    with pytest.raises(Different, match=r"result\._mask: 1 of 2 differ"):
        comparison.same(theirs, np.ma.masked_array([1.0, 2.0], [True, True]), "result")


def test_methods_are_compared_with_what_they_are_bound_to() -> None:
    theirs, ours = np.arange(2.0), np.arange(2.0)
    comparison = Comparison()
    comparison.same(theirs.__array_wrap__, ours.__array_wrap__, "result")
    comparison.same(len, len, "result")
    with pytest.raises(Different, match="instead of"):
        comparison.same(theirs.__array_wrap__, ours.__array__, "result")
    with pytest.raises(Different, match="__self__: shape"):
        comparison.same(theirs.__array_wrap__, np.arange(3.0).__array_wrap__, "result")


def test_a_sample_of_calls_that_are_alike_is_judged(judged: Judged) -> None:
    for number in range(sampling.ALL_OF_FIRST + 2 * sampling.EACH):
        judged.toy.double(float(number))
    judged.toy.double(np.zeros(2))
    judged.toy.double(np.zeros(3))
    tally = judged.judge.tallies["toy:double"]
    assert tally.compared == sampling.ALL_OF_FIRST + 2 + 2
    assert tally.calls == tally.compared + tally.alike


@pytest.mark.parametrize(
    "draw",
    [
        np.random.random,
        np.random.standard_normal,
        random.random,
        lambda: random.gauss(0, 1),
    ],
)
def test_random_numbers_are_put_back(draw: Any) -> None:
    before = Randomness()
    try:
        for _ in range(3):  # of two normal numbers the second changes no bits
            start = Randomness()
            first, after = draw(), Randomness()
            assert after != start
            start.restore()
            assert Randomness() == start
            assert draw() == first
            assert Randomness() == after
    finally:
        before.restore()


# ------------------------------------------------------------------------------- in subprocesses
def test_the_command_finds_what_is_wrong_and_goes_on_behind_a_crash(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["toy", "--folder", str(tmp_path / "judge"), "--report", str(tmp_path / "r.json")]
    assert main(arguments) == 1
    data = json.loads((tmp_path / "r.json").read_text())["libraries"]["toy"]
    assert data["tests"] == {"passed": 3, "hang": 1, "fails undecorated too": 1}
    kinds = [(f["kind"], f["function"]) for f in data["findings"]]
    assert kinds[0] == ("wrong", "toy:ticking")
    assert kinds[1][0] == "hang"
    assert kinds[1][1].endswith("::test_dies")
    assert data["functions"]["toy:double"]["compared"] == 2
    assert (site / "toy" / "__init__.py").read_text() == TOY  # what is installed stays as it is
    first = capsys.readouterr().out
    assert "toy:ticking" in first
    assert main(arguments) == 1  # all is done: the lines are read again
    assert capsys.readouterr().out.splitlines()[1:] == first.splitlines()[1:]


def test_a_process_that_writes_nothing_is_killed(site: Path, tmp_path: Path) -> None:
    import subprocess

    copy = make_copy("toy", tmp_path / "copies")
    run = _FileRun(copy, Path("x.py"), Settings(tmp_path, limit_seconds=0.2), decorate=True)
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL
    ) as process:
        assert run.wait(process) is None
        assert process.returncode < 0


def test_a_hang_is_told_from_its_innermost_frame(site: Path, tmp_path: Path) -> None:
    run = _FileRun(make_copy("toy", tmp_path / "copies"), Path("x.py"), Settings(tmp_path), True)
    for path in (run.lines, run.log):
        path.parent.mkdir(parents=True)
    stack = "".join(f'  File "pytest.py", line {line} in outer\n' for line in range(1000))
    run.log.write_text(f"...\nCurrent thread 0x1:\n  File 'toy.py', line 3 in inner\n{stack}")
    run.note_death("test_it")
    (record,) = run.read()[0].values()
    assert "line 3 in inner" in record.findings[0].what


def test_a_small_library_has_nothing_wrong(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    copy = make_copy("numpy.polynomial", tmp_path / "copies")
    settings = Settings(tmp_path, files="test_polyutils", seconds_per_test=10)
    records = judge_library(copy, settings, log=lambda line: None)
    assert [r.outcome for r in records] == ["passed"] * 10
    assert not findings(records), text_report({"numpy.polynomial": records})
    assert sum(t.compared for r in records for t in r.tallies.values()) > 50


# ---------------------------------------------------------------------------------------- copies
def test_copies_link_what_is_no_source(site: Path, tmp_path: Path) -> None:
    copy = make_copy("toy", tmp_path / "copies")
    assert (copy.folder / "data.txt").is_symlink()
    assert not (copy.folder / "__init__.py").is_symlink()
    assert [path.name for path in copy.test_files()] == ["test_toy.py"]
    (copy.folder / "tests" / "toy_test.py").write_text("")
    assert [path.name for path in copy.test_files()] == ["test_toy.py", "toy_test.py"]


@pytest.mark.parametrize("name", ["no_such_library", "numpy.random", "numpy"])
def test_a_package_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        make_copy(name, tmp_path)


def test_numpys_imports_are_those_of_the_copy() -> None:
    text = (
        "import numpy as np\nimport numpy.ma\nfrom numpy import array\n"
        "from numpy.ma.core import add\n"
    )
    assert rewritten(text, is_test=True) == (
        f"import {NUMPY_COPY} as np\n"
        f"import {NUMPY_COPY}.ma; import {NUMPY_COPY} as numpy\n"
        f"from {NUMPY_COPY} import array\n"
        f"from {NUMPY_COPY}.ma.core import add\n"
    )
    assert "import numpy as np" in rewritten(text, is_test=False)


# --------------------------------------------------------------------------------------- reports
def test_known_failures_have_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text("# why\na/test_b.py::test_c[*] | counts references\n")
    known = known_reasons(path)
    assert reason_of("a/test_b.py::test_c[1]", known) == "counts references"
    assert reason_of("a/test_b.py::test_d", known) is None
    assert all(reason for _, reason in known_reasons())


def test_findings_of_one_kind_are_counted() -> None:
    a = Finding(Kind.WRONG, "m:f", "at 1: 2 instead of 3")
    b = Finding(Kind.WRONG, "m:f", "at 7: 8 instead of 9")
    records = [TestRecord("t1", "passed", 1, {}, [a]), TestRecord("t2", "passed", 1, {}, [b])]
    ((finding, count),) = findings(records)
    assert (finding.test, finding.what, count) == ("t1", a.what, 2)


def test_what_repeats_itself_is_compared_once() -> None:
    def repeated(row: Any) -> np.ndarray:
        return np.broadcast_to(row, (2**40, len(row)))

    Comparison().same(repeated([1.0, 2.0]), repeated([1.0, 2.0]), "result")
    with pytest.raises(Different, match="1 of 2 differ"):
        Comparison().same(repeated([1, 2]), repeated([1, 3]), "result")
    near = Comparison()
    near.same(repeated([1.0, 2.0]), repeated([1.0, 2.0 + 4e-16]), "result")
    ((_, theirs, _),) = near.inexact
    assert theirs.shape == (1, 2)


class Tree:
    """Keeps its leaves alone when it is pickled."""

    def __init__(self, leaf: Any) -> None:
        self.leaf, self.above = leaf, None

    def __reduce__(self) -> Any:
        return Tree, (self.leaf,)


class Sole(Tree):
    def __reduce__(self) -> str:
        return "SOLE"


SOLE = Sole(1)


def test_objects_that_are_pickled_in_part_are_copied_whole() -> None:
    tree = Tree([1.0])
    tree.above = tree
    copy = copied(tree, {})
    assert copy.above is copy
    assert copy.leaf == [1.0]
    assert copy.leaf is not tree.leaf
    assert copied(SOLE, {}) is SOLE


def test_copies_of_objects_overlap_through_what_stands_for_arrays() -> None:
    base = np.array([1, None, "a"], dtype=object)
    view = np.lib.stride_tricks.as_strided(base, (2,), (8,))
    first, part = copied([base, view], {})
    assert np.shares_memory(first, part)
    assert part.tolist() == [1, None]
