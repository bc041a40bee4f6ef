"""FedFa: fully asynchronous averaging over a sliding window (Xu et al.), Algorithms 1 and 2."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, VirtualIterate, window_sums
from boundlab.algorithms._option import LocalSteps, Parameters, local_steps
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, MoveRow, Row, Share, Step
from boundlab.errors import SpecError
from boundlab.randomness import Floats, Ints
from boundlab.tape import Tape, arrived, common_lag


@final
@dataclass(frozen=True, slots=True)
class FedFaParameters(Parameters):
    """The parameters of FedFa: Q local steps of size eta_l, unit (−1, 2), and eta_g without units.

    ``param``: x_s ← mean of the window's models y. ``delta``: x_s ← x_s + eta_g·mean of its y − x.
    """

    local: LocalSteps = local_steps("eta_l", "Q")
    K: int = option.integer("arrivals in the sliding window (default 2)", 2, minimum=1, maximum=10**6)
    mode: Literal["param", "delta"] = option.choice(
        "param (default): average the models; delta: average the differences that clients made", ("param", "delta")
    )
    start: Literal["after_full", "when_full"] = option.choice(
        "after_full (default): the first server update is at arrival K+1; when_full: at arrival K",
        ("after_full", "when_full"),
    )
    eta_g: float = option.number("server rate of mode=delta (default 1)", 1.0, above=0.0)

    def check(self, owner: str) -> None:
        """Refuse a server rate for averages of models."""
        if self.mode == "param" and self.eta_g != 1.0:
            raise SpecError(f"{owner}: eta_g belongs to mode=delta; the average of models has no server rate")

    @property
    def weight(self) -> float:
        """Of each entry of the window."""
        return (self.eta_g if self.mode == "delta" else 1.0) / self.K

    @property
    def first(self) -> int:
        """The arrival, counted from 1, of the first server update."""
        return self.K + (self.start == "after_full")


@final
class FedFa(Algorithm[FedFaParameters]):
    """FedFa: each arrival from the first server update on is one iteration, and is answered at once."""

    id = "fedfa"
    summary = "each arrival moves the server model to the average of the last K arrivals"
    parameter_type = FedFaParameters
    step_size_symbols = ("eta_l",)
    single_client_values = MappingProxyType({"tau_max": 1})  # what is used at once has τ = 1 in the printed theorem
    redefines = frozenset({"tau_max"})

    def program(self, parameters: FedFaParameters, clients: int) -> "FedFaProgram":
        """Return one arrival."""
        return FedFaProgram(parameters, clients)

    def events_for(self, parameters: FedFaParameters, clients: int, iterations: int) -> int:
        """Return the arrivals before the first server update, and one for each iteration."""
        return iterations + parameters.first - 1

    def quantities(
        self, parameters: FedFaParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return tau_a, tau_max, share_bias over windows of N arrivals and, for a constant one, the lag.

        Raises
        ------
        SpecError
            If the window N is longer than the horizon.
        """
        runs = self._arrivals(tape)[:until]
        tau = np.arange(until) - tape.descend.version[runs]
        found = {
            **super().quantities(parameters, tape, until, settings),
            "n": tape.clients,
            "Q": parameters.local.steps,
            "window": parameters.K,
            "tau_a": int(tau.max(initial=0)),
            # The paper counts from 1 on; any larger number bounds the staleness too.
            "tau_max": max(1, int(tau.max(initial=0)) + parameters.K - 1),
            "share_bias": share_bias(tape.descend.client[runs], tape.clients, int(settings.get("N", 1))),
        }
        lag = common_lag(np.arange(until), tau)
        if parameters.mode == "param" and lag is not None:
            kappa = _kappa(parameters, lag)
            found |= {"lag": lag, "kappa_lag": kappa, "C_lag": response_error(parameters.K, lag, until, kappa)}
        return found

    @staticmethod
    def _arrivals(tape: Tape, more: int = 0) -> Ints:
        """Return the runs of the server updates, one each, behind those of the last ``more`` arrivals before them."""
        return arrived(tape)[len(tape.events) - tape.iterations - more :]

    def virtual_iterate(self, parameters: FedFaParameters, tape: Tape) -> VirtualIterate:
        """Return what each arrival moves by its whole weight; the K − 1 arrivals that filled the window by a part."""
        K = parameters.K
        runs = self._arrivals(tape, K - 1)
        lag = int((np.arange(tape.iterations) - tape.descend.version[runs[K - 1 :]]).max(initial=0))
        rate = parameters.eta_g if parameters.mode == "delta" else _kappa(parameters, lag)
        parts = np.minimum(np.arange(1, len(runs) + 1), K)
        return VirtualIterate(runs, rate * parts / K, K - 1)

    def figures(self, parameters: FedFaParameters, tape: Tape) -> dict[str, Any]:
        """Return the largest number of server updates between a client's start and its arrival."""
        if tape.iterations == 0:
            return {}
        runs = self._arrivals(tape)
        return {"tau_a": int((np.arange(tape.iterations) - tape.descend.version[runs]).max())}


