"""Whatever counts verdicts counts what holds and what is only consistent apart."""

import json
from pathlib import Path
from typing import Any

import pytest

import boundlab as bl
from boundlab.cli import invoke
from boundlab.sweep.results import draw_map
from boundlab.testing.plugin import Gatherer
from boundlab.verdict import Verdict, counted

# At K = 1 and 2 all sequences of events are enumerated, at K = 20 they are sampled.
NOISY = "lad:x0=3,clients=4,sigma=0.5"
DELAYS = "iid:p_s=0.5"
PLAN = f"""
theorems = ["area.theorem8.repaired"]
problems = ["lad:x0=30", "lad:x0=30,clients=4,sigma=0.1"]
delays = ["{DELAYS}"]
[set]
M = [2, 50]
[run]
iterations = 20
trials = 40
"""


@pytest.fixture(scope="module")
def horizons() -> Any:
    found = bl.compare("area.theorem8.repaired", NOISY, DELAYS, iterations=[1, 2, 20], trials=40, M=2)
    assert [one.verdict.value for one in found.comparisons] == ["holds", "holds", "consistent"]
    return found


def test_each_verdict_is_counted_by_itself() -> None:
    every = list(Verdict)
    for word in every:
        assert counted([word, word]) == f"2 {word}"
        assert all(counted([word, other]).count("1 ") == 2 for other in every if other is not word)


@pytest.mark.nightly
def test_several_horizons_say_how_many_hold_in_every_medium(horizons: Any) -> None:
    said = "of 3 horizons 1 consistent, 2 holds; "
    assert horizons.verdict is Verdict.CONSISTENT
    assert said in horizons.line()
    assert said in horizons.as_dict()["reason"]
    assert said in " ".join(horizons._repr_html_().split())
    assert list(horizons.columns()["verdict"]) == ["holds", "holds", "consistent"]
    # Where all are the same there is nothing to count.
    alike = bl.compare("area.theorem8.repaired", NOISY, DELAYS, iterations=[1, 2], trials=40, M=2)
    assert "horizons 2" not in alike.line()


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    seen: list[dict[str, int]] = []
    bl.sweep(folder / "plan.toml", folder / "out", jobs=1, tell=lambda now, _row: seen.append(dict(now.verdicts)))
    assert seen[-1] == {"holds": 2, "consistent": 2}  # what the line of progress shows
    return folder / "out"


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["PLAN.toml", "DIR"])
def test_a_sweep_says_how_many_cells_hold(form: str, swept: Path, capsys: Any) -> None:
    typed = ["sweep", *([str(swept)] if form == "DIR" else [str(swept.parent / "plan.toml"), f"--out={swept}"])]
    assert invoke([*typed, "-q"]) == 0
    assert {"2 consistent", "2 holds"} == set(capsys.readouterr().out.strip().rpartition(": ")[2].split(", "))
    assert invoke(typed) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[1:] for row in sorted(rows) if row[:1] == ["area.theorem8.repaired"]] == [
        ["consistent", "2"],
        ["holds", "2"],
    ]
    assert invoke([*typed, "--json"]) == 0
    ends = json.loads(capsys.readouterr().out)["ends"]
    assert sorted((one["verdict"], one["cells"]) for one in ends) == [("consistent", 2), ("holds", 2)]
    assert invoke([*typed, "--require=holds", "-q"]) == 3


def test_marks_of_the_map_tell_all_verdicts_apart() -> None:
    """Of what is open or without an answer there is one, and the rows say which it is."""
    names = ["theorem", "M", "p"]
    every = [word.value for word in Verdict]
    cells = (
        {"theorem": "a", "M": place, "p": 1, "log_slack": 0.0, "verdict": word} for place, word in enumerate(every)
    )
    marks = [text.get_text() for text in draw_map(cells, names, "M", "p").axes[0].texts]
    assert len(set(marks)) == len(every)


def test_the_plug_in_of_pytest_counts_them_apart(pytestconfig: pytest.Config) -> None:
    gatherer = Gatherer(pytestconfig)
    gatherer.findings = [{"verdict": word} for word in ("holds", "consistent", "holds", "passed")]
    assert dict(gatherer._counts()) == {"consistent": 1, "holds": 2, "passed": 1}
