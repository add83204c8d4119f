"""Source rewriting: the form of a function that is traced."""
