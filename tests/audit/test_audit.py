"""An audit says what its evidence says: never more, in no medium, whatever a theorem's text holds."""

import json
import re
import shlex
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main
from html_pages import read
from hypothesis import given, strategies as st
from own_theorem import of_gradient_descent, own_theorem

import boundlab as bl
from boundlab.audit import Audit, ProofEvidence, Ruling
from boundlab.audit._audit import around, case_words, for_a_class
from boundlab.audit._page import comparison
from boundlab.case import read_case
from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.cli.terminal import console
from boundlab.errors import SpecError
from boundlab.files import json_text
from boundlab.pages import plots
from boundlab.pages.blocks import Chart
from boundlab.pages.html import STYLE
from boundlab.pages.terminal import print_page, terminal
from boundlab.verdict import ExitCode

MAIN = {  # the main theorem of each paper, and a word of the step of its proof that fails first
    "area.theorem8": "Lemma 21",
    "fedcompass.theorem1": "(13)",
    "afl_dga.theorem1": "(1)",
    "fedfa.theorem1": "(12)",
    "fedstaleweight.theorem1": "Theorem 2",
}
HOSTILE = "</style></script><script>alert(1)</script><img src=x onerror=alert(1)> [bold]b[/bold] \\input{/etc/passwd} "
HOSTILE += "$\\write18{x}$ %c | `q` **s** [l](javascript:alert(1)) ![i](https://e.vil/x.png) @me &amp; \u202e \x1b[31m"


def own(folder: Path, factor: str = "2") -> Path:
    path = folder / "it's mine.toml"
    texts = dict.fromkeys(("title", "paper", "place", "note"), HOSTILE)
    path.write_text(own_theorem(factor, letter=r"\bar\sigma", **texts), encoding="utf-8")
    return path


def audited(theorem: Any, **options: Any) -> Audit:
    found: Audit = bl.audit(theorem, **{"budget": 600, "candidates": 20, "jobs": 1, **options})
    return found


@pytest.fixture(scope="module")
def area() -> Audit:
    return audited("area.theorem8")


@pytest.fixture(scope="module")
def true() -> Audit:
    return audited("classics.gd.convex")


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audited(own(tmp_path_factory.mktemp("own")))


_NIGHT = [pytest.param(name, marks=pytest.mark.nightly) for name in ("true", "mine")]


@pytest.fixture(scope="module", params=["area", *_NIGHT])
def each(request: pytest.FixtureRequest) -> Audit:
    found: Audit = request.getfixturevalue(request.param)
    return found


# ---- verdicts ------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_line_has_at_most_200_letters_and_ten_lines_have_what_a_review_says(
    each: Audit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(each.line()) <= 200
    assert each.line().startswith(f"{each.theorem.id}: {each.verdict}")
    print_page(console(), each.brief())
    text = " ".join(capsys.readouterr().out.split())
    assert len(each.brief()) <= 10
    assert each.theorem.left.expectation in text
    assert each.verdict in text
    assert "boundlab audit" in text
    if each.exact is not None:
        assert " ".join(f"instance: {each.exact.sentence} ".split()) in text
    for one in each.repairs:
        assert f"instead: {one.theorem.id}, " in text


def test_a_review_of_area_names_the_slip(area: Audit, capsys: pytest.CaptureFixture[str]) -> None:
    print_page(console(), area.brief())
    text = " ".join(capsys.readouterr().out.split())
    assert "goes wrong first where Lemma 21 is applied" in text
    assert "refuted, there at i = 0, r = 0: left = 0, right = -13/14: left ≤ right is false" in text
    assert "there left side 0.9688 > 0.875 bound (exact)" in text
    assert "(proved); there 0.9681 ≤ 1.225" in text


def lines_in_brief(found: Audit, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of a review but for what was not asked, and the horizon to which a proof's steps were looked at."""
    lines = []
    for block in found.brief():
        print_page(console(), [block])
        lines.append(" ".join(capsys.readouterr().out.split()).replace(" within 200 iterations", ""))
    return [line for line in lines if not line.startswith("not decided")]


def require_brief(whole: Audit, capsys: pytest.CaptureFixture[str]) -> None:
    short = audited(whole.theorem.id, brief=True)
    assert short.panel is None
    assert all(one.panel is one.worst is one.search is None for one in short.repairs)
    assert lines_in_brief(short, capsys) == lines_in_brief(whole, capsys)


def test_in_brief_fewer_questions_give_the_same_lines(area: Audit, capsys: pytest.CaptureFixture[str]) -> None:
    require_brief(area, capsys)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in MAIN if not name.startswith("area")])
