"""The graph under construction, sizes and their guards, the dispatch table."""
