"""Programs with lists as people write them: each function of a module here is one.

Names of parameters say what they are given: see `fusejit_testing.written_lists.check`.
"""
