"""The program's source: names, scopes, jumps, where its text comes from."""
