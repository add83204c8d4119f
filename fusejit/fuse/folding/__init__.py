"""Producers into consumers: legality, profitability, mechanism, driver."""
