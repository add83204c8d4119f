"""Random programs of each kind, and functions that check and shrink them."""
