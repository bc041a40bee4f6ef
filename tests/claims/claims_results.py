"""Verdicts, counterexamples, worst cases, the battery and scripts of benchmarks, as README.md and the pages say."""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmark_scripts import load
from page_numbers import CLAIMS, NUMBER, ROOT, Claim, claim, words
from replays import CASES

import boundlab as bl
from boundlab.cli.terminal import table as endings_table
from boundlab.registry import registered
from boundlab.verdict import ExitCode

README, REFUTATIONS, BATTERY, BENCHMARKS = "README.md", "docs/refutations.md", "docs/about.md", "benchmarks/README.md"


@cache
def recorded(name: str) -> Any:
    """Return a recorded result."""
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


@cache
def script(name: str) -> Any:
    """Return a script of the benchmarks as a module; some import those beside them."""
    sys.path.append(str(ROOT / "benchmarks"))
    try:
        return load(name)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


# ---------------------------------------------------------------------- verdicts


@claim(
    REFUTATIONS,
    "![Expected error of AREA over the horizon, computed, above the printed bound of its Theorem # from K = # "
    "to K = #]",
)
def horizons_above_the_printed_bound() -> list[str]:
    (command,) = re.findall(r"`(boundlab compare area.theorem8 [^`]*-k [^`]*)`", words(REFUTATIONS))
    (horizons,) = re.findall(r"-k ([\d,]+)", command)
    assert command.endswith(f"--problem lad:x0=3 --delays iid:p_s=0.5 -k {horizons} --set M=50 --plot F.png")
    found = bl.compare("area.theorem8", "lad:x0=3", "iid:p_s=0.5", iterations=[*map(int, horizons.split(","))], M=50)
    above = [row["K"] for _, row in found.to_frame().iterrows() if row["mean"] > row["bound"]]
    assert above == list(range(above[0], above[-1] + 1))
    return ["8", str(above[0]), str(above[-1])]


def verdicts_as_recorded() -> str:
    lines, made = recorded("verdicts.json")["refutations"], script("verdicts")
    outcomes = [
        made.Outcome(setting, line["verdict"], line["ratio"], line["reason"], line.get("says_nothing", False))
        for setting, line in zip(made.REFUTATIONS, lines, strict=True)
        if [setting.theorem, setting.compared.problem, setting.compared.delays]
        == [line[key] for key in ("theorem", "problem", "delays")]
    ]
    assert len(outcomes) == len(lines)
    return str(made.refutations_table(outcomes))


claim(REFUTATIONS)(verdicts_as_recorded)


def row_of_the_readme(theorem: str) -> list[str]:
    """Return both sides of a theorem's own counterexample."""
    left, right = re.findall(r" is (\S+), the bound (\S+)$", str(bl.exact(theorem).sentence))[0]
    return [*left.split("/"), *right.split("/")]


for _theorem in (
    "area.theorem8",
    "area.theorem8.printed-start",
    "fedcompass.theorem1",
    "afl_dga.theorem1",
    "fedfa.theorem1",
    "fedstaleweight.theorem1",
):
    for _line in words(README).splitlines():
        if f" `{_theorem}`: false" in _line:
            _cells = _line.split(" | ")
            _says = " | ".join([*_cells[:2], re.sub(r"[\d.]+", "#", _cells[2]), *_cells[3:]])
            CLAIMS.append(
                Claim(README, _says, partial(row_of_the_readme, _theorem), nightly=_theorem != "area.theorem8")
            )


@claim("docs/questions.md")
def exit_codes() -> str:
    words_of = {2: "bad usage or input", 4: "not applicable", 0: "stands", 1: "refuted", 3: "not decided"}
    assert all(ExitCode(code).meaning.startswith(meaning) for code, meaning in words_of.items())
    rest = {ExitCode.UNFORESEEN: "unexpected", ExitCode.INTERRUPTED: "interrupted"}
    return "Exit codes: " + ", ".join(f"{int(code)} {(words_of | rest)[code]}" for code in ExitCode)


@claim("docs/json.md")
def exit_codes_of_every_command() -> str:
    return endings_table()


# ---------------------------------------------------------------------- counterexamples


# What a row of the table calls a number of a case.
_CALLED = {
    rf"{symbol} = ({NUMBER.pattern})(?:/({NUMBER.pattern}))?(?![/.\d])": key
    for symbol, key in (("n", "n"), ("p", "p"), ("M", "M"), ("K", "K"), ("T", "T"), ("α", "alpha"), ("η", "eta"))
} | {
    rf"(?:speeds|rates) ({NUMBER.pattern}) : ({NUMBER.pattern})": "rates",
    rf"Q from ({NUMBER.pattern}) to ({NUMBER.pattern})": "Q",
    rf"({NUMBER.pattern}) local steps": "local_steps",
    rf"server rate of ({NUMBER.pattern})": "eta_g",
    rf"used ({NUMBER.pattern}) times": "period",
    rf"\| ({NUMBER.pattern}) \|$": "ratio",
}


