"""Staleness as an input: which version of the server's model each update was made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.delays._model import DelayModel
from boundlab.delays.recorded import MOST_UPDATES, text_of
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Stream, Streams

Ints = NDArray[np.int64]
OLDEST: Final = 10**4  # versions that are kept
STALENESS_OPTIONS: Final = {
    "constant": "τ of every update: update k is made of x_(k−τ), and x_(−j) is x0",
    "uniform": "LOW..HIGH: τ drawn uniformly for each update, independently",
    "file": "a file with one τ a line, the first one of update 0",
}


@final
@dataclass(frozen=True, slots=True)
class GivenStaleness(DelayModel):
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

    def spec(self) -> dict[str, Any]:
        """Return the option."""
        return {"type": self.id, **self.options}

    def files(self) -> tuple[Path, ...]:
        """Return the file, if there is one."""
        return (Path(self.source),) if self.source else ()

    def rates(self) -> NDArray[np.float64]:
        """Return 1/n each: one update a unit of time."""
        return np.full(self.n, 1.0 / self.n)

    @property
    def how_rates(self) -> str:
        """Each client makes the next update with the same probability."""
        return "given"

    @property
    def memoryless(self) -> str:
        """Nothing is said of who arrives when."""
        return "under staleness as an input nobody works on a model until somebody arrives"

    @property
    def certain(self) -> bool:
        """True for one client whose τ are not drawn."""
        return self.n == 1 and self.low == self.high

    @property
    def says_staleness(self) -> bool:
        """Always True."""
        return True

    @property
    def says_arrivals(self) -> bool:
        """Always False: who arrives when is made up."""
        return False

    def followed(self, streams: Streams, count: int, per: int) -> Events:
        """Return the updates, each with its τ."""
        events, u = self.sample(streams, count, 0.0), streams.uniforms(Stream.EVENT, 1, 0, count)[0]
        tau = self.low + np.floor((self.high + 1 - self.low) * u).astype(np.int64)
        if self.listed is not None:
            if len(self.listed) < count:
                raise SpecError(f"{self.source} has {len(self.listed)} numbers; {count} updates are asked for")
            tau = self.listed[:count]
        return Events(events.time, events.actor, tuple((one,) for one in tau.tolist()))

    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Return one update a unit of time, of a client drawn uniformly."""
        if server_rate > 0.0:
            raise SpecError("delays staleness know no server of its own; leave the server policy out")
        who = streams.uniforms(Stream.EVENT, 0, 0, count)[0]
        return Events(np.arange(1.0, count + 1.0), np.floor(who * self.n).astype(np.int32))


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