def test_in_brief_fewer_questions_give_the_same_lines_of_each_paper(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    require_brief(audited(name), capsys)


@given(st.lists(st.text("ab:; ", max_size=300), max_size=4), st.text("x", min_size=1, max_size=60))
def test_a_verdict_in_one_line_keeps_its_word_and_its_length(reasons: list[str], name: str) -> None:
    line = Ruling("not refuted", tuple(reasons)).within(200, f"{name}: ")
    assert len(line) <= 200
    assert line.startswith(f"{name}: not refuted")


@pytest.mark.nightly
def test_what_only_trials_speak_for_is_open_where_holds_is_required(mine: Audit, true: Audit, area: Audit) -> None:
    assert [one.only_tried for one in (mine, true, area)] == [True, False, False]


def test_a_false_theorem_comes_with_its_instance_the_slip_and_the_repair(area: Audit) -> None:
    assert area.verdict == "false"
    assert area.exit_code == ExitCode.REFUTED
    assert area.exact is not None
    assert area.exact.verdict == "violated"
    assert area.exact.sentence == (
        "f(x) = |x|, one client, 48 local steps, x0 = 1, p = p_s = 1/2: "
        "after 4 events the error is 31/32, the bound 28/32"
    )
    assert area.ruling.sentence.startswith(f"false: counterexample: {area.exact.sentence} (exact); ")
    assert area.ruling.sentence.endswith("; repaired: area.theorem8.repaired (proved)")
    page = area.markdown()
    assert "First slip: **Lemma 21 is applied**" in page
    assert re.search(r"\*\*term bound\*\*.*changed", page)
    (repair,) = area.repairs
    assert repair.proved
    assert not repair.contradicted
    assert repair.on_case is not None
    assert repair.on_case.verdict == "holds"


def test_a_proved_theorem_is_proved_and_nothing_on_its_page_calls_it_false(true: Audit) -> None:
    assert true.verdict == "proved"
    assert true.exit_code == ExitCode.STANDS
    assert "false" not in true.markdown()


def test_what_nothing_refutes_is_not_refuted_and_the_line_says_what_was_tried(mine: Audit) -> None:
    assert mine.verdict == "not refuted"
    assert mine.exit_code == ExitCode.STANDS
    tried = r"\d+ candidates of up to \d clients? in a search \(seed 0\), left/right at most 0\.\d+"
    assert re.search(tried, mine.ruling.sentence)
    assert "checks, none failed" in mine.ruling.sentence


def test_the_instance_meets_the_conditions_in_numbers_and_says_what_was_read_off_the_run() -> None:
    found = audited(Path(__file__).parents[1] / "battery" / "theorems" / "async-noise.toml")
    for page in (found.markdown(), found.html()):
        assert "What it stands on" in page
        assert re.search(r"g.{0,12} ≤ 0.{0,2}, since .{0,2}0 ≤ 0", page)
        assert re.search(r"read off the run: .{0,2}τ", page)


@pytest.mark.nightly
def test_no_number_refutes_a_printed_order_and_an_argument_does() -> None:
    found = audited("fedcompass.corollary1", budget=1)
    assert found.verdict == "says nothing that a number could refute"
    assert found.exit_code == ExitCode.REFUTED
    assert "with universal constants false by the formula alone (units.terms, " in found.ruling.sentence
    assert replace(found, checks=replace(found.checks, checks=())).exit_code == ExitCode.NOT_APPLICABLE


@pytest.mark.nightly
def test_a_namesake_has_no_share_in_a_registered_theorems_proof(tmp_path: Path) -> None:
    path = own(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"mine"', '"area.theorem8.repaired"'), encoding="utf-8")
    found = audited(path)
    assert found.proofs == ()
    assert found.verdict == "not refuted"


def test_a_proof_and_a_refutation_together_are_believed_neither(area: Audit, true: Audit) -> None:
    settled = (ProofEvidence(true.proofs[0].outcome, (), settles=True),)
    torn = replace(area, proofs=settled)
    assert torn.verdict == "contradictory"
    assert torn.exit_code == ExitCode.UNDECIDED


def test_nothing_is_said_where_nothing_was_asked(true: Audit) -> None:
    bare = replace(
        true, checks=replace(true.checks, checks=()), case=None, exact=None, search=None, proofs=(), panel=None
    )
    assert bare.ruling == Ruling("not decided", ())
    assert bare.exit_code == ExitCode.UNDECIDED
    assert bare.markdown()
    assert not read(bare.html()).wrong


def test_a_repair_that_is_refuted_too_is_not_recommended(area: Audit) -> None:
    assert area.exact is not None
    bad = replace(area.repairs[0], on_case=area.exact)
    found = replace(area, repairs=(bad,))
    assert bad.contradicted
    assert "repaired" not in found.ruling.sentence
    assert "refuted, too" in found.markdown()


@pytest.mark.nightly
def test_what_the_budget_leaves_out_is_listed() -> None:
    found = bl.audit("afl_dga.theorem1", budget=1, jobs=1)
    assert found.verdict == "false"
    late = [gap for gap in found.gaps if "budget" in gap.why]
    assert {gap.of for gap in late} >= set(found.theorem.repaired_by)
    assert {gap.decided_by for gap in late} == {"a larger budget"}
    assert all(not one.proved for one in found.repairs)
    assert "with no proof decided here" in found.ruling.sentence


@pytest.mark.nightly
@pytest.mark.parametrize("name", MAIN)
def test_the_main_theorem_of_each_paper_is_false_and_repaired_by_proof(name: str, tmp_path: Path) -> None:
    found = bl.audit(name, budget=120, jobs=1)
    assert found.verdict == "false"
    assert found.exact is not None
    assert found.exact.verdict == "violated"
    slips = [one["first_slip"] for one in found.as_dict()["proofs"]]
    assert any(MAIN[name] in slip for slip in slips if slip)
    assert all(one.proved and not one.contradicted for one in found.repairs)
    assert found.panel is not None
    assert not read(found.html()).wrong


@pytest.mark.parametrize(
    ("name", "settings", "symbol"),
    [("fedcompass.window.a", {"Qmin": "1", "Qmax": "3", "eta": "4e-08"}, "G_sq"), ("afl_dga.r1", {}, "G")],
)
def test_a_worst_case_of_bounded_gradients_has_a_bound_of_gradients(
    name: str, settings: dict[str, str], symbol: str
) -> None:
    theorem = bl.theorem(name)
    given = for_a_class(theorem, settings)
    assert given[symbol] == "1"
    assert "eta" not in given  # the theorem has a step of its own
    found = bl.worst_case(theorem, 2, settings=given)
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("certified for full gradients: at most ")


def test_the_bound_of_a_repair_is_above_the_left_side_that_it_bounds_and_is_drawn_with_it(area: Audit) -> None:
    assert area.panel is not None
    (other,) = [one.panel for one in area.repairs if one.panel is not None]
    printed, repaired = (one.found.columns() for one in (area.panel, other))
    assert any(printed["mean"] > printed["bound"])
    assert all(repaired["mean"] <= repaired["bound"])
    (chart,) = [one for one in comparison(area, drawn=True) if isinstance(one, Chart)]
    alone = replace(area, repairs=())
    (without,) = [one for one in comparison(alone, drawn=True) if isinstance(one, Chart)]
    assert chart.svg.count("<path") > without.svg.count("<path")


# ---- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.slow  # one audit, which the other tests of this file read too
def test_every_command_on_the_page_is_one(each: Audit) -> None:
    command = typer.main.get_command(application())
    listed = each.as_dict()["commands"]
    page = read(each.html())
    shown = [text for text in page.inside("code") if text.startswith("boundlab ")]
    assert set(listed) <= set(shown)
    for text in shown:
        words = shlex.split(text)
        with command.make_context("boundlab", words[1:]) as context:
            name, one, rest = command.resolve_command(context, words[1:])  # type: ignore[attr-defined]
            one.make_context(name, rest, parent=context)


def test_the_comparisons_command_gives_the_pages_verdict(area: Audit, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert area.panel is not None
    assert invoke(shlex.split(area.panel.command)[1:]) == area.panel.found.verdict.exit_code


def test_the_command_shows_the_verdict_and_writes_whole_files(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "mine.toml").write_text(of_gradient_descent("8*K"), encoding="utf-8")
    names = {kind: tmp_path / f"a.{kind}" for kind in ("html", "latex", "md", "json")}
    options = [f"--{kind}={path}" for kind, path in names.items()]
    words = ["audit", str(tmp_path / "mine.toml"), "--candidates=20", "--jobs=1", "--budget=30"]
    assert invoke([*words, *options]) == ExitCode.REFUTED
    out = capsys.readouterr().out
    assert out.startswith("mine: false: smallest counterexample")
    assert out.count("written: ") == len(names)
    assert json.loads(names["json"].read_text(encoding="utf-8"))["verdict"] == "false"
    assert names["html"].read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["area.theorem9"], "area.theorem8"),
        (["area.theorem8", "--budget=0"], "budget must be between"),
        (["area.theorem8", "--budget=nan"], "budget"),
        (["area.theorem8", "--candidates=0"], "candidates must be between"),
        (["area.theorem8", "--html=/", "--budget=1"], "name a file"),
        (["area.theorem8", "--html=x", "--json=x"], "named twice"),
    ],
)
def test_nonsense_is_one_line(words: list[str], complaint: str, capsys: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["audit", *words]) == ExitCode.USAGE
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_audit_can_be_asked_by_calling_the_package() -> None:
    with pytest.raises(SpecError, match="budget must be between"):
        bl.audit("area.theorem8", budget=0.1)


