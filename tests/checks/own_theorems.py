"""Theorems of one's own for the tests of the checks, from a file as a user would write it."""

from pathlib import Path

from boundlab.theorems import Theorem, load_theorem

_TEXT = """
id = "mine"
metric = "{metric}"
algorithm = "{algorithm}"
{top}
assumptions = [{assumptions}]
conditions = [{conditions}]
{more}
[step]
{step}
[terms]
{terms}
"""
_USUAL = {
    "metric": "squared-distance",
    "algorithm": "gd",
    "top": "",
    "assumptions": '"smooth", "strongly-convex"',
    "conditions": '"alpha <= 1/L"',
    "more": "",
    "step": 'alpha = "alpha"',
}


def own_theorem(folder: Path, *, term: str = "R**2*(1 - alpha*mu)**(2*K)", **changes: str) -> Theorem:
    """Return gradient descent on strongly convex functions, with changes; ``terms`` are lines in place of one term."""
    path = folder / "mine.toml"
    path.write_text(_TEXT.format(**{**_USUAL, "terms": f'only = "{term}"', **changes}), encoding="utf-8")
    return load_theorem(str(path))
