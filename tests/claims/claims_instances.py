"""Instances on which printed theorems fail, on the pages of docs/theory: replayed in exact numbers."""

import itertools
import math
import re
from fractions import Fraction

import pytest
from page_numbers import claim
from replays import Replay, case, comparisons, replay, sides, slopes, tex

from boundlab.theorems import load_theorem

AREA, AFL_DGA, FEDCOMPASS = (f"docs/theory/{name}.md" for name in ("area", "afl_dga", "fedcompass"))
FEDFA, FEDSTALEWEIGHT = (f"docs/theory/{name}.md" for name in ("fedfa", "fedstaleweight"))
REFUTATIONS = "docs/refutations.md"
_WORDS = {3: "three", 4: "fourth", 5: "fifth", 6: "six"}

# ---------------------------------------------------------------------- composite


@claim("docs/theorems.md", r"move from 0 to the mean of # and #, and stay at #, while $x^\star=#$")
def mean_of_proximal_steps() -> list[str]:
    def step(x: Fraction, centre: int) -> Fraction:
        y = x - (x - centre)  # of 1/L on ½(x − c)²
        return max(y - 1, Fraction(0)) - max(-y - 1, Fraction(0))

    ends = [step(Fraction(0), 0), step(Fraction(0), 10)]
    there = sum(ends) / 2
    assert (step(there, 0) + step(there, 10)) / 2 == there
    best = step(Fraction(0), 5)  # the mean of the clients is ½(x − 5)² and a constant
    return [*map(str, ends), f"{float(there):g}", str(best)]


# ---------------------------------------------------------------------- AREA


def setting(name: str) -> tuple[str, str, str]:
    """Return M, p and K of a counterexample of AREA."""
    (p,) = case(name)["delays"].partition("p=[")[2].removesuffix("]").split(",")
    return str(case(name)["parameters"]["M"]), f"{float(p):g}", str(case(name)["iterations"])


def real(a: str, b: str, c: str) -> float:
    return int(a) * math.sqrt(int(b)) / int(c)


def moved_once() -> dict[str, float]:
    """Return what two waiting times, one after the other, make of a server that moves once, from 1 to 1 - 2·alpha."""
    one, (_, share, last) = replay("area.theorem8.printed-start"), setting("area.theorem8.printed-start")
    p, K = Fraction(share), int(last)
    q, alpha = 1 - p, one.found.right / 1.5
    still = [(p ** (k + 1) - q ** (k + 1)) / (p - q) for k in range(K)]
    w = sum(still) / K
    assert w == (p / q * (1 - p**K) - q / p * (1 - q**K)) / (K * (p - q))
    assert math.isclose(alpha**2, (1 / q + 2 / p) / (3 * K))
    left = 1 - 2 * alpha * (1 - float(w))
    assert math.isclose(left, one.found.left, rel_tol=1e-12)
    return {"p": p, "q": q, "alpha": alpha, "w": float(w), "left": left, "right": 1.5 * alpha}


@claim(AREA, r"$M=#$, $p=\frac#{#}$, $q=p_s=\frac#{#}$, $K=#$: $\alpha=\sqrt{#}/#=#$ is just above $\frac13$")
def printed_start() -> list[str]:
    (M, _, K), found = setting("area.theorem8.printed-start"), moved_once()
    shares = [str(part) for name in "pq" for part in Fraction(found[name]).as_integer_ratio()]
    (root,) = re.findall(r"= √(\d+)/(\d+) ≈", replay("area.theorem8.printed-start").said("α = "))
    assert math.isclose(real("1", *root), found["alpha"])
    return [M, *shares, K, *root, f"{found['alpha']:.4f}"]


@claim(AREA, r"and stays at $1-2\alpha=#$.")
def printed_start_stays() -> list[str]:
    return [f"{1 - 2 * moved_once()['alpha']:.3f}"]


@claim(
    AREA,
    r"mean over $k<#$ is $w=\frac1{#(p-q)}\big(\frac pq(1-p^{#})-\frac qp(1-q^{#})\big)=#$. $f$ is linear between",
)
def printed_start_waits() -> list[str]:
    return [*[setting("area.theorem8.printed-start")[2]] * 4, f"{moved_once()['w']:.4f}"]


