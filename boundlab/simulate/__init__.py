"""Runs: one trial after the other, and the metrics that each shows."""
