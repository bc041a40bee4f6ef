"""Randomness that the mean of a statement is over, source by source: read here and nowhere else."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, final

from boundlab import assumptions as known_assumptions
from boundlab.algorithms import Algorithm, Draw, undeclared_draws
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.formulas.symbols import having
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.theorems._evaluate import inputs
from boundlab.theorems._followed import once
from boundlab.theorems._options import Option, elaborated_options
from boundlab.theorems._statement import EACH, MEAN, Statement

How = Literal["averaged", "given", "absent"]
EVENTS: Final = "events"
_EVENTS: Final = "who arrives when"
_NOISE: Final = (("noise", "the noise of gradients"), ("batches", "the batches that gradients are taken on"))


@final
@dataclass(frozen=True, slots=True)
class RandomSource:
    """A source of randomness.

    Parameters
    ----------
    id
        ``events``, ``noise``, ``batches``, or that of a :class:`boundlab.algorithms.Draw`.
    words
        What is random.
    how
        ``averaged``: the left side is the mean over it. ``given``: the claim holds for each outcome. ``absent``: no
        run that the statement is about has it.
    """

    id: str
    words: str
    how: How


@final
@dataclass(frozen=True, slots=True)
class MeanOver:
    """Randomness that the mean of a statement is over.

    Parameters
    ----------
    sources
        All that the algorithm and its problems may have.
    independent
        Whether an assumption makes events independent, so that the mean is one over all their sequences.
    laws
        The assumptions that say which law the events have; without one a mean over them is one over any law, those that
        leave nothing to chance among them.
    """

    sources: tuple[RandomSource, ...]
    independent: bool
    laws: tuple[str, ...]

    @property
    def lawful(self) -> bool:
        """True if an assumption says which law the events have."""
        return bool(self.laws)

    def __getitem__(self, source: str) -> How:
        """Return how a source is read."""
        return next(one.how for one in self.sources if one.id == source)

    @property
    def draws(self) -> tuple[RandomSource, ...]:
        """The algorithm's own draws."""
        return tuple(one for one in self.sources if one.id not in (EVENTS, *dict(_NOISE)))

    @property
    def drawn(self) -> bool:
        """True if the mean is over what the algorithm draws, or over independent events."""
        return self.independent or any(one.how == "averaged" for one in self.draws)

    @property
    def words(self) -> str:
        """Randomness that the mean is over beside the noise, in words; empty where there is none."""
        return " and ".join(one.words for one in (*self.draws, *self.sources[:1]) if one.how == "averaged")

    def averaged(self, algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> bool:
        """Return whether the mean is one over several schedules where runs have these parameters and delays."""
        return self.lawful or any(self[one] == "averaged" for one in at_random(algorithm, parameters, clients, delays))


def at_random(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel) -> Iterator[str]:
    """Yield the sources, noise apart, in which runs with these parameters and delays differ."""
    if algorithm.arrivals and (algorithm.server == "any" or not delays.certain):
        yield EVENTS
    yield from (one.id for one in algorithm.draws if one.when(parameters, clients))


def certain(algorithm: Algorithm[Any], parameters: Any, clients: int, delays: DelayModel, policy: ServerPolicy) -> bool:
    """Return whether all trials have the same tape: nothing is drawn, declared or not, but the noise of gradients."""
    ticks = algorithm.server == "any" and delays.certain and policy.kind in ("count", "periodic")
    drawn = {*at_random(algorithm, parameters, clients, delays)} - ({EVENTS} if ticks else set())
    return not drawn and not undeclared_draws(algorithm, parameters, clients)


@once()
def over(theorem: Statement) -> MeanOver:
    """Return what the mean is over: noise and batches always, events and draws unless the statement says otherwise.

    A statement that reads what the schedule decides, such as tau_max, and does not say what it is about, holds for
    each schedule of who arrives when.

    Raises
    ------
    SpecError
        If the algorithm is unknown; if what the statement says contradicts its assumptions, or leaves two readings
        that differ.
    """
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    assumed = sorted(known_assumptions.with_implied(theorem.assumptions))
    lawful = tuple(name for name in assumed if known_assumptions.assumption(name).mean)
    options = elaborated_options(theorem, algorithm)
    own = [one for one in algorithm.draws if _possible(theorem, algorithm, options, one)]
    _consistent(theorem, algorithm, lawful)
    _one_step(theorem, algorithm, options, assumed)
    for draw in algorithm.draws:
        for option in set(draw.options) & theorem.step.keys():
            raise SpecError(
                f"{theorem.id}: {option} decides {draw.words}, and is no step; formulas read it by [parameters], and "
                "[options] fixes it"
            )
    read = _of_schedule(theorem)
    given = theorem.about == EACH
    if theorem.about is None and not lawful and read and own:
        what = " and ".join(one.words for one in own)
        raise SpecError(
            f"{theorem.id} reads {', '.join(read)}, and {algorithm.id} draws {what}: write about = {EACH!r} if the "
            f"bound holds for each outcome, with what that very run has, or about = {MEAN!r} if it bounds the mean "
            "over the draws, with the largest that any run has"
        )
    events: How = "absent"
    if algorithm.arrivals:
        read_off = theorem.about is None and not lawful and read and algorithm.server != "any"
        events = "given" if given or read_off else "averaged"
    noise: How = "absent" if known_assumptions.DETERMINISTIC in assumed else "averaged"
    draws: How = "given" if given else "averaged"
    sources = (
        RandomSource(EVENTS, _EVENTS, events),
        *(RandomSource(id_, words, noise) for id_, words in _NOISE),
        *(RandomSource(one.id, one.words, draws if one in own else "absent") for one in algorithm.draws),
    )
    return MeanOver(sources, known_assumptions.independent_events(assumed), lawful)


def _consistent(theorem: Statement, algorithm: Algorithm[Any], lawful: tuple[str, ...]) -> None:
    """Refuse a statement about each schedule that assumes a law of events, or whose algorithm has no single ones."""
    if theorem.about != EACH:
        return
    if lawful:
        raise SpecError(
            f"{theorem.id}: about = {EACH!r} contradicts {lawful[0]}, which makes it a statement about the mean over "
            "random events; leave one of them out"
        )
    if algorithm.server == "any":
        raise SpecError(
            f"{theorem.id}: about = {EACH!r} is not possible for {algorithm.id}, whose left sides are means over events"
        )


def _one_step(theorem: Statement, algorithm: Algorithm[Any], options: Iterable[Option], assumed: Iterable[str]) -> None:
    """Refuse a statement about f + h whose step on several clients is not what books call so unless it says so."""
    if known_assumptions.COMPOSITE not in assumed or {"one-function", "uniform-sampling"} & {*assumed}:
        return
    if all(one.how in ("step", "unused", "default") or one.id == algorithm.rule for one in options):
        usual: dict[str, Any] = dict.fromkeys(theorem.step, 1)
        if words := algorithm.on_composite(algorithm.read(Options(algorithm.id, usual)), 2):
            raise SpecError(
                f"{theorem.id}: on f + h of several clients {words}; say under [options] which one is meant, "
                "or assume one-function"
            )


def _of_schedule(theorem: Statement) -> tuple[str, ...]:
    """Return what the statement reads that a schedule decides, or says of it by assumption, such as one lag for all.

    How often who arrives is no affair of the schedule, but of its law.
    """
    known = [known_assumptions.assumption(name) for name in known_assumptions.with_implied(theorem.assumptions)]
    said = {name for one in known if one.by_construction for name in one.defines}
    decided = having("schedule", symbols=theorem.symbols) - {*known_assumptions.assumption("iid-events").defines}
    return tuple(sorted((said | {*inputs(theorem, ()), *theorem.settable}) & decided))


def _possible(theorem: Statement, algorithm: Algorithm[Any], options: Iterable[Option], draw: Draw) -> bool:
    """Return whether some run that the statement is about draws it."""
    if any(one.varies for one in options if one.id in draw.options):
        return True
    fixed = {one.id: one.value for one in options if one.how == "fixed"}
    given: dict[str, Any] = {**dict.fromkeys(theorem.step, 1), **fixed}
    try:
        return draw.when(algorithm.read(Options(algorithm.id, given)), None)
    except SpecError:  # options that are required and that the statement does not name: whoever runs it chooses
        usual = {one.id for one in options if one.how == "default" and one.value}
        return not (draw.options and usual.issuperset(draw.options))


def about_each(theorem: "Statement") -> bool:
    """Return whether a statement says that it is about each schedule."""
    return theorem.about == EACH
