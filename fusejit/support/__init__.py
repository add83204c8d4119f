"""Locks, interrupts, budgets, syntax, tracebacks."""
