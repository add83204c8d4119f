"""What ends a trace or cuts a function into segments, and which statements Python runs."""
