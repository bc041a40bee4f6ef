"""Theorems as objects: built-in ones, those of other packages, and a user's own from a TOML file."""

from pathlib import Path

from boundlab.arguments import checked
from boundlab.errors import SpecError
from boundlab.files import named_file
from boundlab.options import closest
from boundlab.registry import find, lookup
from boundlab.theorems._bound import (
    Bound as Bound,
    Condition as Condition,
    Evaluation as Evaluation,
    FormulaBound as FormulaBound,
    RecursionBound as RecursionBound,
)
from boundlab.theorems._evaluate import (
    MeanOver as MeanOver,
    Option as Option,
    about_each as about_each,
    at_lowest as at_lowest,
    certain as certain,
    derive as derive,
    elaborated_options as elaborated_options,
    met as met,
    over as over,
)
from boundlab.theorems._statement import (
    ANY as ANY,
    EACH as EACH,
    ORIGINS as ORIGINS,
    OTHERS as OTHERS,
    POINT_SETS as POINT_SETS,
    POINTWISE as POINTWISE,
    SECONDS as SECONDS,
    STATUSES as STATUSES,
    Inequality as Inequality,
    PointSet as PointSet,
    inequality as inequality,
    of_quantities as of_quantities,
    once as once,
    places as places,
)
from boundlab.theorems._steps_at import (
    ALONG_RUN as ALONG_RUN,
    at_steps as at_steps,
    form_along_run as form_along_run,
)
from boundlab.theorems._theorem import (
    CoreStatement as CoreStatement,
    Theorem as Theorem,
    core as core,
    words_of_core as words_of_core,
)


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
        from boundlab.theorems.record import read_theorem

        return read_theorem(path)
    if closest(Path(name).suffix, (".toml",)) and find("theorems", name) is None:
        raise SpecError(f"there is no file {name}; files of theorems end in .toml")
    theorem: Theorem = lookup("theorems", name)
    lookup("algorithms", theorem.algorithm)  # a plug-in's may have stayed at home
    return theorem
