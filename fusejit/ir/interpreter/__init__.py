"""What the IR means: slow and obvious."""
