"""The worst case of a theorem's algorithm over the theorem's functions; and certificates held to what they answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from boundlab.arithmetic.rational import known_fraction
from boundlab.assumptions import assumption
from boundlab.errors import BoundlabError
from boundlab.formulas.symbols import having
from boundlab.metrics import Quantity
from boundlab.recheck import SCHEMA, Finding, text_of
from boundlab.registry import registered
from boundlab.theorems import Theorem, core
from boundlab.worst_case.certificate import attained, certified_lower, certify, fewer, plainest
from boundlab.worst_case.model import (
    LARGEST,
    FunctionClass,
    ProgramModel,
    build,
    class_rows,
    function_class,
    parabolas,
    require_start,
)
from boundlab.worst_case.program import Compiled, Matrix, Row, Solution, slack_matrix, upper_value
from boundlab.worst_case.result import SHARES, TIGHT, FoundFunction, WorstCase, extract, flat, inside, replay, stand_in
from boundlab.worst_case.specification import Question, ask, exact_parameters

# The step size as the unit: then B·R/√K and a step R/(B·√K) leave only rational numbers in the program.
#
# Under f → α·f with α the step size, steps become rational and B becomes α·B, of which the program holds the square.
# Only convex Lipschitz functions know no other constant that would become a root.


def in_units_of_the_step(
    plan: Question, kind: FunctionClass, constants: Mapping[str, Any]
) -> tuple[ProgramModel, FunctionClass, Fraction] | None:
    """Return the program with the step size as its formula gives it, its class, and the bound, in units of the step.

    None where they are not rational in these units either.
    """
    root = plan.exactly.root
    if root is None or kind.kind != "ConvexLipschitzFunction" or plan.metric.quantity is not Quantity.GAP:
        return None
    own = replace(plan, parameters=exact_parameters(plan.algorithm, plan.options, {root.name: Fraction(1)}))
    if any(known_fraction(size) is None for tape, _ in own.tapes() for size in [*tape.recipes()][1]):
        return None
    errors = {name: root.square * size if name == "delta_g" else size for name, size in kind.errors.items()}
    unit = replace(kind, steepest=root.square * (kind.steepest or 0), errors=errors)
    return build(unit, plan.metric, own.runs(), plan.clients, constants), unit, root.product


# Certificates as files that the checker reads (:mod:`boundlab.recheck`): every number in them is a fraction.

Json = dict[str, Any]


def upper_file(
    model: ProgramModel, kind: FunctionClass, multipliers: Sequence[Fraction], value: Fraction, about: Json
) -> Json:
    """Return the certificate of an upper value.

    Parameters
    ----------
    multipliers
        One a row of the program, which :func:`boundlab.worst_case.program.upper_value` has accepted.
    about
        Of what question it is, and what the objective is, for people.
    """
    program = model.program
    labels = _labels(model, kind)
    rows = [
        {**_row(one, labels, model), "multiplier": text_of(weight)}
        for weight, one in zip(multipliers, program.rows, strict=True)
        if weight
    ]
    remainder = _squares(slack_matrix(program, multipliers))
    return {**head(model, kind, "upper", about), "value": text_of(value), "rows": rows, "remainder": remainder}


def lower_file(
    model: ProgramModel, kind: FunctionClass, gram: Matrix, values: Sequence[Fraction], value: Fraction, about: Json
) -> Json:
    """Return the certificate of a lower value: a point (G, F) of the program, which the first checker has accepted."""
    return {
        **head(model, kind, "lower", about),
        "value": text_of(value),
        "rows": given(model, kind),
        "gram": _squares(gram),
        "point": [text_of(one) for one in values],
    }


def given(model: ProgramModel, kind: FunctionClass) -> list[Json]:
    """Return the rows of the program that are no inequalities of the class."""
    labels = _labels(model, kind)
    return [one for one in (_row(row, labels, model) for row in model.program.rows) if one["kind"] == "given"]


def head(model: ProgramModel, kind: FunctionClass, side: str, about: Json) -> Json:
    """Return all of a certificate that its program says: whatever proves its value."""
    least, inverse, square = kind.limits
    functions = [
        {
            "mu": text_of(least),
            "1/L": text_of(inverse),
            "gradient_square": None if square is None else text_of(square),
            "samples": [{"x": _vector(one.x), "g": _vector(one.g), "f": _vector(one.f.values)} for one in samples],
        }
        for samples in model.samples
    ]
    return {
        "schema": SCHEMA,
        "kind": side,
        **about,
        "class": kind.words,
        "basis": _names(model),
        "values": [f"F_{place}" for place in range(model.program.values)],
        "functions": functions,
        "objective": _form(model.program.objective),
    }


def _names(model: ProgramModel) -> list[str]:
    """Return what each basis vector is."""
    names = {place: f"u_{place}" for place in range(model.program.points)}
    names |= dict.fromkeys(model.start, "x_0 − x*")
    names |= {place: f"e_{number}" for number, place in enumerate(model.errors)}
    for client, samples in enumerate(model.samples):
        for number, one in enumerate(samples):
            if len(one.g) == 1 and names[place := next(iter(one.g))].startswith("u_"):
                names[place] = f"gradient of f_{client} at its sample {number}"
    return list(names.values())


def _labels(model: ProgramModel, kind: FunctionClass) -> dict[tuple[Any, ...], Json]:
    """Return which row is which inequality of the class."""
    found: dict[tuple[Any, ...], Json] = {}
    for form, label in class_rows(kind, model.samples):
        found.setdefault(_key(form), label)
    return found


def distances(model: ProgramModel, kind: FunctionClass) -> list[int]:
    """Return how far apart the samples of each row's inequality are: from x*, or on to the next one, is nearest."""
    labels = _labels(model, kind)
    found = []
    for one in model.program.rows:
        known = labels.get(_key(one), {})
        i, j = known.get("i", 0), known.get("j", 0)
        if known.get("kind") == "gradient":
            found.append(4 if i == len(model.samples[known["client"]]) - 1 else 0)
        else:
            found.append(0 if i == 0 or j == i + 1 else 1 if j == 0 else abs(j - i) + (j < i))
    return found


