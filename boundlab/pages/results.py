"""The pages of results that are numbers: comparisons, searches, worst cases, runs, traces, and the best server rate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from boundlab.pages.blocks import (
    GAP,
    Block,
    Line,
    Rows,
    Words,
    constants_of,
    figure,
    figures,
    line,
    of_objective,
    proof_speaks,
    table,
    tone_of,
    verdict_words,
    word,
    words,
)
from boundlab.randomness import Floats
from boundlab.registry import command_line

if TYPE_CHECKING:
    from boundlab.compare import Comparison, Horizons
    from boundlab.falsify import Falsification, JudgedInstance
    from boundlab.instance.plan import Plan
    from boundlab.instance.readings import SymbolValue
    from boundlab.server_rate import OptimalRate
    from boundlab.simulate import Simulation
    from boundlab.traces import DelayFit, TraceSummary
    from boundlab.worst_case import WorstCase

# Comparisons: at one horizon, and at several.

_SHORT = 4


def _verdict(result: "Comparison | Horizons", reason: str) -> Words:
    verdict = result.verdict.value
    return verdict_words(verdict, reason, result.headline.removeprefix(verdict))


def comparison_page(result: "Comparison", terms: bool = False) -> list[Block]:
    """Return setting, constants, table and verdict of one comparison; ``terms``: with the terms of the bound."""
    plan, left = result.plan, result.band
    trials = "one trial" if left.trials == 1 else f"{left.trials} trials" if left.trials else "no trials"
    parameters = ", ".join(f"{key} = {word(value)}" for key, value in plan.parameter_values.items())
    return [
        _setting(plan, f"{trials}, seed {result.seed}{result.backend.words}"),
        words(f"parameters: {parameters}"),
        GAP,
        figures(("symbol", "value", "side", "origin", "how"), map(_symbol, plan.symbols), words=(2, 3, 4)),
        GAP,
        _points(result, list(result.terms) if terms else []),
        words((left.method + _up_to_each(plan), "dim")),
        *proof_speaks(result.membership),
        GAP,
        _verdict(result, result.explanation),
    ]


def _up_to_each(plan: "Plan") -> str:
    """Return which symbols have another value in each line of the table."""
    theorem = plan.theorem
    steps = theorem.read_by({str(symbol) for one in theorem.step.values() for symbol in one.free_symbols})
    terms = (*theorem.bound.terms.values(), *theorem.definitions.values())
    read = {str(symbol) for one in terms for symbol in one.free_symbols} - steps  # a step is that of the whole run
    names = [one.name for one in plan.symbols if one.origin == "tape" and one.name in read]
    if not names or len(plan.ks) < 2:
        return ""
    each = f"; the bound at each {theorem.horizon_symbol} has {', '.join(names)} of the run up to it"
    return f"{each}, of which the symbols above are the last"


def horizons_page(found: "Horizons", terms: bool = False) -> list[Block]:
    """Return a line for each horizon, and what they say together; ``terms``: with the terms of the bound."""
    results = found.comparisons
    plan = results[0].plan
    # One horizon may be computed where the next one is sampled: then there are limits for some.
    heads = max((list(_left_columns(one)) for one in results), key=len)
    names = list(results[0].terms) if terms else []
    columns = (plan.theorem.horizon_symbol, *heads, "bound", "mean/bound", *names, "verdict")
    rows = []
    for one in results:
        left = [figure(column[-1]) for column in _left_columns(one).values()]
        rows.append(
            (
                str(one.plan.iterations),
                *left,
                *["computed"] * (len(heads) - len(left)),
                figure(one.bound[-1]),
                figure(one.ratio[-1]),
                *(figure(one.terms[name][-1]) for name in names),
                one.headline,
            )
        )
    return [
        _setting(plan, "a separate run for each horizon"),
        GAP,
        figures(columns, rows, words=(len(columns) - 1,)),
        words((found.deciding.band.method, "dim")),
        GAP,
        _verdict(found, found.reason),
    ]


def _setting(plan: "Plan", runs: str) -> Words:
    form = f"instead of {plan.asked}, which needs bounds of gradients everywhere\n" if plan.asked else ""
    return words(
        f"{plan.theorem.id} ({plan.theorem.status}): {plan.metric.label} E[{plan.metric.symbol}]\n"
        f"{form}problem {plan.problem.id}: n = {plan.problem.n} clients, d = {plan.problem.d}"
        f"{of_objective(plan.objective)}; {plan.delays.id} delays, server {plan.policy.describe()}; {runs}"
    )


def _symbol(one: "SymbolValue") -> tuple[Line, ...]:
    """Return a symbol with its value and where that comes from; one that is not certified stands out."""
    tone = "" if one.certified else "open"
    texts = (one.name, _entries(one.value), one.side, one.origin, one.how)
    return tuple(line((text, tone)) for text in texts)  # type: ignore[arg-type]


def _points(result: "Comparison", names: Sequence[str]) -> Rows:
    left_side = _left_columns(result)
    counter = "k" if result.plan.theorem.horizon_symbol == "K" else "T"
    rows = [
        (
            str(k),
            *(figure(column[row]) for column in left_side.values()),
            figure(result.bound[row]),
            figure(result.ratio[row]),
            *(figure(result.terms[name][row]) for name in names),
        )
        for row, k in enumerate(result.plan.ks)
    ]
    return figures((counter, *left_side, "bound", "mean/bound", *names), rows)


def _entries(value: Any) -> str:
    """Return a number, or the first of a list of them."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else figure(value)
    return f"{', '.join(figure(one) for one in value[:_SHORT])}{', …' if len(value) > _SHORT else ''}"


