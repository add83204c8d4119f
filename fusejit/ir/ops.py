"""The ops of a graph, and the blocks in which they stand."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

from fusejit.dataclass import dataclass, field
from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import Payload
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.tiles import LoopTile, RegisterTile
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Buffer, Value, View


# ------------------------------------------------------------------------------------------- ops
class Effect(enum.Enum):
    """What an op may do besides computing its results."""

    PURE = "pure"  # may be dropped, merged, moved
    MAY_RAISE = "may_raise"  # kept though unused
    EFFECT = "effect"  # ordered with the others, never merged or dropped


@dataclass(frozen=True, slots=True)
class Operand:
    """An input of a generic op: a value and the map from the domain to its elements."""

    value: Value
    map: IndexingMap


@dataclass(frozen=True, slots=True)
class Init:
    """Where a result starts (destination-passing style).

    ``start`` is the value the result starts from; None means the combiner's identity for a
    reduction and nothing at all (every element is written) without a combiner. ``combiner`` is a
    row of `COMBINERS` for a reduction, None for a plain write.
    """

    map: IndexingMap
    combiner: str | None = None
    start: Value | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Op:
    """Base of the ops. ``results`` are the values it defines."""

    results: tuple[Value, ...] = ()
    location: Location = UNKNOWN

    @property
    def effect(self) -> Effect:
        """What it may do besides computing its results."""
        return Effect.PURE

    @property
    def operand_values(self) -> tuple[Value, ...]:
        """The values it reads, its blocks' reads not included."""
        return ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks it owns."""
        return ()


@dataclass(frozen=True, slots=True)
class Origin:
    """An op as it was traced: its name, the user's line, and a value that tells it from others."""

    name: str
    location: Location
    value: Value

    @staticmethod
    def each_once(origins: Iterable[Origin]) -> tuple[Origin, ...]:
        """Without repetitions."""
        return tuple({origin.value: origin for origin in origins}.values())


@dataclass(eq=False, slots=True, kw_only=True)
class GenericOp(Op):
    """linalg's generic with an explicit domain.

    For every point of ``domain`` (one extent per dim) the payload maps the elements of ``inputs``
    and ``inits`` to one number per init, which is written, or combined with what is there. Dims
    are parallel, reduction or sequential by ``iterators``. ``absorbed`` are the ops as they were
    traced that were folded into it or merged with it. ``is_named`` says that it was defined as the
    op of linalg whose name it has; passes may have changed it since (`fusejit.mlir.export.named`).
    The passes fuse nothing with an op that ``is_unfused``.
    ``is_materialized`` says that a schedule wants its results in memory: no policy folds it.
    """

    domain: tuple[AffineExpr, ...]
    iterators: tuple[IteratorType, ...]
    inputs: tuple[Operand, ...]
    inits: tuple[Init, ...]
    payload: Payload
    name: str = "generic"
    library_call: str | None = None
    absorbed: tuple[Origin, ...] = ()
    is_named: bool = False
    is_unfused: bool = False
    is_materialized: bool = False
    register_tile: RegisterTile | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether passes leave it alone: it calls a routine, or has a register tile."""
        return self.library_call is not None or self.register_tile is not None

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The ops as they were traced that it computes, itself last."""
        own = Origin(base_name(self.name), self.location, self.results[-1])
        return Origin.each_once([*self.absorbed, own])

    @property
    def operand_values(self) -> tuple[Value, ...]:
        starts = tuple(i.start for i in self.inits if i.start is not None)
        return tuple(o.value for o in self.inputs) + starts

    @property
    def is_elementwise(self) -> bool:
        """Whether all dims are parallel and nothing is combined.

        A combiner counts without reduction dims too: the sum of one -0.0 is 0.0, not -0.0.
        """
        return self.has_only_parallel_dims and all(i.combiner is None for i in self.inits)

    @property
    def has_only_parallel_dims(self) -> bool:
        """Whether no dim is a reduction or sequential."""
        return all(i is IteratorType.PARALLEL for i in self.iterators)

    @property
    def reduction_dims(self) -> tuple[int, ...]:
        """The indices of the reduction dims."""
        return tuple(d for d, i in enumerate(self.iterators) if i is IteratorType.REDUCTION)


@dataclass(eq=False, slots=True, kw_only=True)
class ConstantOp(Op):
    """A number as a value: ``%c = constant 2.0 : f64``."""

    number: Any


