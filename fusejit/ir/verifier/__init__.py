"""The rules of the IR, checked at every pass boundary."""
