"""The registered proof scripts that end in a theorem: each run once, and the exact models of its setting."""

from functools import cache
from typing import Any

import pytest
from proof_files import HEAVY, outcome as outcome_of, registered
from settings_by_hand import models_by_hand

from boundlab.prove import Outcome, Script, Status, Step
from boundlab.prove.models import Model, models_of


@cache
def in_settings() -> list[Script]:
    """Return them, by the order of their names: only these have a setting."""
    return [one for _, one in sorted(registered().items()) if one.proves]


def marked(also: tuple[str, ...] = ()) -> list[Any]:
    """Return them as parameters of a test; those that take long, but for some, are for the night."""
    night = [pytest.mark.nightly]
    return [
        pytest.param(one, id=one.id, marks=night if one.id in HEAVY.difference(also) else []) for one in in_settings()
    ]


def quick() -> list[Script]:
    """Return those that take less."""
    return [one for one in in_settings() if one.id not in HEAVY]


def outcome(script: Script) -> Outcome:
    """Return what came of one."""
    return outcome_of(script.id)


@cache
def models(script: Script) -> tuple[Model, ...]:
    """Return the exact models of its setting; those written down by hand where it has none itself."""
    setting = outcome(script).setting
    if setting is None:
        return ()
    return tuple(models_of(setting) if setting.instances else models_by_hand(setting.theorem))


def proved(script: Script) -> list[Step]:
    """Return the steps that are proved."""
    return [one for one in outcome(script).steps if one.status is Status.PROVED and one.fact is not None]
