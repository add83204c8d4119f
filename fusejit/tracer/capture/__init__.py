"""Runs the rewritten program on traced values."""
