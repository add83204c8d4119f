"""Dispatch of a call to a compiled variant, to segments, or to the undecorated function."""
