"""The functions that kernels may call: tables and Python implementations."""
