"""Indexing: views, masks, integers, and stores through them."""
