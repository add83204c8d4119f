"""The differential check of a whole function.

NumPy = interpreter of the traced graph = interpreter of the fused graph = unjitted source = jitted
kernel, for results, for what the arguments hold afterwards, and for which arrays share memory.
"""

from __future__ import annotations

import os
import pathlib
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fusejit.api import FuseWarning, fuse_jit
from fusejit.codegen.launcher.launcher_results import columns_of_classes, indices_of
from fusejit.codegen.launcher.made_containers import (
    NO_OBJECTS,
    dict_of,
    list_of,
    made_objects,
    set_of,
)
from fusejit.codegen.launcher.runtime import marked
from fusejit.codegen.lower.deferred_errors import DEFERRED_TEXTS
from fusejit.errors import UnsupportedError
from fusejit.ir.graph import Graph
from fusejit.ir.interpreter.interpret import host_environment, interpret
from fusejit.ir.results import (
    CharactersLeaf,
    ChoiceLeaf,
    HostLeaf,
    ObjectLeaf,
    PathLeaf,
    ResultDict,
    ResultLeaf,
    ResultList,
    ResultMapping,
    ResultSequence,
    ResultSet,
    ResultStructure,
    ResultWithObjects,
    ResultWithTexts,
    StaticLeaf,
    TextLeaf,
    Texts,
)
from fusejit.ir.traced import TracedFunction
from fusejit.ir.write_access import WriteAccess
from fusejit.path_resolver import resolver
from fusejit_testing.compare import (
    EXACT,
    Bound,
    arrays_in,
    assert_same,
    assert_same_aliasing,
    clone,
    owner,
)

Function = Callable[..., Any]


@contextmanager
def _environment(name: str, value: str | None) -> Iterator[None]:
    if value is None:
        yield
        return
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def without_warm_up(fused: Any) -> Any:
    """A decorated function that traces its first call, whether or not that pays."""
    fused.__fusejit_state__.warms_up = False
    return fused


def decorate(
    function: Function,
    *,
    jit: bool,
    fullgraph: bool = False,
    fusion: str | None = None,
    reports: pathlib.Path | None = None,
    tiering: bool = False,
) -> Any:
    """``fuse_jit(function)``, jitted or with kernels that run as plain Python.

    Reports of faults are written into the folder ``reports``, see `no_faults`. What can be compiled
    is, even where it does not pay, unless it ``tiering``.
    """
    folder = None if reports is None else str(reports)
    with (
        _environment("FUSEJIT_UNJITTED", "0" if jit else "1"),
        _environment("FUSEJIT_TIERING", str(int(tiering))),
        _environment("FUSEJIT_DUMP_DIR", folder),
    ):
        return fuse_jit(fullgraph=fullgraph, fusion=fusion)(function)


