"""Statements that end a trace or split a function into segments."""
