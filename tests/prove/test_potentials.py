"""Proofs that are looked for: textbook theorems, files written after the search was, and false twins of both."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from boundlab.cli import invoke
from boundlab.prove.run import look

QUICK = ("classics.gd.nonconvex", "classics.subgradient.fixed-step", "classics.sgd.nonconvex", "classics.sgd.gap")
FOUND = (
    *QUICK,
    "classics.gd.convex",
    "classics.gd.convex.book",
    "classics.gd.ergodic",
    "classics.gd.gradient",
    "classics.gd.gradient-gap",
    "classics.gd.pl",
    "classics.gd.strongly-convex",
    "classics.sgd.convex",
    "classics.sgd.distance",
    "classics.subgradient",
    "classics.subgradient.projected",
    "classics.sgd.projected",
    "classics.sgd.heterogeneous",
)


class File(NamedTuple):
    """A theorem about gradient descent: what it bounds, under what, and by what."""

    metric: str
    assumptions: Sequence[str]
    step: str  # the largest one
    terms: Sequence[str]

    def write(self, folder: Path) -> str:
        """Write the file, and return its name."""
        terms = "\n".join(f'term{number} = "{one}"' for number, one in enumerate(self.terms))
        text = (
            f'id = "mine"\nalgorithm = "gd"\nmetric = "{self.metric}"\n'
            f"assumptions = {[*self.assumptions]}\nsettable = ['alpha']\nconditions = ['alpha <= {self.step}']\n"
            f'[options]\nsampling = "all"\nM = "1"\ndecay = "none"\n[step]\nalpha = "{self.step}"\n[terms]\n{terms}\n'
        )
        file = folder / "mine.toml"
        file.write_text(text, encoding="utf-8")
        return str(file)


_FULL = ("deterministic",)
_CONVEX = ("convex", "smooth", "minimiser")
_STRONG = (*_CONVEX, "strongly-convex")
_NOISE = ("bounded-variance",)
_ANY = ("smooth", "bounded-below")
_KINKS = ("convex", "lipschitz", "minimiser", "deterministic")

NEW: Mapping[str, File] = {
    "average, shorter steps": File("ergodic-gap", (*_CONVEX, *_FULL), "1/(2*L)", ("R**2/(2*alpha*K)",)),
    "last iterate": File("gap", (*_CONVEX, *_FULL), "1/L", ("R**2/(2*alpha*K)",)),
    "mean gradient": File("gradient-norm", (*_ANY, *_FULL), "1/L", ("2*F0/(alpha*T)",)),
    "gap, strongly convex": File("gap", (*_STRONG, *_FULL), "1/L", ("F0*(1 - alpha*mu)**K",)),
    "distance": File("squared-distance", (*_STRONG, *_FULL), "1/L", ("R**2*(1 - alpha*mu)**K",)),
    "distance, noise": File(
        "squared-distance", (*_STRONG, *_NOISE), "1/L",
        ("R**2*(1 - alpha*mu)**K", "alpha*sigma**2*(1 - (1 - alpha*mu)**K)/(mu*n)"),
    ),
    "gap, noise": File("gap", (*_STRONG, *_NOISE), "1/L", ("F0*(1 - alpha*mu)**K", "L*alpha*sigma**2/(2*mu*n)")),
    "subgradients": File("ergodic-gap", _KINKS, "1", ("R**2/(2*alpha*K)", "alpha*B**2")),
    "average, noise": File("ergodic-gap", (*_CONVEX, *_NOISE), "1/(2*L)", ("R**2/(alpha*K)", "alpha*sigma**2/n")),
    "mean gradient, convex": File("gradient-norm", (*_CONVEX, *_FULL), "1/L", ("L*R**2/(alpha*T)",)),
}  # fmt: skip

# Each is false: quadratics of one curvature, or Huber functions, have larger left sides.
FALSE: Mapping[str, File] = {
    "average / 4": File("ergodic-gap", (*_CONVEX, *_FULL), "1/L", ("R**2/(8*alpha*K)",)),
    "last iterate · 2/5": File("gap", (*_CONVEX, *_FULL), "1/L", ("R**2/(5*alpha*K)",)),
    "mean gradient / 2": File("gradient-norm", (*_ANY, *_FULL), "1/L", ("F0/(alpha*T)",)),
    "gap, cubed": File("gap", (*_STRONG, *_FULL), "1/L", ("F0*(1 - alpha*mu)**(3*K)",)),
    "distance, cubed": File("squared-distance", (*_STRONG, *_FULL), "1/L", ("R**2*(1 - alpha*mu)**(3*K)",)),
    "distance, noise / 4": File(
        "squared-distance", (*_STRONG, *_NOISE), "1/L",
        ("R**2*(1 - alpha*mu)**K", "alpha*sigma**2*(1 - (1 - alpha*mu)**K)/(4*mu*n)"),
    ),
    "gap, noise / 2": File("gap", (*_STRONG, *_NOISE), "1/L", ("F0*(1 - alpha*mu)**K", "L*alpha*sigma**2/(4*mu*n)")),
    "subgradients / 8": File("ergodic-gap", _KINKS, "1", ("R**2/(2*alpha*K)", "alpha*B**2/16")),
    "average, noise, first / 8": File(
        "ergodic-gap", (*_CONVEX, *_NOISE), "1/(2*L)", ("R**2/(8*alpha*K)", "alpha*sigma**2/n")
    ),
    "mean gradient, convex / 2": File("gradient-norm", (*_CONVEX, *_FULL), "1/L", ("L*R**2/(2*alpha*T)",)),
    "average, not convex": File("ergodic-gap", ("smooth", "minimiser", *_FULL), "1/L", ("R**2/(2*alpha*K)",)),
    "distance, not strongly convex": File("squared-distance", (*_CONVEX, *_FULL), "1/L", ("(3/4)**K*R**2",)),
    "average, steps too long": File("ergodic-gap", (*_CONVEX, *_FULL), "2/L", ("R**2/(2*alpha*K)",)),
    "mean gradient, steps too long": File("gradient-norm", (*_ANY, *_FULL), "2/L", ("2*F0/(alpha*T)",)),
    "last iterate, 6 for 4": File("gap", (*_CONVEX, *_FULL), "1/L", ("L*R**2/(6*K*L*alpha + 2)",)),
    "gradient by the gap, 3 for 2": File(
        "gradient-norm-last", (*_CONVEX, *_FULL), "1/L", ("2*F0*L/(3*K*L*alpha + 1)",)
    ),
    "gradient, 2 for 1": File("gradient-norm-last", (*_CONVEX, *_FULL), "1/L", ("L**2*R**2/(2*K*L*alpha + 1)**2",)),
    "mean gradient, noise / 4": File(
        "gradient-norm", (*_ANY, *_NOISE), "1/L", ("2*F0/(alpha*T)", "L*alpha*sigma**2/(4*n)")
    ),
    "distance, noise / n²": File(
        "squared-distance", (*_STRONG, *_NOISE), "2/(L + mu)",
        ("R**2*(1 - alpha*mu)**(2*K)", "alpha*sigma**2*(1 - (1 - alpha*mu)**(2*K))/(mu*n**2*(2 - alpha*mu))"),
    ),
    "gap, noise forgotten": File("gap", (*_STRONG, *_NOISE), "1/L", ("F0*(1 - alpha*mu)**K",)),
}  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", QUICK)
def test_a_textbook_theorem_is_proved_unaided(name: str) -> None:
    assert look(name).outcome is not None


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted({*FOUND} - {*QUICK}))
def test_another_textbook_theorem_is_proved_unaided(name: str) -> None:
    assert look(name).outcome is not None


@pytest.mark.nightly
@pytest.mark.parametrize("name", NEW)
def test_a_new_file_is_proved_unaided(name: str, tmp_path: Path) -> None:
    assert look(NEW[name].write(tmp_path)).outcome is not None


@pytest.mark.nightly
@pytest.mark.parametrize("name", FALSE)
def test_a_false_twin_is_not_proved(name: str, tmp_path: Path) -> None:
    assert look(FALSE[name].write(tmp_path)).outcome is None


def test_what_is_found_is_written_as_a_file_that_prove_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    NEW["mean gradient"].write(tmp_path)
    assert invoke(["prove", "mine.toml", "--search", "-q"]) == 0
    assert re.fullmatch(r"mine, \d+ steps: proved\n", capsys.readouterr().out)
    assert invoke(["prove", "mine.toml"]) == 2
    assert "boundlab prove mine_proof.py decides the proof" in capsys.readouterr().err
    assert invoke(["prove", "mine_proof.py"]) == 0
    assert "proved: mine.toml" in capsys.readouterr().out


def test_where_none_is_found_each_potential_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["prove", FALSE["mean gradient / 2"].write(tmp_path), "--search"]) == 3
    out = capsys.readouterr().out
    assert "the potential is not shown to fall: " in out
    assert "mean, value, descent" not in out
    assert "no proof was found: " in out
    assert out.count("\n") < 10
    assert invoke(["prove", str(tmp_path / "mine.toml"), "--search", "-v"]) == 3
    assert re.search("the potential is not shown to fall: .*mean, value, descent", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["classics.delayed-sgd", "classics.nesterov", "classics.incremental", "fedbuff.rf1"])
def test_a_search_says_at_once_that_it_knows_gradient_descent_only(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["prove", name, "--search"]) == 2
    assert "the search knows gradient descent (gd) only" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["prove", "--search"], ["prove", "classics.gd.pl", "--search", "--json"]])
def test_a_search_needs_a_theorem_and_shows_what_it_finds(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(words) == 2
    assert "--search" in capsys.readouterr().err
