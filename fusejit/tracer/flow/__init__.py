"""Loops, conditionals and exceptions."""
