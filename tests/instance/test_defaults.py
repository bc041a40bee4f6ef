"""Options that a theorem does not mention stand at their documented defaults, unless it leaves them open."""

from dataclasses import replace
from itertools import product

import pytest
from problem_makers import from_text

from boundlab.case import build_delays
from boundlab.errors import AssumptionError, SpecError
from boundlab.instance import make_plan
from boundlab.instance.schedules import differences
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.theorems import load_theorem

ALGORITHMS = registered("algorithms")
# What must be said before anything can run.
NEEDED = {
    "afl_dga": {"eta": 0.1},
    "async_sgd": {"alpha": 0.1},
    "asfedavg": {"alpha": 0.1},
    "area": {"alpha": 0.1},
    "fedasync": {"eta_l": 0.1, "beta": 0.5},
    "fedbuff": {"eta_l": 0.1},
    "fedcompass": {"eta": 0.1},
    "fedfa": {"eta_l": 0.1},
    "fedstaleweight": {"eta_l": 0.1},
    "gd": {"alpha": 0.1},
    "incremental": {"alpha": 0.1},
    "heavy_ball": {"alpha": 0.1, "beta": 0.5},
    "lsvrg": {"alpha": 0.1, "p_c": 0.5},
    "nesterov": {"alpha": 0.1},
    "ogm": {"alpha": 0.1, "K": 3},
    "proximal_point": {"alpha": 0.1},
    "rennala": {"alpha": 0.1},
    "ringmaster": {"alpha": 0.1, "threshold": 2},
    "scaffnew": {"alpha": 0.1, "p_c": 0.5},
    "sfedavg": {"alpha": 0.1},
}
RATES = {"alpha", "c", "d", "eta", "eta_l", "beta", "p_c"}
VALUES = (
    "2",
    "3",
    "0.5",
    "yes",
    "post",
    "pre",
    "wait",
    "analysis",
    "algorithm",
    "all",
    "uniform",
    "cyclic",
    "shuffled",
    "sqrt",
    "sum",
    "average",
    "k-scaled",
    "drawn",
    "delay_adaptive",
    "inverse",
    "model",
    "delta",
    "param",
    "when_full",
    "previous",
    "speeds",
    "[0.25,0.75]",
    "[1,2]",
    "1..3",
    "polynomial:a=0.7",
    "150",
)


def other_values(algorithm, name):
    """Return words of an option that make other parameters than its default does."""
    needed = NEEDED[algorithm.id]
    usual = algorithm.read(Options(algorithm.id, needed))
    found = []
    for value in VALUES:
        try:
            if algorithm.read(Options(algorithm.id, {**needed, name: value})) != usual:
                found.append(value)
        except SpecError:
            continue
    return found


OPTIONS = [
    (name, option)
    for name, algorithm in sorted(ALGORITHMS.items())
    if name in NEEDED
    for option in algorithm.parameters
    if option not in RATES | set(NEEDED[name]) and other_values(algorithm, option)
]


def about(algorithm, **options):
    """Return a theorem that says something of an algorithm and nothing of its options but these."""
    theorem = replace(
        load_theorem("classics.gd.convex"), id="bare", algorithm=algorithm.id, options=options, conditions=()
    )
    steps = {name: theorem.symbols[name].symbol for name in NEEDED[algorithm.id] if name in theorem.symbols}
    return replace(theorem, step=steps, settable=(), definitions={}, parameters={})


def test_nearly_every_option_of_every_algorithm_is_looked_at():
    assert set(NEEDED) >= set(ALGORITHMS) - {"example"}
    known = {(name, option) for name in NEEDED for option in ALGORITHMS[name].parameters if option not in RATES}
    # These make sense only together with another one.
    together = {("area", "reply"), ("fedcompass", "a"), ("fedcompass", "b"), ("fedcompass", "warmup"), ("gd", "K")}
    together |= {("gd", "iteration")}  # of all clients
    assert known - set(OPTIONS) <= together | {("fedfa", "eta_g"), ("ogm", "K"), ("ringmaster", "threshold")}


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_that_is_not_mentioned_stands_at_its_default(name, option):
    algorithm = ALGORITHMS[name]
    bare, needed = about(algorithm), {key: one for key, one in NEEDED[name].items() if key not in RATES}
    for value in other_values(algorithm, option):
        run = {**needed, option: value}
        assert differences(bare, algorithm, run) == {
            f"{option} at its default": f"it leaves {option} at its default, the run has {option}={value}"
        }
        assert not differences(about(algorithm, **{option: "any"}), algorithm, run)
        assert not differences(about(algorithm, **{"*": "any"}), algorithm, run)
        assert not differences(about(algorithm, **{option: value}), algorithm, run)
    assert not differences(bare, algorithm, needed)


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("area", {"count": "2", "reply": "post"}),
        ("gd", {"decay": "linear", "K": "5"}),
        ("fedfa", {"mode": "delta", "eta_g": "0.5"}),
        ("fedcompass", {"speeds": "[1,2]", "warmup": "speeds"}),
        ("fedcompass", {"st": "polynomial", "a": "0.7"}),
    ],
)
def test_options_that_go_together_are_not_mentioned_together(name, run):
    algorithm = ALGORITHMS[name]
    assert differences(about(algorithm), algorithm, run)
    assert not differences(about(algorithm, **dict.fromkeys(run, "any")), algorithm, run)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_option_that_the_proof_takes_is_that_of_the_run(name, option):
    algorithm = ALGORITHMS[name]
    values, needed = (
        other_values(algorithm, option),
        {key: one for key, one in NEEDED[name].items() if key not in RATES},
    )
    for mine, theirs in product(values[:3], values[:3]):
        found = differences(about(algorithm, **{option: mine}), algorithm, {**needed, option: theirs})
        parameters = [algorithm.read(Options(name, {**NEEDED[name], option: one})) for one in (mine, theirs)]
        assert bool(found) is (parameters[0] != parameters[1])


def test_textbook_gradient_descent_is_about_one_local_step_with_all_clients(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["convex", "smooth", "minimiser"]\n'
        '[step]\nalpha = "1/L"\n[terms]\nbound = "L*R**2/(4*K + 2)"\n',
        encoding="utf-8",
    )
    theorem, problem = load_theorem(str(path)), from_text("huber:c=[0,1],x0=3")
    delays = build_delays("deterministic", {}, 2)
    policy = lookup("algorithms", "gd").policy(None, delays)
    make_plan(theorem, problem, delays, policy, 10, {"M": "1", "sampling": "all"})
    for option, value in (("M", "2"), ("sampling", "uniform"), ("decay", "sqrt")):
        with pytest.raises(AssumptionError, match=f"leaves {option} at its default, the run has {option}={value}"):
            make_plan(theorem, problem, delays, policy, 10, {option: value})
        plan = make_plan(theorem, problem, delays, policy, 10, {option: value}, beyond=("options",))
        assert plan.outside


def test_a_parameter_that_a_formula_reads_is_open():
    theorem = load_theorem("classics.local-gd")
    assert theorem.core.varies("M")
    assert not theorem.core.varies("sampling")
    assert not load_theorem("classics.gd.convex").core.varies("M")
    assert load_theorem("fedbuff.rf1").core.varies("reply")
    assert not load_theorem("fedbuff.rf1").core.varies("staleness")


def test_nothing_but_any_can_be_said_of_all_other_options():
    with pytest.raises(SpecError, match=r"the option \* must be one of any, got 'pre'"):
        about(ALGORITHMS["area"], **{"*": "pre"})
