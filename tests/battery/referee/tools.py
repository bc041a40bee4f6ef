"""What boundlab's commands are asked about a file of the battery, as a user would type it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from referee.claims import Claim

Tool = Literal["check", "falsify", "worst-case", "compare"]
TOOLS: tuple[Tool, ...] = ("check", "falsify", "worst-case", "compare")


def arguments(claim: Claim, path: Path, tool: Tool, candidates: int) -> Iterator[list[str]]:
    """Yield the command lines that ask a tool about a claim; several where the tool takes an instance."""
    match tool:
        case "check":
            yield ["check", str(path)]
        case "falsify":
            yield ["falsify", str(path), "--candidates", str(candidates), "--budget", "60"]
        case "worst-case":
            for steps in _long_and_short(claim):
                for iterations in (1, 3):
                    yield ["worst-case", str(path), "-k", str(iterations), *steps, *_constants(claim), *_events(claim)]
        case "compare":
            for problem, size in _problems(claim):
                for delays in _delays(claim):
                    yield [
                        "compare",
                        str(path),
                        "-p",
                        problem,
                        "-d",
                        delays,
                        "-k",
                        _iterations(claim),
                        "--trials",
                        "20",
                        *_steps(claim, size),
                    ]


def _long_and_short(claim: Claim) -> list[list[str]]:
    """Return settings of the free symbols in the units L = B = R = 1: steps from short to long."""
    may = (claim.free() | set(claim.data.get("settable", ()))) & {"alpha", "c", "eta_l"}
    if not may:
        return [_steps(claim, 1.0)]
    own = [] if may & claim.free() else ["alpha"]
    return [
        [*_steps(claim, size), *(part for name in own for part in ("--set", f"{name}={size:g}"))]
        for size in (0.25, 1.0, 1.2, 1.9, 3.0)
    ]


def _steps(claim: Claim, size: float) -> list[str]:
    """Return settings of what the claim leaves free, with steps of a size."""
    values = {
        "alpha": size,
        "eta_l": size,
        "c": 2 * size,
        "d": 2.0,
        "eta_g": 1.0,
        "beta": 0.3,
        "eps": 0.1,
        "K": 30.0,
        "T": 30.0,
        "mu": 1.0,
        "L": 1.0,
        "B": 1.0,
        "G_sq": 1.0,
        "sigma_g": 1.0,
        "p_s": 0.5,
        "qbar": 2.0,
    }
    return [part for name in sorted(claim.free()) for part in ("--set", f"{name}={values.get(name, 1.0):g}")]


def _constants(claim: Claim) -> list[str]:
    """Return the constants that have no unit of their own to be 1 in."""
    sizes = {"mu": "0.1", "G_sq": "1", "sigma_g": "1", "sigma_l": "0", "sigma": "0", "zeta": "0"}
    read = (claim.reads() | ({"mu"} if "strongly-convex" in claim.assumptions else set())) - claim.free()
    return [part for name in sorted(read & set(sizes)) for part in ("--set", f"{name}={sizes[name]}")]


def _events(claim: Claim) -> list[str]:
    return ["--p", "0.5"] if "iid-events" in claim.assumptions else []


def _iterations(claim: Claim) -> str:
    if "uniform-sampling" in claim.assumptions or "iid-events" in claim.assumptions:
        return "12"
    return "60" if "eps" in claim.reads() else "30"


def _delays(claim: Claim) -> tuple[str, ...]:
    if "iid-events" in claim.assumptions:
        return ("iid:p_s=0.5",)
    if "fixed-schedule" in claim.assumptions:
        return "exponential:spread=4", "deterministic:spread=3"
    return ("exponential",)


def _problems(claim: Claim) -> list[tuple[str, float]]:
    """Return problems of the claim's class, with a step that is short there."""
    noise = ",sigma=0.5" if claim.noisy() and "bounded-variance" in claim.assumptions else ""
    conditions = "; ".join(claim.data.get("conditions", ()))
    if claim.data["algorithm"] == "proximal_point":
        if "strongly-convex" in claim.assumptions:
            return [("quadratic:A=[[[2]]],b=[[1]],x0=3", 0.5), ("quadratic:clients=1,dimension=2,mu=1,L=10", 0.1)]
        return [("huber:delta=0.1,x0=3", 0.5), ("lad:x0=3", 0.1)]
    if "strongly-convex" in claim.assumptions:
        if "zeta <=" in conditions:
            return [(f"quadratic:A=[[[1]],[[2]]],b=[[0],[0]],x0=3{noise}", 0.2)]
        return [
            (f"quadratic:clients=3,dimension=2,mu=1,L=10,x0=2{noise}", 0.02),
            (f"quadratic:A=[[[2]]],b=[[0]],x0=3{noise}", 0.1),
        ]
    if "n <=" in conditions:
        return [(f"huber:delta=0.1,x0=3{noise}", 0.2), (f"quadratic:A=[[[2]]],b=[[0]],x0=3{noise}", 0.1)]
    if "sigma_g <=" in conditions:
        return [(f"huber:c=[0,0,0],delta=0.5,x0=2{noise}", 0.01)]
    if "smooth" in claim.assumptions:
        found = [(f"huber:c=[0,1,4],w=[1,0.5,0.1],delta=1,x0=3{noise}", 0.05), (f"huber:delta=0.1,x0=3{noise}", 0.2)]
        bounded = {"lipschitz", "bounded-gradients", "bounded-heterogeneity"} & claim.assumptions
        return found if bounded else [*found, (f"quadratic:A=[[[2]],[[1]]],b=[[0],[1]],x0=3{noise}", 0.1)]
    return [(f"lad:c=[0,1,4],x0=5{noise}", 0.1), (f"lad:x0=3{noise}", 0.1), (f"huber:delta=0.1,x0=3{noise}", 0.1)]
