"""Counts that pages write as words: papers, extras, families, judges, minutes of the suite."""

import re
import tomllib

from claims_results import script
from page_numbers import ROOT, claim, words

from boundlab.registry import registered
from boundlab.testing.strategies import FAMILIES

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def main_theorem_of_each_paper() -> str:
    papers = {one.paper for one in registered("theorems").values() if one.status == "as printed"}
    every = {one.paper for one in registered("theorems").values() if one.of_paper}
    return f"The main theorems of {WORDS[len(papers)]} of the {WORDS[len(every)]} papers are false as printed"


for _page in ("README.md", "docs/refutations.md"):
    claim(_page)(main_theorem_of_each_paper)


@claim("docs/about.md")
def settings_of_each_theorem() -> str:
    made = script("verdicts")
    counts = set()
    for theorem in made.theorems():
        own = list(made.settings_of(theorem))
        counts.add((len({one.label for one in own}), len({one.compared.delays for one in own})))
    ((problems, delays),) = counts
    where = f"on {WORDS[problems]} problems under {WORDS[delays]} delay models each."
    return f"a line for every theorem of these papers, forms along the run apart, {where}"


@claim("docs/questions.md")
def extras_in_all() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    ((inside,),) = (re.findall(r"\[(.*)\]", one) for one in extras["all"])
    named = [one for one in inside.split(",") if extras[one]]  # one has become a plain dependency
    listed = words("docs/questions.md").partition("The extras bring the rest:")[2].partition("`all`")[0]
    assert re.findall(r"`([a-z-]+)`", listed) == named
    return f"`all` for these {WORDS[len(named)]};"


@claim("docs/plugins.md")
def families_of_problems() -> str:
    return f"small convex problems of {WORDS[len(FAMILIES)]} families"


@claim("docs/about.md")
def judges() -> str:
    rows = re.findall(r"^\| \d+ \| `\w+` \| a judge: ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    return f"the {WORDS[len(rows)]} judges;"
