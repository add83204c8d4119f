"""Reports as text that a notebook shows as a table, and `check`."""
