"""Scaling: words/s over numbers of replicas, measured cell by cell, with a report."""
