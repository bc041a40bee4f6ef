"""What benchmarks/README.md says of speed, where the last recorded run says it, too."""

import json
import re
from functools import cache, partial
from typing import Any

from claims_results import BENCHMARKS
from page_numbers import CLAIMS, ROOT, Claim, claim


@cache
def last_run() -> Any:
    """Return the last recorded run."""
    *_, last = sorted((ROOT / "benchmarks" / "results").glob("cpu-*.json"))
    return json.loads(last.read_text(encoding="utf-8"))


def row(what: str, floor: str = "") -> Any:
    """Return the one row whose names begin so."""
    (found,) = (one for one in last_run()["rows"] if one["what"].startswith(what) and one["floor"].startswith(floor))
    return found


def loops() -> tuple[float, float]:
    """Return microseconds of processor time an update in machine code: with events and tape, and without."""
    some = {one["what"]: 1e6 * min(one["ours"]["cpu"]) for one in last_run()["rows"] if "machine code" in one["what"]}
    return some["T4 in machine code, events and tape included"], some["T4 in machine code"]


@claim(BENCHMARKS, "# of three updates of n×n matrices with constant steps and # with diminishing ones (n = #)")
def moments() -> list[str]:
    ratios = [f"{row(f'exact moments (n = 50), {steps} steps')['ratio']:.1f}" for steps in ("constant", "diminishing")]
    return [*ratios, "50"]


@claim(BENCHMARKS, "T4 in torch is # of its floor, and # times as fast as NumPy:")
def quadratics_in_torch() -> list[str]:
    floor, numpy = (row("T4 torch", one)["ratio"] for one in ("FedBuff by hand", "the executor in NumPy"))
    return [f"{floor:.1f}", f"{1 / numpy:.1f}"]


for _says, _numbers in (
    ("an update after; the loop alone #.", [f"{loops()[1]:.2f}"]),
    ("and # µs an update after;", [f"{loops()[0]:.2f}"]),
    (
        "Exponents of growth, over a factor of 16: K #, R #, n #, d #.",
        [f"{last_run()['growth'][name]:.2f}" for name in "KRnd"],
    ),
    (
        "The enumerator takes # rational products a coordinate of a merged state",
        [f"{row('a coordinate of one of')['ratio']:.1f}"],
    ),
    ("T1 in torch (#) reads", [f"{row('T1 torch', 'FedBuff by hand')['ratio']:.2f}"]),
    (
        "is only # times as fast as NumPy's executor",
        [f"{row('T4 torch', 'FedBuff by hand')['floor_rate'] / row('T4 NumPy')['rate']:.0f}"],
    ),
):
    CLAIMS.append(Claim(BENCHMARKS, _says, partial(list, _numbers)))


# ---------------------------------------------------------------------- the plan of a sweep


@claim(
    BENCHMARKS, "with # numbers of local steps M, # probabilities of the server and # degrees of heterogeneity: # cells"
)
def cells_of_the_data() -> list[str]:
    text = (ROOT / "benchmarks" / "sweeps.py").read_text(encoding="utf-8")
    (grid,) = re.findall(r'"set": (\{"M": .*"p_s": .*?\})', text)
    M, p_s, a = map(len, json.loads(grid).values())
    sets = 3
    assert 'for name in ("digits", "mnist", "a9a")' in text
    return [str(M), str(p_s), str(a), str(M * p_s * a * sets)]
