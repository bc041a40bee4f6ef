"""The version number and the addresses, importable without importing anything else."""

__version__ = "0.5.0"

# Where boundlab is published; empty until it is. No slash at the end.
REPOSITORY = ""
SITE = ""
