"""Exact numbers: rationals, one square root beside them, and balls."""
