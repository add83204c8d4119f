"""Primitives: the steps of a schedule that change loops, domains and ops."""
