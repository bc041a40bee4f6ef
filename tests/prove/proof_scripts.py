"""The proof scripts that the repository registers, each run once."""

import importlib
import pkgutil
from functools import cache
from typing import Any

import pytest
from proof_files import HEAVY
from settings_by_hand import models_by_hand

import boundlab.proofs
from boundlab.prove import Outcome, Script, Status, Step, run
from boundlab.prove.models import Model, models_of


@cache
def scripts() -> tuple[Script, ...]:
    """Return them, by the order of their names."""
    found = []
    for module in pkgutil.iter_modules(boundlab.proofs.__path__, "boundlab.proofs."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            own = getattr(importlib.import_module(module.name), "PROOFS", ())
            found += [one for one in own if isinstance(one, Script)]
    return tuple(sorted(found, key=lambda one: one.id))


def in_settings() -> list[Script]:
    """Return those that end in a theorem: only these have a setting."""
    return [one for one in scripts() if one.proves]


def marked() -> list[Any]:
    """Return those of a setting as parameters of a test."""
    return [
        pytest.param(one, id=one.id, marks=[pytest.mark.nightly] if one.id in HEAVY else []) for one in in_settings()
    ]


def quick() -> list[Script]:
    """Return those of a setting that take less."""
    return [one for one in in_settings() if one.id not in HEAVY]


@cache
def outcome(script: Script) -> Outcome:
    """Return what came of one."""
    return run(script)


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