def _row(one: Row, labels: Mapping[tuple[Any, ...], Json], model: ProgramModel) -> Json:
    known = labels.get(_key(one))
    return known or {"kind": "given", "words": _words(one, _names(model)), "form": _form(one)}


def _key(form: Row) -> tuple[Any, ...]:
    return tuple(sorted(form.values.items())), tuple(sorted(form.gram.items())), form.constant


def _words(one: Row, names: Sequence[str]) -> str:
    parts = [f"{'' if weight == 1 else f'{weight}·'}F_{place}" for place, weight in one.values.items()]
    for (i, j), weight in one.gram.items():
        square = f"‖{names[i]}‖²" if i == j else f"⟨{names[i]}, {names[j]}⟩"
        parts.append(square if weight == 1 else f"{weight}·{square}")
    return f"{' + '.join(parts)} ≤ {-one.constant}"


def _form(one: Row) -> Json:
    return {
        "values": _vector(one.values),
        "gram": [[i, j, text_of(weight)] for (i, j), weight in one.gram.items()],
        "constant": text_of(one.constant),
    }


def _vector(entries: Mapping[int, Fraction]) -> dict[str, str]:
    return {str(place): text_of(entry) for place, entry in entries.items()}


def _squares(matrix: Matrix) -> list[Json]:
    """Return positive weights d_j and vectors ℓ_j with Σ d_j·ℓ_j·ℓ_jᵀ the matrix, which is positive semidefinite."""
    left = [list(line) for line in matrix]
    out = []
    for _ in left:
        place = max(range(len(left)), key=lambda i: left[i][i])
        pivot = left[place][place]
        if not pivot:
            break
        vector = [entry / pivot for entry in left[place]]
        out.append({"weight": text_of(pivot), "vector": _vector({i: one for i, one in enumerate(vector) if one})})
        for i, first in enumerate(vector):
            if first:
                for j, second in enumerate(vector):
                    left[i][j] -= pivot * first * second
    return out


# A function is good enough where its replay misses the solver's value by no more than this share.
_CLOSE = 1e-4
# What is said of a program in units of the step.
UNIT = ", function values times the step size"


