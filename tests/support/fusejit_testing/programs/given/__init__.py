"""Random programs over objects, lists and dictionaries that the caller gives and keeps.

`objects`, `lists` and `dictionaries` make programs, from the classes of `item_classes`. `values`
makes arguments, `check` compares each call with plain Python, in the words of `descriptions`.
"""
