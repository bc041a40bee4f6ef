"""Options, events and clients that do not go together: each is refused in one line that says what would be right."""

from typing import Any

import pytest
from algorithm_makers import HALVES, in_order, make_case, read, trajectory_of

from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.registry import registered

OPTIONS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "afl_dga": [
        ({}, "needs the option eta"),
        ({"eta": 0}, "eta must be > 0"),
        ({"eta": 1, "scaling": "mean"}, "scaling must be one of sum, average, analysis"),
        ({"eta": 1, "server": "scaled"}, "server must be one of plain, k-scaled"),
        ({"eta": 1, "participation": 1.5}, "participation must be between 0.001 and 1, got 1.5"),
        ({"eta": 1, "participation": 0.5, "periods": 2}, "participation or periods, not both"),
        ({"eta": 1, "periods": 1.5}, "periods must be integers between 1 and 1000, got 1.5"),
        ({"eta": 1, "local_steps": "3..2"}, "local_steps must be an integer ≥ 1 or a range lo..hi of them, got 3..2"),
        ({"eta": 1, "local_steps": 0}, "local_steps must be an integer ≥ 1"),
        ({"eta": 1, "correction_delay": "1..2..3"}, "correction_delay must be an integer ≥ 0"),
        ({"eta": 1, "t_d": 0}, "t_d must be ≥ 1"),
        ({"eta": 1, "first_round": "none"}, "first_round must be one of all, drawn"),
    ],
    "area": [
        ({}, "give either alpha, or c and d"),
        ({"alpha": 1, "c": 1, "d": 1}, "give either alpha, or c and d"),
        ({"c": 1}, "needs the option d"),
        ({"alpha": -1}, "alpha must be > 0"),
        ({"alpha": "x"}, "alpha must be a number"),
        ({"alpha": 1, "M": 0}, "M must be between 1"),
        ({"alpha": 1, "M": 1.5}, "M must be an integer"),
        ({"alpha": 1, "reply": "post"}, "reply=post needs count"),
        ({"alpha": 1, "reply": "late"}, "must be one of pre, post"),
        ({"alpha": 1, "strat": "analysis"}, "did you mean start"),
    ],
    "asfedavg": [
        ({}, "asfedavg needs the option alpha"),
        ({"alpha": -1}, "alpha must be > 0"),
        ({"alpha": [1, 2, 3], "M": 2}, "alpha has 3 entries for 2 local steps"),
        ({"alpha": 1, "count": 0}, "count must be between 1 and"),
        ({"alpha": 1, "reply": "weit"}, "did you mean wait"),
    ],
    "async_sgd": [
        ({}, "async_sgd needs the option alpha"),
        ({"alpha": 0}, "alpha must be > 0"),
        ({"alpha": [1, 2]}, "alpha must be a number"),
        ({"alpha": 1, "schedule": "adaptive"}, "schedule must be constant, delay_adaptive, or a formula of tau and n"),
        ({"alpha": 1, "sampling": "unifrom"}, "did you mean uniform"),
    ],
    "rennala": [
        ({}, "rennala needs the option alpha"),
        ({"alpha": 0}, "alpha must be > 0, got 0"),
        ({"alpha": [1, 2]}, "alpha must be a number"),
        ({"alpha": 1, "count": 0}, "count must be between 1 and"),
        ({"alpha": 1, "reply": "wait"}, "reply must be one of post, pre, got 'wait'"),
        ({"alpha": 1, "reply": "pre", "stops": "yes"}, "with stops=yes everybody gets the new model; leave reply=pre"),
    ],
    "ringmaster": [
        ({"alpha": 1}, "ringmaster needs the option threshold"),
        ({"threshold": 1}, "ringmaster needs the option alpha"),
        ({"alpha": 1, "threshold": 0}, "threshold must be between 1 and"),
        ({"alpha": 1, "threshold": 2, "stops": "maybe"}, "stops must be"),
        ({"alpha": 1, "threshold": 2, "count": 2}, "no option 'count'"),
    ],
    "fedasync": [
        ({"eta_l": 1}, "fedasync needs the option beta"),
        ({"beta": 0, "eta_l": 1}, "beta must be > 0 and ≤ 1, got 0"),
        ({"beta": 1.5, "eta_l": 1}, "beta must be > 0 and ≤ 1, got 1.5"),
        ({"beta": 1}, "fedasync needs the option eta_l"),
        ({"beta": 1, "eta_l": [1, 2], "Q": 1}, "eta_l has 2 entries for 1 local steps"),
        ({"beta": 1, "eta_l": 1, "s": "hing"}, "did you mean hinge"),
        ({"beta": 1, "eta_l": 1, "s": "hinge:a"}, "not key=value"),
        ({"beta": 1, "eta_l": 1, "s": ""}, "has no name"),
        ({"beta": 1, "eta_l": 1, "offset": -1}, "offset must be"),
        ({"beta": 1, "eta_l": 1, "mode": "models"}, "did you mean model"),
    ],
    "fedbuff": [
        ({}, "fedbuff needs the option eta_l"),
        ({"eta_l": 0}, "eta_l must be > 0, got 0"),
        ({"eta_l": [0.1, -0.2]}, "eta_l must be > 0, got -0.2"),
        ({"eta_l": [0.1, 0.2], "M": 3}, "eta_l has 2 entries for 3 local steps"),
        ({"eta_l": 1, "M": 0}, "M must be between 1 and"),
        ({"eta_l": 1, "count": 1.5}, "count must be an integer"),
        ({"eta_l": 1, "reply": "past"}, "did you mean post"),
        ({"eta_l": 1, "eta_g": 0}, "eta_g must be > 0"),
        ({"eta_l": 1, "staleness": "polynomal:a=1"}, "did you mean polynomial"),
        ({"eta_l": 1, "staleness": "polynomial:b=1"}, "staleness polynomial has no option 'b'"),
        ({"eta_l": 1, "staleness": "hinge:a=-1"}, "a must be ≥ 0"),
        ({"eta_l": 1, "staleness": "constant:a=1"}, "has no option 'a'"),
        ({"eta_l": 1, "etag": 1}, "did you mean eta_g"),
    ],
    "fedcompass": [
        ({"eta": 0.1, "Qmin": 5, "Qmax": 4}, "Qmax must be at least Qmin = 5, got 4"),
        ({"eta": 0.1, "latest_time_factor": 0.9}, "latest_time_factor must be ≥ 1"),
        ({"eta": 0.1, "p": [0.5, 0]}, "p must be > 0, got 0"),
        ({"eta": 0.1, "speeds": [0.1, -1]}, "speeds must be > 0, got -1"),
        ({"eta": 0.1, "warmup": "speeds"}, "warmup=speeds needs the option speeds"),
        ({"eta": 0.1, "st": "cubic"}, "st must be"),
    ],
    "fedfa": [
        ({}, "fedfa needs the option eta_l"),
        ({"eta_l": [0.1, 0.1], "Q": 4}, "eta_l has 2 entries for 4 local steps"),
        ({"eta_l": 1, "K": 0}, "K must be between 1 and"),
        ({"eta_l": 1, "mode": "parm"}, "did you mean param"),
        ({"eta_l": 1, "start": "whenfull"}, "did you mean when_full"),
        ({"eta_l": 1, "eta_g": 2}, "eta_g belongs to mode=delta"),
        ({"eta_l": 1, "reply": "pre"}, "has no option 'reply'"),
    ],
    "fedstaleweight": [
        ({}, "fedstaleweight needs the option eta_l"),
        ({"eta_l": 1, "window": 0}, "window must be ≥ 1, got 0"),
        ({"eta_l": 1, "scale": -1}, "scale must be ≥ 0, got -1"),
        ({"eta_l": 1, "include": "currant"}, "did you mean current"),
        ({"eta_l": [1, 1], "M": 5}, "eta_l has 2 entries for 5 local steps"),
    ],
    "sfedavg": [
        ({}, "sfedavg needs the option alpha"),
        ({"alpha": [1, 2], "M": 3}, "alpha has 2 entries for 3 local steps"),
        ({"alpha": 1, "weights": [1, 0]}, "weights must be > 0, got 0"),
        ({"alpha": 1, "weights": []}, "weights is an empty list"),
        ({"alpha": 1, "sampled": 0}, "sampled must be ≥ 1, got 0"),
        ({"alpha": 1, "sample": 2}, "did you mean sampled"),
    ],
}


