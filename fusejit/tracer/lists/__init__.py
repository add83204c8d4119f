"""Lists that loops change: their items in columns of memory, their length beside them."""
