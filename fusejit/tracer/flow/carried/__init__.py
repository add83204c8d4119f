"""The kinds of things that a name holds across the iterations of a loop."""
