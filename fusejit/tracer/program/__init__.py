"""The user's program: frames, functions, objects, and what ends a trace."""