@dataclass(eq=False, slots=True, kw_only=True)
class ViewOp(Op):
    """Part of a value, moving no data: ``result[i] = source[map(i)]``."""

    source: Value
    map: IndexingMap

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.source,)


@dataclass(eq=False, slots=True, kw_only=True)
class ReshapeOp(Op):
    """A value with axes split or merged: the elements in row-major order stay as they are.

    It moves no data: what it merges lies in memory as one axis (a fresh value does so in its axis
    order, and the tracer makes a copy of what does not).
    """

    source: Value
    reassociation: Reassociation

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.source,)


@dataclass(eq=False, slots=True, kw_only=True)
class Load(Op):
    """The contents of a view at this place of the program.

    ``version`` is that of the buffer's alias class here: the number of stores (and of loops and
    conditionals that store) before it.
    """

    view: View
    version: int


@dataclass(eq=False, slots=True, kw_only=True)
class Write(Op):
    """Base of the ops that write ``value`` into ``view``; advances the version.

    Which point of the value goes to which element is the subclass's: a `Store` is no `Scatter` and
    a `Scatter` no `Store`, so that no pass takes one for the other (see `ir.analysis.writes`). The
    value is read before anything is written, as NumPy does.
    """

    view: View
    value: Value
    version: int

    effect = Effect.EFFECT


@dataclass(eq=False, slots=True, kw_only=True)
class Store(Write):
    """``view[...] = value`` where ``mask`` (of the view's extents) is true."""

    mask: Value | None = None

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.value,) if self.mask is None else (self.value, self.mask)


@dataclass(eq=False, slots=True, kw_only=True)
class Scatter(Write):
    """``view[subscripts(p)] = value[p]`` for the points ``p`` of the value, in its axis order.

    ``subscripts`` has one entry per axis of the view: an affine expression of the point's dims, or
    the integers of an operand, of which negative ones count from the end once. Where several points
    reach one element the last one wins. With ``combine``, a binary scalar op, the element becomes
    ``combine(element, value[p])``, for one point after the other. ``from_start`` says that no
    integer is negative, because they were made within bounds, ``distinct`` that no two points reach
    one element. Value and integers are read before anything is written; an `Assert` in front has
    made sure that they are within bounds.
    """

    subscripts: tuple[Operand | AffineExpr, ...]
    combine: str | None = None
    from_start: bool = False
    distinct: bool = False

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.value, *(s.value for s in self.subscripts if isinstance(s, Operand)))


OUT_OF_BOUNDS_IF_RUN = "IndexError if run"
"""The error of a check that was moved before a block which may not run."""


@dataclass(frozen=True, slots=True)
class CheckedIndex:
    """What the text of an IndexError names: ``index`` for ``axis`` with ``size``.

    Of a value it is the first element in C order that is out of bounds.
    """

    index: AffineExpr | Value
    axis: int
    size: AffineExpr


@dataclass(eq=False, slots=True, kw_only=True)
class Assert(Op):
    """The call goes on only if ``condition``, a bool, is true; otherwise NumPy runs it.

    Where the caller's memory may have been modified before it (``is_deferred``), it cannot:
    the call then ends with ``error``, having done what NumPy would have done up to there. ``shown``
    is what its text names, kept where the kernel raises; of an OverflowError it names ``integer``.
    """

    condition: Value
    reason: str
    error: str = "IndexError"
    is_deferred: bool = False
    shown: CheckedIndex | None = None
    integer: Value | None = None

    effect = Effect.MAY_RAISE

    @property
    def operand_values(self) -> tuple[Value, ...]:
        named = (self.integer, None if self.shown is None else self.shown.index)
        return (self.condition, *(value for value in named if isinstance(value, Value)))


@dataclass(eq=False, slots=True, kw_only=True)
class Alloc(Op):
    """Uninitialised memory for a local buffer, alive until the call ends."""

    buffer: Buffer

    effect = Effect.EFFECT


@dataclass(eq=False, slots=True, kw_only=True)
class Alias(Op):
    """A second buffer for memory of ``buffer.base``: its axes split or merged, or one part."""

    buffer: Buffer

    effect = Effect.EFFECT


@dataclass(eq=False, slots=True, kw_only=True)
class Bind(Op):
    """Names an integer: ``symbol`` is ``value`` from here to the end of the block.

    Maps, extents, bounds and payloads after it may use the symbol, as they use the induction
    variable of a loop. One that ``is_local`` is used in its own kernel only.
    """

    symbol: str
    value: Value
    is_local: bool = False

    effect = Effect.EFFECT

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.value,)


