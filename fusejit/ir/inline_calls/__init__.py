"""Calls that kernels make themselves."""
