"""Dispatch of a call: a variant, segments, or the undecorated function."""
