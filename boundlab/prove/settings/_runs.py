"""Exact models of algorithms whose server adds up finished runs of local steps: FedBuff, FedCompass, FedFa."""

from dataclasses import replace
from fractions import Fraction

from boundlab.prove._functions import Point, inner, plus, root_above, square_root, summed
from boundlab.prove._instance import Column, Instance, Members, Name, Runs, UnfitError
from boundlab.prove._spread import mean_slope, spread, steepest
from boundlab.prove.setting import Setting


class RunsSetting(Setting):
    """Models w[t], gradients d[i, t] at them, and runs with points z[t, j, q], gradients g[t, j, q], noise e[t, j, q].

    Update t = 0, 1, … makes the model w[t + 1] out of w[t] and the runs j = 0, 1, … that enter it.
    """

    noise_size = "sigma_l"
    # Assumptions on schedules that each algorithm decides for its own instances.
    of_schedules: frozenset[str] = frozenset()
    # Vectors of exact models: gradients of local steps, with their points; where gradients of clients are compared.
    steps_taken, compared = ("g", "z"), "w"
    # Symbols of theorems for which a smaller number is the weaker one.
    at_least: frozenset[str] = frozenset()

    def why_not(self, instance: Instance) -> str:
        """Return which assumption an instance does not meet; its arrivals are a schedule that is fixed."""
        of_runs = {"bounded-run", "fixed-schedule", *self.of_schedules}
        others = self.assumed - {"bounded-gradients", "bounded-heterogeneity", *of_runs}
        if why := instance.why_not(others, self.noisy):
            return why
        if self.theorem.points:
            return ""  # bounds along the run there are
        if "bounded-gradients" in self.assumed and "B" not in instance.least():
            return "a gradient is not bounded"
        if "bounded-heterogeneity" in self.assumed and spread(instance.functions, self.shares(instance)) is None:
            return "gradients are not at bounded distances of their mean"
        return ""

    def shares(self, instance: Instance) -> tuple[Fraction, ...]:
        """Return the weights of the clients' functions in f."""
        return tuple(Fraction(1, instance.n) for _ in instance.functions)

    def read_off(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off a run."""
        raise NotImplementedError

    def constants(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols; an instance may say weaker ones than its run has."""
        read = self.read_off(instance)
        own = {name: value for name, value in instance.bounds if name in read}
        rest = tuple((name, value) for name, value in instance.bounds if name not in own)
        found = self._of_functions(replace(instance, bounds=rest)) | read
        for name, value in own.items():
            if value > found[name] if name in self.at_least else value < found[name]:
                raise UnfitError(f"{name} = {value} is not true of the run: {found[name]}")
            found[name] = value
        return found

    def _of_functions(self, instance: Instance) -> dict[str, Fraction]:
        """Return the numbers of symbols that are read off no schedule."""
        found = instance.constants()
        found |= {str(self.step): instance.alpha, "sigma_l": found["sigma"], "Q": found["M"]}
        found.pop("tau_max", None)
        if "B" in found:
            found["G_sq"] = found["B"] ** 2
        if (gaps := spread(instance.functions, self.shares(instance))) is not None:
            found |= {"sigma_g": root_above(gaps[0]), "sigma_g_mean": root_above(gaps[1])}
        return found | (self._at_points(instance) if self.theorem.points else {})

    def _slope_of_mean(self, instance: Instance, at: Point) -> Point:
        """Return ∇f there."""
        pairs = zip(instance.functions, self.shares(instance), strict=True)
        return summed(len(at), ((share, function.slope(at)) for function, share in pairs))

    def sizes(self, instance: Instance, many: int) -> dict[str, Members]:
        """Return √E‖∇f‖² at so many models, and the means of those before each; nothing where one is not rational."""
        runs, sizes = self.runs(instance), list[Fraction]()
        for t in range(many):
            slopes = [self._slope_of_mean(instance, at) for at in runs.at((self.compared, (t,)))]
            pairs = zip(runs.chances, slopes, strict=True)
            size = square_root(sum((chance * inner(one, one) for chance, one in pairs), Fraction()))
            if size is None:
                return {}
            sizes.append(size)
        means: Members = {(t,): sum(sizes[:t], Fraction()) / t for t in range(1, many + 1)}
        return {"size": {(t,): one for t, one in enumerate(sizes)}, "size_mean": means}

    def ways(self, instance: Instance) -> list[Name]:
        """Return the points on the ways to which, from w[0], gradients are bounded."""
        return []

    def _at_points(self, instance: Instance) -> dict[str, Fraction]:
        """Return the bounds on gradients at the points of the theorem, whatever happens in a run."""
        runs = self.runs(instance)
        gradient, point = self.steps_taken
        # A run goes on from each point at which it takes a gradient.
        taken = [
            at
            for (name, (*run, q)), column in runs.columns.items()
            if name == gradient and (point, (*run, q + 1)) in runs.columns
            for at in column.values
        ]
        ends = [runs.at(name) for name in self.ways(instance)]
        starts = runs.at(("w", (0,)))
        ways = [pair for one in ends for pair in zip(starts, one, strict=True)]
        long = [steepest(function, one[0], two[0]) for function in instance.functions for one, two in ways]
        gaps = []
        for t in range(instance.horizon):
            for model in runs.at((self.compared, (t,))):
                mean = self._slope_of_mean(instance, model)
                own = [plus(function.slope(model), mean, Fraction(-1)) for function in instance.functions]
                gaps.append([inner(gap, gap) for gap in own])
        found = {
            "G_sq": max([*(inner(at, at) for at in taken), *long]),
            "sigma_g": root_above(max(map(max, gaps))),
            "sigma_g_mean": root_above(max(sum(own, Fraction()) for own in gaps) / instance.n),
        }
        return {name: value for name, value in found.items() if name in self.theorem.points}


def with_mean_slopes(runs: Runs, point: str, many: int) -> Runs:
    """Add mv[i, t], the mean of f_i' between w[0] and so many points; returns the runs."""
    for t in range(many):
        ways = [(one[0], other[0]) for one, other in zip(runs.at(("w", (0,))), runs.at((point, (t,))), strict=True)]
        for i, function in enumerate(runs.functions):
            runs.columns["mv", (i, t)] = Column([(mean_slope(function, *way),) for way in ways])
    return runs
