"""Formulas: symbols with units, the parser, and every reading of an expression as a number."""
