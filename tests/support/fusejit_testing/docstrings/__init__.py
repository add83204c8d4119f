"""The docstring tests: the examples of installed packages' docstrings as programs.

An example is a program that somebody wrote for readers: arrays, prints, exceptions, in every style.
Each becomes a function, whole and cut in two: what its first statements bind is then given as
arguments. See `fusejit_testing.docstrings.__main__`.
"""