def _left_columns(result: "Comparison") -> dict[str, Floats]:
    """Return what is known of the left side, by the head of its column."""
    left = result.band
    if result.exact == "expectation":
        return {"expectation": left.mean}
    if left.level == 1.0:
        return {"mean": left.mean, "smallest": left.lower, "largest": left.upper}
    kind = "upper" if left.guaranteed else "upper, approximate"
    return {
        "mean": left.mean,
        f"{100 * left.level:.4g}% lower": left.lower,
        f"{100 * left.level:.4g}% {kind}": left.upper,
    }


# A search for a counterexample.

# What stands before a command on the page.
REPEAT: Final = "repeat: "
OR: Final = "or: "
BY_HAND: Final = "step-by-step derivation: "
BOTH_SIDES: Final = "both sides there: "
_FAMILIES = 12
_REASONS = 5
_HORIZONS = (5, 10, 20, 40)  # at which a comparison shows how both sides grow


def search_page(found: "Falsification", typed: str = "", written: Path | None = None) -> list[Block]:
    """Return what was tried, the counterexample or the closest instance, and the commands that repeat it.

    Parameters
    ----------
    typed
        The theorem as the user gave it, an id or a file.
    written
        The case file of the counterexample.
    """
    best, statement = found.best, found.theorem
    head = f"{statement.id} ({statement.status}): {found.looked_at} in {found.seconds:.0f} s, seed {found.seed}"
    page: list[Block] = [words(found.nothing)] if found.nothing else []
    page += [words(head), *_tried(found.tried), *_refused(found.refused)]
    page += [words(kept)] if (kept := found.kept()) else []
    if best is None:
        what = "no family was found along which left/right is unbounded" if statement.growth else "none is confirmed"
        return [*page, verdict_words(found.verdict, found.nothing or what)]
    constants = ((name, figure(one.value), one.side, one.how) for name, one in best.constants.items())
    page += [
        GAP,
        words(f"{'a family begins at' if found.growth else found.called}: {best.words()}"),
        constants_of(constants),
        GAP,
        *(words(one) for one in _sides(found, best)),
    ]
    if found.growth is not None:
        one = found.growth
        page += [GAP, *(words(line) for line in (one.family, f"left  = {one.left}", f"right = {one.right}"))]
        page.append(verdict_words("violated", f"{statement.id} is false whatever its constants are: {one.why}"))
    elif found.violated:
        page.append(verdict_words("violated", f"{statement.id} is false as stated"))
    else:
        page.append(verdict_words("inconclusive", f"none found; the closest instance has left/right {best.ratio:.4g}"))
    return [*page, *_commands(found, best, typed or statement.id, written)]


