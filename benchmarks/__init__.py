"""Benchmarks of fusejit against NumPy and other engines: ``python -m benchmarks``.

How the pieces fit::

    workloads/   what is measured: plain NumPy functions in families, and their arguments
    engine.py    what an engine is; own_engines.py, rivals.py, and engines.py, the table of all
    references.py  the least a kernel can do, timed beside the workloads of the suite ``fusion``
    worker.py    a child process that owns one engine        (speaks JSON lines)
    client.py    the parent's side of that conversation
    gauge.py     is the machine quiet right now?
    rounds.py    interleaves the engines and throws noisy rounds away
    runner.py    cases -> records                            (records.py, correctness.py)
    scripts/     whole scripts in plain NumPy, for `benchmarks.scripts_times` and `fusejit.numpy`
    summary.py, bars.py, report.py, plot.py                  records -> what a person reads

Every engine runs in a process of its own with nothing special set, so that thread pools and
allocators do not share a fate; the parent takes turns between them, so that noise hits all alike.
"""
