"""What names hold across loops and conditionals: the kinds of things, and how they are joined."""
