"""What the prose of notebooks says of what they print."""

import contextlib
import json
import re
import tempfile
from functools import cache
from typing import Any

from page_numbers import ROOT, claim
from replays import sides

import boundlab as bl

REALITY, ANATOMY, SERVER = (
    f"notebooks/{name}.py"
    for name in ("01_a_theorem_meets_reality", "02_anatomy_of_a_refutation", "03_how_often_should_the_server_update")
)
HEARD, FIVE = (f"notebooks/{name}.py" for name in ("04_who_gets_heard", "06_five_papers_five_verdicts"))
YOURS, SHARES = "notebooks/07_your_own_theorem.py", "notebooks/fedstaleweight.py"


@cache
def printed(page: str) -> str:
    """Return all that is printed in a notebook."""
    text = (ROOT / page).with_suffix(".ipynb").read_text(encoding="utf-8")
    outputs = [one for cell in json.loads(text)["cells"] for one in cell.get("outputs", ())]
    return "\n".join("".join(one.get("text") or one.get("data", {}).get("text/plain") or ()) for one in outputs)


@cache
def ran(page: str) -> dict[str, Any]:
    """Return what the code of a notebook leaves, run from the top in a folder of its own."""
    import matplotlib.pyplot as plt

    text = re.sub(r"^# %%.*\[markdown\]\n(?:#.*\n)*|^%.*\n", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)
    names: dict[str, Any] = {"display": print}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), plt.ioff():
        exec(compile(text, page, "exec"), names)  # noqa: S102  (the notebook's own code)
    plt.close("all")
    return names


def read(page: str, pattern: str) -> list[float]:
    """Return the numbers in the groups of a pattern, wherever it is printed."""
    found = re.findall(pattern, printed(page))
    assert found, pattern
    return [float(one) for each in found for one in ([each] if isinstance(each, str) else each)]


def words(*numbers: float, digits: int = 2) -> list[str]:
    return [f"{one:.{digits}g}" for one in numbers]


@claim(
    REALITY,
    "have their minimum near #, and rise steeply above the error of never moving. The measured error lies below "
    "all of them and goes on falling to #.*",
)
def best_length_of_a_pass() -> list[str]:
    return words(
        *read(REALITY, r"the bound's advice for M = 4: Mα = ([\d.]+)"), *read(REALITY, r"best measured: Mα = ([\d.]+)")
    )


@claim(ANATOMY, "Six events have # sequences")
def sequences() -> list[str]:
    return [str(2**6)]


@claim(ANATOMY, "At M = # it is # where the bound says #:")
def not_at_the_edge() -> list[str]:
    M, left, right = read(ANATOMY, r"M = (50):  E f = ([\d.]+) +bound = ([\d.]+) +violated")
    return [f"{M:g}", f"{left:.3f}", f"{right:.3f}"]


@claim(
    ANATOMY,
    "crosses 1 between M = # and M = # and ends at about #; the repaired form (dots) stays where it was, at #.*",
    nightly=True,
)
def ratios_over_local_steps() -> list[str]:
    def ratio(theorem: str, M: int) -> float:
        return float(bl.compare(theorem, "lad:x0=3", "iid:p_s=0.5", iterations=6, M=M).to_frame()["ratio"].max())

    code = (ROOT / ANATOMY).read_text(encoding="utf-8")
    marks = json.loads(re.findall(r"locals_ = (\[.*?\])", code)[0])
    printed_form, repaired = ([ratio(name, M) for M in marks] for name in ("area.theorem8", "area.theorem8.repaired"))
    above = next(place for place, one in enumerate(printed_form) if one > 1)
    assert max(repaired) - min(repaired) < 0.005
    return [str(marks[above - 1]), str(marks[above]), *words(printed_form[-1], digits=3), *words(repaired[-1])]


@claim(SERVER, "h = (2/n)Σ1/λ_i. Here that is #.")
def best_rate() -> list[str]:
    return words(*read(SERVER, r"λ_s\* = ([\d.]+) for 3 clients, per-iteration>\n<no minimum"), digits=3)


@claim(
    SERVER,
    "it is U-shaped with its minimum at #. For a fixed time it falls towards 1 without a minimum. With a cost "
    "of # per aggregation it is U-shaped again, with its minimum at #.*",
)
def best_rates_of_the_bound() -> list[str]:
    (cost,) = re.findall(r"free, C = .*, ([\d.]+)\n", (ROOT / SERVER).read_text(encoding="utf-8"))
    return [*best_rates()[:1], cost, *best_rates()[1:]]


def best_rates() -> list[str]:
    """Return the best rate per iteration and the one with a cost."""
    return words(
        *read(SERVER, r"λ_s\* = ([\d.]+) for 3 clients, per-iteration>\n<no minimum"),
        *read(SERVER, r"λ_s\* = ([\d.]+) for 3 clients, per-time>"),
        digits=3,
    )


@claim(
    SERVER,
    "with the bound's minimum at # marked; for a fixed time both fall and flatten; with a cost of 0.01 per "
    "aggregation both turn up again, and the bound's minimum is marked at #.",
)
def best_rates_of_the_runs() -> list[str]:
    return best_rates()


