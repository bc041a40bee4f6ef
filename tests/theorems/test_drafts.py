"""A draft says what the LaTeX says, or leaves it to the author as a comment: nothing is wrong in silence."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from boundlab.cli import invoke
from boundlab.errors import SpecError
from boundlab.theorems import load_theorem
from boundlab.theorems.drafted import Draft, drafted

NOTES = tomllib.loads((Path(__file__).parent / "lecture_notes.toml").read_text(encoding="utf-8"))["note"]
IDS = [note["source"] for note in NOTES]
THEOREM = (
    r"\begin{theorem} Let $f$ be convex and $L$-smooth. Gradient descent with step size $\alpha = 1/L$ has "
    r"\[%s\] \end{theorem}"
)
GAP = r"f(x_K) - f^* \le \frac{L\|x_0-x^*\|^2}{2K}"


def ticked(draft: Draft) -> str:
    return draft.text.replace('    # "', '    "')


def left_of(file: dict[str, Any]) -> str:
    return file.get("metric") or "{quantity} over {over} from {from} to {to}".format(**file["left"])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("note", NOTES, ids=IDS)
def test_a_draft_of_lecture_notes_says_what_they_say(note: dict[str, Any]) -> None:
    if note.get("refused"):
        with pytest.raises(SpecError, match="no bound is found"):
            drafted(note["latex"], "mine")
        return
    draft = drafted(note["latex"], "mine")
    file = tomllib.loads(ticked(draft))
    assert left_of(file) == note["left"]
    assert file["step"].get("alpha") == note.get("step")
    assert file.get("conditions", []) == note.get("conditions", [])
    assert file["terms"].get("main") == note.get("bound")
    assert len(draft.open) == note.get("open", 0)
    for one in draft.open:
        assert f"# open: {' '.join(one.split())}" in draft.text


def test_a_draft_assumes_nothing_until_its_author_ticks_it(tmp_path: Path) -> None:
    draft, file = drafted(THEOREM % GAP, "mine"), tmp_path / "mine.toml"
    assert tomllib.loads(draft.text)["assumptions"] == []
    file.write_text(ticked(draft), encoding="utf-8")
    assert {*load_theorem(file).assumptions} >= {"convex", "smooth", "minimiser"}


@pytest.mark.parametrize(
    "bound",
    [
        r"f(x_K) - f^* \le \frac{L\|x_0-x^*\|_1^2}{2K}",  # another norm
        r"f(x_K) - f^* \le \frac{C L\|x_0-x^*\|^2}{2K}",  # a letter without a meaning
        r"f(x_K) - f^* \le \frac{n L\|x_0-x^*\|^2}{2K}",  # n may be the dimension
        r"f(x_K) - f^* \le \sqrt[3]{L/K}",
        r"f(x_K) - f^* \le L\|x_0-x^*\|^2/2K",
        r"f(x_K) - f^* \le 2f(x_0) - f^*",  # no gap, twice the value
        r"f(x_K) - f^* \le \log^2 K",
        r"f(x_{k+1}) - f^* \le (1-1/L)(f(x_k) - f^*)",  # one step, and no bound
    ],
)
def test_what_is_not_understood_stays_a_comment(bound: str) -> None:
    draft = drafted(THEOREM % bound, "mine")
    assert "main" not in tomllib.loads(draft.text)["terms"]
    assert any("the bound is not understood" in one for one in draft.open)


@pytest.mark.parametrize(
    "left",
    [r"\|x_K-x^*\|", r"f(x_K)", r"\|x_K-x^*\|_A^2", r"\mathbb{E}\|\nabla f(x_K)\|", r"\sum_{k=0}^{K} f(x_k) - f^*"],
)
def test_another_left_side_is_refused(left: str) -> None:
    with pytest.raises(SpecError, match="no bound is found"):
        drafted(THEOREM % (left + r" \le L\|x_0-x^*\|^2/K"), "mine")


# Sentences of a theorem on smooth convex functions, where ‹ › stand around what no line of the draft says.
QUALIFIED = (
    "‹Asynchronous› gradient descent with ‹delays of at most ten› iterations @ satisfies",
    "Gradient descent with ‹compressed› gradients @ satisfies",
    "Gradient descent with ‹quantised› updates @ satisfies ‹up to constants›",
    "‹Federated asynchronous› SGD @ satisfies ‹up to logarithmic factors›",
    "‹Local› SGD with ‹ten local› steps @ satisfies",
    "Gradient descent @ satisfies with ‹high probability›",
    "SGD @ satisfies with ‹probability at least 0.9›",
    "Gradient descent on a ‹non-smooth and nonconvex› function @ satisfies ‹asymptotically›",
    "‹FedAvg with partial participation› @ satisfies ‹almost surely›",
    "‹Delayed› gradient descent @ satisfies",
    "Gradient descent with ‹stale› gradients @ satisfies",
    "‹Mini-batch› SGD with ‹batches› of size $b$ @ satisfies",
    "SGD ‹without replacement› @ satisfies",
    "Gradient descent with ‹error feedback› @ satisfies for ‹some large enough› $K$",
    "Gradient descent with ‹momentum› @ satisfies",
    "‹Conditional› gradient descent @ satisfies",
    "The ‹conditional› gradient method @ satisfies",
    "‹Coordinate› descent @ satisfies",
    "‹Adaptive› gradient descent @ satisfies at the ‹best› iterate",
    "Gradient descent @ satisfies for the ‹averaged› iterate",
    "Gradient descent @ satisfies ‹unless the starting point is far away›",
    "‹Unlike› heavy-ball momentum, gradient descent @ satisfies",
    "‹Distributed› gradient descent with ‹10 workers› @ satisfies",
    "‹Clipped› and ‹preconditioned› gradient descent @ satisfies".replace("› and ‹", " and "),
    "‹Two-point› gradient descent @ satisfies",
    "Gradient descent @, ‹but ten times smaller›, satisfies",
)
# The same of what is said of f, with what the draft assumes.
ON_F = (
    ("Let $f$ be $L$-smooth and ‹not necessarily convex›.", "smooth"),
    ("Let $f$ be $L$-smooth and ‹possibly nonconvex›.", "smooth"),
    ("Let $f$ be $L$-smooth and ‹weakly convex›.", "smooth"),
    ("Let $f$ be $L$-smooth. We ‹do not› assume that $f$ is ‹convex›.", "smooth"),
    ("Let $f$ be ‹neither convex nor smooth›.", ""),
    ("Let $f$ be $L$-smooth ‹over a convex› set $C$.", "smooth"),
    ("Let $f$ be $L$-smooth and let $h$ be ‹convex›.", "smooth"),
    ("Let $f$ be convex and $L$-smooth ‹relative› to $h$.", "convex smooth"),
    ("Let $f$ satisfy the ‹PL› inequality and be $L$-smooth.", "smooth"),
    ("Let $f$ be convex and satisfy the ‹Polyak-Łojasiewicz› inequality.", "convex"),
    ("Let $f$ be convex. ‹Assumptions 1› hold.", "convex"),
)
DRAFTS = (
    *((f"Let $f$ be convex and $L$-smooth. {one}", "convex smooth") for one in QUALIFIED),
    *((f"{one} Gradient descent @ satisfies", known) for one, known in ON_F),
)
JUDGES = ("check", "compare", "falsify", "exact", "eval", "audit", "prove --search", "worst-case")


def qualified(text: str) -> Draft:
    plain = re.sub("[‹›]", "", text).replace("@", r"with step size $\alpha = 1/L$")
    return drafted(rf"\begin{{theorem}} {plain} \[{GAP}\] \end{{theorem}}", "mine")


@pytest.mark.parametrize(("text", "assumed"), DRAFTS)
def test_each_word_that_gave_no_line_of_a_draft_is_left_open_and_the_method_with_it(text: str, assumed: str) -> None:
    draft = qualified(text)
    left_open = {match for one in draft.open for match in re.findall('^not understood: "(.*)"', one)}
    assert left_open == {*re.findall("‹(.*?)›", text)}
    assert {*draft.assumptions} - {"minimiser"} == {*assumed.split()}
    assert tomllib.loads(draft.text)["algorithm"] == ""


@pytest.mark.parametrize("judge", JUDGES)
def test_no_judge_takes_a_draft_whose_method_is_open(
    judge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    draft = qualified(DRAFTS[0][0])
    for text in (draft.text, ticked(draft)):
        file.write_text(text, encoding="utf-8")
        assert invoke([*judge.split(), str(file)]) == 2
        error = capsys.readouterr().err
        assert "the algorithm is open" in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "algorithm"),
    [
        ("Let $f$ be convex and $L$-smooth. Then stochastic gradient descent @ satisfies, in expectation,", "gd"),
        ("Suppose each $f_i$ is convex and $L$-smooth. The iterates of the gradient method @ obey", "gd"),
        ("If $f$ is $L$-smooth and convex, then for all $K \\ge 1$, gradient descent @ gives", "gd"),
        ("Let $f$ be closed, proper, convex and $L$-smooth. We run steepest descent @. After $K$ steps,", "gd"),
        ("Let $f$ be convex and $L$-smooth. Nesterov's accelerated gradient method @ has", "nesterov"),
        ("Let $f$ be convex and $L$-smooth. Gradient descent with heavy-ball momentum @ has", "heavy_ball"),
        ("Let $f$ be convex and $L$-smooth. The last iterate of projected gradient descent @ has", "gd"),
    ],
)
def test_words_that_name_exactly_one_method_name_it(text: str, algorithm: str) -> None:
    draft = qualified(text)
    assert tomllib.loads(draft.text)["algorithm"] == algorithm
    assert not any("not understood" in one for one in draft.open)


@pytest.mark.parametrize(
    ("says", "first"), [("t \\ge 0", 0), ("t > 0", 1), ("t = 0, 1, \\dots", 0), ("t \\ge 1", 1), ("t \\ge 10", None)]
)
def test_the_least_number_of_iterations_is_that_of_the_text(says: str, first: int | None) -> None:
    draft = drafted((THEOREM % GAP.replace("K", "t")).replace("has", f"has, for all ${says}$,"), "mine")
    file = tomllib.loads(draft.text)
    assert file.get("first", 1) == (1 if first is None else first)
    assert (file["algorithm"] == "") == (first is None)


def test_a_step_that_changes_is_left_open_whatever_counts_the_iterations() -> None:
    latex = (THEOREM % GAP.replace("K", "k")).replace(r"\alpha = 1/L", r"\alpha_k = 1/(L\sqrt{k})")
    draft = drafted(latex, "mine")
    assert "alpha" not in tomllib.loads(draft.text)["step"]
    assert any("it changes with k" in one for one in draft.open)


@pytest.mark.parametrize(
    ("start", "bound", "left_open"), [("$x_1$", "L/K", 0), ("$x_0$", "L/(K - 1)", 0), ("", "L/(K - 1)", 1)]
)
def test_the_first_model_is_counted_as_the_text_counts_it(start: str, bound: str, left_open: int) -> None:
    draft = drafted(f"Begin at {start}. " + THEOREM[len(r"\begin{theorem}") :] % r"f(x_{K+1}) - f^* \le L/K", "mine")
    assert tomllib.loads(draft.text)["terms"]["main"] == bound
    assert len(draft.open) == left_open


def test_the_command_prints_the_statement_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "mine.tex"
    source.write_text(THEOREM % GAP, encoding="utf-8")
    asked = ["new", "theorem", "mine", f"--latex={source}", f"--out={tmp_path}"]
    assert invoke(asked) == 0
    shown = capsys.readouterr().out
    assert "main: L·R²/(2·K)" in shown
    assert "not assumed until you tick it" in shown
    assert "every f_i is convex" not in shown
    assert invoke(asked) == 2  # the file is there


@pytest.mark.parametrize(
    ("kind", "latex", "said"),
    [
        ("algorithm", THEOREM % GAP, "--latex drafts a theorem"),
        ("theorem", "nothing", "no bound is found"),
        ("theorem", (THEOREM % GAP) * 2, "the file has 2 theorems"),
        ("theorem", r"\newcommand{\a}{b", "a brace of the file is not closed"),
        ("theorem", r"\newcommand{\a}{%s}\a" % (r"\a" * 60), "the commands of the file write out"),
    ],
)
def test_bad_input_is_one_line(
    kind: str, latex: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "mine.tex"
    source.write_text(latex, encoding="utf-8")
    assert invoke(["new", kind, "mine", f"--latex={source}", f"--out={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "mine.toml").exists()
