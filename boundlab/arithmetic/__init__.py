"""Exact numbers: rationals, one square root beside them, balls, and fractions that PEPit takes for floats."""