# ---- media ---------------------------------------------------------------------------------------------------------


def test_a_page_of_html_is_well_formed_and_fetches_nothing(each: Audit) -> None:
    text = each.html()
    page = read(text)
    assert page.wrong == []
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert page.heads[0] == 1
    assert all(after - before <= 1 for before, after in zip(page.heads, page.heads[1:], strict=False))
    tags = {tag for tag, _, _ in page.attributes}
    assert not tags & {"link", "iframe", "object", "embed", "base", "form", "input"}
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"srcset", "action", "style"})
    assert all(value.startswith("#") for _, name, value in page.attributes if name == "href")
    assert all(value.startswith("data:image/svg+xml;base64,") for _, name, value in page.attributes if name == "src")
    assert not re.search(r"url\(|@import", text)
    assert text.count("<script") == text.count("<style") == 1
    assert ("html", "lang", "en") in page.attributes


def test_numbers_that_are_shown_have_no_more_digits_than_one_reads(area: Audit) -> None:
    assert area.case is not None
    third = read_case({**area.case, "x0": [1 / 3]}, has_theorem=True)
    assert "x0=[0.333333…]" in case_words(third)
    setting = around(area.theorem, third, 1)
    assert setting is not None
    assert "x0=[0.3333333333333333]" in setting.command("area.theorem8")  # what repeats it has all