@claim(AREA, r"$\mathbb E f(\bar x_{#})=1-2\alpha(1-w)=#$, above the bound $\frac32\alpha=#$.")
def printed_start_sides() -> list[str]:
    found = moved_once()
    return [setting("area.theorem8.printed-start")[2], f"{found['left']:.4f}", f"{found['right']:.4f}"]


@claim(AREA)
def printed_start_any_step() -> str:
    one = replay("area.theorem8.printed-start.fixed-step")
    values, terms = one.values, one.terms
    M, K, alpha, p_s = (values[name] for name in ("M", "K", "alpha", "p_s"))
    A = 2 * M * alpha * K * terms["initial"]
    assert terms["subgradient"] == Fraction(3, 4) * alpha
    assert p_s == 1 - p_s
    assert one.said("local steps of client 0: ") == f"1 → −{alpha - 1} → 1"
    return (
        rf"$M={M}$, $\alpha={tex(alpha)}$, $p=p_s={tex(p_s)}$, $K={K}$: a pass from 1 leads to ${tex(1 - alpha)}$ and"
        rf" back to 1. Nothing ever moves, $\mathbb E f(\bar x_{{{K}}})={one.sides[0]}$, and the bound is"
        rf" $\frac{A}{{4\alpha K}}+\frac34\alpha={tex(terms['initial'])}+{tex(terms['subgradient'])}$."
    )


@claim(AREA)
def printed_start_any_step_smallest() -> str:
    name = "area.theorem8.printed-start.fixed-step.smallest"
    _, p, K = setting(name)
    return rf"With $\alpha={case(name)['parameters']['alpha']}$, $p={p}$ it takes {_WORDS[int(K)]} events."


@claim(AREA)
def one_path() -> str:
    one, any_step = replay("area.theorem8"), replay("area.theorem8.fixed-step")
    M, K, alpha, p_s = (one.values[name] for name in ("M", "K", "alpha", "p_s"))
    moved = (1 - p_s) ** 2 * p_s
    assert 1 / alpha <= M  # it is a whole number, so that a pass ends at 0
    assert (1 / alpha).denominator == (1 / any_step.values["alpha"]).denominator == 1
    left, right = one.sides
    late = 1 - 1 / K  # the mean of K models of which the last is 0
    assert left == 1 - moved + moved * late == any_step.sides[0]
    over = comparisons(left, right)[1]
    terms = any_step.terms
    return (
        rf"$M={M}$, $p=p_s={tex(p_s)}$, $K={K}$: $\alpha={tex(alpha)}$, a pass reaches 0 and stays there. Only"
        rf" client, client, aggregation, of probability ${tex(moved)}$, moves $x_{{s,{K - 1}}}$: $\mathbb E f(\bar"
        rf" x_{K})={tex(1 - moved)}+{tex(moved)}\cdot{tex(late)}={tex(left)}$, above the bound $\sqrt{{{right**2}}}="
        rf"\frac{{{over[2]}}}{{{over[3]}}}$. *With any step:* $M={any_step.values['M']}$, $\alpha="
        rf"{tex(any_step.values['alpha'])}$ has the same left side and the bound ${tex(terms['initial'])}+"
        rf"{tex(terms['subgradient'])}={tex(any_step.sides[1])}$."
    )


@claim(AREA, r"$M=#$, $p=#$: a client's pass reaches $x_s$ only after its next arrival and an aggregation")
def three_iterations() -> list[str]:
    return [*setting("area.theorem8.smallest")[:2]]


@claim(AREA, r"The bound is the root of $\frac{#}{#}\big(\frac1{p_s}+\frac2p\big)=#<1$.")
def three_iterations_bound() -> list[str]:
    M, p, K = (Fraction(one) for one in setting("area.theorem8.smallest"))
    factor = (M + 1) / 2 / (M * K)
    square = float(factor * (1 / (1 - p) + 2 / p))
    assert math.isclose(square, sides("area.theorem8.smallest")[1] ** 2)
    return [str(factor.numerator), str(factor.denominator), f"{square:.5f}"]


