"""Calls that kernels make themselves instead of the launcher."""
