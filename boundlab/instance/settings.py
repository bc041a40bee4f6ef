"""Classification of a setting as a parameter of the algorithm or a symbol of the theorem."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

from boundlab.algorithms import Algorithm, StepRule, own_rates, without_open
from boundlab.errors import AssumptionError, SpecError
from boundlab.formulas.symbols import SYMBOLS, having
from boundlab.instance.readings import formulas_at
from boundlab.metrics import INDEX
from boundlab.options import Options
from boundlab.tape import Tape
from boundlab.theorems import Theorem, at_steps, once, reads_steps

_PLAIN = (str, int)  # options that have a hash, and no two of which are equal and written otherwise


def rates(theorem: Theorem, algorithm: Algorithm[Any]) -> frozenset[str]:
    """Return the names of step sizes and server rates: the theorem says what they are, or leaves them free."""
    return own_rates(algorithm) | set(theorem.step)


def options_of(theorem: Theorem, algorithm: Algorithm[Any]) -> frozenset[str]:
    """Return the algorithm's parameters that are set like any option: all but the rates."""
    return frozenset(algorithm.parameters) - rates(theorem, algorithm)


def open_rates(theorem: Theorem) -> list[str]:
    """Return what a run may choose of its rates: those left open, and symbols of the theorem's own behind the others.

    A symbol of the theorem's own is a choice where the step size follows from it, as in α = θ/L for any θ ≤ 1; where
    only the bound reads it, nothing says what it is. What an inequality bounds at every x is no choice.
    """
    free = {*theorem.settable, *theorem.inputs()} - {theorem.horizon_symbol, *theorem.bounded_by}
    behind = sorted(theorem.read_by(theorem.step) & free - {*theorem.step})
    return [*(name for name in theorem.step if name in free), *(name for name in behind if name not in SYMBOLS)]


