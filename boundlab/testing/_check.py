"""One check of the suite: a name, and what is called."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Check:
    """A check that pytest shows on a line of its own: ``parametrize("check", conform.checks(MINE))``.

    Parameters
    ----------
    name
        The object and the fact, in words.
    run
        Raises AssertionError, with one sentence, where the fact does not hold.
    """

    name: str
    run: Callable[[], None]

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)  # what pytest takes for the id of a parameter

    def __call__(self) -> None:
        """Run the check."""
        self.run()