@claim(AREA)
def one_path_of_four_local_steps() -> str:
    document = case("area.theorem8")
    one = Replay({**document, "parameters": {**document["parameters"], "M": 4}})
    M, K, p_s = (one.values[name] for name in ("M", "K", "p_s"))
    square = 3 / p_s / (M * K * (M + 1) / 2)  # of the step, as p = p_s
    top = square * 100
    left, right = one.said("left > right ⟺ ").split(" > ")
    whole = [line for line in one.words if "⟺" in line][-1].partition("⟺ ")[2]
    assert one.said("α = ").rpartition(" = ")[2].startswith(f"√{top}/10 ")
    left, right = (re.sub(r"√(\d+)", r"\\sqrt{\1}", side).replace(" − ", "-") for side in (left, right))
    return (
        rf"$M={M}$, $p=p_s={tex(p_s)}$, $K={K}$: $\alpha=\sqrt{{{top}}}/10$, and only client, client, aggregation, of"
        rf" probability ${tex(p_s**3)}$, moves $x_{{s,{K - 1}}}$, to $1-2\alpha$: $\mathbb E f(\bar"
        rf" x_{K})={left}>{right}$, which is ${whole.replace(' ', '')}$."
    )


# ---------------------------------------------------------------------- AFL-DGA


def own_model() -> float:
    """Return the mean square of f' at the one client's own model, which w̄ is."""
    document, T = case("afl_dga.theorem1"), case("afl_dga.theorem1")["iterations"]
    (weight,), delta, (x,) = document["problem"]["w"], document["problem"]["delta"], document["x0"]
    total = 0.0
    for _ in range(T):
        total += (weight * min(x, delta)) ** 2
        for _ in range(document["parameters"]["local_steps"]):
            x -= weight * min(x, delta) / T
    return float(total / T)


@claim(REFUTATIONS, "which does reach the minimiser: # ≤ #.")
def second_reading() -> list[str]:
    return [f"{own_model():.2f}", str(replay("afl_dga.theorem1").sides[1])]


@claim(AFL_DGA)
def two_local_steps() -> str:
    one = replay("afl_dga.theorem1")
    document = case("afl_dga.theorem1")
    (weight,), delta, (x0,) = document["problem"]["w"], document["problem"]["delta"], document["x0"]
    steps, T = document["parameters"]["local_steps"], one.values["T"]
    rounds = Fraction(x0 - delta) / (steps * Fraction(weight * delta) / T)
    factor = (1 - Fraction(weight) / T) ** steps
    later = [model - 1 for model in one.models[int(rounds) :]]
    assert min(later) > 0
    assert all(then == factor * now for now, then in itertools.pairwise(later))
    left, right = one.sides
    terms = "+".join(str(term) for term in one.terms.values())
    return (
        rf"$f={weight:g}\cdot$huber, $x_0={x0:g}$, $\eta=\frac1{{{T}}}$, $T={T}$: the client goes from {x0:g} to"
        rf" {delta:g} in {_WORDS[int(rounds)]} rounds and then by the factor ${tex(factor)}$ a round; the server takes"
        rf" half of what the client takes, $w^t=1+\frac12y^t>1$, where the slope is still {weight * delta:g}. The left"
        rf" side is {left} and the bound ${terms}={right}$. Its second reading: the print is about $\bar w^t$, by Lemma"
        rf""" 1 "the average parameter across all clients", which is the client's own model here, and does reach the"""
        rf" minimiser: ${own_model():.2f}\le{right}$."
    )


@claim(AFL_DGA)
def reused_gradients() -> str:
    name = "afl_dga.theorem1.reused-gradients"
    one, problem, (x0,) = replay(name), case(name)["problem"], case(name)["x0"]
    slope = problem["w"][0] * problem["delta"]
    assert {weight * problem["delta"] for weight in problem["w"]} == {slope}
    assert x0 >= problem["delta"]
    sends = [(event[1], event[3]) for event in case(name)["events"] if event[2] == "send"]
    sent = [[r for i, r in sends if i == client] for client in range(4)]
    (first, last), T = sent[1], one.values["T"]
    assert sent == [[*range(1, int(T) + 1)], sent[1], sent[1], sent[1]]
    left, right = one.sides
    (step,) = {now - then for now, then in itertools.pairwise(one.models)}
    minimiser = Fraction(one.said("minimum f* = ").rpartition(" = ")[2])
    assert 1 - step * (T - 1) < -problem["delta"]  # there all slope by -8
    return (
        rf"of whom client 0 slopes by $-{slope:g}$ everywhere in sight and the others are"
        rf" ${problem['w'][1]:g}\cdot$huber; client 0 takes part in every round, the others in the first and the"
        rf" {last}nd. Their first gradients, {slope:g} at $x_0={x0:g}$, are used in {last - first} rounds, and"
        rf" $w^t=1-\frac t{1 / step}$ goes past the minimiser ${tex(minimiser)}$ to where $f'=-{slope:g}$: left side"
        rf" ${tex(left)}={float(left):.1f}$, bound ${tex(right)}={float(right):.1f}$ after {T} rounds"
        rf" of $\eta={tex(one.values['eta'])}$"
    )


