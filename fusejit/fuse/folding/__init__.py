"""Folding of producers into consumers: legality, cost, mechanism, driver."""
