"""The functions that stand for decorated ones."""
