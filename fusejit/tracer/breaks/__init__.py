"""Statements that split a function into segments."""
