"""FedCompass as the printed proof sees it: at each update every client has a run, and some of them arrive.

Run (t, i) is the one that client i is at when update t is made: the one that enters it where the client arrives. It
began at w[o[t, i]]; y[t, i, q] is its point after q local steps, up to Qmax of them, whatever the scheduler gave it.
pi[t, i] is the probability that client i arrives at update t: 0 or 1, since the schedule does not depend on the noise.
An update holds a run of at least one client, and no client twice. As the paper reads it, τ_max bounds the staleness of
every client at every update, whether it arrives then or not: (14) and (15) rest on that.
"""

from fractions import Fraction

from boundlab.prove._functions import plus
from boundlab.prove._instance import Instance, UnfitError
from boundlab.prove._modelled import Members
from boundlab.prove._replay import Column, Runs
from boundlab.prove._tapes import replay_tape
from boundlab.prove.settings.fedcompass import FedCompassSetting, steps_ratio


class PrintedFedCompass(FedCompassSetting):
    """Points y, gradients gy and fy of f_i and of F there, noise ey; su[t], all stochastic gradients of update t."""

    def _rows(self, instance: Instance) -> dict[tuple[int, ...], int]:
        """Return which row of the tape run (t, i) is.

        Raises
        ------
        UnfitError
            If an update holds no run, or two of one client.
        """
        work = self._work(instance)
        used = {(t, work.c[t, j]): row for (t, j), row in work.rows.items()}
        if len(used) < len(work.rows) or {t for t, _ in used} != set(range(instance.horizon)):
            raise UnfitError("an update holds no run, or two of one client")
        table = work.tape.descend
        uses = dict(zip(work.tape.uses.update.tolist(), work.tape.uses.version.tolist(), strict=True))
        found: dict[tuple[int, ...], int] = {}
        for row, (i, begun) in enumerate(zip(table.client.tolist(), table.version.tolist(), strict=True)):
            for t in range(begun, min(uses.get(row, instance.horizon), instance.horizon - 1) + 1):
                found.setdefault((t, i), row)  # the first run that client i is at when update t is made
        if len(found) < instance.horizon * instance.n:
            raise UnfitError("a client has no run")
        return found | used

    def _read(self, instance: Instance) -> dict[str, Fraction]:
        found = super()._read(instance)
        begun = self._work(instance).tape.descend.version
        ages = [Fraction(t - int(begun[row])) for (t, _), row in self._rows(instance).items()]
        return found | {"tau_max": max(*ages, found["tau_max"])} | steps_ratio(found)

    def families(self, instance: Instance) -> dict[str, Members]:
        """Return the members of families: who arrives, and where runs began."""
        work, rows, n = self._work(instance), self._rows(instance), instance.n
        arrived = {(t, work.c[t, j]) for t, j in work.rows}
        table = work.tape.descend
        pi = {at: Fraction(int(at in arrived)) for at in rows}
        by_time = [[pi[t, i] for i in range(n)] for t in range(instance.horizon)]
        return {
            "pi": pi,
            "P": {(t,): sum(row, Fraction(0)) for t, row in enumerate(by_time)},
            "o": {at: Fraction(int(table.version[row])) for at, row in rows.items()},
            "Q": {at: Fraction(int(table.steps[row])) for at, row in rows.items()},
            "big": {(t,): Fraction(row.index(max(row))) for t, row in enumerate(by_time)},
            "small": {(t,): Fraction(row.index(min(row))) for t, row in enumerate(by_time)},
        }

    def runs(self, instance: Instance) -> Runs:
        """Replay the tape, and go on with runs of fewer than Qmax local steps, without noise."""
        rows, work = self._rows(instance), self._work(instance)
        found = replay_tape(work.tape, instance, rows)
        steps = {at: int(work.tape.descend.steps[row]) for at, row in rows.items()}
        longest = int(dict(instance.options).get("Qmax", 1))
        zero = tuple(Fraction(0) for _ in instance.start)
        outcomes = len(found.chances)
        columns = found.columns
        for (t, i), many in steps.items():
            function = instance.functions[i]
            for q in range(longest + 1):
                if q > many:
                    before = zip(columns["z", (t, i, q - 1)].values, columns["g", (t, i, q - 1)].values, strict=True)
                    points = [plus(at, slope, -instance.alpha) for at, slope in before]
                    columns["z", (t, i, q)] = Column(points)
                    columns["g", (t, i, q)] = Column([function.slope(at) for at in points])
                points = list(columns["z", (t, i, q)].values)
                columns["y", (t, i, q)], columns["gy", (t, i, q)] = Column(points), columns["g", (t, i, q)]
                columns["ey", (t, i, q)] = columns.get(("e", (t, i, q)), Column([zero] * outcomes))
                columns["fy", (t, i, q)] = Column([self._slope_of_mean(instance, at) for at in points])
        return found
