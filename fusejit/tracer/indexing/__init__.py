"""Views, indices, sizes, gathers, reshapes, new arrays."""
