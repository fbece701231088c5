"""Stacked LSTMs: one set of weights, several ways to compute with them."""