def refused(error: type[BoundlabError], message: str, run: Any) -> None:
    with pytest.raises(error) as caught:
        run()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.sweep(8)
@pytest.mark.parametrize(
    ("name", "options", "message"), [(name, *row) for name, rows in OPTIONS.items() for row in rows]
)
def test_bad_options_get_one_line(name: str, options: dict[str, Any], message: str) -> None:
    refused(SpecError, message, lambda: read(name, options))


@pytest.mark.parametrize("name", registered("algorithms"))
def test_an_option_that_is_none_is_named_whatever_else_is_missing(name: str) -> None:
    refused(SpecError, "zeta", lambda: read(name, {"zeta": 1}))


WAITS = {"eta_l": 1, "count": 2, "reply": "wait"}  # for the aggregation of their updates


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("name", "options", "events", "message"),
    [
        ("fedbuff", {"eta_l": 1}, [], "non-empty list"),
        ("fedbuff", {"eta_l": 1}, [[1, 2]], "event 1: client 2 does not exist"),
        ("fedbuff", {"eta_l": 1}, [[1, 0], [2, "s"]], "event 2: fedbuff aggregates by itself"),
        ("fedbuff", {"eta_l": 1}, [[1, 0, 1, 1]], "event 1 must be [time, actor]"),
        ("fedbuff", {"eta_l": 1}, [[1, 0, -1]], "event 1: how old its model is, in versions must be a whole number"),
        ("fedasync", {"beta": 1, "eta_l": 1}, [[0, 0], [0, "s"]], "event 2: fedasync aggregates by itself"),
        ("asfedavg", {"alpha": 1}, [[0, "s"]], "event 1: asfedavg aggregates by itself"),
        ("fedfa", {"eta_l": 1}, [[0, "s"]], "event 1: fedfa aggregates by itself"),
        ("async_sgd", {"alpha": 1}, [[1, "s"]], "event 1: actor must be a client index, got 's'"),
        ("async_sgd", {"alpha": 1}, [[1, 2, 1]], "event 1: client 2 does not exist"),
        ("async_sgd", {"alpha": 1}, [[1, 0, 1], [2, 1]], "either all events name who gets the new model, or none does"),
        ("async_sgd", {"alpha": 1}, [[1]], "event 1 must be [time, client]"),
        ("async_sgd", {"alpha": 1}, [[1, 0, 1, 1]], "event 1 must be [time, client]"),
        ("sfedavg", {"alpha": 1}, [[1, 0]], "event 1 must be [round end, [clients]], got the clients 0"),
        ("sfedavg", {"alpha": 1}, [[1, []]], "event 1 must be [round end, [clients]], got the clients []"),
        ("sfedavg", {"alpha": 1}, [[1, [0]], [2, [1, 1]]], "event 2: a client stands twice in [1, 1]"),
        ("sfedavg", {"alpha": 1}, [[1, [2]]], "event 1: client 2 does not exist"),
        ("sfedavg", {"alpha": 1}, [[1, ["s"]]], "event 1: actor must be a client index, got 's'"),
        ("sfedavg", {"alpha": 1}, [[1, [0], 3]], "event 1 must be [round end, [clients]]"),
        ("sfedavg", {"alpha": 1}, [[2, [0]], [1, [0]]], "event 2: time 1 is before"),
    ],
)
def test_bad_events_get_one_line(name: str, options: dict[str, Any], events: list[Any], message: str) -> None:
    refused(CaseError, message, lambda: make_case(name, HALVES, options, events))


