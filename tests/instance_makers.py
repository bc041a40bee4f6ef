"""For every built-in theorem an instance on which its assumptions hold."""

import numpy as np

from boundlab.instance import Plan
from boundlab.registry import registered
from boundlab.testing import CompareOptions
from boundlab.theorems import Theorem, load_theorem

HUBER = "huber:c=[[0,1],[2,0],[1,3]],w=[[1,2],[1,1],[0.5,1]],delta=0.7,sigma=0.1,x0=[2,1]"
QUADRATIC = "quadratic:A=[[[2,0],[0,1]],[[1,0],[0,3]]],b=[[0,1],[1,0]],sigma=0.1,x0=[2,1]"
QUIET = {"huber": HUBER.replace("sigma=0.1", "sigma=0"), "quadratic": QUADRATIC.replace("sigma=0.1", "sigma=0")}
# One function of all clients, with a penalty where f is curved and with a constraint where it is not.
ALIKE = {
    True: "quadratic:A=[[[2,0],[0,1]],[[2,0],[0,1]]],b=[[0,1],[0,1]],x0=[2,1],l1=0.5",
    False: "huber:c=[[0,1],[0,1]],w=[[1,2],[1,2]],delta=0.7,x0=[2,1],box=[0.5,2]",
}
RATES = {"alpha", "eta", "eta_l", "eta_g", "c", "d"}


def fitting(theorem: Theorem) -> CompareOptions:
    """Return an instance on which the assumptions of a built-in theorem hold."""
    noisy = theorem.status != "textbook" or theorem.id.startswith("classics.sgd")
    settings: dict[str, str] = {}
    if theorem.algorithm == "fedcompass":
        settings = {"Qmin": "2", "Qmax": "8"} | (
            {"warmup": "speeds", "speeds": "[1,1,2]"} if "group" in theorem.id else {}
        )
    for rate in RATES & set(theorem.step):
        if theorem.step[rate] == theorem.symbols[rate].symbol and rate not in theorem.definitions:
            settings[rate] = "0.01"
    if "noiseless" in theorem.id or theorem.id in ("afl_dga.r1", "afl_dga.r2n", "classics.local-gd"):
        noisy = False
    if theorem.id == "classics.proximal-gradient.local":
        problem = "quadratic:A=[[[2,0],[0,1]],[[2,0],[0,1]]],b=[[0,1],[1,0]],x0=[2,1],l1=0.5"
        return CompareOptions(theorem, problem, "deterministic", settings=settings)
    if "sampled-functions" in theorem.assumptions:
        rows = "least-squares:features=[[1,0],[1,1],[0,2],[1,-1]],targets=[1,3,-1,0],owners=[0,0,1,1],batch=1,nu=1"
        return CompareOptions(theorem, rows, "deterministic", settings=settings)
    if theorem.algorithm == "proximal_point":
        return CompareOptions(
            theorem, "quadratic:A=[[[2,0],[0,1]]],b=[[0,1]],x0=[2,1]", "deterministic", settings=settings
        )
    if theorem.id == "classics.delayed-sgd":
        return CompareOptions(
            theorem, "huber:c=[[1],[1]],w=[[1],[1]],delta=1,x0=3,sigma=0.5", "deterministic", settings=settings
        )
    if "one-function" in theorem.assumptions:
        return CompareOptions(
            theorem, ALIKE["strongly-convex" in theorem.assumptions], "deterministic", settings=settings
        )
    kind = "quadratic" if "strongly-convex" in theorem.assumptions else "huber"
    problem = {"quadratic": QUADRATIC, "huber": HUBER}[kind] if noisy else QUIET[kind]
    mean = {"iid-events", "stationary-participation", "uniform-buffer"} & set(theorem.assumptions)
    if "stationary-participation" in mean and theorem.algorithm == "fedstaleweight":
        settings["scale"] = "0"
    return CompareOptions(theorem, problem, "exponential" if mean else "deterministic", settings=settings)


BUILT_IN = {name: load_theorem(name) for name in sorted(registered("theorems"))}


def measured(plan: Plan) -> dict[str, float]:
    """Return the numbers that problem, delays and tape gave, those of the algorithm's own options apart."""
    return {
        one.name: float(one.value)
        for one in plan.symbols
        if one.origin in ("problem", "tape", "delays")
        and np.ndim(one.value) == 0
        and one.name not in plan.algorithm.parameters
    }