@claim(SERVER, "Who counts iterations takes λ_s* = #, one aggregation in four iterations;")
def best_rate_in_the_end() -> list[str]:
    assert read(SERVER, r"'p_s': ([\d.]+)") == [0.25]
    return words(*read(SERVER, r"'λ_s\*': ([\d.]+)"))


@claim(HEARD, "The slow group has # to # of the weight, and yet")
def weight_of_the_slow_group() -> list[str]:
    return words(*sorted(read(HEARD, r"FedCompass, as printed +two-speed: ([\d.]+) +heavy-tailed: ([\d.]+)")[2:]))


@claim(HEARD, "and normalised it ends at # although the slow group has about half")
def end_of_normalised_fedcompass() -> list[str]:
    ends = read(HEARD, r"FedCompass, normalised +two-speed: ([\d.]+) +heavy-tailed: ([\d.]+)")[:2]
    assert words(ends[0]) == words(ends[1])
    return words(ends[0])


@claim(HEARD, "to below # under two-speed delays and below # under heavy-tailed ones.*")
def area_in_the_end() -> list[str]:
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    ends = [read(HEARD, rf"AREA +{law} +([\d.e-]+)\n")[0] for law in ("two-speed", "heavy-tailed")]
    return ["10" + f"{int(f'{end:e}'.partition('e')[2]) + 1}".translate(raised) for end in ends]


@claim(FIVE, "The mean of the squares is #, and the bound is #.")
def sides_of_afl_dga() -> list[str]:
    return [f"{side:.1f}" for side in sides("afl_dga.theorem1.reused-gradients")]


@claim(FIVE, "There are instances at the very edge, with ratios of # to #.", nightly=True)
def ratios_at_the_edge() -> list[str]:
    names = json.loads(re.findall(r"PRINTED = (\[.*\])", (ROOT / FIVE).read_text(encoding="utf-8"))[0])
    ratios = sorted(float(ran(FIVE)["curves"][name].comparisons[0].ratio[-1]) for name in names)
    return [f"{ratios[0]:.5f}", f"{ratios[-1]:.0f}"]


@claim(FIVE, "The largest ratio is # for AREA, at K = #;", nightly=True)
def largest_ratio_of_area() -> list[str]:
    found = bl.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=[*range(4, 12)], M=50).to_frame()
    best = found.iloc[found["ratio"].argmax()]
    return [f"{best['ratio']:.3g}", f"{best['K']:.0f}"]


@claim(FIVE, "rise throughout: to # for FedCompass, # for AFL-DGA, # for FedFa and # for FedStaleWeight.", nightly=True)
def largest_ratios() -> list[str]:
    names = ("fedcompass.theorem1", "afl_dga.theorem1", "fedfa.theorem1", "fedstaleweight.theorem1")
    return [f"{float(f'{max(ratios_of(name)):.2g}'):g}" for name in names]


@claim(
    FIVE,
    "those of AREA and AFL-DGA above #, that of FedStaleWeight between # and #, those of FedCompass and FedFa "
    "below #.*",
    nightly=True,
)
def ratios_of_repaired_forms() -> list[str]:
    assert min(ratios_of("area.theorem8.repaired") + ratios_of("afl_dga.r2n")) > 0.3
    assert all(0.01 < one < 0.2 for one in ratios_of("fedstaleweight.rf2"))
    assert max(ratios_of("fedcompass.window.b") + ratios_of("fedfa.delta.b")) < 0.0001
    return ["0.3", "0.01", "0.2", "0.0001"]


def ratios_of(theorem: str) -> list[float]:
    """Return left side over bound at the horizons of a figure."""
    return [float(one.ratio[-1]) for one in ran(FIVE)["curves"][theorem].comparisons]


@claim(YOURS, "falls from 1 to # and lies on the repaired bound")
def worst_case_at_the_end() -> list[str]:
    return words(
        *read(
            YOURS, r"mine.repaired at K = 5: holds: certified for full gradients: at most the bound itself, ([\d.]+)>"
        )
    )


@claim(SHARES, "Under equal weights the share is proportional to the rate, # to #.")
def equal_shares() -> list[str]:
    return [f"{one:.2f}" for one in read(SHARES, r"equal +mean field \[([\d.]+) ([\d.]+)\]")]


@claim(SHARES, "and b·E[τ] + 1 fairer still, # to #;")
def fair_shares() -> list[str]:
    return [
        f"{one:.2f}" for one in read(SHARES, r"bE\+1 +mean field \[[^]]*\] +exact for i.i.d. \[([\d.]+) ([\d.]+)\]")
    ]


@claim(SERVER, "and who pays for aggregations balances, here at #.")
def best_rate_with_a_cost() -> list[str]:
    return best_rates()[1:]


@claim(ANATOMY, "by equations (5) to (7) of the paper's appendix, over all # sequences:")
def sequences_of_four_events() -> list[str]:
    return [str(2**4)]
