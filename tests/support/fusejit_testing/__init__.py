"""Shared parts of the tests: programs in IR text, oracles, tools that run as modules."""