# ---------------------------------------------------------------------- FedCompass and FedFa


def two_slopes(name: str, where: str) -> str:
    """Return the beginning of an instance in which clients pull with unequal slopes."""
    problem, (x0,), (down, up) = case(name)["problem"], case(name)["x0"], slopes(name)
    far, near = problem["c"]
    return (
        rf"By hand: a slope of $-{down}$ (Huber at {far:g}) and one of {up} from $x={near + problem['delta']:g}$ on"
        rf" (Huber at {near:g}), {where}, from ${x0:g}$."
    )


def rates(name: str) -> str:
    """Return the rates of two clients."""
    return str(case(name)["delays"].partition("rates=[")[2].removesuffix("]").replace(",", ":"))


def slope_of(one: Replay) -> Fraction:
    """Return f' at all models, which is the same."""
    left, _ = one.sides
    root = Fraction(math.isqrt(left.numerator), math.isqrt(left.denominator))
    (table,) = one.found.derivation.tables()
    assert {row[-1].exact for row in table.rows if "…" not in row[0].exact} == {str(root**2)}
    return root


def in_quarters(F0: Fraction) -> str:
    """Return F₀ as a quarter and a bit."""
    return rf"{tex(Fraction(1, 4))}+{tex(F0 - Fraction(1, 4))}"


def one_more(name: str) -> Fraction:
    """Return the bound where staleness counts one more, which must refute the theorem, too."""
    one = replay(name)
    left, right = one.sides
    tau, stale = one.values["tau_max"], one.terms["staleness"]
    more = right + stale * ((tau + 1) ** 2 + 1) / (tau**2 + 1) - stale
    assert left > more
    return more


@claim(FEDCOMPASS)
def unequal_steps() -> str:
    one = replay("fedcompass.theorem1")
    values, (left, _) = one.values, one.sides
    begins = next(int(line.split()[2]) for line in one.words if line.startswith("from row "))
    terms = "+".join(map(tex, one.terms.values()))
    sigma = values["sigma_l"] ** 2 + values["sigma_g"] ** 2 + values["G_sq"]
    mu = re.findall(r" = (\d+)$", one.said("μ′ = "))[-1]
    assert re.search(r"\(2 steps\).* of client 1 from", one.words[one.words.index(str(begins)) + 1])
    Q = rf"$Q$ from {values['Qmin']} to {values['Qmax']}"
    where = rf"speeds ${rates('fedcompass.theorem1')}$, {Q}, $\eta={tex(values['eta'])}$"
    return (
        rf"{two_slopes('fedcompass.theorem1', where)} From the {_WORDS[begins]} update on both arrive together, client"
        rf" 0 after two local steps and client 1 after one, and the server stands still where"
        rf" $F'={tex(slope_of(one))}$. With $F_0={in_quarters(values['F0'])}$, $\mu'={mu}$,"
        rf" $\tau_{{\max}}={values['tau_max']}$, $\sigma^2={tex(sigma)}$ the bound is ${terms}<{tex(left)}$ after"
        rf" {values['T']} updates (`boundlab exact fedcompass.theorem1 --derivation`). It stands if staleness counts"
        rf" one more: ${tex(left)}>{tex(one_more('fedcompass.theorem1'))}$."
    )


