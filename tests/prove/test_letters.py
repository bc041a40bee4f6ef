"""What a letter of a claim stands for is said for every letter that a setting has, and for no other."""

from collections.abc import Mapping

import pytest
from proof_files import registered

from boundlab.pages.proofs import proof_page, step_page
from boundlab.pages.terminal import terminal
from boundlab.prove import letters, run
from boundlab.prove.document import letters_in, meanings
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

PROVED = sorted({script.proves for script in registered().values() if script.proves})


def indices(setting: Setting) -> Mapping[str, int]:
    """How many indices each vector, and each family of numbers, of a setting has."""
    families = {name: setting.context.find(name) for name in setting.context.order()}
    return {name: one.arity for name, one in families.items() if one is not None and one.arity} | {
        name: one["arity"] for name, one in setting.kernel.vectors.known.items()
    }


@pytest.mark.sweep(6)
@pytest.mark.parametrize("theorem", PROVED)
def test_every_vector_and_family_of_a_setting_has_a_meaning_with_its_indices(theorem: str) -> None:
    setting = setting_of(load_theorem(theorem))
    known = meanings(setting.kernel, setting)
    for name, many in indices(setting).items():
        written, meaning = known[name]
        assert meaning
        assert (written.count(",") + 1 if "[" in written else 0) == many, written


def test_no_meaning_is_of_a_letter_that_no_setting_has() -> None:
    settings = [setting_of(load_theorem(name)) for name in PROVED]
    has = {name for one in settings for name in (*indices(one), *one.context.order())}
    assert {name.partition("[")[0] for one in settings for name in one.letters} <= has


def test_letters_come_with_those_that_their_meaning_has() -> None:
    known = {"g": ("g[k]", "the gradient of f at x[k]"), "x": ("x[k]", "the model after k steps"), "a": ("a", "1/2")}
    assert letters_in(["E‖g[k + 1]‖² ≤ c"], known) == {"g[k]": known["g"][1], "x[k]": known["x"][1]}
    assert letters_in(["a word: x of a"], known) == {"a": "1/2"}


@pytest.mark.nightly
def test_what_is_named_in_a_proof_is_what_it_was_given() -> None:
    outcome = run(registered()["fedcompass.theorem1"])
    found = letters(outcome)
    assert found["gy[t, i, q]"] == "the (sub)gradient of f_i at y[t, i, q]"
    assert found["y[t, i, q]"].startswith("the point of client i's run")
    step = next(one for one in outcome.steps if one.name == "(13), first ≤")
    assert any("where   o[t, i]: after how many updates" in one for one in step_page(outcome, step))
    page = "\n".join(map(str, terminal(proof_page(outcome))))
    assert "o[t, i]: after how many updates the model was made" in page
