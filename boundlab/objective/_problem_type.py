"""A registered family of problems: its options, and what builds one of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A registered problem family.

    Parameters
    ----------
    id, summary
        Its name on the command line and in case files; one line for ``boundlab list problems``.
    options
        Option name → one line, for messages and help.
    build
        Makes a problem from the options; raises SpecError or DataError.
    examples
        Options of small instances that differ in kind: noisy ones and others, ones with every constant and others.
    constrained
        Whether constants exist on a bounded set alone: ``build`` then reads ``box`` or ``ball`` as well, to know it,
        and gives an f that keeps its promises on all of R^d.
    files
        Gives the files that a problem with some options reads, without building it.
    """

    id: str
    summary: str
    build: Any
    options: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Mapping[str, Any]] = ({},)
    constrained: bool = False
    files: Callable[[Mapping[str, Any]], tuple[Path, ...]] = lambda _: ()
