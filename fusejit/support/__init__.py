"""What all parts use: locks, interrupts, budgets, syntax, tracebacks, identity of functions."""