def _tried(tried: Mapping[str, int]) -> tuple[Words, Rows] | tuple[()]:
    """Return how many candidates of which families were tried."""
    if not tried:
        return ()
    ranked = sorted(tried.items(), key=lambda item: -item[1])
    rows = [(name, str(number)) for name, number in ranked[:_FAMILIES]]
    if len(ranked) > _FAMILIES:
        rows.append((f"{len(ranked) - _FAMILIES} more", str(sum(number for _, number in ranked[_FAMILIES:]))))
    return words(("what was tried", "note")), figures(("family", "candidates"), rows)


def _sides(found: "Falsification", best: "JudgedInstance") -> list[str]:
    """Return both sides on the instance, as the paper may count, and on the smallest and the clearest instance."""
    counter = found.theorem.horizon_symbol
    lines = [
        f"at {counter} = {best.iterations}: left {best.left:.10g}, right {best.right:.10g}, "
        f"ratio {best.ratio:.6g} ({best.kind}: {best.method})"
    ]
    if best.generous is not None:
        counts = " and ".join(f"{name} counted as {name} + {more}" for name, more in found.theorem.generous.items())
        lines.append(f"with {counts}, as the paper may: ratio {best.generous:.6g}")
    for which, one in (("smallest instance", found.smaller), ("largest violation", found.clearest)):
        if one is not None:
            where = f"{one.words()}, {counter} = {one.iterations}"
            lines.append(f"{which} found: {where}: ratio {one.ratio:.6g} ({one.kind})")
    return lines


def _commands(found: "Falsification", best: "JudgedInstance", typed: str, written: Path | None) -> list[Words]:
    """Return the commands that say again what was found; of the closest instance, the one that shows both sides."""
    compare = best.command(typed)
    if found.growth is not None and found.growth.along == (found.theorem.horizon_symbol,):
        several = replace(best.candidate.compared(found.theorem), iterations=list(_HORIZONS))
        compare = several.command(typed, trials=2)
    if not found.violated:
        return [_command(BOTH_SIDES, compare)] if compare else []
    commands = []
    if (best.kind != "numeric" or found.growth is not None) and written is not None:
        commands.append(command_line("exact", typed, str(written)))
    if compare:
        commands.append(compare)
    elif found.clearest is not None and (clearest := found.clearest.command(typed)):
        commands.append(clearest)  # a sample tells the clearest instance, and not the smallest one
    said = [_command(OR if place else REPEAT, command) for place, command in enumerate(commands)]
    if best.by_hand and written is not None:
        said.append(_command(BY_HAND, command_line("exact", typed, str(written), "--derivation")))
    return said


def _command(before: str, command: str) -> Words:
    return words(before, (command, "command"))


def _refused(refused: Mapping[str, int]) -> list[Words]:
    """Return how many candidates were given up and why."""
    if not refused:
        return []
    ranked = sorted(refused.items(), key=lambda item: -item[1])
    lines = [f"{sum(refused.values())} more candidates were skipped:"]
    lines += [f"  {number} times: {reason}" for reason, number in ranked[:_REASONS]]
    if len(ranked) > _REASONS:
        rest = ranked[_REASONS:]
        lines.append(f"  {sum(number for _, number in rest)} times: {len(rest)} other reasons (--json lists them)")
    return [GAP, *(words(one) for one in lines)]


# A worst case, and the multipliers of its certificates.

_WHAT = {"exact": "a rational number", "certified": "enclosed by balls", "numeric": "iterated in floating point"}


def worst_case_page(result: "WorstCase") -> list[Block]:
    """Return the program and its numbers, each with what it is, and what they say of the bound."""
    relaxed = f"an upper value of the worst case: {result.kind.relaxed}" if result.kind.relaxed else ""
    return [
        *(words(one) for one in _program(result)),
        *([words((relaxed, "dim"))] if relaxed else []),
        GAP,
        figures(("", "value", "what it is"), _numbers(result), words=(2,)),
        GAP,
        words((f"{result.words}: ", tone_of(result.outcome.verdict)), result.reason),
    ]