@pytest.mark.parametrize(
    ("name", "options", "events", "message"),
    [
        ("fedbuff", WAITS, in_order([0, 0]), "event 2: with reply=wait client 0 has nothing to send"),
        ("fedstaleweight", WAITS, in_order([1, 1]), "event 2: with reply=wait client 1 has nothing to send"),
        ("fedbuff", {**WAITS, "count": 3}, in_order([0, 1]), "a buffer of 3 never fills from 2 clients"),
        ("async_sgd", {"alpha": 1, "sampling": "uniform"}, [[1, 0]], "exactly with sampling=uniform"),
        ("async_sgd", {"alpha": 1, "sampling": "uniform"}, [[1, 0, 2]], "event 1: client 2 does not exist"),
        (
            "async_sgd",
            {"alpha": 1, "sampling": "uniform"},
            [[1, 0, 1], [2, 0, 0]],
            "event 2: client 0 has no model to work on",
        ),
        ("sfedavg", {"alpha": 1, "weights": [1, 2, 3]}, [[1, [0]]], "3 weights for 2 clients; give one a client"),
    ],
)
def test_events_that_cannot_happen_get_one_line(name: str, options: Any, events: list[Any], message: str) -> None:
    refused(SpecError, message, lambda: trajectory_of(make_case(name, HALVES, options, events)))
