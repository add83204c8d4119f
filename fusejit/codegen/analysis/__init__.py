"""Analyses of the statements and integers of a kernel."""