def worst_case(
    theorem: Theorem,
    iterations: int,
    settings: Mapping[str, Any] | None = None,
    average: bool | None = None,
    *,
    delays: str | None = None,
    events: Sequence[Any] | None = None,
    find_function: bool = False,
    certificates: bool = True,
) -> WorstCase:
    """Compute the worst case of the theorem's algorithm, run with full gradients, over the theorem's functions.

    Parameters
    ----------
    theorem
        What is claimed; its assumptions give the class, its step size the algorithm's.
    iterations
        K events for AREA, server updates for the others; small.
    settings
        Symbols (R, B, L, mu, p, …) and parameters of the algorithm (M, …). R, B, L and F0 are 1 where nobody says
        otherwise, which is a choice of units; noise is 0.
    average
        The mean over all event sequences, which is what theorems with random events speak about; default: whether
        the theorem assumes them and ``events`` is not given.
    delays
        ``iid:p_s=0.5`` for the average; any spec for the schedule of one run (default: all clients equally fast).
    events
        One run, as a case file lists it.
    find_function
        Whether to look for a function that makes the worst case, too: more programs, which no verdict needs.
    certificates
        Whether to look for certified values; without them only the numbers of the solver are there, and nothing is
        decided.

    Raises
    ------
    BoundlabError
        If something is missing or does not fit, the program is too large, or there is no finite worst case.
    """
    plan = ask(theorem, iterations, settings or {}, average, delays, events)
    kind, constants, step, model = program_of(theorem, plan)
    compiled = Compiled(model.program)
    solution = compiled.solve()
    upper, lower, equal = None, None, None
    found = FoundFunction("" if find_function else "no function was asked for")
    if solution.status == "optimal":
        if certificates:
            upper = _checked(model, kind, certify(compiled, solution))
            equal = _reaches(plan, kind, constants, model, compiled, solution, None if upper is None else upper.value)
            if equal is None:  # a solver's value above a bound that nothing exceeds is rounding
                lower = _lower(plan, kind, constants, model, compiled, solution, step)
        if find_function:
            found = _search(plan, kind, constants, step, solution.primal)
    best, attained_value = equal or upper, plan.exactly.right.high if equal else None
    return WorstCase(
        plan,
        plan.rounded(),
        kind,
        model.program.points,
        len(model.program.rows),
        solution.status,
        solution.primal,
        solution.dual,
        attained_value if best is None or equal else best.value,
        equal is not None,
        None if lower is None else lower.value,
        found.problem,
        found.rank,
        found.in_class,
        found.replayed,
        found.missing,
        _kept(plan, best, lower),
    )


def program_of(theorem: Theorem, plan: Question) -> tuple[FunctionClass, dict[str, Any], float, ProgramModel]:
    """Return the class, what bounds start and clients, the largest step size, and the program.

    Raises
    ------
    BoundlabError
        If nothing bounds the start, or the program is too large.
    """
    kind = function_class(theorem, plan.values, plan.clients)
    constants = _bounding(theorem, plan)
    require_start(theorem, constants)
    step = max((float(tape.descend.step_size.max(initial=0.0)) for tape, _ in plan.tapes()), default=0.0) or 1.0
    if kind.kind in ("ConvexFunction", "StronglyConvexFunction") and kind.gradient_square is None:
        constants["step"] = step
    model = build(kind, plan.metric, plan.runs(), plan.clients, constants)
    return kind, constants, step, model


def part_of(
    plan: Question, kind: FunctionClass, constants: Mapping[str, Any], step: float
) -> tuple[FunctionClass, ProgramModel] | None:
    """Return a part of a class whose program is no larger than it, with its program, or None: for lower values."""
    part = stand_in(kind, float(constants.get("R", 1.0)), step, SHARES[0])
    if part is None or part.relaxed or part.deviation is not None or part.gradient_square is not None:
        return None
    return part, build(part, plan.metric, plan.runs(), plan.clients, constants)


@final
@dataclass(frozen=True, slots=True)
class _Certified:
    """A certified value: of which program, and by which multipliers (upper) or at which point G, F (lower)."""

    model: ProgramModel
    kind: FunctionClass
    value: Fraction
    evidence: tuple[Any, ...]
    unit: str = ""


def _kept(plan: Question, upper: _Certified | None, lower: _Certified | None) -> dict[str, Any]:
    """Return the certificates of both sides, as the checker reads them."""
    sides: tuple[tuple[str, Any, _Certified | None], ...] = (
        ("upper", upper_file, upper),
        ("lower", lower_file, lower),
    )
    return {
        name: write(one.model, one.kind, *one.evidence, one.value, about(plan, one.unit))
        for name, write, one in sides
        if one is not None
    }


def about(plan: Question, unit: str = "") -> dict[str, Any]:
    """Return what the question is, and in words what the objective is."""
    runs = "mean over all event sequences" if plan.average else "one run"
    values = ", ".join(
        f"{name} = {value}" for name, value in plan.values.items() if name != plan.theorem.horizon_symbol
    )
    what = f"{plan.metric.expectation} of {plan.algorithm.id} as in {plan.theorem.id}"
    return {
        "claim": f"{what}, {plan.theorem.horizon_symbol} = {plan.horizon}, {runs}, {values}{unit}",
        "question": dict(plan.asked),
    }


