"""Pages of results: blocks, media that show them, plots, and files that results are written to.

``page(result)`` says what is to be seen; :mod:`boundlab.pages.terminal`, :mod:`~boundlab.pages.html`,
:mod:`~boundlab.pages.markdown` and :mod:`~boundlab.pages.latex` show it.
"""

from importlib import import_module
from typing import Any, Final

from boundlab.pages.blocks import Block as Block

# By the name of its class, so that no judge is loaded for the page of another.
_PAGES: Final = {
    "Checks": ("theorem", "checks_page"),
    "Comparison": ("results", "comparison_page"),
    "DelayFit": ("results", "fit_page"),
    "ExactResult": ("exact", "exact_page"),
    "Falsification": ("results", "search_page"),
    "Horizons": ("results", "horizons_page"),
    "OptimalRate": ("results", "rate_page"),
    "Outcome": ("proofs", "proof_page"),
    "Simulation": ("results", "run_page"),
    "Theorem": ("theorem", "theorem_page"),
    "TraceSummary": ("results", "trace_page"),
    "WorstCase": ("results", "worst_case_page"),
}


def page(result: Any, *given: Any, **options: Any) -> list[Block]:
    """Return the page of a result, or of a theorem.

    Parameters
    ----------
    result
        What a question of :mod:`boundlab.api` returns.
    given, options
        Of the function that makes the page, which says what they are.

    Raises
    ------
    TypeError
        If it has no page.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in _PAGES:
            module, name = _PAGES[kind.__name__]
            found: list[Block] = getattr(import_module(f"boundlab.pages.{module}"), name)(result, *given, **options)
            return found
    raise TypeError(f"a {type(result).__name__} has no page")