def _program(result: "WorstCase") -> Iterator[str]:
    """Yield what is asked, of which functions, with which step, and the size of the program."""
    plan = result.plan
    runs = "mean over all event sequences" if plan.average else "one run"
    step = ", ".join(f"{name} = {value:.6g}" for name, value in plan.options.items() if isinstance(value, float))
    units = f"; {', '.join(f'{name} = 1' for name in plan.defaults)} (units)" if plan.defaults else ""
    asked = f"{plan.metric.expectation}, {plan.theorem.horizon_symbol} = {plan.horizon}, {runs}"
    yield f"{plan.theorem.id} ({plan.theorem.status}): {asked}"
    clients = f"{plan.clients} client{'s' * (plan.clients > 1)}"
    yield f"class: {clients}, every f_i {result.kind.words}; full gradients"
    yield f"step: {step}{units}"
    yield f"program: {result.points} points, {result.inequalities} inequalities, Clarabel: {result.status}"


def _numbers(result: "WorstCase") -> Iterator[tuple[str, str, str]]:
    """Yield each number by name, with what it is."""
    from boundlab.worst_case.result import downwards, upwards

    plan = result.plan
    yield "primal", f"{result.primal:.9f}", "numeric"
    yield "dual", f"{result.dual:.9f}", "numeric"
    yield "gap", f"{result.gap:.2e}", "numeric"
    if result.certified_upper is None:
        yield "upper value", "-", "no certificate was found"
    else:
        shown = "= bound" if result.attained else upwards(result.certified_upper)  # decimals of equal numbers differ
        yield "upper value", shown, "certified: rational multipliers, checked exactly"
    if result.replayed is None:
        yield "replayed", "-", result.missing
    else:
        belongs = "of the class" if result.in_class else "whose constants were not certified"
        found = f"numeric: a function in {result.rank} dimension{'s' * (result.rank > 1)}, {belongs}"
        yield "replayed", f"{result.replayed:.9f}", found
    if result.certified_lower is not None:
        yield "lower value", downwards(result.certified_lower), "certified: a point of the program, checked exactly"
    kind = plan.exactly.right.kind
    yield "bound", f"{result.bound:.9f}", f"{kind}: {_WHAT[kind]}; {plan.theorem.id}"
    for name, value in plan.repaired.items():
        yield "repaired", f"{value:.9f}", f"numeric: {name}{'' if 'fixed' in name else ', with its own step'}"


def multipliers_page(result: "WorstCase") -> list[Block]:
    """Return the inequalities that each certified value follows from, with their multipliers."""
    page: list[Block] = []
    for side, certificate in result.certificates.items():
        if certificate is None or not certificate.get("rows"):
            continue
        squares = ", and from squares" if certificate.get("remainder") else ""
        head = f"the {side} value, {certificate['value']}, follows from these times their multipliers{squares}:"
        rows = [(str(row.get("multiplier", "")), _inequality(row)) for row in certificate["rows"]]
        page += [GAP, words((head, "strong")), table("", ("multiplier", "inequality"), rows, whole=(0,))]
    return page or [GAP, words(("no certificate was found, and so there is no derivation", "dim"))]


def _inequality(row: "Mapping[str, Any]") -> str:
    """Return a row of a certificate in words; its points are numbered as the certificate lists them."""
    match row["kind"]:
        case "given":
            return str(row["words"])
        case "interpolation":
            return f"interpolation of f_{row['client']} from point {row['i']} to point {row['j']}"
        case "gradient":
            return f"the bound on the gradient of f_{row['client']} at point {row['i']}"
        case other:
            return str(row.get("words", other))


# Runs: a simulation, and the trajectory of a replayed case.

_LONG = 8


def run_page(result: "Simulation") -> list[Block]:
    """Return the metrics of one simulation, its events, and its staleness."""
    tau = max(one.tau_max for one in result.statistics)
    mean_tau = float(np.mean([one.staleness.mean() if len(one.staleness) else 0.0 for one in result.statistics]))
    setting = (
        f"{result.algorithm.id} on {result.problem.id}: n = {result.problem.n}, d = {result.problem.d}; "
        f"{result.delays.id} delays, server {result.policy.describe()}; "
        f"{len(result.statistics)} trials, seed {result.seed}{result.backend.words}"
    )
    rates = result.delays.how_rates
    follows = result.algorithm.follows(result.parameters, result.delays)
    if result.delays.says_staleness and result.algorithm.arrivals and not follows:
        rates += "; clients read when they are answered, not the models that it records"
    diverged = any(np.isinf(one).any() for one in result.metrics.values())
    return [
        words(setting),
        GAP,
        _metrics(result),
        *[words("a run diverges; boundlab constants PROBLEM says which local steps theorems allow there")] * diverged,
        GAP,
        _events_of_area(result) if result.algorithm.server == "any" else _events_of(result),
        words(f"staleness of arrivals: mean {mean_tau:.3g}, largest {tau}; rates of the delay model: {rates}"),
        *([words(f"first trial: {'; '.join(own)}")] if (own := list(_figures(result))) else []),
    ]


