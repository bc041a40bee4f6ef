"""Packages of users are found next to the built-in ones."""

import pytest

from boundlab import assumptions, metrics
from boundlab.assumptions import assumption
from boundlab.errors import SpecError
from boundlab.registry import KINDS, lookup, registered

PLUGIN = """
from boundlab.delays import DelayType
from boundlab.theorems import load_theorem
import dataclasses

SLEEPY = DelayType("sleepy", "a model of a user's own", lambda options, n: None, {{}})
MINE = dataclasses.replace(load_theorem("area.theorem8"), id="{theorem}", status="user")
"""


def install(folder, monkeypatch, theorem="mine.theorem"):
    """Lay out what pip would install: a module and its entry points."""
    (folder / "sleepy_plugin.py").write_text(PLUGIN.format(theorem=theorem))
    info = folder / "sleepy_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sleepy-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[boundlab.delays]\nsleepy = sleepy_plugin:SLEEPY\n[boundlab.theorems]\nmine = sleepy_plugin:MINE\n"
    )
    monkeypatch.delitem(__import__("sys").modules, "sleepy_plugin", raising=False)
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_built_in_entries_whose_keys_are_their_ids(kind):
    found = registered(kind)
    assert found
    assert all(key == item.id for key, item in found.items())


def test_a_package_with_entry_points_is_listed_and_looked_up(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    assert "sleepy" in registered("delays")
    assert lookup("theorems", "mine.theorem").status == "user"
    assert lookup("theorems", "area.theorem8").status == "as printed"


def test_two_packages_must_not_register_the_same_id(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, theorem="area.theorem8")
    with pytest.raises(SpecError, match=r"two packages register theorem area\.theorem8"):
        registered("theorems")


def test_an_unknown_id_is_answered_with_the_nearest():
    with pytest.raises(SpecError, match=r"unknown delay model 'exponentiel'; did you mean exponential\?"):
        lookup("delays", "exponentiel")


@pytest.mark.parametrize(("choices", "find"), [(metrics.choices, metrics.metric), (assumptions.choices, assumption)])
def test_for_an_id_that_is_built_in_no_plug_in_is_loaded(choices, find, monkeypatch):
    def loaded(*_arguments):
        raise AssertionError("a plug-in was asked")

    monkeypatch.setattr("boundlab.registry._registry.sources", loaded)
    for name, item in choices("gap" if find is metrics.metric else "convex").items():
        assert find(name) is item
    for ask in (choices, find):
        with pytest.raises(AssertionError, match="a plug-in was asked"):
            ask("of a plug-in")