def _kappa(parameters: FedFaParameters, lag: int) -> float:
    """Return what a difference moves the average of models by in the end, where all arrive with this lag."""
    return 1.0 / (1.0 + lag + (parameters.K - 1) / 2.0)


def share_bias(clients: Ints, n: int, N: int) -> float:
    """Return max_t Σ_i |ω_i^t − 1/n| with ω_i^t the share of client i in arrivals t … t+N−1.

    Raises
    ------
    SpecError
        If there are fewer than N arrivals.
    """
    if not 1 <= N <= len(clients):
        raise SpecError(f"the window N must be between 1 and the number of server updates, {len(clients)}; got {N}")
    omega = window_sums(np.eye(n)[clients], N) / N
    return float(np.abs(omega - 1.0 / n).sum(axis=1).max())


def response_error(K: int, lag: int, until: int, kappa: float) -> float:
    """Return C = max_t Σ_s |r_{t,s} − κ_s|: how far the server model is from a virtual iterate.

    Δ^(s), the move of arrival s, stands in the model w^t with the coefficient r_{t,s}: for s ≥ 0 this is
    h_{t−1−s} with h_j = (1/K)·Σ_{i<K} h_{j−1−i−d} + (1/K)·[0 ≤ j < K], which tends to κ = 1/(1+d+(K−1)/2).
    Arrivals −K+1 … −1, which filled the window before the first server update, miss their first −s terms, and
    tend to κ·(K+s)/K.

    Parameters
    ----------
    K, lag
        Window and constant lag d.
    until
        Server updates T; t runs over 0 … T−1.
    """
    # Σ_{0≤s<t} |h_{t−1−s} − κ| for t = 0 … T−1.
    total = np.concatenate([[0.0], np.cumsum(np.abs(_response(K, lag, until, K) - kappa))])[:until]
    for s in range(1, K):
        # Known from t = 1 on: direct terms at t = 1 … K−s.
        early = np.concatenate([[0.0], _response(K, lag, until, K - s)[: until - 1]])
        total = total + np.abs(early - kappa * (K - s) / K)
    return float(total.max(initial=0.0))


def _response(K: int, lag: int, size: int, direct: int) -> Floats:
    """Return h_0 … h_{size−1} of a unit move that stands in the window for ``direct`` server updates."""
    h = np.zeros(size)
    sums = np.zeros(size + 1)  # sums[j] = h_0 + … + h_{j−1}
    for j in range(size):
        last = max(j - lag, 0)
        h[j] = (sums[last] - sums[max(last - K, 0)]) / K + (1.0 / K if j < direct else 0.0)
        sums[j + 1] = sums[j] + h[j]
    return h


@final
class FedFaProgram(EventProgram):
    """One arrival; control: how many there were, up to the first server update. The oldest entry stands first."""

    def __init__(self, parameters: FedFaParameters, clients: int) -> None:
        local = parameters.local
        self._parameters, self.models = parameters, parameters.mode == "param"
        self._desk = ClientSlots(clients, local.steps, local.first, models=self.models)
        self.initial, self.local = self._desk.initial(parameters.K), local.relative
        self.slots = tuple((self._desk.result(client),) for client in range(clients))

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0, and the window is empty."""
        return self._desk.begin_all(), Control((None,) * len(self.slots), 0)

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return all clients."""
        return law.clients()

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Push the window, average it, and answer."""
        client, desk, size = event[0], self._desk, self._parameters.K
        held, arrivals = min(control.shared, size), min(control.shared + 1, self._parameters.first)
        rows, dropped = list[Row](), tuple[int, ...]()
        if held == size:
            # What leaves the window before the first server update has been seen by none.
            dropped = (desk.held(0),) if control.shared < self._parameters.first else ()
            rows += [MoveRow(desk.held(place), desk.held(place + 1)) for place in range(size - 1)]
            held -= 1
        rows.append(MoveRow(desk.held(held), desk.result(client)))
        moves = arrivals == self._parameters.first
        uses = tuple((desk.held(place), self._parameters.weight) for place in range(size)) if moves else ()
        if moves:
            rows.append(desk.server_update(*((weight, register) for register, weight in uses)))
        after = Control(control.slots, arrivals)
        return Step((*rows, *desk.begin(client)), after, moves, uses, dropped)


FEDFA = FedFa()