def test_a_chart_says_what_it_shows(area: Audit) -> None:
    page = read(area.html())
    assert ("img", "alt", "area.theorem8: left side and bound") in page.attributes
    assert any("At K = 8 the left side" in text for text in page.inside("figcaption"))


def test_without_matplotlib_a_page_has_the_words_and_the_numbers_of_its_chart(area: Audit, monkeypatch: Any) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _name: None)
    text = area.html()
    assert "<img" not in text
    assert "At K = 8 the left side" in text
    assert "The numbers of the chart" in text


@pytest.mark.nightly
def test_a_theorems_text_is_text_in_every_medium(mine: Audit, tmp_path: Path, capsys: Any) -> None:
    told = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert told in "".join(text for _, text in read(mine.html()).texts)
    steering = "[\x00-\x09\x0b-\x1f\u202a-\u202e]"
    assert not any(re.search(steering, text) for text in (mine.html(), mine.markdown(), mine.latex(), mine.line()))
    plain = mine.markdown()
    assert not re.search(r"<(?!/?(details|summary)>)", plain)
    assert not re.search(r"(?<!\\)\]\(", plain)
    assert "https://" not in plain
    latex = mine.latex()
    assert not re.search(r"\\(input|write)\b", latex)
    assert HOSTILE[:20] not in latex
    assert latex.isascii()
    path = own(tmp_path)
    assert invoke(["audit", str(path), "--candidates=5", "--jobs=1", "--budget=20"]) == ExitCode.STANDS
    shown = capsys.readouterr().out
    assert "[bold]b[/bold]" in shown.replace("\n", " ")
    assert not re.search(steering, shown)