@dataclass(eq=False, slots=True, kw_only=True)
class Loop(Op):
    """``for induction in range(lower, upper, step)``, or ``while condition``.

    The body's arguments start from ``carried`` and take what the body yields; the results are
    their last values. ``induction`` is a symbol that maps, extents and payloads of the body may
    use. A conditional loop has a ``condition`` block that yields one bool; its arguments are the
    very values that are the body's. Iterations of a counted loop that ``is_parallel`` may run in
    any order, and at the same time. One that ``is_split`` is what loop fission made of another one.
    ``tiles`` has the lengths of tiles that the body binds.
    """

    carried: tuple[Value, ...]
    body: Block
    induction: str | None = None
    lower: AffineExpr | None = None
    upper: AffineExpr | None = None
    step: int = 1
    condition: Block | None = None
    is_parallel: bool = False
    is_split: bool = False
    tiles: tuple[LoopTile, ...] = ()

    @property
    def counted(self) -> tuple[str, AffineExpr, AffineExpr]:
        """Induction variable, lower and upper bound of a counted loop."""
        assert self.induction is not None
        assert self.lower is not None
        assert self.upper is not None
        return self.induction, self.lower, self.upper

    @property
    def effect(self) -> Effect:
        return strongest_effect(self.blocks)

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return self.carried

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.body,) if self.condition is None else (self.condition, self.body)


@dataclass(eq=False, slots=True, kw_only=True)
class Cond(Op):
    """``if predicate``: the results are what the block that ran yields."""

    predicate: Value
    then_block: Block
    else_block: Block

    @property
    def effect(self) -> Effect:
        return strongest_effect(self.blocks)

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return (self.predicate,)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (self.then_block, self.else_block)


@dataclass(eq=False, slots=True, kw_only=True)
class HostCall(Op):
    """A call of a Python function between kernels: ``%r = host_call "numpy.sort"(%x)``.

    ``call`` is the text of its arguments (`fusejit.ir.host_calls`), empty for all of them by
    position. ``sizes`` are symbols that the call defines: lengths of axes of its results, which
    maps, extents and payloads after it may use. ``objects`` are outside objects that the call is
    given as they are (``{o0}``). A call that is not ``pure`` is an effect: a draw, a text. Kernels
    make ``inline`` calls themselves (`fusejit.ir.inline_calls`).
    ``refusal`` says why a function that kernels know otherwise is called
    (`fusejit.tracer.host.numpy_forms`). ``errstate`` is the text of the keywords of
    ``np.errstate`` under which it runs.
    """

    function: str
    arguments: tuple[Value, ...]
    pure: bool = True
    call: str = ""
    sizes: tuple[str, ...] = ()
    objects: tuple[HostExpr, ...] = ()
    inline: bool = False
    refusal: str = ""
    errstate: str = ""

    @property
    def effect(self) -> Effect:
        if not self.pure:
            return Effect.EFFECT
        return Effect.PURE if self.inline else Effect.MAY_RAISE

    @property
    def operand_values(self) -> tuple[Value, ...]:
        return self.arguments


def symbols_bound(op: Op) -> tuple[str, ...]:
    """The symbols that an op defines for those after it."""
    if isinstance(op, Bind):
        return (op.symbol,)
    return op.sizes if isinstance(op, HostCall) else ()


def base_name(name: str) -> str:
    """The name of an op without the number of ops that went into it: ``exp`` for ``exp+2``."""
    base, plus, count = name.rpartition("+")
    return base if plus and count.isdigit() else name


# ---------------------------------------------------------------------------------------- blocks
@dataclass(eq=False, slots=True)
class Block:
    """Ops in program order; sees the values of the blocks around it."""

    arguments: tuple[Value, ...] = ()
    ops: list[Op] = field(default_factory=list)
    yields: tuple[Value, ...] = ()


def strongest_effect(blocks: tuple[Block, ...]) -> Effect:
    """The strongest effect of any op in ``blocks``."""
    effects = {op.effect for block in blocks for op in block.ops}
    for effect in (Effect.EFFECT, Effect.MAY_RAISE):
        if effect in effects:
            return effect
    return Effect.PURE


def walk(block: Block) -> Iterator[Op]:
    """Every op of a block in program order, each before the ops of the blocks it owns."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)


def written_classes(*blocks: Block) -> frozenset[int]:
    """The alias classes that some store in the blocks (or inside) writes."""
    ops = (op for block in blocks for op in walk(block) if isinstance(op, Write))
    return frozenset(op.view.buffer.alias_class for op in ops)
