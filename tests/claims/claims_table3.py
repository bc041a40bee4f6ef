"""What benchmarks/README.md says of AREA's Table 3 on MNIST: the recorded trials, counted and averaged again."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from claims_results import BENCHMARKS, recorded, script
from page_numbers import ROOT, claim


def rows(group: str = "table", weights: str = "paper", file: str = "area_table3.json") -> list[Any]:
    """Return the recorded rows of a group."""
    return [one for one in recorded(file)["rows"] if (one["group"], one["weights"]) == (group, weights)]


def row(method: str, alpha: float, rates: str = "uniform", group: str = "table", weights: str = "paper") -> Any:
    """Return one recorded row."""
    keys = ("method", "alpha", "rates")
    (found,) = (one for one in rows(group, weights) if [one[key] for key in keys] == [method, alpha, rates])
    return found


def mean(of: Sequence[float]) -> float:
    return float(np.mean(of))


def within(weights: str, key: str, trials: int | None = None) -> list[bool]:
    """Return for each row of the table whether our mean lies within the range that the paper prints, as printed."""
    means = [(round(mean(one[key][:trials]), 2), one["paper"][key]) for one in rows(weights=weights)]
    return [low <= ours <= high for ours, (_, low, high) in means]


@claim(
    BENCHMARKS,
    "(`weights=paper`): # of # mean accuracies and # of # mean losses lie within the ranges that the paper "
    "prints (the"
    " exception is AS-FedAvg # at equal rates: #, median #, paper #).",
)
def means_within_the_ranges() -> list[str]:
    accuracies, losses = within("paper", "accuracy"), within("paper", "loss")
    (out,) = (one for one, inside in zip(rows(), losses, strict=True) if not inside)
    assert (out["method"], out["rates"]) == ("asfedavg", "uniform")
    count = str(len(losses))
    loss = out["loss"]
    numbers = [f"{out['alpha']:g}", f"{mean(loss):.1f}", f"{np.median(loss):.1f}", f"{out['paper']['loss'][0]:.2f}"]
    return [str(sum(accuracies)), count, str(sum(losses)), count, *numbers]


@claim(BENCHMARKS, "AREA 100 at equal rates (# % and # against # % and #) and FedBuff 1 at both laws of rates.")
def quietest_row() -> list[str]:
    found = row("area", 100.0)
    ours = [f"{mean(found[key]):.2f}" for key in ("accuracy", "loss")]
    return [*ours, *(f"{found['paper'][key][0]:.2f}" for key in ("accuracy", "loss"))]


@claim(BENCHMARKS, "by the first three alone, # accuracies and # losses lie within the ranges.")
def means_of_three_within_the_ranges() -> list[str]:
    return [str(sum(within("paper", key, 3))) for key in ("accuracy", "loss")]


@claim(BENCHMARKS, "# of # accuracies and none of # losses lie within the ranges (AREA 100: # %, loss #).")
def means_with_weights_by_size() -> list[str]:
    accuracies, losses, area = within("size", "accuracy"), within("size", "loss"), row("area", 100.0, weights="size")
    assert not any(losses)
    ours = [f"{mean(area[key]):.0f}" for key in ("accuracy", "loss")]
    return [str(sum(accuracies)), str(len(accuracies)), str(len(losses)), *ours]


@claim(BENCHMARKS, "Without it AREA # would be at # and FedBuff 1 at #; the paper has # and #.")
def losses_without_the_regulariser() -> list[str]:
    found = row("area", 100.0), row("fedbuff", 1.0)
    ours, papers = (
        (f"{mean(one['data_loss']):.2f}" for one in found),
        (f"{one['paper']['loss'][0]:.2f}" for one in found),
    )
    return ["100", *ours, *papers]


@claim(
    BENCHMARKS,
    "S-FedAvg # first meets # % at #–# of the horizon in our ten trials, while the paper's # stands beside a "
    "final accuracy"
    " of # %; the mean of our ten curves rises to # % at #.",
)
def rho_of_trials() -> list[str]:
    found = row("sfedavg", 100.0)
    curve = found["mean_accuracy_over_time"]
    top = int(np.argmax(curve))
    rho = [f"{min(found['rho']):.2f}", f"{max(found['rho']):.2f}", f"{found['paper']['rho']:.2f}"]
    ends = [f"{found['paper']['accuracy'][0]:.0f}", f"{curve[top]:.1f}", f"{top / (len(curve) - 1):.2f}"]
    return ["100", "80", *rho, *ends]


@claim(BENCHMARKS, "the smallest has #–# samples, the largest #–#, the median about #")
def sizes_of_clients() -> list[str]:
    low, middle, high = np.array(recorded("area_table3.json")["client_sizes_min_median_max"]).T
    return [str(low.min()), str(low.max()), str(high.min()), str(high.max()), f"{50 * round(middle.mean() / 50)}"]


@claim(BENCHMARKS, "from trial to trial FedBuff # ends between # % and # %.")
def ends_of_fedbuff() -> list[str]:
    ends = row("fedbuff", 10.0)["accuracy"]
    return ["10", f"{min(ends):.0f}", f"{max(ends):.0f}"]


@claim(BENCHMARKS, "Our worst trials are worse than the paper's (AS-FedAvg 100: # % against # %):")
def worst_trials() -> list[str]:
    found = row("asfedavg", 100.0)
    return [f"{min(found['accuracy']):.0f}", f"{found['paper']['accuracy'][1]:.0f}"]


def forty(law: str, alpha: float = 10.0) -> Any:
    """Return forty trials of S-FedAvg under a law of rates."""
    group, rates = ("reading", law) if law == "redrawn" else ("table", law)
    some = rows(group, file="area_table3_sfedavg.json")
    (found,) = (one for one in some if (one["rates"], one["alpha"]) == (rates, alpha))
    return found


def by_ten(trials: Sequence[float]) -> list[float]:
    return [mean(trials[start : start + 10]) for start in range(0, len(trials), 10)]


@claim(BENCHMARKS, "The # % of S-FedAvg 10 above is luck of the seeds 0–9: seeds 10–19 give # %, 20–29 # %, 30–39 # %.")
def luck_of_the_seeds() -> list[str]:
    first, *others = by_ten(forty("non-uniform")["accuracy"])
    assert round(first, 2) == round(mean(row("sfedavg", 10.0, "non-uniform")["accuracy"]), 2)
    return [f"{first:.2f}", *(f"{one:.1f}" for one in others)]


@claim(
    BENCHMARKS,
    "Of # trials, below, the mean is # % with a standard error of # for reflected rates and # ± # % for redrawn "
    "ones; a mean of"
    " ten, which is what the paper's # % is,",
)
def forty_trials() -> list[str]:
    found = [forty(law)["accuracy"] for law in ("non-uniform", "redrawn")]
    numbers = [f"{one:.1f}" for each in found for one in (mean(each), float(np.std(each, ddof=1)) / len(each) ** 0.5)]
    return [str(len(found[0])), *numbers, f"{forty('redrawn')['paper']['accuracy'][0]:.0f}"]


@claim(BENCHMARKS, "AREA 100 has # % and # %, the paper # %.")
def area_under_both_laws() -> list[str]:
    reflected, redrawn = row("area", 100.0, "non-uniform"), row("area", 100.0, "redrawn", "reading")
    numbers = (mean(reflected["accuracy"]), mean(redrawn["accuracy"]), reflected["paper"]["accuracy"][0])
    return [f"{one:.1f}" for one in numbers]


@claim(BENCHMARKS)
def table_of_forty_trials() -> str:
    spread, lines = script("area_table3_report").spread, []
    for law, shown in (("uniform", "uniform"), ("non-uniform", "reflected"), ("redrawn", "redrawn")):
        for alpha in (10.0, 100.0):
            found = forty(law, alpha)
            paper = ["{:.2f} ({:.2f} – {:.2f})".format(*found["paper"][key]) for key in ("accuracy", "loss")]
            tens = ", ".join(f"{one:.1f}" for one in by_ten(found["accuracy"]))
            ours = [spread(found[key]) for key in ("accuracy", "loss")]
            lines.append(f"| {shown} | S-FedAvg {alpha:g} | {paper[0]} | {ours[0]} | {tens} | {paper[1]} | {ours[1]} |")
    return "\n".join(lines)


@claim(BENCHMARKS, "even S-FedAvg # and AREA #, at losses of # and #.")
def one_step_size_up() -> list[str]:
    found = row("sfedavg", 1000.0, group="selection"), row("area", 10000.0, group="selection")
    return [*(f"{one['alpha']:g}" for one in found), *(f"{mean(one['loss']):.0f}" for one in found)]


@claim(BENCHMARKS, "largest margins of a mistake at the horizon are # and # (doubles underflow at #).")
def margins() -> list[str]:
    found = row("sfedavg", 1000.0, group="selection"), row("asfedavg", 1000.0, "non-uniform")
    underflow = -np.log(float(np.finfo(float).smallest_subnormal)) + np.log(2)
    return [*(f"{max(one['margin']):.0f}" for one in found), f"{underflow:.0f}"]


# ---------------------------------------------------------------------- distances and the fair rows


@claim(
    BENCHMARKS,
    "by one update time | | # | # | | AREA | Tλ·α/(2n): mean y_i = x_s + u, and a y_i is older by two | | # | # |",
)
def distances() -> list[str]:
    document = recorded("area_table3.json")
    way = document["horizon"] * 10 / document["clients"]
    return [f"{way * alpha / part:.0f}" for part in (1, 2) for alpha in (100, 1000)]


def ways_of_fedbuff() -> list[str]:
    """Return how far FedBuff moves with α = 1 and 10, both of its steps being α."""
    document = recorded("area_table3.json")
    way = document["horizon"] * 10 / document["count"]
    return [f"{way:g}", f"{way * 10**2:g}"]


claim(BENCHMARKS, "in the table η_l = η_g = α, so #·α² | # | | |")(ways_of_fedbuff)


@claim(BENCHMARKS, "So FedBuff is shown at # (α = 1) and at # (α = #), where nothing could be quiet")
def distances_of_fedbuff() -> list[str]:
    return [*ways_of_fedbuff(), "10"]


@claim(
    BENCHMARKS,
    "FedBuff has better means than every AREA row of the table, the paper's and ours: # % and # at equal rates, "
    "# % and # at"
    " non-uniform ones.",
)
def fair_fedbuff() -> list[str]:
    found = [row("fedbuff", 10.0, rates, "fair") for rates in ("uniform", "non-uniform")]
    for one in found:
        areas = [other for other in rows() if (other["method"], other["rates"]) == ("area", one["rates"])]
        better = [
            mean(one["accuracy"]) > max(mean(other["accuracy"]), other["paper"]["accuracy"][0]) for other in areas
        ]
        assert all(better)
    return [text for one in found for text in (f"{mean(one['accuracy']):.1f}", f"{mean(one['loss']):.2f}")]


def fair(rates: str) -> tuple[Any, Any]:
    """Return the rows of FedBuff and of AREA at one distance."""
    return row("fedbuff", 10.0, rates, "fair"), row("area", 5.0, rates, "fair", "size")


def wins(first: Any, second: Any, key: str) -> str:
    """Return in how many trials the first has the lower loss, or the higher accuracy."""
    sign = 1 if key == "accuracy" else -1
    return str(sum(sign * one > sign * other for one, other in zip(first[key], second[key], strict=True)))


@claim(
    BENCHMARKS,
    "α = # (`weights=size`; that is # with `weights=paper`), is its equal at equal rates (# % and #; FedBuff "
    "has the lower"
    " loss in # trials of #) and behind at non-uniform ones (# % and #; # of #)",
)
def fair_area() -> list[str]:
    numbers = ["5", str(5 * recorded("area_table3.json")["clients"])]
    for rates in ("uniform", "non-uniform"):
        buffered, area = fair(rates)
        ours = [f"{mean(area['accuracy']):.1f}", f"{mean(area['loss']):.2f}"]
        lower = wins(buffered, area, "loss") if rates == "uniform" else wins(area, buffered, "loss")
        numbers += [*ours, lower, str(len(area["loss"]))]
    return numbers


@claim(BENCHMARKS, "FedBuff wins in the mean and in # losses of #, but in # accuracies of # only.")
def fedbuff_against_area() -> list[str]:
    buffered, area = row("fedbuff", 10.0, "uniform", "fair"), row("area", 1000.0)
    count = str(len(area["loss"]))
    return [wins(buffered, area, "loss"), count, wins(buffered, area, "accuracy"), count]


# ---------------------------------------------------------------------- other scripts


@claim(BENCHMARKS, "n = # clients, Dirichlet #, b = #, ν = 10⁻³, Δ = #, one local step, horizon #.")
def settings_of_the_table() -> list[str]:
    document = recorded("area_table3.json")
    return [f"{document[key]:g}" for key in ("clients", "dirichlet", "batch", "count", "horizon")]


@claim(BENCHMARKS, "# published theorems, # of them in files of their own:")
def published_theorems() -> list[str]:
    entries = json.loads((ROOT / "benchmarks" / "results" / "literature.json").read_text(encoding="utf-8"))
    files = list((ROOT / "benchmarks" / "literature" / "theorems").glob("*.toml"))
    return [str(len(entries)), str(len(files))]


@claim(BENCHMARKS, "a statement left out. # of them, equally spaced")
def planted_errors() -> list[str]:
    text = (ROOT / "benchmarks" / "mutation" / "__main__.py").read_text(encoding="utf-8")
    return [text.partition('"--mutants", type=int, default=')[2].partition(",")[0]]


@claim(BENCHMARKS, "fails if less than # % of the errors that are not equivalent are noticed")
def enough_planted_errors() -> list[str]:
    text = (ROOT / "benchmarks" / "mutation" / "report.py").read_text(encoding="utf-8")
    return [f"{100 * float(text.partition('ENOUGH = ')[2].split()[0]):g}"]
