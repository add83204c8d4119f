"""`Schedule`: a traced function's ops by name, and the steps applied to them."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from fusejit.dataclass import replace
from fusejit.errors import ScheduleError, UnsupportedError
from fusejit.fuse.grouping.policy import PolicyFailed
from fusejit.ir.graph import Graph
from fusejit.ir.text.printer import print_graph
from fusejit.notices import warn
from fusejit.options import Options, options_from_environment
from fusejit.stages import Lowered, Traced, trace
from fusejit.support.identity import own_signature
from fusejit.tracer.program.fallback import Fallback
from fusejit.transform.automatic import automatic_recipe
from fusejit.transform.compiled import compiled, lowered
from fusejit.transform.core.arguments import is_number
from fusejit.transform.core.base import BaseHandle, ScheduleState, short
from fusejit.transform.core.lookup import labels
from fusejit.transform.layouts.conv_to_matmul import conv_to_matmul
from fusejit.transform.layouts.hoist_pad import hoist_pad
from fusejit.transform.layouts.pack import pack, unpack
from fusejit.transform.layouts.pack_matmul import pack_matmul
from fusejit.transform.layouts.pad import pad
from fusejit.transform.layouts.transpose import transpose_conv, transpose_matmul
from fusejit.transform.layouts.winograd import winograd
from fusejit.transform.log import log_text
from fusejit.transform.loop_text import loop_nests
from fusejit.transform.primitives.canonicalized import canonicalized
from fusejit.transform.primitives.collapse import collapse
from fusejit.transform.primitives.decompose import decompose
from fusejit.transform.primitives.expand import expand
from fusejit.transform.primitives.fold_unit_dims import fold_unit_dims
from fusejit.transform.primitives.fuse import fuse
from fusejit.transform.primitives.fuse_siblings import fuse_siblings
from fusejit.transform.primitives.interchange import interchange
from fusejit.transform.primitives.library import generalize, to_library
from fusejit.transform.primitives.no_fuse import no_fuse
from fusejit.transform.primitives.peel import peel
from fusejit.transform.primitives.promote import promote
from fusejit.transform.primitives.rematerialize import rematerialize
from fusejit.transform.primitives.specialize import specialize
from fusejit.transform.primitives.split import split
from fusejit.transform.primitives.threads import threads
from fusejit.transform.primitives.tile import tile
from fusejit.transform.primitives.tile_reduction import tile_reduction
from fusejit.transform.primitives.unroll import unroll
from fusejit.transform.primitives.unroll_reduction import unroll_reduction
from fusejit.transform.primitives.vectorize import vectorize
from fusejit.transform.saved import load_recipe
from fusejit.transform.served_calls import CallBinder
from fusejit.transform.timing import median_seconds
from fusejit.transform.verification import Verification, verify_schedule


class Schedule(ScheduleState):
    """A traced function and the steps that were applied to it. Nothing changes it.

    Attributes
    ----------
    stage : Traced
        The function as it was traced.
    graph : Graph
        The ops after the steps.
    steps : tuple of Step
    is_checked : bool
        Whether steps are compared on small arrays.
    """

    def __getitem__(self, op: str | BaseHandle) -> Handle:
        """The op of a name, or at ``file.py:line``; ``add#2`` is the second of several.

        A handle of an earlier step gives what has become of its op.

        Raises
        ------
        ScheduleError
            If there is none, or more than one.
        TypeError
            If it is neither a name nor a handle.
        """
        return Handle(self, self.find(op))

    @property
    def log(self) -> str:
        """A line for each step: the call, the recipe's line, what it keeps, costs, the op.

        Bytes moved, scalar operations and scratch memory are estimates for the sizes of the traced
        arguments, before the automatic passes run (`fusejit.transform.core.costs`).
        """
        return log_text(self)

    def table(self, *args: Any, rounds: int = 7) -> str:
        """The log with the measured time of a call before the first step and after each one."""
        return log_text(self, self.time(*args, rounds=rounds))

    def canonicalize(self, *, check: bool = True) -> Schedule:
        """Fold views into the maps of ops, compute equal ops once, simplify, drop dead ops.

        The automatic passes begin with this. Source: MLIR's ``canonicalize`` and ``cse``.

        Raises
        ------
        ScheduleError
            If nothing would change.
        """
        return canonicalized(self, check=check)

    def automatic(self) -> str:
        """What the automatic passes would fuse, as the text of a recipe.

        The text is a Python function that can be edited, and run as any recipe: first the folds
        that the cost model accepts, then the groups of ops that share a loop over tiles. What no
        step expresses stands in comments; the passes do it after the recipe. The size of tiles,
        which they choose at run time, is a parameter.
        """
        return automatic_recipe(self)

    def show(self, step: int | None = None) -> str:
        """The printed graph after a step; 0 is before the first one, None after the last one."""
        number = len(self.steps) if step is None else step
        if number not in range(len(self.graphs)):
            raise ScheduleError(f"there is no step {short(step)}: 0 to {len(self.steps)}")
        return print_graph(self.graphs[operator.index(number)])

    def loop_nest(self) -> str:
        """The loops as pseudo code, as the steps have left them.

        ``s.lower().source`` is the source of the kernels, which the automatic passes have fused.
        """
        return loop_nests(self, lambda op: Handle(self, op.results[0]).dims)

    def lower(self) -> Lowered:
        """Run the passes of the automatic pipeline, and make the source of the kernels."""
        return lowered(self)

    def compile(self) -> Callable[..., Any]:
        """A function for calls like the traced one, with the same types and any sizes.

        The passes of the automatic pipeline run on the graph as the steps have left it. The
        function raises a `ScheduleError` where guards of the trace do not hold; with
        ``fuse_jit(schedule=recipe)`` the recipe is applied to another trace then.
        """
        return compiled(self)

    def verify(self, *args: Any, tolerance: float | None = None) -> Verification:
        """Compare the compiled function with the plain one, which NumPy runs.

        Parameters
        ----------
        *args
            The arguments; without any those that were traced. Arrays of random numbers with sizes
            near theirs, of one element, and empty ones are tried as well. Calls for which guards of
            the trace do not hold are left out.
        tolerance : float, optional
            Largest difference, relative to the largest number of an array, where results need not
            have NumPy's bits.

        Raises
        ------
        ScheduleError
            At the first result that differs by more than the tags of the steps allow.
        """
        if tolerance is not None and not (is_number(tolerance) and tolerance >= 0):
            raise ValueError(f"tolerance is {short(tolerance)}; it is a number, at least 0")
        args = CallBinder(self.stage).in_order(args or self.args, {})
        return verify_schedule(self, args, tolerance)

    def time(self, *args: Any, rounds: int = 7) -> list[float]:
        """The median seconds of a call before the first step and after each step."""
        args = CallBinder(self.stage).in_order(args or self.args, {})
        args = copy.deepcopy(args)  # calls may store into them
        functions = [compiled(replace(self, graph=graph)) for graph in self.graphs]
        return median_seconds([partial(function, *args) for function in functions], rounds)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in vars(Handle) and not name.startswith("_"):
                ops = ", ".join(f"s[{label!r}]" for label in labels(self.graph).values())
                raise AttributeError(f"{name} is a step of an op of the schedule: of {ops}")
            raise AttributeError(f"a schedule has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<schedule of {self.graph.name}, {len(self.steps)} steps>"

    def __str__(self) -> str:
        return f"{self.log}\n{self.show()}"


class Handle(BaseHandle):
    """An op of a schedule. Each method returns the op in a new schedule."""

    schedule: Schedule

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self.schedule), name) and not name.startswith("_"):
                raise AttributeError(f"{name} is a method of the schedule: .schedule.{name}")
            raise AttributeError(f"an op of a schedule has no attribute {name!r}")

    collapse = collapse
    decompose = decompose
    expand = expand
    fold_unit_dims = fold_unit_dims
    conv_to_matmul = conv_to_matmul
    fuse = fuse
    fuse_siblings = fuse_siblings
    generalize = generalize
    no_fuse = no_fuse
    interchange = interchange
    promote = promote
    hoist_pad = hoist_pad
    pack = pack
    pack_matmul = pack_matmul
    pad = pad
    peel = peel
    rematerialize = rematerialize
    specialize = specialize
    split = split
    threads = threads
    tile = tile
    tile_reduction = tile_reduction
    to_library = to_library
    unroll = unroll
    unroll_reduction = unroll_reduction
    vectorize = vectorize
    transpose_conv = transpose_conv
    transpose_matmul = transpose_matmul
    unpack = unpack
    winograd = winograd


def schedule(function: Callable[..., Any], *args: Any, options: Options | None = None) -> Schedule:
    """Trace a function, decorated or not, for arguments like these.

    Examples
    --------
    >>> import numpy as np
    >>> from fusejit.transform import schedule
    >>> a = np.ones((64, 64))
    >>> s = schedule(lambda a, b: a @ b, a, a)
    >>> h = s["matmul"].tile(m=16)
    >>> print(h.schedule.log.splitlines()[0])
    <lambda>: 1 ops, 0 loops
    """
    if options is not None and not isinstance(options, Options):
        raise TypeError(f"options is {short(options)}; it is an Options")
    given: Any = function
    if isinstance(given, MethodType):
        given, args = given.__func__, (given.__self__, *args)
    plain = getattr(given, "__wrapped__", given)
    if not isinstance(plain, FunctionType):
        example = "schedule(lambda x: np.exp(x), x)"
        raise TypeError(f"schedule takes a Python function, not {short(plain)}: {example}")
    try:
        own_signature(plain).bind(*args)
    except TypeError as error:
        what = f"schedule({plain.__name__}, ..) traces a call, with arguments like those of calls"
        raise TypeError(f"{what}: {error}") from None
    try:
        stage = trace(plain, args, {}, options or options_from_environment(fullgraph=True))
    except Fallback as fallback:
        raise UnsupportedError(
            f"{plain.__name__} has no graph for these arguments: {fallback.outcome}"
        ) from None
    return Schedule(stage, args, stage.graph)


def applied(recipe: Callable[..., Any], before: Schedule, **parameters: Any) -> Schedule:
    """The schedule after a recipe.

    Raises
    ------
    TypeError
        If the recipe returns neither a schedule of this function nor one of its ops.
    """
    result = recipe(before, **parameters)
    after = result.schedule if isinstance(result, Handle) else result
    if not isinstance(after, Schedule) or after.stage is not before.stage:
        name = getattr(recipe, "__name__", short(recipe))
        what = "another schedule" if isinstance(after, Schedule) else short(result)
        raise TypeError(f"the recipe {name} returns the schedule or one of its ops, not {what}")
    return after


def scheduled(
    stage: Traced, recipe: Callable[[Schedule], Schedule | Handle] | str | os.PathLike[str]
) -> Graph:
    """Return the graph of a stage after a recipe; as it was where a step is not legal.

    A path is that of a recipe with parameters (`fusejit.transform.saved`).

    Raises
    ------
    ScheduleError
        Under ``fullgraph=True``, if a step is not legal.
    """
    try:
        if isinstance(recipe, str | os.PathLike):
            recipe = load_recipe(recipe)
        return applied(recipe, Schedule(stage, (), stage.graph)).graph
    except ScheduleError as error:
        if stage.options.fullgraph:
            raise
        if stage.options.warn:
            warn(f"{stage.function.__name__} runs without its schedule: {error}")
        return stage.graph
    except Exception as error:  # the recipe's own
        raise PolicyFailed(error) from error
