"""Statements and host expressions as text."""
