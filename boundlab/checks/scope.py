"""Scope: whether the statement hangs together, each thing that it reads or sets being defined by something in it."""

from collections.abc import Iterator, Set
from functools import partial
from typing import Any

from boundlab.algorithms import Algorithm, without_open
from boundlab.assumptions import BOUNDED_DOMAIN, BOUNDED_RUN, assumption, contradiction, definers, with_implied
from boundlab.case import delays_from
from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.errors import BoundlabError, SpecError
from boundlab.formulas.symbols import SYMBOLS, names_of
from boundlab.metrics import Quantity
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, Tape
from boundlab.theorems import SECONDS, Theorem, elaborated_options

_CLIENTS = (2, 1)  # some algorithms have one only
_ITERATIONS = 20
_COUNTERS = ("K", "T")
# ∞ where no assumption makes it finite: the claim then says nothing, and is not wrong.
_EXTENDED = frozenset({"F0"})


@group("scope", "what the statement reads and sets is defined by something in it")
def checks(view: View) -> Iterator[Check]:
    """Check the algorithm, its options, the symbols of bound and conditions, and what nobody uses."""
    theorem = view.theorem
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    yield Check("scope.algorithm", "the algorithm exists", "passed")
    statement = "every step and option that the theorem sets is a parameter of its algorithm"
    options = asked("scope.options", statement, lambda: _options(theorem, algorithm))
    if options.verdict != "failed":  # else there is no core statement that could be about nothing
        statement = "no assumptions among them are known to contradict each other"
        yield asked("scope.nonempty", statement, lambda: _nonempty(theorem))
    yield options
    measured = None if options.verdict == "failed" else measured_by_runs(theorem)
    own = _of_conditions(theorem)
    for place, words, read in (
        ("symbols", "the bound and the step read", {*theorem.inputs()} - own),
        ("conditions", "the conditions read", own),
    ):
        statement = f"what {words} is defined: by an assumption, the metric, a definition or the algorithm's runs"
        yield asked(f"scope.{place}", statement, partial(_symbols, view, algorithm, read, measured))
    yield asked(
        "scope.unused",
        "assumptions, definitions and parameters that nothing uses are named",
        lambda: Decision("passed", _unused(view)),
    )


def _nonempty(theorem: Theorem) -> Decision:
    """Look for assumptions that are known to contradict each other: whatever is claimed of no function is true."""
    found = contradiction(theorem.core.assumed)
    if found is None:
        return Decision("passed")
    return Decision("failed", found.words, "claim vacuous")


def _options(theorem: Theorem, algorithm: Algorithm[Any]) -> Decision:
    try:
        options = elaborated_options(theorem, algorithm)
    except SpecError as error:
        return Decision("failed", str(error), "not defined")
    try:
        read_parameters(theorem, algorithm, {one.id: one.value for one in options if one.how == "fixed"})
    except SpecError as error:
        try:
            read_parameters(theorem, algorithm, {})
        except SpecError:
            return Decision("unknown", f"the algorithm needs more than the theorem says: {error}")
        return Decision("failed", str(error), "not defined")
    return Decision("passed")


def read_parameters(theorem: Theorem, algorithm: Algorithm[Any], options: Any) -> Any:
    """Return the algorithm's parameters, with 1 for the steps, and for parameters whose defaults do not do."""
    steps = without_open({**dict.fromkeys(theorem.step, 1), **options})
    try:
        return algorithm.read(Options(algorithm.id, steps))
    except SpecError as error:
        try:
            return algorithm.read(Options(algorithm.id, {**dict.fromkeys(theorem.parameters, 1), **steps}))
        except SpecError:
            raise error from None


def measured_by_runs(theorem: Theorem) -> frozenset[str] | None:
    """Return the symbols that a run of the algorithm has, read off a short schedule; None if none could be made."""
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    if algorithm.server == "any":
        return frozenset()
    for clients in _CLIENTS:
        try:
            parameters = read_parameters(theorem, algorithm, theorem.core.fixed)
            tape = short_run(algorithm, parameters, clients, "deterministic", _ITERATIONS)
            return frozenset(algorithm.quantities(parameters, tape, _ITERATIONS, {})) | {"N"}
        except BoundlabError:
            continue
    return None


