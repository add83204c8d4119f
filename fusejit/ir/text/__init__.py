"""The printed form: printer, tokens, parsers."""
