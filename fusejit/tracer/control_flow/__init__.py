"""Loops, conditionals and exceptions, decided while tracing or traced."""