def _metrics(result: "Simulation") -> Rows:
    from boundlab.metrics import METRICS

    columns = [head for name in result.metrics for head in (f"mean {METRICS[name].point}", "min", "max")]
    found = list(result.metrics.values())
    looks = (np.mean, np.min, np.max)
    rows = [
        (str(k), *(figure(float(of(one[:, row]))) for one in found for of in looks)) for row, k in enumerate(result.ks)
    ]
    return figures(("k", *columns), rows)


def _events_of_area(result: "Simulation") -> Rows:
    """Return expected and observed frequencies of all kinds of events."""
    from boundlab.delays import frequencies

    p, p_s = frequencies(result.delays, result.policy)
    observed = np.mean([one.p for one in result.statistics], axis=0)
    updates = np.mean([one.updates for one in result.statistics], axis=0)
    rows = _each_client(result, p, observed, updates)
    versions = float(np.mean([one.versions for one in result.statistics]))
    rows.append(("server", figure(p_s), figure(float(np.mean([f.p_s for f in result.statistics]))), figure(versions)))
    return figures(("actor", "expected frequency", "observed", "updates a trial"), rows)


def _events_of(result: "Simulation") -> Rows:
    """Return rates, arrivals and aggregated weight of the clients."""
    updates = np.mean([one.updates for one in result.statistics], axis=0)
    weighted = [one.shares for one in result.statistics if one.shares is not None]
    total = max(float(updates.sum()), 1.0)
    shares = np.mean(weighted, axis=0) if weighted else None
    rows = _each_client(result, result.delays.rates(), updates, updates / total, shares)
    return figures(("client", "rate without waiting", "updates a trial", "share of updates", "share of weight π"), rows)


def _each_client(result: "Simulation", *columns: Any) -> list[tuple[str, ...]]:
    """Return a row for each of the first clients, and how many more there are; a column may be missing."""
    rows = [
        (f"client {client}", *("" if one is None else figure(one[client]) for one in columns))
        for client in range(min(result.problem.n, _LONG))
    ]
    more = f"… {result.problem.n - _LONG} more clients"
    return [*rows, (more, *[""] * len(columns))] if result.problem.n > _LONG else rows


def _figures(result: "Simulation") -> Iterator[str]:
    """Yield the first trial's figures of the algorithm itself, as far as they fit a line."""
    from boundlab.formulas.symbols import SYMBOLS

    for name, value in result.figures[0].items():
        match value:
            case dict():
                continue
            case list() if len(value) > _LONG or (value and isinstance(value[0], (list, dict))):
                said = f"{len(value)} entries (--json shows them)"
            case list():
                said = ", ".join(map(word, value))
            case _:
                said = word(value)
        known = SYMBOLS.get(name)
        yield f"{known.unicode} = {said}: {known.meaning}" if known else f"{name.replace('_', ' ')}: {said}"


def trajectory_page(trajectory: list[dict[str, Any]]) -> list[Block]:
    """Return the trajectory of a replayed case, with what the algorithm says of each event; long vectors are cut."""
    own = [name for name in trajectory[0] if name not in ("k", "t", "actor", "x")]
    rows = []
    for entry in trajectory:
        shown = ", ".join(f"{value:.12g}" for value in entry["x"][:_LONG])
        more = f", … ({len(entry['x'])} entries)" if len(entry["x"]) > _LONG else ""
        said = ("–" if entry[name] == -1 else str(entry[name]) for name in own)
        rows.append((str(entry["k"]), f"{entry['t']:.6g}", str(entry["actor"]), *said, f"[{shown}{more}]"))
    return [figures(("k", "t", "actor", *own, "x_s"), rows, words=(3 + len(own),))]


