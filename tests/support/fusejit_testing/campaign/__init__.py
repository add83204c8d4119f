"""The campaign: all families of random programs, each in its own processes.

    python -m fusejit_testing.campaign --programs 200000 --jitted 10000 --jobs 2

`families` says what there is, `worker` checks the programs of some seeds, `runner` hands seeds to
workers and outlives them, `records` keeps what was done in a file, so that a second call goes on
where the first one ended.
"""