def _reaches(
    plan: Question,
    kind: FunctionClass,
    constants: Mapping[str, Any],
    model: ProgramModel,
    compiled: Compiled,
    solution: Solution,
    upper: Fraction | None,
) -> _Certified | None:
    """Return the bound itself as a certified upper value, where it is attained so far as the solver sees, or None."""
    right = plan.exactly.right
    near = solution.primal <= float(right.high) * (1.0 + TIGHT)
    if not near or (upper is not None and not right.low < upper <= right.high * Fraction(1.0 + TIGHT)):
        return None
    unit, words = in_units_of_the_step(plan, kind, constants), ""
    if unit is not None:
        model, kind, value = unit
        words = UNIT
        compiled = Compiled(model.program)
        solution = compiled.solve()
        proposed = attained(compiled, solution, value) if solution.status == "optimal" else iter(())
    elif right.exact is not None:
        value = right.exact
        proposed = attained(compiled, solution, value, parabolas(model, kind.constants))
    else:
        return None
    proved = ((one, kernel) for one, kernel in proposed if upper_value(model.program, one) == value)
    best = plainest(proved)
    if best is None:
        return None
    far = distances(model, kind)
    return _Certified(model, kind, value, (fewer(model.program, *best, value, far),), words)


def _lower(
    plan: Question,
    kind: FunctionClass,
    constants: Mapping[str, Any],
    model: ProgramModel,
    compiled: Compiled,
    solution: Solution,
    step: float,
) -> _Certified | None:
    """Return a certified lower value above the bound, or None: of the class, or of a part that has no more."""
    high = plan.exactly.right.high
    if Fraction(solution.primal) <= high:
        return None
    if not kind.relaxed:
        return _checked(model, kind, certified_lower(compiled, solution, high))
    found = part_of(plan, kind, constants, step)
    if found is None:
        return None
    part, model = found
    inside = Compiled(model.program)
    try:
        return _checked(model, part, certified_lower(inside, inside.solve(), high))
    except BoundlabError:
        return None


def _checked(model: ProgramModel, kind: FunctionClass, found: tuple[Any, ...] | None) -> _Certified | None:
    return None if found is None else _Certified(model, kind, found[0], found[1:])


def _bounding(theorem: Theorem, plan: Question) -> dict[str, Any]:
    """Return what bounds start and clients, as far as the theorem reads it."""
    read, about = set(theorem.inputs(plan.values)), {*having("start"), *assumption("minimiser").defines}
    return {name: plan.values[name] for name in plan.values if name in read & about}


def _search(
    plan: Question, kind: FunctionClass, constants: Mapping[str, Any], step: float, wanted: float
) -> FoundFunction:
    """Look for a function whose replay comes near the solver's value, with kinks that are rounded more and more."""
    if kind.errors:
        return FoundFunction("no case file says errors of gradients that change from step to step")
    best = FoundFunction(f"no function of the class is written down for {kind.kind}")
    for share in SHARES:
        chosen = stand_in(kind, float(constants.get("R", 1.0)), step, share)
        if chosen is None:
            break
        found = _function(plan, chosen, constants)
        better = found.replayed is not None and (best.replayed is None or found.replayed > best.replayed)
        if better or best.problem is None:
            best = found
        exact_class = chosen.kind == kind.kind or kind.kind == "SmoothFunction"
        if exact_class or (best.replayed is not None and best.replayed >= wanted * (1.0 - _CLOSE)):
            break
    return best


def _function(plan: Question, chosen: FunctionClass, constants: Mapping[str, Any]) -> FoundFunction:
    """Find a function near the worst one of a class whose members can be written down, and replay it."""
    try:
        model = build(chosen, plan.metric, plan.runs(), plan.clients, inside(constants))
        compiled = Compiled(model.program)
        solution = compiled.solve()
        if solution.status != "optimal":
            return FoundFunction(f"Clarabel ended with status {solution.status} on the functions with rounded kinks")
        gram, values = flat(compiled, solution, model.program.level)
        found = extract(chosen, model, gram, values, constants)
    except BoundlabError as error:
        return FoundFunction(str(error))
    if found.problem is None:
        return found
    replayed = replay(plan, found.problem)
    missing = "" if replayed is not None else "the function found has no closed proximal step"
    return replace(found, missing=missing, replayed=replayed)


_ASKED = {
    "theorem": str,
    "core": str,
    "iterations": int,
    "settings": dict,
    "average": bool,
    "delays": str,
    "events": list,
}
_MAY_BE_NULL = ("average", "delays", "events")
_MOST_ITERATIONS = 1_000  # of a file: no program of LARGEST points has as many


