"""Problems whose minimiser and constants are sought once, when they are first asked for."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

from boundlab.errors import CertificateError, SpecError
from boundlab.objective._constants import Constant, Optimum
from boundlab.objective._problem import Problem


class SoughtMinimiser(Problem):
    """A problem that solves for its minimiser once, and remembers what it found, or why there is no certificate.

    It works its constants out once, too.
    """

    @abstractmethod
    def _find_constants(self) -> dict[str, Constant]:
        """Return the constants that exist, by symbol name."""

    @cached_property
    def _constants(self) -> dict[str, Constant]:
        return self._find_constants()

    def constants(self) -> Mapping[str, Constant]:
        """Return the constants that exist, by symbol name."""
        return self._constants

    @property
    def _surely_attained(self) -> bool:
        """True where there is a minimiser: a missing certificate is then an error like any other."""
        return False

    @abstractmethod
    def _solve(self) -> Optimum:
        """Return the minimiser with its certificate.

        Raises
        ------
        CertificateError, SpecError
            If there is none.
        """

    @cached_property
    def _attempt(self) -> Optimum | CertificateError | SpecError:
        try:
            return self._solve()
        except (CertificateError, SpecError) as error:
            if self._surely_attained:
                raise
            return error.with_traceback(None)

    def optimum(self) -> Optimum:
        """Return x* and f* with their certificate.

        Raises
        ------
        CertificateError, SpecError
            If there is none.
        """
        if isinstance(self._attempt, Optimum):
            return self._attempt
        raise type(self._attempt)(str(self._attempt))

    @property
    def _best(self) -> Optimum | None:
        return self._attempt if isinstance(self._attempt, Optimum) else None

    @property
    def _no_minimiser(self) -> str:
        """Reason why none is certified; nothing where one is."""
        return "" if self._best else str(self._attempt).removeprefix(f"problem {self.id}: ")
