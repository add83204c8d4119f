"""What a traced function returned as results of the graph, and how they are put together."""

from __future__ import annotations

import enum
from collections import Counter, deque
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.errors import NeedsPython
from fusejit.ir.ops import GenericOp, HostCall, ReshapeOp
from fusejit.ir.raw_reads import is_a, value_reader
from fusejit.ir.results import (
    CharactersLeaf,
    ChoiceLeaf,
    HostLeaf,
    NumberColumn,
    ObjectLeaf,
    ObjectsOfClass,
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
from fusejit.ir.source import Location
from fusejit.ir.types import Kind
from fusejit.ir.values import Value, View
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.capture.list_results import (
    IN_ANOTHER,
    memory_of,
    require_one_place,
    result_columns,
)
from fusejit.tracer.indexing.reshaped import give_own_memory
from fusejit.tracer.keyed.traced_dict import TracedDict
from fusejit.tracer.keyed.traced_set import TracedSet
from fusejit.tracer.lists.aliases import Aliases, ContainersByKey, is_shared_pool
from fusejit.tracer.lists.changed_lists import ChangedLists
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.nested_list import NestedList, is_in_own_pool
from fusejit.tracer.lists.object_pool import ObjectPool, holds_objects
from fusejit.tracer.lists.traced_deque import TracedDeque
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, kernel_number
from fusejit.tracer.ops.origins import choices_of, track
from fusejit.tracer.ops.traced_text import TracedText
from fusejit.tracer.ops.union_operators import choice
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_method_in_c, is_named_tuple
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.strings.joined_text import JoinedText, copied
from fusejit.tracer.strings.string_table import StringTable, StringTables
from fusejit.tracer.strings.string_view import StringView
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.pooled_objects import PooledObjects, pooled
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import Choice, OptionalTuple, is_union_scalar

_EQUAL_ONES = (str, bytes, np.dtype)
"""Types of arguments of which a variant serves all that are equal; a result is the very one."""

_STATIC = (
    *(*CONSTANT_TYPES, np.generic, np.dtype, type, type(Ellipsis)),
    *(ModuleType, BuiltinFunctionType, np.ufunc),
)


class Results:
    """Turns the object that the function returned into graph results and a structure."""

    def __init__(self, trace: Trace, result: Any, where: Location) -> None:
        self.trace = trace
        self.where = where
        self.results: list[Value | View] = []
        self._containers = {id(copy): path for copy, _, path in trace.captured_reads.containers}
        self._result_indices: dict[int, int] = {}
        self._copies: dict[int, Any] = {}  # of lists and dicts of the result; None while inside
        self._lengths: dict[int, TracedArray] = {}  # of the lists that kernels fill
        self._columns: dict[int, tuple[TracedArray, ...]] = {}
        self._not_alone: dict[int, Any] = {}  # containers that may be one object
        self._nested: list[NestedList] = []  # that are returned by themselves
        self._deques: dict[int, TracedList] = {}  # the items of a deque
        self._numbers: dict[int, TracedArray] = {}  # of objects that are in memory
        self._uses: Counter[int] = Counter()
        self._changed = trace.owned(ChangedLists)
        self._shared: dict[int, int] = {}
        arrays: dict[int, TracedArray] = {}
        result = self._with_arrays(result, arrays)
        require_one_place(self._nested, self._lengths)
        pools = self._pools_of(arrays)
        strings = trace.owned(StringTables).made
        if strings is not None:
            for part in (strings.spans, strings.points):
                self._list(part, arrays)
        self._share_memory(list(arrays.values()))
        self.structure = self._leaf(result)
        if pools:
            self.structure = self._with_objects(self.structure, pools)
        if strings is not None:
            self.structure = self._with_texts(self.structure, strings)
        trace.graph.results = tuple(self.results)

    def _with_arrays(self, obj: Any, arrays: dict[int, TracedArray]) -> Any:
        """The result with static arrays traced; collects the distinct traced arrays."""
        if type(obj) is np.ndarray:
            obj = self.trace.captured_reads.unfollowed(obj)
        if isinstance(obj, SymbolicNumber) and obj.is_local:
            obj = kernel_number(obj)
        if isinstance(obj, MaskedElements):
            obj = obj.selected()
        if is_union_scalar(obj) or isinstance(obj, OptionalTuple):
            obj = choice(obj)
        if isinstance(obj, Choice):
            tag = self._with_arrays(obj.tag, arrays)
            return Choice(tag, tuple(self._with_arrays(one, arrays) for one in obj.objects))
        if isinstance(obj, TracedArray):
            obj.storage.root.require_no_row()
            arrays[id(obj)] = obj
            for other in choices_of(obj):
                self._with_arrays(other, arrays)
        elif isinstance(obj, StringView):
            return self._string(obj, arrays)
        elif isinstance(obj, TracedText):
            arrays[id(obj.number)] = obj.number
        elif isinstance(obj, TracedList):
            return obj if self._changed.path_of(obj) else self._list(obj, arrays)
        elif isinstance(obj, NestedList) and is_in_own_pool(obj):
            if obj.python_type is list:
                self._nested.append(obj)
                self._require_one_name(obj.owner)
            return self._list(obj.copied(), arrays)
        elif isinstance(obj, TracedDeque) and obj.maxlen is None:
            if id(obj) not in self._deques:
                self._deques[id(obj)] = obj.listed()
            self._list(self._deques[id(obj)], arrays)
            self._uses[id(obj)] += 1
        elif isinstance(obj, TracedDict | TracedSet):
            if obj.is_outside:
                obj.leave_to_python("returns a container from outside", "return a copy of it")
            for part in obj.parts():
                self._list(part, arrays)
            self._require_one_name(obj)
            self._uses[id(obj)] += 1
            return obj
        elif pooled(obj) is not None:
            kept = self.trace.owned(PooledObjects).number_to_keep(self.trace, obj)
            self._numbers[id(obj)] = number = as_kernel_number(kept)
            arrays[id(number)] = number
        elif id(obj) in self._containers:
            return obj
        elif type(obj) is tuple:
            return tuple(self._with_arrays(o, arrays) for o in obj)
        elif is_named_tuple(obj):
            return type(obj)._make(self._with_arrays(o, arrays) for o in obj)
        elif type(obj) in (list, dict):
            return self._container(obj, arrays)
        elif type(obj) is set:
            self.trace.owned(Displays).try_traced(self.trace, obj)
        return obj

    def _container(self, obj: Any, arrays: dict[int, TracedArray]) -> Any:
        """A list or dict with static arrays traced, the same one wherever it stands."""
        if id(obj) not in self._copies:
            self._copies[id(obj)] = None
            if type(obj) is list:
                made: Any = [self._with_arrays(o, arrays) for o in obj]
            else:
                made = {k: self._with_arrays(o, arrays) for k, o in obj.items()}
            self._copies[id(obj)] = made
        copy = self._copies[id(obj)]
        if copy is None:
            raise NeedsPython.at(self.where, f"returns a {type(obj).__name__} that holds itself")
        self._uses[id(copy)] += 1
        return copy

    def _list(self, obj: TracedList, arrays: dict[int, TracedArray]) -> TracedList:
        """A list that kernels fill, whose length is read here."""
        if id(obj) not in self._lengths:
            self._lengths[id(obj)] = obj.length_number()
            self._columns[id(obj)] = memory_of(obj)
            for array in (self._lengths[id(obj)], *self._columns[id(obj)]):
                arrays[id(array)] = array
        self._require_one_name(obj)
        self._uses[id(obj)] += 1
        return obj

    def _with_texts(self, structure: ResultStructure, strings: StringTable) -> ResultWithTexts:
        """A result with the strings that have numbers."""
        parts = map(id, (strings.spans, strings.points))
        arrays = [a for one in parts for a in (self._lengths[one], *self._columns[one])]
        return ResultWithTexts(structure, self.trace.owned(Texts), *map(self._result_index, arrays))

    def _pools_of(self, arrays: dict[int, TracedArray]) -> list[ObjectPool]:
        """The pools of objects, if the result may have some; their attributes are read here."""
        lists = (a for a in self.trace.owned(ContainersByKey).values() if id(a) in self._lengths)
        objects = self.trace.owned(PooledObjects)
        if not (self._numbers or objects.are_written() or any(map(holds_objects, lists))):
            return []
        pools = [*objects.pools.values()]
        for pool in pools:
            for part in (pool.objects, *pool.attributes.values()):
                self._list(part, arrays)
        return pools

    def _with_objects(
        self, structure: ResultStructure, pools: list[ObjectPool]
    ) -> ResultWithObjects:
        """A result with the objects that have numbers."""
        classes = []
        for pool in pools:
            held = tuple((name, self._filled(one).columns) for name, one in pool.ordered())
            count = self._result_index(self._lengths[id(pool.objects)])
            given = None if pool.given is None else pool.given.path
            classes.append(ObjectsOfClass(pool.kind, count, held, given, frozenset(pool.written)))
        return ResultWithObjects(structure, tuple(classes))

    def _string(self, obj: StringView, arrays: dict[int, TracedArray]) -> Any:
        """A string of characters: one from outside is itself."""
        if obj.path is not None:
            return obj
        made = obj if isinstance(obj, JoinedText) else copied(obj)
        self._list(made.pieces, arrays)
        return made

    def _require_one_name(self, obj: Any) -> None:
        """Leave containers to Python that may be one object in several places of the result."""
        aliases = self.trace.owned(Aliases)
        if obj.key in aliases.now.given:
            obj.leave_to_python(*IN_ANOTHER)
        pools = getattr(obj, "pools", {}).values()
        if aliases.may_be_another(obj) or any(map(is_shared_pool, pools)):
            self._not_alone.setdefault(id(obj), obj)
            if len(self._not_alone) > 1:
                what = f"returns two {obj.python_type.__name__}s that may be one"
                obj.leave_to_python(what, "return a copy")

    def _number(self, obj: Any) -> int | None:
        """The number of a list or dict that stands in several places of the result."""
        if self._uses[id(obj)] < 2:
            return None
        return self._shared.setdefault(id(obj), len(self._shared))

    def _share_memory(self, arrays: list[TracedArray]) -> None:
        """What NumPy would hand out as views of one array becomes views of one buffer."""
        uses = Counter(id(a.storage.root) for a in arrays)
        roots = {a.storage.root for a in arrays}
        copies = Counter(id(base) for root in roots for base in root.bases())
        for array in arrays:
            give_own_memory(array)
            storage = array.storage
            bases = storage.root.bases()
            is_seen = any(id(base) in uses or copies[id(base)] > 1 for base in bases)
            is_seen |= not storage.root.may_leave or storage.root.is_outdated()
            if bases and is_seen:
                self._require_choice(array)
            is_segment = not array.is_whole or storage.has_gaps
            if storage.buffer is None and (uses[id(storage.root)] > 1 or is_segment):
                storage.to_buffer()
                give_own_memory(array)
        used: set[Value] = set()
        for array in arrays:
            storage = array.storage
            if storage.buffer is not None:
                continue
            root = self._root(storage.read())
            if storage.buffer is None and (root in used or not self._is_computed(root)):
                root = copy_of(array, array.dtype, storage.order, "copy").value()
                storage.value = root
            used.add(root)

    def _require_choice(self, array: TracedArray) -> None:
        """A copy where NumPy has the very object: that is handed out if it is known which one."""
        root = array.storage.root
        origin = root.origin
        if origin is not None and origin.array is array:
            track(self.trace)
            if root.copied_from.keys() <= origin.roots():
                return
        root.require_own()
        raise Fallback(f"returns {root.copied_why}")

    def _root(self, value: Value) -> Value:
        """The value whose elements a chain of reshapes shows."""
        while isinstance(op := self.trace.defined.get(value), ReshapeOp):
            value = op.source
        return value

    def _is_computed(self, value: Value) -> bool:
        """Whether an op that makes new elements defines a value (a load or a view does not)."""
        return isinstance(self.trace.defined.get(value), GenericOp | HostCall)

    def _result_index(self, array: TracedArray) -> int:
        """The number of the graph's result that is an array."""
        if id(array) not in self._result_indices:
            self._result_indices[id(array)] = len(self.results)
            storage = array.storage
            self.results.append(storage.read() if storage.buffer is None else array.memory())
        return self._result_indices[id(array)]

    def _filled(self, obj: TracedList) -> ResultList:
        """A list that kernels fill."""
        length = self._result_index(self._lengths[id(obj)])
        columns = iter(self._columns[id(obj)])
        items = result_columns(obj, lambda: self._result_index(next(columns)))
        return ResultList(length, items, self._number(obj), obj.python_type)

    def _leaf(self, obj: Any) -> ResultStructure:
        if isinstance(obj, TracedArray):
            if not obj.is_known:
                raise Fallback("which object is returned depends on a condition")
            if obj.path is not None:
                return PathLeaf(obj.path)
            if obj.numpy_class is not np.ndarray:
                what = "makes an array that may be a memmap"
                raise NeedsPython.at(self.where, what, "convert the argument with np.asarray")
            if (
                obj.kind is not Kind.ARRAY
                and (path := self.trace.captured_reads.path_of(obj)) is not None
            ):
                return PathLeaf(path)  # a complex number of the call
            own = ResultLeaf(self._result_index(obj), obj.access, obj.is_view)
            origin = obj.storage.root.origin
            if origin is None or origin.array is not obj or origin.which is None:
                return own
            which = self._result_index(origin.which)
            return ChoiceLeaf(which, (own, *map(self._leaf, origin.objects)))
        if isinstance(obj, SymbolicNumber):
            return HostLeaf(obj.expr)
        if isinstance(obj, TracedDict):
            parts = [*map(self._filled, obj.parts())]
            marks = parts[2] if len(parts) > 2 else None
            kind, factory, number = obj.python_type, obj.factory, self._number(obj)
            return ResultDict(kind, factory, parts[0], parts[1], marks, number)
        if isinstance(obj, TracedSet):
            filled, *deleted = map(self._filled, obj.parts())
            return ResultSet(filled, deleted[0] if deleted else None, self._number(obj))
        if isinstance(obj, TracedList):
            path = self._changed.path_of(obj)
            return self._filled(obj) if path is None else PathLeaf(path)
        if isinstance(obj, TracedDeque) and id(obj) in self._deques:
            items = self._filled(self._deques[id(obj)])
            return replace(items, type=deque, shared=self._number(obj))
        if isinstance(obj, JoinedText):
            items = self._filled(obj.pieces)
            assert isinstance(items.columns, NumberColumn)
            return CharactersLeaf(items.length, items.columns.values, self.trace.owned(Texts))
        if isinstance(obj, StringView):
            assert obj.path is not None
            return PathLeaf(obj.path)
        if id(obj) in self._numbers:
            return ObjectLeaf(type(obj), self._result_index(self._numbers[id(obj)]))
        if isinstance(obj, TracedText):
            return TextLeaf(self._result_index(obj.number), self.trace.owned(Texts))
        if id(obj) in self._containers:
            return PathLeaf(self._containers[id(obj)])
        if isinstance(obj, Choice):
            return ChoiceLeaf(self._result_index(obj.tag), tuple(map(self._leaf, obj.objects)))
        if type(obj) in (tuple, list) or is_named_tuple(obj):
            return ResultSequence(type(obj), tuple(map(self._leaf, obj)), self._number(obj))
        if type(obj) is dict:
            keys = tuple(map(_exact, obj))
            return ResultMapping(keys, tuple(map(self._leaf, obj.values())), self._number(obj))
        if isinstance(obj, _STATIC) and not is_method_in_c(obj):
            path = self.trace.captured_reads.path_of(obj) if isinstance(obj, _EQUAL_ONES) else None
            if path is not None and path.root == "arg" and not path.steps:
                return PathLeaf(path)
            if value_reader(type(obj)) is None or is_a(obj, enum.Enum):
                return StaticLeaf(obj)
        path = self.trace.captured_reads.path_of(obj)
        if path is not None:
            return PathLeaf(path)
        if isinstance(obj, Undefined):
            raise Undefined.refusal(obj, self.where, "returns")
        raise NeedsPython.at(
            self.where,
            f"returns an object of type {type(obj).__name__}",
            "return arrays, numbers, strings, None, or tuples, lists and dicts of them instead",
        )


def _exact(key: Any) -> Any:
    """A dict key as Python would have it."""
    if isinstance(key, SymbolicNumber):
        return key.exact()
    return tuple(map(_exact, key)) if type(key) is tuple else key
