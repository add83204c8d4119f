"""Random programs of the kinds that people write in plain Python.

`texts`, `tables`, `classes` and `recursions` are grammars, from which `grammar` makes programs;
`values` has their arguments, `check` compares them with plain Python.
"""