def short_run(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: str, iterations: int) -> Tape:
    """Return the tape of one run that shows nothing."""
    law = delays_from(delays, clients)
    policy = algorithm.policy(None, law)
    return compile_trial(algorithm, parameters, clients, law, policy, iterations, NOTHING, Streams(0, 0))


def _of_conditions(theorem: Theorem) -> frozenset[str]:
    """Return the symbols that only conditions read."""
    sides = {name for one in theorem.conditions for name in names_of(one.quantity) | names_of(one.limit)}
    others = {name for one in (*theorem.bound.terms.values(), *theorem.step.values()) for name in names_of(one)}
    rest = theorem.read_by({*others, *theorem.bound.reads(frozenset())})
    return theorem.read_by(sides) & set(theorem.inputs()) - rest


def _defined(view: View) -> frozenset[str]:
    """Return the symbols that something in the statement defines, the runs of its algorithm apart."""
    theorem = view.theorem
    # A left side with x* or f* in it is about functions that have one.
    about = () if theorem.left.quantity is Quantity.SLOPE else ("minimiser",)
    assumed = with_implied((*theorem.assumptions, *about))
    return frozenset(
        {
            "n",
            theorem.horizon_symbol,
            *((SECONDS,) if theorem.left.in_seconds else ()),
            *theorem.step,
            *theorem.defining(),
            *theorem.parameters.values(),
            *(symbol for name in assumed for symbol in assumption(name).defines),
            # "σ ≤ 0" says by itself what σ is.
            *view.at_lowest,
            # What a file declares by itself is its author's.
            *(name for name in theorem.symbols if name not in SYMBOLS),
        }
    )


def _symbols(view: View, algorithm: Algorithm[Any], read: Set[str], measured: frozenset[str] | None) -> Decision:
    if not read:
        return Decision("not applicable", "nothing is read")
    missing = sorted(read - _defined(view) - (measured or frozenset()))
    infinite = [name for name in missing if name in _EXTENDED]
    missing = [name for name in missing if name not in _EXTENDED]
    if missing and measured is None:
        return Decision("unknown", f"no schedule could be made that may have {', '.join(missing)}")
    if missing:
        text = "; ".join(_undefined(view, algorithm, name) for name in missing)
        return Decision("failed", text, "not defined")
    notes = [f"{name} may be ∞: nothing says {' or '.join(definers(name))}" for name in infinite]
    return Decision("passed", "; ".join(notes))


def _undefined(view: View, algorithm: Algorithm[Any], name: str) -> str:
    theorem = view.theorem
    if name in _COUNTERS:
        return f"{name} is read, but {theorem.metric} counts {theorem.horizon_symbol}"
    line = f"{name} ({theorem.symbols[name].meaning}) is read, but nothing defines it"
    if assumed := definers(name):
        return f"{line}: assume {' or '.join(assumed)}"
    if name in algorithm.parameters:
        return f'{line}: under [parameters] write {name} = "{name}", the option of {algorithm.id}'
    return f"{line}: neither an assumption, nor a run of {algorithm.id}, nor a definition"


def _unused(view: View) -> str:
    """Name what the statement does not use; it is no error."""
    theorem = view.theorem
    read = {*theorem.inputs(), *theorem.rules(), *theorem.step}
    about = frozenset() if theorem.left.quantity is Quantity.SLOPE else with_implied(["minimiser"])
    about |= {BOUNDED_DOMAIN, BOUNDED_RUN}  # it says where the others are meant, whether or not the diameter is read
    idle = [
        f"assumption {name} ({', '.join(symbols)} {'is' if len(symbols) == 1 else 'are'} not read)"
        for name in theorem.assumptions
        if (symbols := [one for other in sorted(with_implied([name])) for one in assumption(other).defines])
        and name not in about
        and not read & set(symbols)
    ]
    idle += [f"definition {name}" for name in theorem.definitions if name not in read]
    reached, own = theorem.read, lookup("algorithms", theorem.algorithm).parameters
    idle += [
        f"parameter {option} (no formula reads {name}: {option} stands at its default)"
        for option, name in theorem.parameters.items()
        if name not in reached and option in own and option not in theorem.options
    ]
    return f"unused: {'; '.join(idle)}" if idle else ""
