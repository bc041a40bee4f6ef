"""Staleness as an input, and as what follows from how many work: which version each update was made of."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from boundlab.delays._model import DelayModel, Renewal
from boundlab.delays.recorded import MOST_UPDATES, Clock, text_of
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Floats, Ints, Stream, Streams

OLDEST: Final = 10**4  # versions that are kept
STALENESS_OPTIONS: Final = {
    "constant": "τ of every update: update k is made of x_(k−τ), and x_(−j) is x0",
    "uniform": "LOW..HIGH: τ drawn uniformly for each update, independently",
    "file": "a file with one τ a line, the first one of update 0",
}


class Followed(DelayModel):
    """A model that says of which version each update is made: runs follow that, whoever is at work."""

    says_staleness, says_arrivals = True, False
    memoryless = "where the staleness is given, who is at work does not follow from who arrives"

    @abstractmethod
    def followed(self, streams: Streams, count: int, per: int) -> Events:
        """Return the updates, each with its staleness."""

    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Return the updates alone."""
        if server_rate > 0.0:
            raise SpecError(f"delays {self.id} know no server of its own here; leave the server policy out")
        events = self.followed(streams, count, 1)
        return Events(events.time, events.actor)


@final
@dataclass(frozen=True, slots=True)
class GivenStaleness(Followed):
    """Update k is made of the model τ_k versions old, x_(−j) = x0, by a client drawn uniformly; one a unit of time.

    Parameters
    ----------
    low, high
        Between which τ is drawn.
    listed
        The τ one by one, in place of that.
    """

    n: int
    low: int
    high: int
    listed: Ints | None = None
    source: str = ""
    id: str = "staleness"
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    how_rates = "given"

    def files(self) -> tuple[Path, ...]:
        """Return the file, if there is one."""
        return (Path(self.source),) if self.source else ()

    def rates(self) -> Floats:
        """Return 1/n each: one update a unit of time."""
        return np.full(self.n, 1.0 / self.n)

    @property
    def ages(self) -> tuple[Fraction, ...]:
        """0 below the lowest, and equal ones from there on; none where they are listed."""
        several = self.high + 1 - self.low
        return () if self.listed is not None else (*[Fraction(0)] * self.low, *[Fraction(1, several)] * several)

    @property
    def certain(self) -> bool:
        """True for one client whose τ are not drawn."""
        return self.n == 1 and self.low == self.high

    def followed(self, streams: Streams, count: int, per: int) -> Events:
        """Return the updates, each with its τ."""
        who, u = (streams.uniforms(Stream.EVENT, column, 0, count)[0] for column in (0, 1))
        tau = self.low + np.floor((self.high + 1 - self.low) * u).astype(np.int64)
        if self.listed is not None:
            if len(self.listed) < count:
                raise SpecError(f"{self.source} has {len(self.listed)} numbers; {count} updates are asked for")
            tau = self.listed[:count]
        actor = np.floor(who * self.n).astype(np.int32)
        return Events(np.arange(1.0, count + 1.0), actor, tuple((one,) for one in tau.tolist()))


@final
@dataclass(frozen=True, slots=True)
class AtWork(Followed):
    """So many clients at work at a time: who is done rests, and of all that rest one is drawn for the new model.

    Nguyen et al. (FedBuff, AISTATS 2022) call their number the concurrency.

    Parameters
    ----------
    law
        How long updates take.
    active
        How many are at work, fewer than there are; the first ones are drawn.
    """

    law: Renewal
    active: int
    id: str
    n: int
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    how_rates = "closed form, by the shares of time of all sets at work"

    def rates(self) -> Floats:
        """Return e_(K−1)(m without m_i)/e_K(m) for K at work, with elementary symmetric polynomials of the means m.

        A set is at work in proportion to the product of its means, whatever the law is: whoever of it is done makes
        room as often as its becoming complete by that client.
        """
        means = 1.0 / self.law.rates()
        kept = np.vstack([~np.eye(self.n, dtype=np.bool_), np.ones(self.n, dtype=np.bool_)])
        sums = np.eye(1, self.active + 1).repeat(self.n + 1, axis=0)
        for client, mean in enumerate((means / means.mean()).tolist()):
            sums[:, 1:] += mean * kept[:, client, None] * sums[:, :-1]
            sums /= sums.max()  # only their ratios count
        return np.asarray(sums[:-1, -2] / sums[-1, -1] / means.mean())

    def clock(self, streams: Streams) -> Clock:
        """Return that of the law: who waits for several at once, as rounds do, is not limited."""
        return self.law.clock(streams)

    def followed(self, streams: Streams, count: int, per: int) -> Events:
        """Return the updates, each of the version that there was when its client was drawn."""
        clock, drawn = self.clock(streams), streams.uniforms(Stream.EVENT, 0, 0, count)[0].tolist()
        order = np.argsort(streams.uniforms(Stream.EVENT, 1, 0, self.n)[0], kind="stable").tolist()
        work, rest = [(clock.arrival(i, 0.0), i, 0) for i in order[: self.active]], order[self.active :]
        heapify(work)
        time, actor, tau = np.empty(count), np.empty(count, dtype=np.int32), list[tuple[int, ...]]()
        for place, u in enumerate(drawn):
            time[place], actor[place], begun = work[0]
            tau.append((place // per - begun // per,))
            rest.append(work[0][1])
            following = rest.pop(int(u * len(rest)))
            heapreplace(work, (clock.arrival(following, work[0][0]), following, place + 1))
        return Events(time, actor, tuple(tau))


def read_staleness(options: Options, n: int) -> GivenStaleness:
    """Return the model of one of the three options.

    Raises
    ------
    SpecError
        If there is none or more than one, or a number is no staleness.
    """
    given = [name for name in STALENESS_OPTIONS if options.has(name)]
    if len(given) != 1:
        raise SpecError("delays staleness need one of constant=4, uniform=0..16, file=PATH")
    low = high = 0
    listed, source = None, ""
    if given == ["constant"]:
        low = high = options.integer("constant", 0, minimum=0, maximum=OLDEST)
    elif given == ["uniform"]:
        ends = str(options.raw("uniform", "")).split("..")
        if len(ends) != 2 or not all(one.isdigit() for one in ends) or not int(ends[0]) <= int(ends[1]) <= OLDEST:
            raise SpecError(f"delays staleness: uniform must be LOW..HIGH, whole numbers up to {OLDEST}, as in 0..16")
        low, high = map(int, ends)
    else:
        source = str(options.raw("file", ""))
        listed = _read_list(Path(source))
    options.finish()
    return GivenStaleness(n, low, high, listed, source, options=options.used)


def _read_list(path: Path) -> Ints:
    found = []
    for line, text in enumerate(text_of(path).split("\n"), 1):
        if not text.strip():
            continue
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not (0.0 <= number <= OLDEST and number.is_integer()):
            raise SpecError(f"{path}, line {line}: {text.strip()[:40]!r} is no staleness: whole numbers 0 to {OLDEST}")
        found.append(int(number))
        if len(found) > MOST_UPDATES:
            raise SpecError(f"{path} has more than {MOST_UPDATES} numbers; cut it")
    if not found:
        raise SpecError(f"{path} has no number")
    return np.array(found)