# Traces: what a log says, and the laws fitted to its durations.

_DEVICES = 20  # devices that are shown one by one


def trace_page(result: "TraceSummary") -> list[Block]:
    """Return devices, rates, durations, staleness, and whether the events may be i.i.d."""
    record, (first, last) = result.record, result.span
    n, updates, lost = len(record.names), int(result.updates.sum()), int(result.lost.sum())
    rates, means = result.rates, result.means()
    shown = range(n) if n <= _DEVICES else np.argsort(-result.updates, kind="stable")[:_DEVICES].tolist()
    client = record.arrived.client
    rows = []
    for one in shown:
        tau = result.tau[(client == one) & (result.tau >= 0)]
        stale = (figure(tau.mean()), str(tau.max())) if len(tau) else ("–", "–")
        counts = (str(result.updates[one]), str(result.lost[one]))
        rows.append((record.names[one], *counts, _known(rates[one]), _known(means[one]), *stale))
    heads = ("device", "updates", "lost", "rate", "mean duration", "mean staleness", "largest")
    overall = result.how
    if len(result.known):
        overall = f"mean {figure(result.known.mean())}, largest {result.known.max()} ({result.how})"
    times = f"{result.rounds} rounds, each of the updates of one time"
    rounds = [words(f"this looks like {times}: --delays trace:{record.source},rounds=yes")] if result.rounds else []
    more = [words(f"{n - _DEVICES} devices with fewer updates are not shown")] if n > _DEVICES else []
    return [
        words(f"{record.source}: {n} devices, {updates} updates, {lost} lost, time {figure(first)} to {figure(last)}"),
        *(words(f"note: {note}") for note in record.notes),
        GAP,
        figures(heads, rows),
        *more,
        words(f"durations: {result.durations.how}; staleness: {overall}"),
        words(f"{result.events.words(record.source)}"),
        *rounds,
    ]


def _known(value: float) -> str:
    return figure(value) if value == value else "–"


def fit_page(result: "DelayFit") -> list[Block]:
    """Return the laws by AIC, the test of the best, and its spec."""
    count = len(result.durations.time)
    rows = []
    for one in result.laws:
        shape = ", ".join(f"{key} = {figure(value)}" for key, value in one.options.items() if key != "rates")
        rows.append((one.law, shape or "–", figure(one.aic) if np.isfinite(one.aic) else "–", figure(one.distance)))
    if result.p_value is None:
        test = "every duration is one of the values that this law takes"
        if np.isfinite(result.best.aic):
            test = "the best law was not tested: none of its family fits the sample"
    else:
        test = (
            f"test of {result.best.law}: p = {figure(result.p_value)} (Kolmogorov-Smirnov distance of {result.sample} "
            f"durations against {result.draws} bootstrap samples, fitted alike); below 0.01 it does not fit"
        )
    return [
        words(f"{result.source}: {count} durations of {len(result.names)} devices, {result.durations.how}"),
        GAP,
        figures(("law", "shape", "AIC", "distance"), rows, words=(1,)),
        words(test),
        words((result.best.spec, "command")),
    ]


# The best server rate.


def rate_page(result: "OptimalRate") -> list[Block]:
    """Return the best rate by its closed form and by a minimiser, or the limit where there is none."""
    total = float(result.rates.sum())
    head = f"{len(result.rates)} clients, Σλ_i = {figure(total)}, objective {result.objective}; {result.note}"
    if result.lambda_s is not None:
        rows = [
            ("λ_s*  closed form", f"{result.lambda_s:.10g}"),
            ("λ_s*  numerical minimiser", f"{result.numeric:.10g}"),
            ("objective there", f"{result.value:.6g}"),
        ]
    else:
        near = f"bound within {result.epsilon:.3g} of its limit from λ_s ="
        rows = [("objective as λ_s → ∞", f"{result.limit:.6g}"), (near, f"{result.lambda_epsilon:.6g}")]
    shown = ", ".join(figure(p) for p in result.p[:8]) + (", …" if len(result.p) > 8 else "")
    rows += [("p_s there", f"{result.p_s:.6g}"), ("p_i there", shown)]
    return [words(head), figures(("quantity", "value"), rows)]
