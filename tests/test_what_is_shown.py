"""What tables, help and plots say of rates, frequencies and bands is true of the run, or is not said."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_makers import plan_of

from boundlab.case import build_delays
from boundlab.cli import invoke
from boundlab.compare import Comparison, compare
from boundlab.delays import DELAYS, RATE_OPTIONS
from boundlab.registry import lookup


def simulated(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert invoke(["run", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def settings_of(name: str) -> list[str]:
    known = lookup("algorithms", name).parameters
    return [f"--set={step}=0.01" for step in ("alpha", "eta_l", "eta") if step in known]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", ["area", "asfedavg", "async_sgd", "fedbuff", "fedfa", "fedstaleweight", "sfedavg"])
def test_expected_frequencies_are_those_of_the_run_or_are_not_said(name: str, capsys: Any) -> None:
    words = ("--problem=huber:c=[0,1,2]", "--delays=exponential:rates=[4,1,1]", "--iterations=1000", "--trials=2")
    found = simulated(capsys, name, *words, *settings_of(name))
    expected = found["expected_frequencies"]
    if expected is None:
        assert name != "area"
        return
    observed = np.mean([one["p"] for one in found["statistics"]], axis=0)
    assert np.allclose(observed, expected["p"], atol=0.03)


def test_a_client_that_waits_for_the_server_has_no_closed_form(capsys: Any) -> None:
    words = ("--problem=huber:c=[0,1,2]", "--delays=exponential:rates=[4,1,1]", "--iterations=500", "--trials=2")
    settings = ("--set=eta_l=0.01", "--set=reply=wait", "--set=count=2")
    assert simulated(capsys, "fedbuff", *words, *settings)["expected_frequencies"] is None
    invoke(["run", "fedbuff", *words, *settings])
    page = " ".join(capsys.readouterr().out.split())
    assert "expected frequency" not in page
    assert "rate without waiting" in page


@pytest.mark.parametrize(
    ("step", "iterations", "diverges"), [("0.1", 1000, False), ("1", 1000, True), ("1", 10, False)]
)
def test_a_run_that_leaves_floating_point_is_said_to_diverge(
    step: str, iterations: int, diverges: bool, capsys: Any
) -> None:
    assert invoke(["run", "gd", f"--set=alpha={step}", f"--iterations={iterations}", "--trials=1"]) == 0
    assert ("a run diverges" in capsys.readouterr().out) is diverges


@pytest.mark.parametrize("kind", [one.id for one in DELAYS if "rates" in one.options])
def test_rates_mean_what_the_help_says(kind: str) -> None:
    words = next(one.options["rates"] for one in DELAYS if one.id == kind)
    given = np.array([3.0, 0.5])
    model = build_delays(kind, {"rates": given.tolist()}, 2)
    # "updates per unit of time" is said of a model exactly where it is so.
    assert (words == RATE_OPTIONS["rates"]) == (np.allclose(model.rates(), given) and kind != "per-step")


def test_the_help_shows_every_meaning_of_rates(capsys: Any) -> None:
    assert invoke(["list", "delays"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert (
        page.count("1/(mean time of work)")
        == page.count("1/location")
        == page.count("local steps per unit of time")
        == 1
    )
    assert page.count("updates per unit of time unless the model says otherwise") == 1


def comparison(problem: str, delays: str, *, exact: bool = False, name: str = "fedbuff.rf1") -> Comparison:
    settings = {"count": "2"} if name == "fedbuff.rf1" else {"M": "2"}
    return compare(plan_of(name, problem, delays, 8, trials=4, **settings), 4, 0, exact=exact)


def labels(result: Comparison, path: Path, monkeypatch: Any) -> list[str]:
    from boundlab.pages import plots

    seen: list[str] = []

    def keep(figure: Any, _path: Path) -> None:
        legends = [legend for axes in figure.axes if (legend := axes.get_legend())]
        seen.extend(" ".join(text.get_text().split()) for legend in legends for text in legend.get_texts())

    monkeypatch.setattr(plots, "save_figure", keep)
    plots.save_plot(lambda pair: plots.draw_comparison(result, pair), path, 9.6, 6.4, panel=True)
    return seen


def test_a_plot_without_noise_shows_schedules_and_no_level_of_confidence(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "plot.png"
    quiet = labels(comparison("huber:c=[0,1]", "exponential"), path, monkeypatch)
    assert any("smallest to largest of the values of 4 schedules" in one for one in quiet)
    noisy = labels(comparison("huber:c=[0,1],sigma=1", "exponential"), path, monkeypatch)
    assert any("99% joint band" in one for one in noisy)
    computed = labels(
        comparison("lad:x0=3", "iid:p_s=0.5", exact=True, name="area.theorem8.repaired"), path, monkeypatch
    )
    assert any("computed" in one for one in computed)
    for one in (*quiet, *computed):
        assert "100%" not in one
        assert "0 trials" not in one


def test_a_theorem_names_every_option_of_its_algorithm_but_the_rates(capsys: Any) -> None:
    # What AREA calls its step size is in FedCompass a factor of the weights, an option like any other.
    assert invoke(["show", "fedcompass.theorem1"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    told = page.partition("st = constant")[2].partition("normalise")[0]
    assert "alpha" in told.replace(",", "").split()
