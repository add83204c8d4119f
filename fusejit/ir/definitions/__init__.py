"""Definitions of structured ops as data, and their instances.

definition.py    operands, domain, maps and updates of an op
indices.py       its subscripts
scalars.py       its payload
written_types.py the types that annotations and payloads write
binding.py       a call's dtypes and attribute values, checked
extents.py       a call's extents, checked
injectivity.py   whether each point writes an element of its own
instance.py      the generic op, but for its values
"""
