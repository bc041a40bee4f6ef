"""The registered theorems of a paper."""

from boundlab.registry import registered
from boundlab.theorems import Theorem


def of_papers(*papers: str) -> dict[str, Theorem]:
    """Return the theorems whose ids begin with one of the words, in the order of the words."""
    every = registered("theorems")
    return {name: every[name] for paper in papers for name in every if name.startswith(f"{paper}.")}


AFL_DGA, AREA, CLASSICS = of_papers("afl_dga"), of_papers("area"), of_papers("classics")