def parameters(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> Any:
    """Return the algorithm's parameters with these options, and 1 in place of its rates that nobody has computed yet.

    Raises
    ------
    SpecError
        If the algorithm does not take the options.
    """
    if all(type(value) in _PLAIN for value in options.values()):
        return _parameters(theorem, algorithm, tuple((name, value, type(value)) for name, value in options.items()))
    return _read(theorem, algorithm, options)


def _read(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> Any:
    return algorithm.read(Options(algorithm.id, without_open({**dict.fromkeys(theorem.step, 1), **options})))


@once(4096)
def _parameters(theorem: Theorem, algorithm: Algorithm[Any], options: tuple[tuple[str, Any, type], ...]) -> Any:
    return _read(theorem, algorithm, {name: value for name, value, _ in options})


def split(
    theorem: Theorem, algorithm: Algorithm[Any], settings: Mapping[str, Any], *, override: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the algorithm's options from symbols of the theorem.

    Parameters
    ----------
    settings
        By name, in the words in which they were given.
    override
        Whether they may differ from the options that the proof takes; a comparison then says so by itself.

    Returns
    -------
    options
        Those of the proof, and those that were set.
    symbols
        Everything else, known to the theorem or not.

    Raises
    ------
    AssumptionError
        If an option differs from the proof's and may not.
    """
    options: dict[str, Any] = dict(theorem.core.fixed)
    own = options_of(theorem, algorithm)
    for name, value in settings.items():
        if name not in own:
            continue
        if not override and name in options and str(options[name]) != str(value):
            raise AssumptionError(f"{theorem.id}: the proof takes {name}={options[name]}, not {name}={value}")
        options[name] = value
    if not override:
        for reason in differences(theorem, algorithm, options).values():
            raise AssumptionError(f"{theorem.id}: {reason}")
    return options, {name: value for name, value in settings.items() if name not in own}


def filled(
    theorem: Theorem,
    algorithm: Algorithm[Any],
    options: dict[str, Any],
    values: Mapping[str, Any],
    measured: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Put numbers into the option that is the step's rule, where symbols stand in that.

    Parameters
    ----------
    options
        Of the algorithm; changed in place.
    values
        By symbol.
    measured
        Gives what is read off the schedule.

    Raises
    ------
    SpecError
        If a symbol has no number that is a fraction.
    """
    rule = options.get(algorithm.rule)
    if not isinstance(rule, StepRule):
        return
    if theorem.read_by(theorem.rule_reads, values) & having("schedule") - values.keys():
        values = {**measured(), **values}
    formulas, put = formulas_at(theorem, values, fractional_options(theorem)), {}
    for one in rule.formula.free_symbols:
        if one.name in theorem.symbols and one.name != theorem.horizon_symbol:
            put[one] = found = formulas.exact(one)
            if found is None or not found.is_Rational:
                raise SpecError(f"{theorem.id}: the step reads {one.name}, which has no number here that is a fraction")
    options[algorithm.rule] = StepRule(rule.formula.xreplace(put))


def _no_tape() -> NoReturn:
    raise SpecError("there is no schedule here before there is a step; alpha_at(k) takes steps that are formulas of k")


def at_options(
    theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any], tape: Callable[[], Tape] = _no_tape
) -> Theorem:
    """Return the theorem as it reads for a run with these options: what it says of any steps, of those of the run.

    Parameters
    ----------
    tape
        Gives that of the run, where all runs have the same.

    Raises
    ------
    SpecError
        If the algorithm has no such steps.
    """
    if not reads_steps(theorem):
        return theorem
    factor = algorithm.step_factor(parameters(theorem, algorithm, options), tape)
    if factor is None:
        raise SpecError(f"{theorem.id} reads alpha_at(k), and the steps of {algorithm.id} are no formula of k")
    k = dict.fromkeys(factor.free_symbols, INDEX["K"])
    return at_steps(theorem, SYMBOLS["alpha"].symbol * factor.xreplace(k))


def differences(theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options in which a run differs from what the theorem is about, each with one line on how.

    An option that the theorem neither names nor leaves open stands at its documented default.

    Parameters
    ----------
    options
        Those of the run, the rates apart.

    Raises
    ------
    SpecError
        If the algorithm does not take the options.
    """

    def read(given: Mapping[str, Any]) -> Any:
        """Return the parameters, or None where the options do not do."""
        try:
            return parameters(theorem, algorithm, given)
        except SpecError:
            return None

    def without(names: Collection[str]) -> Any:
        return read({name: value for name, value in options.items() if name not in names})

    chosen = parameters(theorem, algorithm, options)
    closed = [name for name in sorted(options_of(theorem, algorithm) & set(options)) if not theorem.core.varies(name)]
    unsaid = [name for name in closed if name not in theorem.core.fixed]
    found = {}
    for name in closed:
        want = theorem.core.fixed.get(name)
        if want is None:
            # Some options go with others. One without a default is chosen by whoever runs the algorithm.
            usual = without([name]) or without(unsaid)
            same = usual is None or usual == chosen
        else:
            same = read({**options, name: want}) == chosen
        if not same and want is None:
            found[f"{name} at its default"] = f"it leaves {name} at its default, the run has {name}={options[name]}"
        elif not same:
            found[f"{name}={want}"] = f"the proof takes {name}={want}, the run {name}={options[name]}"
    return found


def fractional_options(theorem: Theorem) -> frozenset[str]:
    """Return the symbols that options are read as and that are no integers, such as the probability of a coin."""
    return frozenset(name for name in theorem.core.read_as.values() if not theorem.symbols[name].domain.integer)


def own_parameters(
    theorem: Theorem, algorithm: Algorithm[Any], options: Mapping[str, Any], measured: Mapping[str, Any]
) -> dict[str, tuple[str, float]]:
    """Return the parameters that a formula reads, as parameter → (symbol, value), 1 where nothing is set.

    Parameters
    ----------
    measured
        What is read off the schedule: it needs no parameter.

    Raises
    ------
    SpecError
        If one is no integer from 1 on, or no number where its symbol is none; if one is required and not set.
    """
    given = Options(algorithm.id, options)

    def value(parameter: str, symbol: str) -> float:
        if theorem.symbols[symbol].domain.integer:
            return given.integer(parameter, 1, minimum=1)
        given.require(parameter)
        return given.number(parameter, 1.0)

    return {
        parameter: (symbol, value(parameter, symbol))
        for parameter, symbol in theorem.core.read_as.items()
        if symbol not in measured and (theorem.core.varies(parameter) or parameter in options)
    }
