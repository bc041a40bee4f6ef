"""‖E x_K − x*‖², the quantity at the mean of the iterates: by first moments, and nowhere by averages over runs."""

from fractions import Fraction
from pathlib import Path

import pytest
from exact_makers import exact_of

import boundlab as bl
from boundlab.errors import AssumptionError, SpecError
from boundlab.falsify import falsify
from boundlab.theorems import Theorem, load_theorem

TEXT = """
id = "mine"
algorithm = "{algorithm}"
metric = "mean-distance"
assumptions = ["smooth", "minimiser", "bounded-variance"]
about = "the mean"
{options}
[step]
alpha = "1/(2*L)"
[terms]
bound = "R**2"
noise = "0*sigma"
"""
UNIFORM = '[options]\nsampling = "uniform"'
TWO = "quadratic:A=[[[1]],[[1]]],b=[[-1],[1]],x0=3"


def theorem(folder: Path, algorithm: str = "gd", options: str = "") -> Theorem:
    path = folder / "mine.toml"
    path.write_text(TEXT.format(algorithm=algorithm, options=options))
    return load_theorem(str(path))


@pytest.mark.parametrize("sigma", [0, 1, 100])
@pytest.mark.parametrize("options", ["", UNIFORM])
def test_neither_noise_nor_who_is_asked_moves_the_mean_of_steps_on_parabolas(
    tmp_path: Path, sigma: int, options: str
) -> None:
    found = bl.compare(theorem(tmp_path, options=options), f"{TWO},sigma={sigma}", "deterministic", iterations=6)
    assert found.band.mean.tolist() == pytest.approx([9.0 / 4.0**k for k in found.plan.ks.tolist()], rel=1e-12)
    assert found.verdict == "holds"


@pytest.mark.parametrize("n", [2, 3])
def test_asynchrony_begets_momentum(tmp_path: Path, n: int) -> None:
    """Of n equal memoryless clients the mean is that of the heavy ball with β = 1 − 1/n and steps α/n."""
    alpha, rest = Fraction(1, 2), 1 - Fraction(1, n)
    x = [Fraction(3), Fraction(3) * (1 - alpha)]
    for k in range(1, 6):
        x.append(x[k] + rest * (x[k] - x[k - 1]) - alpha / n * x[k])
    case = {
        "algorithm": "async_sgd",
        "problem": {"type": "quadratic", "A": [[[1]]] * n, "b": [[0]] * n},
        "x0": [3],
        "delays": {"type": "exponential", "rates": [1] * n},
    }
    said = theorem(tmp_path, "async_sgd")
    for k in range(1, 7):
        found = exact_of(said, {**case, "iterations": k})
        assert (found.kind, Fraction(found.left_text.split(" = ")[0])) == ("exact", x[k] ** 2)
    problem = f"quadratic:A={[[[1]]] * n},b={[[0]] * n},x0=3,sigma=2".replace(" ", "")
    compared = bl.compare(said, problem, "exponential", iterations=6)
    low, high = compared.band.lower, compared.band.upper
    for k, at_least, at_most in zip(compared.plan.ks.tolist(), low, high, strict=True):
        assert at_least <= float(x[k] ** 2) <= at_most
        assert at_most - at_least < 1e-9


def test_what_averages_over_runs_says_that_it_does_not_know_it(tmp_path: Path) -> None:
    said = theorem(tmp_path, options=UNIFORM)
    with pytest.raises(SpecError, match="is about a mean iterate, which no run shows"):
        bl.compare(said, f"{TWO},sigma=1", "deterministic", iterations=3, exact=False)
    with pytest.raises(SpecError, match="mean-distance is computed by moments, and problem huber is no quadratic"):
        bl.compare(said, "huber:c=[0,2],x0=3", "deterministic", iterations=3)
    with pytest.raises(AssumptionError, match="about the mean iterate, but a search adds up single runs"):
        falsify(said, limit=10)
    with pytest.raises(SpecError, match="needs a left side that is a mean of recorded quantities"):
        bl.worst_case(said, 2, settings={"L": "1"})


# ------------------------------------------------------------------- quantities whose expectation nothing computes


@pytest.mark.parametrize("noise", ["deterministic", "bounded-variance"])
@pytest.mark.parametrize(("quantity", "size"), [("distance", "R**2"), ("gap", "B*R"), ("slope", "B**2")])
def test_the_smallest_within_an_expectation_is_refused_before_anything_is_tried(
    quantity: str, size: str, noise: str, tmp_path: Path
) -> None:
    path = tmp_path / "best.toml"
    path.write_text(
        f"""
id = "best"
algorithm = "area"
assumptions = ["lipschitz", "minimiser", "iid-events", "{noise}"]
[left]
quantity = "{quantity}"
over = "best"
[step]
alpha = "alpha"
[terms]
only = "{size}"
"""
    )
    with pytest.raises(AssumptionError, match=f"about {quantity} over best, .* a search has no expectation of it"):
        falsify(load_theorem(str(path)), limit=10)
