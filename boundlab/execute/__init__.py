"""Executors: the same tape, read by different vector spaces."""
