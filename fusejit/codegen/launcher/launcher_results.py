"""What a launcher returns: arrays, numbers and containers, put together as the function does."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

from fusejit.codegen.launcher.launcher_steps import LauncherSteps
from fusejit.dataclass import replace
from fusejit.ir.loops.program import ScalarRef, memory_name
from fusejit.ir.results import (
    ArrayColumn,
    CharactersLeaf,
    ChoiceLeaf,
    HostLeaf,
    ItemColumns,
    ListColumns,
    NumberColumn,
    ObjectColumns,
    ObjectLeaf,
    OptionalColumns,
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
    TextColumns,
    TextLeaf,
    Texts,
)
from fusejit.ir.types import Kind
from fusejit.ir.write_access import WriteAccess

_CONTAINERS = ResultSequence | ResultMapping | ResultList | ResultDict | ResultSet
_Leaf = TypeVar("_Leaf", ResultLeaf, HostLeaf)


class LauncherResults(LauncherSteps):
    """Writes the object that a call returns."""

    texts_of_call = ""  # the numbers of strings in this call, if it has given some
    objects_of_call = ""  # those of objects

    def bind_repeated_results(self) -> None:
        """An object that stands in the result several times is made once: ``v, v``."""
        counts = Counter(leaves_of(self.traced.structure, ResultLeaf))
        names: dict[ResultLeaf, str] = {}
        for leaf, count in counts.items():
            if count > 1:
                names[leaf] = f"leaf{leaf.index}"
                self.put(f"{names[leaf]} = {self.structure(leaf)}")
        self.repeated = names
        structure = self.traced.structure
        if isinstance(structure, ResultWithTexts):
            self.bind_texts(structure)
            structure = structure.result
        if isinstance(structure, ResultWithObjects):
            self.bind_objects(structure)
        self.bind_shared_containers(self.traced.structure)

    def bind_texts(self, structure: ResultWithTexts) -> None:
        """So are the strings to which the call has given numbers."""
        parts = [self.structure(ResultLeaf(index)) for index in structure.indices]
        num_spans, starts, lengths, num_points, points = parts
        spans = f"{starts}[1:{num_spans}], {lengths}[1:{num_spans}]"
        texts = self.bind("texts", structure.texts)
        self.put(f"texts_of_call = {texts}.of_call({spans}, {points}[:{num_points}])")
        self.texts_of_call = "texts_of_call"

    def bind_objects(self, structure: ResultWithObjects) -> None:
        """And the objects to which it has given numbers."""
        counts = [self.structure(ResultLeaf(one.count)) for one in structure.classes]
        columns = [self.structure(ResultLeaf(k)) for k in columns_of_classes(structure)]
        classes = self.bind("classes", structure.classes)
        given = ["()" if one.given is None else self.path(one.given) for one in structure.classes]
        of_classes = f"{classes}, ({', '.join(counts)},), ({', '.join(given)},)"
        of_columns = f"iter(({''.join(f'{c}, ' for c in columns)})), {self.texts_of_call or None}"
        self.put(f"objects_of_call = made_objects({of_classes}, {of_columns})")
        self.objects_of_call = "objects_of_call"

    def numbering(self, texts: Texts) -> str:
        """The numbers of strings."""
        return self.texts_of_call or self.bind("texts", texts)

    def bind_shared_containers(self, structure: ResultStructure, is_sure: bool = True) -> None:
        """So is a list or dict, after those in it; that of a choice only where it is taken."""
        if isinstance(structure, ResultWithTexts | ResultWithObjects):
            self.bind_shared_containers(structure.result)
            return
        if isinstance(structure, ChoiceLeaf):
            for item in structure.items:
                self.bind_shared_containers(item, is_sure=False)
            return
        if not isinstance(structure, _CONTAINERS):
            return
        if structure.shared is not None and structure.shared in self.shared:
            return
        if isinstance(structure, ResultSequence | ResultMapping):
            for item in structure.items:
                self.bind_shared_containers(item, is_sure)
        if structure.shared is not None:
            name, text = f"shared{structure.shared}", self.structure(structure)
            self.put(f"{name} = {text if is_sure else None}")
            once = f"({name} if {name} is not None else ({name} := {text}))"
            self.shared[structure.shared] = name if is_sure else once

    def structure(self, structure: ResultStructure) -> str:
        if isinstance(structure, _CONTAINERS) and structure.shared in self.shared:
            return self.shared[structure.shared]
        if isinstance(structure, ResultWithTexts | ResultWithObjects):
            return self.structure(structure.result)
        if isinstance(structure, ObjectLeaf):
            kind = self.bind("type", structure.type)
            number = self.structure(ResultLeaf(structure.number))
            return f"{self.objects_of_call}[{kind}][{number}]"
        if isinstance(structure, ResultLeaf):
            if structure in self.repeated:
                return self.repeated[structure]
            result = self.program.results[structure.index]
            if isinstance(result.ref, ScalarRef):
                return self.name_of_scalar[result.ref.name]
            text = self.reference(result.ref)
            if result.ref.name in self.as_made and result.ref.name in self.names_used:
                text = f"{result.ref.name}_made"
            if result.ref.map is None:
                names = self.handed_out.union(self.program.arguments)
                is_view = structure.is_view
                if result.kind is Kind.ARRAY and (is_view or result.ref.name in names):
                    text += "[...]"  # a view of all of it is another object
                else:
                    self.handed_out.add(result.ref.name)
            if structure.access is not WriteAccess.WRITEABLE:
                access = self.bind("access", structure.access)
                return f"marked({text}, {access}, {self.array(memory_name(result.ref))})"
            if result.kind is Kind.SCALAR:
                return f"{text}[()]"
            return text if result.kind is Kind.ARRAY else f"{text}.item()"
        if isinstance(structure, ChoiceLeaf):
            *others, last = [self.structure(item) for item in structure.items]
            which = self.structure(ResultLeaf(structure.which))
            tests = (f"{text} if {which} == {k} else " for k, text in enumerate(others))
            return f"({''.join(tests)}{last})"
        if isinstance(structure, TextLeaf):
            number = self.structure(ResultLeaf(structure.number))
            return f"{self.numbering(structure.texts)}.text({number})"
        if isinstance(structure, CharactersLeaf):
            length = self.structure(ResultLeaf(structure.length))
            numbers = self.structure(ResultLeaf(structure.numbers))
            return f"{self.numbering(structure.texts)}.joined({numbers}[:{length}])"
        if isinstance(structure, PathLeaf):
            return self.path(structure.path)
        if isinstance(structure, HostLeaf):
            text = self.host(structure.expr)
            return self.computed.get(text, text)
        if isinstance(structure, StaticLeaf):
            return self.bind("static", structure.value)
        if isinstance(structure, ResultSequence):
            items = [self.structure(item) for item in structure.items]
            if structure.type is list:
                return f"[{', '.join(items)}]"
            text = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
            return (
                text if structure.type is tuple else f"{self.bind('type', structure.type)}(*{text})"
            )
        if isinstance(structure, ResultList):
            if structure.type is not list:
                listed = self.structure(replace(structure, type=list, shared=None))
                return f"{self.bind('type', structure.type)}({listed})"
            if structure.columns is None:
                return "[]"
            length = self.structure(ResultLeaf(structure.length))
            _, *columns = (self.structure(ResultLeaf(k)) for k in indices_of(structure))
            form = self.bind("form", structure.columns)
            arguments = f"{form}, {length}, iter([{', '.join(columns)}])"
            texts = f", texts={self.texts_of_call}" if self.texts_of_call else ""
            objects = f", objects={self.objects_of_call}" if self.objects_of_call else ""
            return f"list_of({arguments}{texts}{objects})"
        if isinstance(structure, ResultDict):
            parts = structure.keys, structure.values, structure.marks
            found = ["None" if part is None else self.structure(part) for part in parts]
            kinds = self.bind("type", structure.type), self.bind("factory", structure.factory)
            return f"dict_of({', '.join((*kinds, *found))})"
        if isinstance(structure, ResultSet):
            marks = "None" if structure.marks is None else self.structure(structure.marks)
            return f"set_of({self.structure(structure.keys)}, {marks})"
        assert isinstance(structure, ResultMapping)
        pairs = zip(structure.keys, structure.items, strict=True)
        return (
            "{" + ", ".join(f"{self.bind('key', k)}: {self.structure(v)}" for k, v in pairs) + "}"
        )


def leaves_of(structure: ResultStructure, kind: type[_Leaf]) -> list[_Leaf]:
    """The leaves of one kind, in order."""
    if isinstance(structure, kind):
        return [structure]
    if isinstance(structure, ResultWithTexts):
        made: Any = kind
        texts = [made(index) for index in structure.indices] if kind is ResultLeaf else []
        return leaves_of(structure.result, kind) + texts
    if isinstance(structure, ResultWithObjects):
        leaf_of: Any = kind
        indices = [one.count for one in structure.classes] + columns_of_classes(structure)
        own = [leaf_of(index) for index in indices] if kind is ResultLeaf else []
        return leaves_of(structure.result, kind) + own
    if isinstance(structure, TextLeaf | ObjectLeaf) and kind is ResultLeaf:
        number: Any = kind
        return [number(structure.number)]
    if isinstance(structure, CharactersLeaf) and kind is ResultLeaf:
        part: Any = kind
        return [part(structure.length), part(structure.numbers)]
    if isinstance(structure, ResultList) and kind is ResultLeaf:
        leaf: Any = kind
        return [leaf(index) for index in indices_of(structure)]
    if isinstance(structure, ResultDict | ResultSet):
        values = structure.values if isinstance(structure, ResultDict) else None
        parts = (structure.keys, values, structure.marks)
        return [leaf for part in parts if part is not None for leaf in leaves_of(part, kind)]
    if isinstance(structure, ResultSequence | ResultMapping | ChoiceLeaf):
        return [leaf for item in structure.items for leaf in leaves_of(item, kind)]
    return []


def indices_of(filled: Any) -> list[int]:
    """The results of the graph that a list is made of: its length and its columns, in order."""
    columns = [] if filled.columns is None else _columns_of(filled.columns)
    return [filled.length, *columns]


def _columns_of(columns: ItemColumns) -> list[int]:
    if isinstance(columns, NumberColumn):
        return [columns.values, *([] if columns.tags is None else [columns.tags])]
    if isinstance(columns, ArrayColumn):
        return [columns.values]
    if isinstance(columns, ObjectColumns):
        return [columns.numbers]
    if isinstance(columns, TextColumns):
        return [columns.starts, columns.lengths]
    if isinstance(columns, ListColumns):
        inner = [] if columns.item is None else _columns_of(columns.item)
        which = [] if columns.identities is None else [columns.identities]
        return [columns.starts, columns.lengths, columns.length, *which, *inner]
    if isinstance(columns, OptionalColumns):
        return [columns.is_there, *_columns_of(columns.item)]
    return [index for part in columns.parts for index in _columns_of(part)]


def columns_of_classes(structure: ResultWithObjects) -> list[int]:
    """The results of the graph that attributes of objects are made of, in order."""
    forms = (form for one in structure.classes for _, form in one.attributes)
    return [index for form in forms if form is not None for index in _columns_of(form)]
