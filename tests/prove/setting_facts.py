"""Settings of the prover by their theorems, and their exact models."""

from functools import cache
from typing import Any

from boundlab.prove.models import Model, models_of
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


@cache
def setting(theorem: str) -> Any:
    """Return the setting of a theorem."""
    return setting_of(load_theorem(theorem))


@cache
def models(theorem: str) -> tuple[Model, ...]:
    """Return the exact models of its setting."""
    return tuple(models_of(setting(theorem)))
