"""Theorems as objects: built-in ones, those of other packages, and a user's own from a TOML file."""

from pathlib import Path

from boundlab.arguments import checked
from boundlab.files import named_file
from boundlab.registry import lookup
from boundlab.theorems._along import (
    ALONG_RUN as ALONG_RUN,
    form_along_run as form_along_run,
    read_off_runs as read_off_runs,
)
from boundlab.theorems._assume import (
    POINTWISE as POINTWISE,
    Inequality as Inequality,
    inequality as inequality,
    of_quantities as of_quantities,
)
from boundlab.theorems._bound import (
    Bound as Bound,
    Condition as Condition,
    Evaluation as Evaluation,
    FormulaBound as FormulaBound,
    RecursionBound as RecursionBound,
)
from boundlab.theorems._clock import SECONDS as SECONDS
from boundlab.theorems._conditions import at_lowest as at_lowest, met as met
from boundlab.theorems._core import CoreStatement as CoreStatement, core as core
from boundlab.theorems._core_words import words_of_core as words_of_core
from boundlab.theorems._evaluate import derive as derive
from boundlab.theorems._followed import once as once
from boundlab.theorems._options import Option as Option, elaborated_options as elaborated_options
from boundlab.theorems._over import MeanOver as MeanOver, about_each as about_each, certain as certain, over as over
from boundlab.theorems._points import POINT_SETS as POINT_SETS, PointSet as PointSet, places as places
from boundlab.theorems._statement import ANY as ANY, EACH as EACH, OTHERS as OTHERS
from boundlab.theorems._status import ORIGINS as ORIGINS, STATUSES as STATUSES
from boundlab.theorems._steps_at import at_steps as at_steps, reads_steps as reads_steps
from boundlab.theorems._theorem import Theorem as Theorem


@checked
def load_theorem(name_or_path: str | Path) -> Theorem:
    """Return a registered theorem by its id, or a user's own from a TOML file.

    Parameters
    ----------
    name_or_path
        What ends in ``.toml``, or names an existing file, is read as a file; anything else is an id.

    Raises
    ------
    SpecError
        If there is no such theorem, or nothing registered of a name in it, or the file cannot be read or breaks a rule.
    FormulaError
        If a formula of the file is not on the whitelist.
    """
    name = str(name_or_path)
    if (path := named_file(name, ".toml")) is not None:
        from boundlab.theorems._toml import read_theorem

        return read_theorem(path)
    theorem: Theorem = lookup("theorems", name)
    lookup("algorithms", theorem.algorithm)  # a plug-in's may have stayed at home
    return theorem