def _numbers_of(case: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return what the rows may call of a case."""
    note = case["note"]
    said = {key: float(Fraction(value)) for key, value in re.findall(r"(\w+) = ([\d./]+(?:e-?\d+)?)(?:,|$)", note)}
    lists = {
        name: [float(Fraction(one)) for one in found.split(",")]
        for name, found in re.findall(r"(rates|speeds|p|periods) ?= ?\[([\d.,/]+)\]", note)
    }
    speeds = lists.get("speeds", [])  # times of a step
    horizon = float(case["claim"]["k"])
    return {
        **{key: [value] for key, value in said.items()},
        "n": [float(len(case["problem"].get("c", ())) or re.match(r"\d+", note)[0])],  # type: ignore[index]
        "p": lists.get("p", [])[:1],
        "rates": lists.get("rates") or [max(speeds) / one for one in speeds],
        "period": [max(lists.get("periods", [0.0]))],
        "Q": [said.get("Qmin", 0.0), said.get("Qmax", 0.0)],
        "K": [said["K"]] if "K" in said else [horizon],
        "T": [horizon],
        "ratio": [case["claim"]["left"] / case["claim"]["bound"]],
    }


def _row_says(row: str, case: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return a row with # for what a case has under the names of the table, and what should stand there."""
    known, found = _numbers_of(case), []
    for called, key in _CALLED.items():
        for match in re.finditer(called, row):
            has: Sequence[float] = known.get(key, [])
            parts = [one for one in match.groups() if one]
            if len(has) == 1 < len(parts):  # a fraction
                has = Fraction(has[0]).limit_denominator(10**6).as_integer_ratio()
            for place, shown in enumerate(parts, 1):
                decimals = len(shown.partition(".")[2])
                value = f"{has[place - 1]:.{decimals}f}" if len(has) == len(parts) else "none"
                found.append((match.span(place), value))
    found = sorted(set(found))
    says, end = "", 0
    for (first, last), _ in found:
        says, end = f"{says}{row[end:first]}#", last
    return says + row[end:], [value for _, value in found]


def _rows_of_counterexamples() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    theorem, title = "", "| as printed | `check` | `falsify`"
    table = words(REFUTATIONS).partition(title)[2].partition("\n\n")[0]
    for row in table.split("\n")[2:]:
        theorem = (re.match(r"\| `([\w.-]+)`", row) or ("", theorem))[1]
        if re.search(r"\d \|$", row):
            files = [one for one in sorted(CASES.glob("*.json")) if one.name.startswith(theorem)]
            cases = [json.loads(one.read_text(encoding="utf-8")) for one in files]
            yield row, [one for one in cases if one["theorem"] == theorem]


def _nearest(row: str, cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the numbers that a row should have: those of the one case to which most of them belong."""
    shown = Claim(REFUTATIONS, _row_says(row, cases[0])[0], list, partly=True).place().groups()
    found = [_row_says(row, case)[1] for case in cases]
    return min(found, key=lambda numbers: sum(one != other for one, other in zip(shown, numbers, strict=True)))


for _row, _cases in _rows_of_counterexamples():
    CLAIMS.append(Claim(REFUTATIONS, _row_says(_row, _cases[0])[0], partial(_nearest, _row, _cases), partly=True))


# ---------------------------------------------------------------------- the battery and the textbook


@cache
def battery() -> tuple[set[str], set[str], set[str]]:
    """Return the claims of the battery: the true ones, the false ones, and of these what some tool refutes."""
    true = {f"battery.{path.stem}" for path in (ROOT / "tests" / "battery" / "theorems").glob("*.toml")}
    rows = recorded("battery.json")
    false = {one["claim"] for one in rows} - true
    mutants = json.loads((ROOT / "tests" / "battery" / "mutants.json").read_text(encoding="utf-8"))
    assert false == {f"battery.{one['id']}" for one in mutants}
    assert not [one for one in rows if one["claim"] in true and "said" in one]
    return true, false, {one["claim"] for one in rows if one["claim"] in false and "said" in one}


@claim(BATTERY)
def scores_as_recorded() -> str:
    made, (true, false, _) = script("battery_scores"), battery()
    answers: dict[str, list[Any]] = {}
    for row in recorded("battery.json"):
        told = row.get("said", "remark")
        codes = row["codes"]
        last = len(codes) - 1
        answers.setdefault(row["claim"], []).extend(
            made.Answer(
                row["claim"],
                row["tool"],
                code,
                row["seconds"] if place == last else 0.0,
                "",
                told if place == last else "remark",
            )
            for place, code in enumerate(codes)
        )
    table = made._table({name: answers[name] for name in true}, {name: answers[name] for name in false}, made.TOOLS)
    return "\n".join(table)


@claim(BATTERY, "At most # % may stand there.")
def survivors_of_the_battery() -> list[str]:
    text = (ROOT / "tests" / "battery" / "test_battery.py").read_text(encoding="utf-8")
    (share,) = re.findall(r"<= (0\.\d+) \* len", text)
    return [f"{100 * float(share):g}"]


@claim(BATTERY, "`falsify` tries # candidates")
def candidates_of_the_battery() -> list[str]:
    return [str(script("battery_scores").CANDIDATES)]


@claim(REFUTATIONS, "# textbook theorems, and # derived here, are registered as `classics.*`")
def textbook_theorems() -> list[str]:
    status = Counter(one.status for name, one in registered("theorems").items() if name.startswith("classics."))
    assert set(status) == {"textbook", "derived here"}
    return [str(status[word]) for word in ("textbook", "derived here")]


@claim(
    REFUTATIONS,
    "is also asked about # more, and about # false ones made from them by single slips. No true one is called false, "
    "and # of the false ones",
)
def battery_in_short() -> list[str]:
    return [str(len(some)) for some in battery()]


@claim(
    REFUTATIONS,
    "M = #, K = # the worst case of all functions is # (`boundlab worst-case`; certified from above, attained "
    "by a function in two dimensions"
    " that `boundlab exact` confirms), above the printed # and below the repaired #",
    nightly=True,
)
def worst_case_of_area() -> list[str]:
    printed, repaired = (
        bl.worst_case(name, 5, p="0.5", M=3, R=1, B=1) for name in ("area.theorem8", "area.theorem8.repaired")
    )
    return ["3", "5", f"{printed.primal:.4f}", f"{printed.bound:.4f}", f"{repaired.bound:.4f}"]


# ---------------------------------------------------------------------- calibration, and AREA's Table 3


@claim("docs/verdicts.md")
def calibration() -> str:
    made = script("calibration")
    return str(
        made.tables(
            [made.Cell(**{**one, "refuted": tuple(one["refuted"])}) for one in recorded("calibration.json")["cells"]]
        )
    )


@claim("docs/verdicts.md", "# experiments a cell at a joint level of # %, with # % Clopper–Pearson intervals")
def calibration_is_done() -> list[str]:
    made = script("calibration")
    level = f"{100 * made.LEVEL:g}"
    return [str(made.EXPERIMENTS), level, level]


def _tables() -> dict[str, str]:
    """Return title → table of AREA's Table 3 on MNIST, as recorded."""
    made = script("area_table3")
    text = made.table(recorded("area_table3.json")["rows"], made._row_of)
    return {part.partition("\n")[0]: part.strip() for part in re.split(r"\n\n(?=\*\*)", text)}


for _title in _tables():
    CLAIMS.append(Claim(BENCHMARKS, "", partial(lambda title: _tables()[title], _title)))


# ---------------------------------------------------------------------- what commands print


@claim(README)
def first_example() -> str:
    return str(bl.exact("area.theorem8").sentence)


@cache
def theorem_tests() -> str:
    """Return what pytest prints about gradient descent with a wrong constant."""
    made = load("test_plugin", ROOT / "tests" / "testing")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "descent.toml").write_text(made.WRONG, encoding="utf-8")
        return str(made.run(Path(folder), "--boundlab-theorem=descent.toml").out)


@claim(
    "docs/plugins.md",
    "descent.toml: search: violated: at K = # the left side # is above the bound # (exact: …) instance: # "
    "client, f_i(x) ="
    " w_i·huber(x − c_i), w = [#], c = [#], delta = #, sigma = #, x0 = #, delays deterministic, alpha = #",
    nightly=True,
)
def search_against_a_wrong_constant() -> list[str]:
    found = re.findall(r"descent.toml: search: violated: at (K = .*) \(exact.*\n.*instance: (.*)", theorem_tests())
    line, instance = found[0]
    return NUMBER.findall(line) + NUMBER.findall(instance.replace("x0", "x"))


@claim("docs/plugins.md", "# violated, # holds, # passed", nightly=True)
def theorem_tests_in_the_end() -> list[str]:
    return list(re.findall(r"(\d+) violated, (\d+) holds, (\d+) passed", theorem_tests())[0])
