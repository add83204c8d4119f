"""Facts about graphs: ranges, symbols, work, memory."""
