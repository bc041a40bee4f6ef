"""How runs move, for each algorithm that proofs know: generated statements, compared with the algorithm's program."""

from boundlab.errors import SpecError
from boundlab.prove.setting import Setting
from boundlab.prove.settings.area import AreaSetting
from boundlab.prove.settings.delayed import DelayedSetting
from boundlab.prove.settings.gd import GdSetting
from boundlab.theorems import Theorem

_SETTINGS: dict[str, type[Setting]] = {"gd": GdSetting, "area": AreaSetting, "async_sgd": DelayedSetting}


def setting_of(theorem: Theorem) -> Setting:
    """Return the setting of a theorem.

    Raises
    ------
    SpecError
        If its algorithm is not one that proofs know.
    """
    if theorem.algorithm not in _SETTINGS:
        raise SpecError(
            f"{theorem.id}: proofs know the algorithms {', '.join(sorted(_SETTINGS))}, not {theorem.algorithm}"
        )
    return _SETTINGS[theorem.algorithm](theorem)