def bound(raw: Mapping[str, Any], found: Finding) -> Finding:
    """Return a finding about a certificate with what its question answers for.

    Parameters
    ----------
    raw
        The file, of which ``found`` says that no line is wrong.
    """
    if not found.right:
        return found
    try:
        theorem, wrong = _compared(raw)
    except BoundlabError as error:
        theorem, wrong = None, f"it is bound to no theorem: {error}"
    if theorem is not None:
        found = replace(found, reason=f"{theorem.id}: {found.reason}")
    return replace(found, setting=(wrong,) if wrong else ())


def _compared(raw: Mapping[str, Any]) -> tuple[Theorem | None, str]:
    """Return the theorem that a file names, and what of it is another's, or ''."""
    question = raw.get("question")
    if question is None:
        return None, "it is bound to no theorem: the file names no question"
    if odd := _malformed(question):
        return None, f"it is bound to no theorem: {odd}"
    theorem: Theorem | None = registered("theorems").get(question["theorem"])
    if theorem is None:
        return None, f"it is bound to no theorem: none is registered as {question['theorem'][:80]}"
    if core(theorem).sha256 != question["core"]:
        return theorem, f"{theorem.id} is stated otherwise: its core has another hash"
    more = {name: question[name] for name in ("average", "delays", "events")}
    plan = ask(theorem, question["iterations"], question["settings"], **more)
    if plan.clients != len(raw["functions"]):
        return theorem, f"{theorem.id}, as the file asks: {plan.clients} functions, and not {len(raw['functions'])}"
    first: list[str] = []
    for model, kind, unit in _programs(theorem, plan, str(raw["kind"])):
        other = list(_others(raw, plan, model, kind, unit))
        if not other:
            return theorem, ""
        first = first or other
    return theorem, f"{theorem.id}, as the file asks, has another {' and another '.join(first or ['program'])}"


def _malformed(question: Any) -> str:
    """Return what is no question, in words, or ''."""
    if not isinstance(question, dict) or question.keys() != _ASKED.keys():
        return f"a question has {', '.join(_ASKED)}"
    for name, kind in _ASKED.items():
        given = question[name]
        fits = isinstance(given, kind) and not (kind is int and isinstance(given, bool))
        if not fits and not (given is None and name in _MAY_BE_NULL):
            return f"{name} of its question is no {kind.__name__}"
    if odd := [name for name, one in question["settings"].items() if not _plain(one)]:
        return f"{odd[0][:40]} is no number, text or list of them"
    if not 1 <= question["iterations"] <= _MOST_ITERATIONS:
        return f"iterations must be from 1 to {_MOST_ITERATIONS}"
    clients = question["settings"].get("n", 1)
    try:
        few = 1 <= float(clients) <= LARGEST
    except (TypeError, ValueError):
        few = False
    return "" if few else f"n must be a number from 1 to {LARGEST}"


def _plain(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_plain(one) and not isinstance(one, (list, str)) for one in value)
    return isinstance(value, (bool, int, float, str))


def _programs(theorem: Theorem, plan: Question, side: str) -> Iterator[tuple[ProgramModel, FunctionClass, str]]:
    """Yield the programs whose values say something of the question, each with its class and its unit.

    A value from above is that of the class, or of more functions; one from below is reached by a function where the
    program is no larger than the class, or than a part of it.
    """
    kind, constants, step, model = program_of(theorem, plan)
    if side == "upper":
        yield model, kind, ""
        unit = in_units_of_the_step(plan, kind, constants)
        if unit is not None:
            yield unit[0], unit[1], UNIT
    elif not kind.relaxed:
        yield model, kind, ""
    else:
        part = part_of(plan, kind, constants, step)
        if part is not None:
            yield part[1], part[0], ""


def _others(
    raw: Mapping[str, Any], plan: Question, model: ProgramModel, kind: FunctionClass, unit: str
) -> Iterator[str]:
    """Yield what a file says otherwise than the program."""
    own = json.loads(json.dumps(head(model, kind, raw["kind"], about(plan, unit))))
    yield from (name for name in own if own[name] != raw.get(name))
    rows = [{**one, "multiplier": None} for one in given(model, kind)]
    named = [{**one, "multiplier": None} for one in raw["rows"] if one["kind"] == "given"]
    if any(one not in rows for one in named) or (raw["kind"] == "lower" and any(one not in named for one in rows)):
        yield "set of given rows"
