"""The library tests: the functions of installed packages, decorated, under their own tests.

``python -m fusejit_testing.libraries numpy.polynomial scipy.signal`` decorates every function of
these packages in a copy, runs their tests, and compares each call of a decorated function with the
undecorated one on copies of the arguments. Here live, in the order of use:

- `copies`: the copy of a library, beside which nothing installed is touched;
- `decorated`: every function of a copied module replaced by one that is judged;
- `arguments`, `calls`, `differences`: one call, both ways, compared;
- `outcomes`: what a call has come to; `figures`: which calls draw, and run once;
- `sampling`: which calls are judged; `randomness`: the global generators around them;
- `known`: what is known of libraries; `records`: what was found, as data;
- `plugin`: pytest in a subprocess, which writes it down;
- `runner`: the subprocesses, with time limits, resumable; `report`: tables and texts;
- `replay`: one finding again, from its pickled arguments.
"""
