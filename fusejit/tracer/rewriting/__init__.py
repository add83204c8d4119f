"""The rewritten form of the user's functions: callbacks at calls, reads and tests."""
