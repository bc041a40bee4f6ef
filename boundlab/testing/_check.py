"""One check of the suite: a name, and what is called; and the one of an example that is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from boundlab.errors import BoundlabError


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


def refused(who: str, example: Mapping[str, Any], error: BoundlabError) -> Check:
    """Return the check that fails because a family does not take one of its own examples."""

    def fail() -> None:
        raise AssertionError(f"{who}: the example {dict(example)} is refused: {error}; declare examples that are taken")

    return Check(f"{who}: its example is taken", fail)
