"""Reports as text, as tables in notebooks; `check`."""
