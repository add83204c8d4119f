"""Canonicalization: graphs with equal meaning get one form."""