@contextmanager
def no_faults(folder: pathlib.Path | None = None) -> Iterator[pathlib.Path]:
    """A folder for reports of faults: a new one, or an empty ``folder`` that many checks share.

    A fault is no error of the call: NumPy runs it, and a warning names the report.

    Raises
    ------
    AssertionError
        At the end, with the first report that was written.
    """
    if folder is None:
        own = tempfile.TemporaryDirectory(prefix="fusejit-reports-")
        with own as name, no_faults(pathlib.Path(name)) as new:
            yield new
        return
    try:
        yield folder
        for report in sorted(folder.iterdir()):
            raise AssertionError(f"a fault of fusejit:\n{report.read_text('utf-8')}")
    finally:
        for report in folder.iterdir():
            report.unlink()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call did: its result or its error, and its arguments afterwards."""

    result: Any
    error: BaseException | None
    args: tuple[Any, ...]


def run(function: Function, args: tuple[Any, ...]) -> Outcome:
    """Call ``function`` on a clone of ``args``."""
    ours = clone(args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        warnings.filterwarnings("ignore", ".* NumPy warns: ", FuseWarning)
        try:
            return Outcome(function(*ours), None, ours)
        except Exception as error:
            return Outcome(None, error, ours)


def without_late_text(expected: Outcome, actual: Outcome) -> Outcome:
    """``expected`` with the general text of an error that kernels find late, if it is one."""
    late = actual.error
    if type(late) is type(expected.error) and str(late) in DEFERRED_TEXTS:
        return replace(expected, error=late)
    return expected


def compare_outcomes(
    expected: Outcome, actual: Outcome, bound: Bound = EXACT, where: str = ""
) -> None:
    """Same result or same error, same arguments afterwards, same sharing of memory."""
    if expected.error is not None:
        if type(actual.error) is not type(expected.error):
            raise AssertionError(
                f"{where}: {actual.error!r} instead of {expected.error!r}"
            ) from actual.error
        same = str(actual.error) == str(expected.error)
        assert same, f"{where}: {actual.error!r} instead of {expected.error!r}"
    elif actual.error is not None:
        raise AssertionError(f"{where}: {actual.error!r}") from actual.error
    else:
        assert_same(expected.result, actual.result, bound, f"{where}: result")
    of_results = np.ndim(bound.absolute) > 0
    assert_same(
        expected.args,
        actual.args,
        EXACT if of_results else bound,
        f"{where}: arguments afterwards",
    )
    if expected.error is None:
        assert_same_aliasing(
            [expected.result, expected.args], [actual.result, actual.args], f"{where}: "
        )


# ------------------------------------------------------------------------------- the interpreter
def paths_of(traced: TracedFunction, arguments: Mapping[str, Any], function: Function) -> Any:
    """Finds outside objects for the interpreter."""
    return resolver(function, arguments, traced)


def named_arguments(function: Function, args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments of a call by parameter name, defaults included."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    given = dict(zip(reversed(names), reversed(defaults), strict=False))
    return given | dict(zip(names, args, strict=False))


def assemble(
    structure: ResultStructure,
    results: list[Any],
    paths: Any,
    names: Any,
    texts: Texts | None = None,
    objects: Mapping[type, list[Any]] = NO_OBJECTS,
) -> Any:
    """Put the results of a graph together as the launcher does.

    ``texts`` has the numbers of strings in one call, ``objects`` those of objects.
    """

    def part(structure: ResultStructure) -> Any:
        return assemble(structure, results, paths, names, texts, objects)

    match structure:
        case ResultWithTexts():
            num_spans, starts, lengths, num_points, points = (
                results[index] for index in structure.indices
            )
            spans = slice(1, int(num_spans))
            texts = structure.texts.of_call(
                starts[spans], lengths[spans], points[: int(num_points)]
            )
            return part(structure.result)
        case ResultWithObjects():
            counts = tuple(int(results[one.count]) for one in structure.classes)
            held = (results[index] for index in columns_of_classes(structure))
            given = tuple(() if c.given is None else paths(c.given) for c in structure.classes)
            objects = made_objects(structure.classes, counts, given, held, texts)
            return part(structure.result)
        case ObjectLeaf():
            return objects[structure.type][int(results[structure.number])]
        case ResultLeaf():
            result = results[structure.index]
            if structure.access is not WriteAccess.WRITEABLE:
                fresh = marked(result[...], structure.access, owner(result))
                if WriteAccess.of(fresh) is not WriteAccess.of(result):
                    result = results[structure.index] = fresh
            if structure.is_view and isinstance(result, np.ndarray) and result.base is None:
                result = results[structure.index] = result[...]  # one object, wherever it stands
            return result
        case PathLeaf():
            return paths(structure.path)
        case TextLeaf():
            return (texts or structure.texts).text(int(results[structure.number]))
        case CharactersLeaf():
            numbers = results[structure.numbers][: int(results[structure.length])]
            return (texts or structure.texts).joined(numbers)
        case ChoiceLeaf():
            return part(structure.items[int(results[structure.which])])
        case HostLeaf():
            return structure.expr.evaluate(paths, names)
        case StaticLeaf():
            return structure.value
        case ResultSequence():
            make = getattr(structure.type, "_make", structure.type)  # a named tuple
            return make(part(i) for i in structure.items)
        case ResultList():
            if structure.type is not list:
                items = part(replace(structure, type=list))
                return structure.type(items)
            if structure.columns is None:
                return []
            length, *columns = (results[index] for index in indices_of(structure))
            return list_of(
                structure.columns, int(length), iter(columns), texts=texts, objects=objects
            )
        case ResultDict():
            parts = structure.keys, structure.values, structure.marks
            found: Any = [one and part(one) for one in parts]
            return dict_of(structure.type, structure.factory, *found)
        case ResultSet():
            keys = part(structure.keys)
            marks: Any = structure.marks
            return set_of(keys, marks and part(marks))
        case ResultMapping():
            items = [part(i) for i in structure.items]
            return dict(zip(structure.keys, items, strict=True))


def interpreted(traced: TracedFunction, graph: Graph, function: Function) -> Function:
    """The function as a graph of its variant means it, for calls that the variant serves."""

    def call(*args: Any) -> Any:
        given = named_arguments(function, args)
        paths = paths_of(traced, given, function)
        host = host_environment(graph, paths)
        results = _own_objects(interpret(graph, paths), arrays_in([*given.values()]))
        made = assemble(traced.structure, results, paths, host)
        for place, (of, name) in enumerate(traced.written, 1):
            if name:
                setattr(paths(of), name, made[place])
            else:
                paths(of)[:] = made[place]
        return made[0] if traced.written else made

    return call


def _own_objects(results: list[Any], arguments: list[np.ndarray]) -> list[Any]:
    """Views of whole arrays as objects of their own, as the launcher hands them out.

    An argument that is returned itself is no result of the graph: ``x[...]`` is another object.
    """
    seen = [*arguments]
    for at, result in enumerate(results):
        if isinstance(result, np.ndarray):
            if any(result is other for other in seen):
                results[at] = result[...]
            seen.append(results[at])
    return results


# ------------------------------------------------------------------------------------- the check
def check(
    function: Function,
    *calls: tuple[Any, ...],
    jit: bool = False,
    bound: Bound = EXACT,
    inner_bound: Bound = EXACT,
    reference: Function | None = None,
    variants: int | None = 1,
    fusion: str | None = None,
) -> Any:
    """Run every call every way and compare; returns the decorated function (unjitted, or jitted).

    Parameters
    ----------
    function : callable
        The undecorated function: what NumPy says.
    *calls : tuple
        The arguments of each call, in order.
    jit : bool
        Whether to compile as well.
    bound : Bound
        NumPy against the others.
    inner_bound : Bound
        The interpreter, the unjitted source and the kernels against each other.
    reference : callable, optional
        What ``bound`` is measured against instead of ``function``.
    variants : int or None
        How many variants all calls together may need; None for any number.
    fusion : str, optional
        How far to fuse; None for the default.
    """
    with no_faults() as reports:

        def decorated(*, jit: bool) -> Any:
            return decorate(function, jit=jit, fusion=fusion, reports=reports)

        unjitted = made = decorated(jit=False)
        _check_calls(function, made, calls, bound, inner_bound, reference, variants)
        if jit:
            made = decorated(jit=True)
            _check_calls(function, made, calls, bound, inner_bound, reference, variants, unjitted)
    return made


def check_not_compiled(function: Function, args: tuple[Any, ...], reason: str) -> None:
    """What no kernel computes: NumPy's answer by default, and an error with ``fullgraph=True``.

    Where NumPy raises, there is nothing to refuse.

    Parameters
    ----------
    function : callable
        The undecorated function.
    args : tuple
        The arguments of one call.
    reason : str
        A pattern that the error's text has.

    Raises
    ------
    AssertionError
        If results, arguments or errors differ from NumPy's, or if ``fullgraph=True`` compiles it.
    """
    with warnings.catch_warnings(), no_faults() as reports:
        warnings.simplefilter("ignore")
        made = decorate(function, jit=False, reports=reports)
        expected = run(function, args)
        compare_outcomes(expected, run(made, args), where="left to Python")
    if expected.error is not None:
        return
    error = run(decorate(function, jit=False, fullgraph=True), args).error
    if not isinstance(error, UnsupportedError) or not re.search(reason, str(error)):
        raise AssertionError(f"with fullgraph=True: {error!r}")


def _check_calls(
    function: Function,
    decorated: Any,
    calls: Sequence[tuple[Any, ...]],
    bound: Bound,
    inner_bound: Bound,
    reference: Function | None,
    variants: int | None,
    unjitted: Any = None,
) -> None:
    """Every call of one decorated function; a jitted one against the ``unjitted`` one as well."""
    for at, args in enumerate(calls):
        name = f"call {at}, {'unjitted' if unjitted is None else 'jitted'}"
        expected = run(reference or function, args)
        if expected.error is not None:
            expected = run(function, args)  # who declines to NumPy has NumPy's partial effects
        actual = run(decorated, args)
        compare_outcomes(expected, actual, bound, name)
        if expected.error is None and len(decorated.variants) and unjitted is None:
            _check_interpreters(function, decorated, args, actual, inner_bound, name, at == 0)
        if unjitted is not None:
            compare_outcomes(run(unjitted, args), actual, inner_bound, f"{name}/unjitted")
    if variants is not None:
        assert len(decorated.variants) == variants, decorated.variants
        assert not decorated.variants.fallbacks, decorated.variants


def _check_interpreters(
    function: Function,
    decorated: Any,
    args: tuple[Any, ...],
    actual: Outcome,
    bound: Bound,
    name: str,
    is_first: bool,
) -> None:
    """The graphs of the variant that serves a call; the fused one, which kernels show, once."""
    variant = decorated.variants[0]
    if len(decorated.variants) > 1 or decorated.variants.fallbacks:
        return  # which variant served the call is not known
    traced = variant.traced
    graphs = [("traced", traced.graph), ("fused", variant.schedule.graph)]
    for stage, graph in graphs[: 1 + is_first]:
        outcome = run(interpreted(traced, graph, function), args)
        compare_outcomes(outcome, actual, bound, f"{name} against the {stage} graph")