def test_json_is_json_and_says_what_the_page_says(each: Audit) -> None:
    fields = json.loads(json_text(each.as_dict()))
    assert fields == json.loads(json.dumps(each.as_dict(), allow_nan=False))
    assert fields["schema"] == "boundlab/audit/1"
    assert fields["verdict"] == each.verdict
    assert fields["exit_code"] == each.exit_code
    assert fields["theorem"]["id"] == each.theorem.id
    assert [one["what"] for one in fields["not_decided"]] == [gap.what for gap in each.gaps]


def test_each_question_without_an_answer_says_what_would_decide_it(each: Audit) -> None:
    page = each.markdown()
    assert page.count("would be decided by: ") >= len({(gap.what, gap.why) for gap in each.gaps})
    assert all(gap.decided_by for gap in each.gaps)
    assert [one["decided_by"] for one in each.as_dict()["not_decided"]] == [gap.decided_by for gap in each.gaps]


def test_every_medium_has_the_sections_in_the_same_order(area: Audit) -> None:
    titles = [
        "Statement",
        "Verdict",
        "Checks of the formula",
        "Counterexample",
        "Where the proof goes wrong",
        "Printed and repaired",
        "What supports the repair",
        "Bound against error",
        "Not decided",
        "Repeat it",
    ]
    assert read(area.html()).inside("h2") == titles
    assert re.findall(r"^## (.*)$", area.markdown(), re.MULTILINE) == titles
    assert re.findall(r"\\subsection\*\{(.*)\}", area.latex()) == titles
    shown = [line.plain for line in terminal(area.page()) if getattr(line, "style", "") == "bold underline"]
    assert shown == titles


def test_the_page_of_the_documentation_shows_what_is_printed(area: Audit, capsys: Any) -> None:
    root = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
    shown, *_ = re.findall(r"^```\n(.*?)^```", (root / "docs" / "audit.md").read_text(encoding="utf-8"), re.M | re.S)
    print_page(console(), area.page())
    printed = " ".join(capsys.readouterr().out.split())
    assert " ".join(shown.split()) in printed


