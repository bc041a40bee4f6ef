"""The errors that boundlab raises, and the exit code that the command line gives each.

Every message is one line that says what is wrong, the value that was got, and what would be right.
"""

import unicodedata

from boundlab.verdict import ExitCode

_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")  # of text of strangers: no character of it steers a terminal


class BoundlabError(Exception):
    """Base of all errors that are meant for the user."""

    exit_code = ExitCode.USAGE


class FormulaError(BoundlabError):
    """A formula uses something that the whitelist of :mod:`boundlab.formulas.parse` does not know."""


class SymbolError(BoundlabError):
    """A symbol is unknown, missing, or has a value outside its domain."""


class InfiniteError(SymbolError):
    """A bound has no finite value where it is asked for."""


class SpecError(BoundlabError):
    """A name or an option of a theorem, algorithm, problem, delay model or server policy is wrong."""


class CaseError(BoundlabError):
    """A case file is malformed or contradicts itself."""


class DataError(BoundlabError):
    """A data set cannot be read, or holds values that no problem can use."""


class OutputError(BoundlabError):
    """A result cannot be written where it was asked to go."""


class ExecutorError(BoundlabError):
    """Whatever was to run the cells of a sweep failed; the sweep is not at its end."""

    exit_code = ExitCode.UNFORESEEN


class CertificateError(BoundlabError):
    """A solver did not reach a certificate that is good enough to compare against."""


class UndecidedError(BoundlabError):
    """Rules, digits or time do not suffice for an answer: an answer of 'unknown', never of 'failed'.

    Parameters
    ----------
    done
        Which part of the work was behind it.
    """

    def __init__(self, message: str, done: float = 0.0) -> None:
        super().__init__(message)
        self.done = done


class MissingExtraError(BoundlabError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class TapeError(BoundlabError):
    """A tape or a finished run breaks an invariant: a defect in a compiler, never in the input."""

    exit_code = ExitCode.UNFORESEEN


class AssumptionError(BoundlabError):
    """A theorem's assumption is not met by the problem, the delays or the algorithm's options."""

    exit_code = ExitCode.NOT_APPLICABLE


class SilentError(AssumptionError):
    """A theorem says nothing at one number of iterations, though it may at another."""


def shortened(text: str, most: int) -> str:
    """Return text of at most so many characters: cut after a word, with … behind it.

    Examples
    --------
    >>> shortened("the gradient is unbounded; try huber", 28)
    'the gradient is unbounded;…'
    """
    if len(text) <= most:
        return text
    kept, _, cut = text[:most].rpartition(" ")
    return f"{kept or cut[: most - 1]}…"


def visible(text: str) -> str:
    r"""Return text in which characters that steer a terminal, or the direction of writing, are spelled out.

    Examples
    --------
    >>> print(visible("red: " + chr(27) + "[31m"))
    red: \x1b[31m
    """
    return "".join(
        one.encode("unicode_escape").decode("ascii") if unicodedata.category(one) in _STEERING and one != "\n" else one
        for one in text
    )
