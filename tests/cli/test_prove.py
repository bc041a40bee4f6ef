"""boundlab prove: what it says of proofs of ours and of yours, and how it ends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from page_makers import closes_what_it_opens

from boundlab.cli import invoke
from boundlab.prove import Fact, Outcome, Proof, Range, Script, Status, expr, run
from boundlab.registry import registered
from boundlab.verdict import ExitCode

MINE = """
from boundlab.prove import Range, Script, expr, scalar

def write(proof):
    x = proof.kernel.context.declare("x", Range(low=scalar(0)))
    small = proof.step("small", expr(x) {relation} 1)
    proof.step("its double", expr(2 * x) {relation} 2, [small])
    proof.step("sure", expr(x) >= 0)

PROOFS = (Script("mine", "a number", "nowhere", write),)
"""


def output(capsys: Any, *arguments: str, code: int = ExitCode.STANDS) -> str:
    assert invoke(["prove", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    return str(captured.out)


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(MINE.format(relation="<="))
    return str(tmp_path / "mine.py")


def test_a_repaired_theorem_is_proved_and_its_assumptions_are_named(capsys: Any) -> None:
    page = output(capsys, "area.theorem8.repaired.fixed-step")
    assert page.rstrip().endswith("proved: area.theorem8.repaired.fixed-step")
    assert "assumptions used: algorithm, bounded-variance, convex, iid-events, lipschitz, start" in page
    assert "Lemma 21" in page


@pytest.mark.nightly
def test_without_a_name_every_registered_proof_has_a_line(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: registered("proofs")[name] for name in ("classics.gd.convex", "area.theorem8", "area.optimal-rate")}
    monkeypatch.setattr("boundlab.registry.registered", lambda kind: some if kind == "proofs" else registered(kind))
    assert invoke(["prove"]) in (ExitCode.STANDS, ExitCode.REFUTED, ExitCode.UNDECIDED)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:] if line[:1].strip()]
    assert lines == [*some]


def test_one_step_in_full_has_its_facts_and_multipliers(capsys: Any) -> None:
    arguments = ("area.theorem8.repaired.fixed-step", "--step", "a pass")
    page = output(capsys, *arguments)
    assert "1  times  [step T1, all local steps]" in page
    assert "2*alpha  times  [step Lemma 21]" in page
    assert "0 < alpha" in page
    found = json.loads(output(capsys, *arguments, "--json"))
    assert [(one["multiplier"], one["step"]) for one in found["from"]] == [
        ("1", "T1, all local steps"),
        ("2*alpha", "Lemma 21"),
    ]


def test_latex_has_each_verdict_in_the_margin(capsys: Any) -> None:
    page = output(capsys, "classics.subgradient.fixed-step", "--latex")
    claims = page.count(r"\begin{equation*}") + page.count(r"\begin{quote}")
    assert page.count(r"\marginpar{\footnotesize\raggedright proved}") == page.count(r"\paragraph{") == claims > 4
    assert closes_what_it_opens(page)


def test_a_file_of_ones_own_is_run_and_what_is_not_shown_is_named(capsys: Any, mine: str) -> None:
    page = output(capsys, mine, code=ExitCode.UNDECIDED)
    assert "small (does not follow)" in page
    assert "steps that depend on it: its double" in page
    assert "follows" in page
    found = json.loads(output(capsys, mine, "--json", code=ExitCode.UNDECIDED))
    assert [step["verdict"] for step in found["steps"]] == ["does not follow", "follows", "proved"]
    assert found["verdict"] == "not proved"
    assert found["hanging"] == {"small": ["its double"]}
    step = output(capsys, mine, "--step", "small", code=ExitCode.UNDECIDED)
    assert "steps that depend on it: its double" in step


def test_a_false_claim_without_an_instance_is_unproved_and_never_refuted(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "false.py"
    path.write_text(MINE.format(relation="<=").replace("expr(x) >= 0", "expr(x) <= -1"))
    page = output(capsys, str(path), code=ExitCode.UNDECIDED)
    assert "refuted" not in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "it sets no PROOFS"),
        ("PROOFS = ()", "must hold scripts"),
        ("PROOFS = (1,)", "must hold scripts"),
        ("raise SystemExit(0)", "SystemExit"),
        ("PROOFS = (", "SyntaxError"),
        ('from boundlab.prove import Script\nPROOFS = (Script("a", "", "", print, "no.such"),)', "unknown theorem"),
        (
            'from boundlab.prove import Script\nPROOFS = Script("a", "", "", print, "classics.ogm")',
            "ogm does not",
        ),
    ],
)
def test_a_file_that_holds_no_proof_is_bad_input_in_one_line(
    text: str, words: str, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert invoke(["prove", str(tmp_path / "mine.py")]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_what_a_file_raises_while_it_proves_is_unforeseen_and_its_line_is_named(tmp_path: Path, capsys: Any) -> None:
    text = 'from boundlab.prove import Script\ndef write(proof):\n    1 / 0\nPROOFS = Script("a", "", "", write)\n'
    (tmp_path / "mine.py").write_text(text)
    assert invoke(["prove", str(tmp_path / "mine.py")]) == ExitCode.UNFORESEEN
    assert "mine.py:3" in capsys.readouterr().err


def test_the_trace_is_written_after_the_verdict_is_shown(capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    page = output(capsys, "area.optimal-rate", "--trace", str(file))
    assert page.rstrip().endswith(f"written: {file}")
    assert page.index("proved") < page.index("written:")
    assert json.loads(file.read_text(encoding="utf-8"))["proof"] == "area.optimal-rate"


def test_the_example_of_the_page_is_proved(capsys: Any, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "prove.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(example)
    assert "proved: classics.subgradient.fixed-step" in output(capsys, str(tmp_path / "mine.py"))


# ---------------------------------------------------------------------- what a proof amounts to


def amounts(write: Any, proves: str = "", printed: bool = False) -> tuple[str, ExitCode]:
    found = run(Script("x", "", "", write, proves, printed))
    return found.verdict, found.exit_code


def claim(proof: Proof) -> Fact:
    return proof.step("two", expr(2) >= 1)


def test_nothing_but_a_conclusion_proves_a_theorem() -> None:
    gd = "classics.gd.convex"
    assert amounts(claim) == ("proved", ExitCode.STANDS)
    assert amounts(claim, gd)[1] is ExitCode.UNDECIDED
    assert amounts(claim, gd, printed=True) == ("every step is proved, but not the theorem", ExitCode.UNDECIDED)
    assert amounts(lambda proof: proof.conclude(claim(proof)), gd)[1] is ExitCode.UNDECIDED


def test_an_empty_proof_and_one_of_remarks_prove_nothing() -> None:
    for write in (lambda _proof: None, lambda proof: proof.remark("a", "words")):
        assert amounts(write) == ("nothing is proved", ExitCode.UNDECIDED)
        assert not run(Script("x", "", "", write)).proved
    assert run(Script("x", "", "", claim)).proved
    assert not run(Script("x", "", "", claim, "classics.gd.convex", printed=True)).proved


def test_a_step_that_cites_a_case_is_claimed_in_that_case() -> None:
    cases = []

    def write(proof: Proof) -> None:
        x = proof.kernel.context.declare("x", Range())
        below, above = proof.kernel.split("x", 0)
        sure = proof.step("sure", expr(x) >= 0, context=above)
        wrong = proof.step("wrong", expr(x) >= 1, [sure])
        both = proof.step("of two cases", expr(x) >= 1, [sure, proof.step("small", expr(x) <= 0, context=below)])
        cases.extend([wrong.context is above, both.context is proof.kernel.context])

    assert [step.status for step in run(Script("x", "", "", write)).steps].count(Status.UNPROVED) == 2
    assert cases == [True, True]


def test_the_table_has_claims_as_they_were_written(capsys: Any) -> None:
    page = output(capsys, "classics.subgradient.fixed-step")
    assert "  E‖x[k + 1] − x*‖² + 2·alpha·(E f(x[k]) − E f(x*)) ≤ E‖x[k] − x*‖² + B²·alpha²\n" in re.sub(
        " +\n", "\n", page
    )
    step = output(capsys, "classics.subgradient.fixed-step", "--step", "the potential falls")
    assert "claim   E‖x[k + 1] − x*‖² + 2·alpha·(E f(x[k]) − E f(x*)) ≤" in step
    assert "that is E‖star‖² - 2·E⟨star, x[k + 1]⟩ + E‖x[k + 1]‖² - 2*alpha*n^(-1)·Σ" in step


def test_a_refuted_step_ends_with_1_and_so_do_many_proofs_with_one_of_them() -> None:
    outcome = run(Script("x", "", "", claim))
    step = outcome.steps[0]
    refuted = type(step)(step.name, step.says, step.claim, Status.REFUTED, "at x = 0", 0.0, step.fact)
    made = Outcome(outcome.script, (refuted,), None, outcome.kernel)
    assert (made.verdict, made.exit_code) == ("a step is refuted", ExitCode.REFUTED)
    assert ExitCode.worst([ExitCode.STANDS, ExitCode.UNDECIDED]) is ExitCode.UNDECIDED
    assert ExitCode.worst([ExitCode.STANDS, ExitCode.REFUTED, ExitCode.UNDECIDED]) is ExitCode.REFUTED
    assert ExitCode.worst([]) is ExitCode.STANDS