def luminance(colour: str) -> float:
    """Return the relative luminance of #rgb or #rrggbb, as WCAG 2.2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_of_text_stands_out_from_its_ground_light_dark_and_on_paper() -> None:
    schemes = [dict(re.findall(r"--(\w+):(#\w+)", one)) for one in re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL)]
    assert len(schemes) == 3
    for scheme in schemes:
        grounds = {"ground": scheme, "panel": scheme, "marked": {"text"}}
        for ground, names in grounds.items():
            for name in set(names) - {*grounds, "line"}:
                low, high = sorted(luminance(scheme[one]) for one in (ground, name))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, name)


ABOUT_NOTHING = """
id = "mine"
algorithm = "gd"
metric = "gap"
assumptions = [{assumptions}]
[step]
alpha = "2/(mu*(k + 1 + 8*L/mu))"
[terms]
bound = "2*L/mu*({G}/mu + 4*L*R**2)/(K + 8*L/mu)"
"""


@pytest.mark.parametrize("letter", ["D", "T"])  # of another algorithm, and another counter
def test_what_is_not_defined_is_not_false_and_nothing_is_searched(letter: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    assumed = '"strongly-convex", "smooth", "minimiser"'
    path.write_text(ABOUT_NOTHING.format(assumptions=assumed, G=f"{letter}**7"), encoding="utf-8")
    found = audited(path)
    assert found.search is None
    assert (found.verdict, found.exit_code) == ("not decided", ExitCode.UNDECIDED)
    assert re.match(rf"mine: not decided: {letter} (\(.*\) )?is read, but ", found.line())
    assert not any(one.consequence == "claim false" for one in found.checks.checks)


@pytest.mark.parametrize(("bound", "G"), [("bounded-second-moment", "G**2"), ("bounded-gradients", "G_sq")])
def test_a_theorem_about_nothing_is_said_to_be_about_nothing(
    bound: str, G: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    assumed = f'"strongly-convex", "smooth", "{bound}", "minimiser"'
    path.write_text(ABOUT_NOTHING.format(assumptions=assumed, G=G), encoding="utf-8")
    head = r"applies to no instance that was tried \(0 of [1-9]\d*\): no problem meets strongly-convex and "
    found = audited(path)
    assert found.exit_code == ExitCode.NOT_APPLICABLE
    assert re.match(f"mine: {head}", found.line())
    assert found.search is not None
    assert re.match(f"mine: {head}", found.search.found.line())
    for blocks in (found.brief(), found.page(), found.search.found.page()):
        print_page(console(), blocks)
        said = " ".join(capsys.readouterr().out.split())
        assert "not refuted" not in said
        assert re.search(head, said), said
    assert "scope.nonempty" in {one.id for one in found.checks.failed}
    # One fact has one code, whoever is asked.
    assert {found.checks.exit_code, found.search.found.verdict.exit_code} == {ExitCode.NOT_APPLICABLE}


def test_a_question_that_is_not_asked_for_want_of_time_is_said_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every look at the processor's clock finds a thousand seconds gone; the clock on the wall stands still.
    looks = count(0, 1000)
    clocks = SimpleNamespace(monotonic=lambda: 0.0, process_time=lambda: float(next(looks)))
    monkeypatch.setattr("boundlab.audit._audit.time", clocks)
    whys = {gap.what: gap.why for gap in bl.audit("classics.gd.convex").gaps}
    late = "not asked: the 60 s of the budget were spent"
    assert {"a search for a counterexample", "the proof classics.gd.convex", "a comparison"} <= whys.keys()
    assert {why for why in whys.values() if "spent" in why} == {late}


def test_the_audit_of_a_file_decides_the_proof_that_is_given_and_never_another_theorem_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, size in (("true", "(4*K + 2)"), ("false", "(5*K + 2)")):
        Path(f"{name}.toml").write_text(of_gradient_descent(size, "mine.descent"), encoding="utf-8")
    assert invoke(["prove", "true.toml", "--search"]) == 0
    assert "boundlab audit true.toml --with true_proof.py" in capsys.readouterr().out
    # f(x) = x²/2 at its first step: 0 ≤ R²/6; and a Huber function attains 1/6, which is above 1/7.
    found = audited("true.toml", proof="true_proof.py")
    assert (found.verdict, found.ruling.reasons[0][:15]) == ("proved", "by mine.descent")
    assert shlex.split(found.proofs[0].command) == ["boundlab", "prove", "true.toml", "--with", "true_proof.py"]
    assert invoke(shlex.split(found.proofs[0].command)[1:]) == 0
    with Path("true_proof.py").open("a", encoding="utf-8") as script:
        script.write('\nprint("run")\n')
    capsys.readouterr()
    wrong = audited("false.toml", proof="true_proof.py")
    assert capsys.readouterr().out.count("run") == 1
    assert (wrong.verdict, wrong.proofs[0].settles) == ("false", False)


def test_proofs_that_a_file_names_are_registered_ones_and_take_its_claim(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    text = of_gradient_descent("(4*K + 2)", "mine.descent")
    for name, verdict in (("classics.gd.convex", "proved"), ("classics.gd.nonconvex", "not refuted")):
        file.write_text(f'proofs = ["{name}"]\n{text}', encoding="utf-8")
        assert audited(file, candidates=4).verdict == verdict
    file.write_text(f'proofs = ["nobodys"]\n{text}', encoding="utf-8")
    found = audited(file, candidates=4)
    assert (found.verdict, [one.what for one in found.gaps]) == ("not refuted", ["the proof nobodys"])
    with pytest.raises(SpecError, match="unknown proof"):
        bl.audit("classics.gd.convex", proof="nobodys")
