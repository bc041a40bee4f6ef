"""What is wrong with a file."""


class WrongError(Exception):
    """A line of a certificate, or of a proof, that is wrong, and why."""