@claim(FEDCOMPASS)
def unequal_steps_smallest() -> str:
    name = "fedcompass.theorem1.smallest"
    values, problem, (x0,) = replay(name).values, case(name)["problem"], case(name)["x0"]
    (weight,), (a, b) = set(problem["w"]), problem["c"]
    fast, slow = map(Fraction, case(name)["parameters"]["speeds"].strip("[]").split(","))  # times of a step
    left, right = sides(name)
    return (
        rf"The smallest instance known takes {values['T']} updates: two clients, Huber at {a:g} and {b:g} with the"
        rf" weight {weight:g}, quadratic up to ${problem['delta']:g}$, from the minimiser {x0:g}, known speeds"
        rf" ${slow / fast}:1$ (`warmup=speeds`, so that $\tau_{{\max}}={values['tau_max']}$), $Q$ from {values['Qmin']}"
        rf" to {values['Qmax']}, $\eta={values['eta'] * 10**9}\cdot10^{{-9}}$, where $F$'s gradient grows linearly;"
        rf" {left:.3f} is above {right:.3f}."
    )


@claim(FEDFA)
def unequal_rates_by_hand() -> str:
    one, window = replay("fedfa.theorem1"), replay("fedfa.theorem1.window")
    values, (left, right) = one.values, one.sides
    models = one.models
    assert models[0] == models[3] != models[1]
    round_again = ", ".join(f"${float(model):g}$" for model in models[1:4])
    K = case("fedfa.theorem1")["parameters"]["K"]
    where = rf"rates ${rates('fedfa.theorem1')}$, $\eta_\ell={tex(values['eta_l'])}$, $K={K}$, `mode=delta`"
    terms = "+".join(map(tex, one.terms.values()))
    return (
        rf"{two_slopes('fedfa.theorem1', where)} The server goes to {round_again} and round again, always where"
        rf" $f'={tex(slope_of(one))}$. $F_0={in_quarters(values['F0'])}$, $\tau_{{\max}}={values['tau_max']}$,"
        rf" $G={values['G_sq']}$, $\sigma_g={tex(values['sigma_g'])}$: after {values['T']} updates"
        rf" ${tex(left)}>{terms}={tex(right)}$. `boundlab exact fedfa.theorem1 --derivation` prints it. With a"
        rf" window of two, {window.values['T']} updates give ${tex(window.sides[0])}>{tex(window.sides[1])}$."
    )


@claim(FEDFA, "starts at the minimiser of two Huber functions and needs # updates, of long fractions.")
def unequal_rates_smallest() -> list[str]:
    return [str(case("fedfa.theorem1.smallest")["claim"]["k"])]


@claim(FEDFA)
def squared_smoothness() -> str:
    one = replay("fedfa.theorem1.squared-smoothness")
    values, terms = one.values, one.terms
    L = Fraction(str(case("fedfa.theorem1.squared-smoothness")["problem"]["w"][0]))
    factor = values["eta_g"] ** 2 * values["tau_max"] ** 2 + 1
    assert terms["staleness and drift"] == 3 * factor / 10**6
    assert values["eta_g"] <= 1 / L**2
    return (
        rf"$f=x^2/{2 / L}$ about 0 ($L={tex(L)}$), $x_0=1$, $\eta_\ell={values['eta_l']}$,"
        rf" $\eta_g={values['eta_g']}\le1/L^2$, $T={values['T']}$: ${tex(one.sides[0])}$, the squared slope at the"
        rf" start, is above ${tex(terms['initial'])}+3\cdot{factor}\cdot10^{{-6}}$."
    )


# ---------------------------------------------------------------------- FedStaleWeight


def drift_is_exceeded(noise: int, T: int) -> bool:
    """Return whether noise alone exceeds the bound within T updates of the longest step that keeps |x| ≤ 1/10."""
    delta = Fraction(1, 10)
    eta = delta / (noise * T)
    left = sum(eta**2 * noise**2 * (1 - (1 - eta) ** (2 * t)) / (1 - (1 - eta) ** 2) for t in range(T)) / T
    zero = dict.fromkeys(("F0", "sigma_g_mean", "tau_max"), 0)
    one = dict.fromkeys(("L", "n", "Q", "b", "eta_g", "scale"), 1)
    values = {**zero, **one, "T": T, "G_sq": float(delta**2), "sigma_l": noise, "eta_l": float(eta)}
    return float(left) > float(load_theorem("fedstaleweight.theorem1").evaluate(values).total)


@claim(FEDSTALEWEIGHT, "stays in the quadratic part (# updates are enough, where the noise is larger)")
def noise_of_first_order() -> list[str]:
    needed = {noise: next(T for T in itertools.count(1) if drift_is_exceeded(noise, T)) for noise in (10, 100, 1000)}
    assert len(set(needed.values())) == 1  # none is enough with less, however large the noise
    return [str(needed[10])]


