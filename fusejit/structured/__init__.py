"""Structured operations and index notation, for users.

`structured_op` makes an op of a formula; `generic` is the explicit form.
"""

from fusejit.api import decorated_function, why_in_python
from fusejit.ir.definitions.definition import Definition, DefinitionError
from fusejit.ir.definitions.scalars import cast, cast_unsigned, const, index
from fusejit.structured.annotations import Number, Output, Shape, Tensor, _
from fusejit.structured.generic import affine_map, generic
from fusejit.structured.library_calls import register_library_call
from fusejit.structured.op import Compiling, StructuredOp, structured_op

__all__ = [
    "Definition",
    "DefinitionError",
    "Number",
    "Output",
    "Shape",
    "StructuredOp",
    "Tensor",
    "_",
    "affine_map",
    "cast",
    "cast_unsigned",
    "const",
    "generic",
    "index",
    "register_library_call",
    "structured_op",
]

StructuredOp.compiling = Compiling(decorated_function, why_in_python)
