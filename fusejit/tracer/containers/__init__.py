"""Where a program makes containers, or gives them to functions of Python."""