@claim(FEDSTALEWEIGHT)
def noise_by_hand() -> str:
    one = replay("fedstaleweight.theorem1")
    values, (left, right) = one.values, one.sides
    first = values["eta_g"] * values["eta_l"] * values["sigma_l"]
    assert left == (0 + first**2) / 2
    factor = values["sigma_l"] ** 2 + values["sigma_g_mean"] ** 2 + values["G_sq"]
    assert right == 12 * values["eta_l"] ** 2 * factor
    return (
        rf"quadratic up to $|x|={case('fedstaleweight.theorem1')['problem']['delta']:g}$, $G={values['G_sq']}$,"
        rf" $\eta_\ell={tex(values['eta_l'])}$, $\eta_g={values['eta_g']}$, so that $x_1=\pm{tex(first)}$, and"
        rf" $\frac12(0+{tex(first**2)})={tex(left)}>12\,\eta_\ell^2\cdot{factor}={tex(right)}$"
    )


def with_the_noise_term() -> tuple[Fraction, Fraction, Fraction]:
    """Return both sides of FedStaleWeight's case, and the bound with FedBuff's (L/2)·η_g·(β/A)·σ²."""
    one = replay("fedstaleweight.theorem1")
    values, (left, right) = one.values, one.sides
    more = right + values["L"] / 2 * values["eta_g"] * values["eta_l"] * values["sigma_l"] ** 2
    assert right < left < more
    return left, right, more


@claim(
    REFUTATIONS,
    r"the instance below is no counterexample: $\frac1{#}<\frac{#}{#}$ where $\frac1{#}>\frac#{#}$ without.",
)
def stale_in_refutations() -> list[str]:
    left, right, more = with_the_noise_term()
    return [*comparisons(left, more)[0][1:], *comparisons(left, right)[0][1:]]


@claim(REFUTATIONS, r"and so do FedCompass's two ($\frac14>\frac{#}{#}$ and $\frac14>\frac{#}{#}$)")
def staleness_counts_one_more() -> list[str]:
    both = (one_more(name) for name in ("fedcompass.theorem1", "fedcompass.corollary1.explicit"))
    return [part for one in both for part in str(one).split("/")]


@claim(FEDSTALEWEIGHT, r"the last instance is below the bound, $\frac1{#}<\frac{#}{#}$.")
def with_the_noise_term_of_fedbuff() -> list[str]:
    left, _, more = with_the_noise_term()
    return comparisons(left, more)[0][1:]


def uniform_client(eta: Fraction, T: int) -> tuple[Fraction, Fraction]:
    """Return both sides of FedFa's Theorem 1 with one client at a time, Huber(x; 1) ± x, drawn uniformly, from 0."""
    square, left = Fraction(0), Fraction(0)
    for _ in range(T):
        left += square / T
        square = (1 - eta) ** 2 * square + eta**2
    assert eta * sum((1 - eta) ** s for s in range(20)) <= 1  # a geometric sum: |x| ≤ 1 for ever
    return left, 3 * eta**2 * (1 + 1) * (0 + 1 + 4)


@claim(
    REFUTATIONS,
    r"the mean of $\|\nabla f\|^2$ is $#\cdot10^{-3}$ and the bound $#\cdot10^{-3}$; "
    r"with $\eta=\frac1{1000}$ and $T=3000$ left/right is #,",
)
@claim(
    FEDFA,
    r"for $\eta=\frac1{100}$, $T=300$ it is $#\cdot10^{-3}>#\cdot10^{-3}$, "
    r"for $\eta=\frac1{1000}$, $T=3000$ the ratio is #.",
)
def inside_of_the_proof() -> list[str]:
    left, right = uniform_client(Fraction(1, 100), 300)
    more, less = uniform_client(Fraction(1, 1000), 60)  # in fractions of 60 steps …
    q, T = (1 - 1e-3) ** 2, 3000
    closed = 1e-6 / (1 - q) * (1 - (1 - q**T) / (T * (1 - q)))  # … and the geometric sums of them all
    assert float(more) == pytest.approx(1e-6 / (1 - q) * (1 - (1 - q**60) / (60 * (1 - q))), rel=1e-9)
    return [f"{float(left * 1000):.3f}", f"{float(right * 1000):g}", f"{closed / float(less):.1f}"]
