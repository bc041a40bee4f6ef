"""Instances that a claim is about, drawn from short lists of numbers so that a counterexample can be read."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from referee.claims import Claim, Instance, Sides, SilentError, kinds, parameters, sides
from referee.functions import Functions

SHAPES = ("quadratic", "huber", "absolute", "bent")
_HORIZONS = (1, 1, 2, 3, 5, 10, 30)
_SHORT = (1, 2, 3, 4)
_MULTIPLES = (0.01, 0.1, 0.25, 0.5, 0.5, 1.0, 1.0, 1.0, 1.5, 1.9, 2.0, 3.0)


def draw(claim: Claim, random: Generator, shapes: Sequence[str] = SHAPES) -> Instance:
    """Return an instance with one of these shapes of functions; the claim may still be silent about it."""
    algorithm = claim.data["algorithm"]
    many = algorithm != "proximal_point"
    n = int(random.choice((1, 1, 2, 2, 3))) if many else 1
    if "n" in claim.reads() and any("n <=" in text for text in claim.data.get("conditions", ())):
        n = 1
    mean = {"uniform-sampling", "iid-events"} & claim.assumptions
    K = int(random.choice(_SHORT if mean else _HORIZONS))
    if any(text.startswith("10 <= ") for text in claim.data.get("conditions", ())):
        K = int(random.choice((10, 11, 30)))
    kind = str(random.choice([kind for kind in kinds(claim) if kind in shapes]))
    functions = _functions(claim, kind, n, K, random)
    d = functions.weight.shape[1]
    x0 = np.full(d, float(random.choice((0.1, 1.0, 1.0, 3.0, 10.0))))
    if functions.n > 1 and random.random() < 0.3:
        x0 = functions.nearest_minimiser(x0)
    noise = 0.0
    if claim.noisy():
        noise = float(random.choice((0.0, 0.3, 1.0, 3.0)))
        if kind != "quadratic" and n * K > 8:
            noise = 0.0
    free = {option: float(random.choice((1, 2, 3, 5))) for option in parameters(claim)}
    arrivals = K * int(free.get("count", 1)) + int(free.get("K", 2)) + 2
    instance = Instance(
        functions,
        x0,
        K,
        noise,
        _turns(n, arrivals, algorithm, random),
        _chances(claim, n, random),
        free,
    )
    return _with_symbols(claim, instance, random)


def _functions(claim: Claim, kind: str, n: int, K: int, random: Generator) -> Functions:
    d = 2 if kind in ("quadratic", "bent") and random.random() < 0.3 and "sigma_g" not in claim.reads() else 1
    size = float(random.choice((1.0, 1.0, 1.0, 2.0, 0.1)))
    weight = np.full((n, d), size)
    if random.random() < 0.6:
        weight *= random.choice((1.0, 0.5, 0.1, 0.01), size=(n, d))
    weight[0, 0] = size
    center = np.zeros((n, d))
    if n > 1 and random.random() < 0.6:
        center[1:] = float(random.choice((0.0, 1.0, 4.0)))
    delta = float(random.choice((1.0, 0.1, 1 / (2 * K + 1), 1 / (K + 1), 1 / K, 10.0)))
    ridge = float(random.choice((1.0, 0.1, 0.5))) * float(weight.min()) if kind == "bent" else 0.0
    return Functions(kind, weight, center, delta, ridge)  # type: ignore[arg-type]


def _turns(n: int, count: int, algorithm: str, random: Generator) -> tuple[int, ...]:
    """Return who arrives: in turns, at random, or one client late."""
    match int(random.integers(3)):
        case 0:
            turns = np.arange(count) % n
        case 1:
            turns = random.integers(n, size=count)
        case _:
            turns = np.zeros(count, dtype=int)
            turns[int(random.integers(2, 8)) :: 7] = n - 1
    if algorithm == "area":
        turns = np.where(np.arange(count) % 2 == 1, -1, turns)
    return tuple(turns.tolist())


def _chances(claim: Claim, n: int, random: Generator) -> tuple[float, ...]:
    if "iid-events" not in claim.assumptions:
        return ()
    shares = random.choice((1.0, 1.0, 3.0), size=n)
    return tuple((shares / shares.sum() * float(random.choice((0.5, 0.75, 0.25)))).tolist())


def _with_symbols(claim: Claim, instance: Instance, random: Generator) -> Instance:
    """Return the instance with a value for everything that the claim leaves free."""
    constants = instance.functions.constants(instance.x0)
    K, free = instance.iterations, dict(instance.free)
    if "L" in constants and "smooth" in claim.assumptions:
        scale = 1 / constants["L"]
    else:
        slope = constants.get("B", 1.0)
        scale = constants["R"] / (slope * np.sqrt(K)) or 1.0
    settable = set(claim.data.get("settable", ())) & set(claim.data["step"])
    wanted = set(claim.free()) | (settable if random.random() < 0.5 else set())
    for name in sorted(wanted):
        multiple = float(random.choice(_MULTIPLES))
        match name:
            case "alpha" | "eta_l":
                free[name] = multiple * scale
            case "eta_g":
                free[name] = float(random.choice((0.5, 1.0, 2.0)))
            case "beta":
                free[name] = float(random.choice((0.1, 0.5, 0.9)))
            case "d":
                free[name] = float(random.choice((0.5, 1.0, 2.0, 10.0)))
            case "c":
                free[name] = multiple * scale * float(random.choice((0.5, 1.0, 2.0, 10.0)))
            case "eps":
                free[name] = multiple * max(constants["F0"], 1e-3) * float(random.choice((1.0, 0.1, 1e-3)))
            case "p_s":
                free[name] = 0.5
            case "qbar":
                free[name] = 2.0
            case "K" | "T":
                free[name] = 10**6
            case _:
                free[name] = float(random.choice((0.01, 1.0, 100.0)))
    made = Instance(
        instance.functions,
        instance.x0,
        K,
        instance.noise,
        instance.turns,
        instance.chances,
        free,
    )
    return _at_a_limit(claim, made, random)


def _at_a_limit(claim: Claim, instance: Instance, random: Generator) -> Instance:
    """Return the instance with a free step at the limit of a condition, where there is one for it."""
    for text in claim.data.get("conditions", ()):
        left, right = (side.strip() for side in text.split("<="))
        if left in ("alpha", "eta_l") and left in instance.free and random.random() < 0.7:
            try:
                limit = _limit(claim, instance, right)
            except SilentError:
                continue
            share = float(random.choice((1.0, 1.0, 0.5)))
            free = {**instance.free, left: share * limit}
            return Instance(
                instance.functions,
                instance.x0,
                instance.iterations,
                instance.noise,
                instance.turns,
                instance.chances,
                free,
            )
    return instance


def _limit(claim: Claim, instance: Instance, text: str) -> float:
    """Return the right side of a condition."""
    return sides(Claim({**claim.data, "conditions": [], "terms": {"limit": text}}), instance).bound


def worst(
    claim: Claim, random: Generator, count: int, enough: float = float("inf"), shapes: Sequence[str] = SHAPES
) -> tuple[Sides, Instance] | None:
    """Return the instance with the largest ratio among ``count``, or the first above ``enough``."""
    found: tuple[Sides, Instance] | None = None
    for _ in range(count):
        instance = draw(claim, random, shapes)
        try:
            here = sides(claim, instance)
        except SilentError:
            continue
        if found is None or here.ratio > found[0].ratio:
            if here.ratio > 1 and not steady(claim, instance):
                continue
            found = here, instance
            if here.ratio > enough:
                break
    return found


def steady(claim: Claim, instance: Instance) -> bool:
    """Return whether both sides stay what they are when the start moves in its last digits: no rounding made them."""
    moved = replace(instance, x0=instance.x0 * (1 + 1e-11) + 1e-12)
    try:
        here, there = sides(claim, instance), sides(claim, moved)
    except SilentError:
        return False
    return bool(np.isclose(here.left, there.left, rtol=1e-4, atol=1e-9)) and bool(
        np.isclose(here.bound, there.bound, rtol=1e-4, atol=1e-9)
    )
