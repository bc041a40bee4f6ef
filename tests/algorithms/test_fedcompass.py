"""FedCompass: the paper's own examples, its corner cases, and what the tape says of a run."""

import numpy as np
import pytest

from boundlab.algorithms.fedcompass import (
    FEDCOMPASS,
    Assignment,
    Compass,
    FedCompassParameters,
    Group,
    Moment,
    closed_loop,
    follow,
)
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.case import Case, build_problem, replay
from boundlab.delays import ServerPolicy
from boundlab.errors import BoundlabError, CaseError, SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import RecordAt

# Figure 1: Qmin = 20, Qmax = 100, five clients with 10, 5, 4, 2.5 and 2 steps a minute.
SPEEDS = (0.1, 0.2, 0.25, 0.4, 0.5)


def rules(low: int, high: int, factor: float = 1.2, *, prose: bool = False) -> FedCompassParameters:
    return FedCompassParameters(1.0, low, high, shortest_decimal(factor), prose_max=prose)


FIGURE = rules(20, 100)
WARM_UP = [(2, 0), (4, 1), (5, 2), (8, 3), (10, 4)]
NO_POLICY = ServerPolicy("given", 0.0)
QUADRATIC = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [4]], "x0": 2}


def scheduled(
    rules: FedCompassParameters, clients: int, arrivals: list[tuple[float, int]]
) -> tuple[Compass, list[Moment]]:
    compass = Compass(rules, clients)
    return compass, list(follow(compass, arrivals))


def sent(moment: Moment) -> list[tuple[int, int, int]]:
    """(client, group, steps) of everybody who is sent off, in that order."""
    return [(one.client, one.group, one.steps) for one in moment.answer.assigned]


def read(**options: object) -> FedCompassParameters:
    return FEDCOMPASS.read(Options("fedcompass", {"eta": 0.1, **options}))


def events(rows: list[list]) -> Events:
    return FEDCOMPASS.read_events(rows, 5, "here")


# ---- the paper's examples -------------------------------------------------------------------------------------


def test_figure_1() -> None:
    compass, moments = scheduled(FIGURE, 5, [*WARM_UP, (12, 0), (12, 1), (12, 2)])
    # Client 1 (index 0) takes Qmax and sets T_a = 12; (12 − 4)/0.2 = 40, (12 − 5)/0.25 = 28, (12 − 8)/0.4 = 10 < 20.
    # A new group: (12 + 0.1·100 − 8)/0.4 = 35 steps, until 22; (22 − 10)/0.5 = 24.
    # At 12 the first group is complete: 10/0.1, 10/0.2 and 10/0.25 steps until 22.
    assert [sent(moment) for moment in moments] == [
        [(0, 1, 100)],
        [(1, 1, 40)],
        [(2, 1, 28)],
        [(3, 2, 35)],
        [(4, 2, 24)],
        [],
        [],
        [(0, 2, 100), (1, 2, 50), (2, 2, 40)],
    ]
    assert [float(compass.expected(group)) for group in compass.history] == [12, 22]
    assert [float(group.latest) for group in compass.history] == [14, pytest.approx(24.8)]
    assert [moment.answer.kind for moment in moments] == [*["first"] * 5, "held", "held", "complete"]


def test_figure_1_is_what_its_speeds_give() -> None:
    parameters = read(speeds=list(SPEEDS))
    found = FEDCOMPASS.sample(parameters, None, NO_POLICY, Streams(0, 0), 5, 13)  # type: ignore[arg-type]
    # After 22 all five are one group: Q = 100, 50, 40, 25, 20, the equilibrium of Appendix B.
    assert found.time.tolist() == [2, 4, 5, 8, 10, 12, 12, 12, 22, 22, 22, 22, 22]
    assert found.actor.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 4]
    tape = FEDCOMPASS.schedule(parameters, found, 5, RecordAt(), 100)
    assert tape.notes["event_group"].tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]
    assert tape.notes["event_Q"].tolist() == [100, 40, 28, 35, 24, 100, 50, 40, 100, 50, 40, 25, 20]


def test_figure_20_a_client_speeds_up() -> None:
    # 28 steps at 5 a minute from 5:00 end at 10:36; the group still waits for 12:00, then (22 − 12)·5 = 50 steps.
    _, moments = scheduled(FIGURE, 5, [*WARM_UP, (10.6, 2), (12, 0), (12, 1)])
    assert sent(moments[-1]) == [(0, 2, 100), (2, 2, 50), (1, 2, 50)]


def test_figure_21_a_client_slows_down_a_little() -> None:
    # 28 steps at 10/3 a minute end at 13:24, before T_max = 2 + 1.2·10 = 14:00: (22 − 13.4)/0.1 = 86, 43, 28.
    _, moments = scheduled(FIGURE, 5, [*WARM_UP, (12, 0), (12, 1), (13.4, 2)])
    assert [moment.answer.kind for moment in moments[-3:]] == ["held", "held", "complete"]
    assert sent(moments[-1]) == [(0, 2, 86), (1, 2, 43), (2, 2, 28)]


@pytest.mark.parametrize(
    ("late", "alone", "steps", "expected"),
    [
        # As printed, 15:12: the server measures 10.2/28 minutes a step; (32 − 15.2)·28/10.2 = 46.1.
        (15.2, 18, 46, 15.2 + 46 * 10.2 / 28),
        # 28 steps at 2.5 a minute really end at 16:12; (32 − 16.2)·2.5 = 39.5.
        (16.2, 14, 39, 31.8),
    ],
)
def test_figure_22_a_client_comes_late(late: float, alone: int, steps: int, expected: float) -> None:
    arrivals = [*WARM_UP, (12, 0), (12, 1), (late, 2), (22, 0), (22, 1), (22, 3), (22, 4)]
    compass, moments = scheduled(FIGURE, 5, arrivals)
    timer, arrival, last = moments[7], moments[8], moments[-1]
    assert (float(timer.time), timer.actor, timer.answer.kind) == (14, SERVER, "timer")
    assert sent(timer) == [(0, 2, 80), (1, 2, 40)]  # (22 − 14)/0.1 and (22 − 14)/0.2
    # Group 2 would leave fewer than 20 steps, so client 3 (index 2) gets group 3.
    speed = (shortest_decimal(late) - 5) / 28
    assert (22 - shortest_decimal(late)) // speed == alone < 20
    assert (arrival.answer.kind, sent(arrival)) == ("late", [(2, 3, steps)])
    assert float(compass.expected(compass.history[2])) == pytest.approx(expected)
    # The text lets all of group 2 join group 3; ⌊·⌋ has cost its T_a a little, and 19 steps are too few for client 5.
    assert [(client, group) for client, group, _ in sent(last)] == [(0, 3), (1, 3), (3, 3), (4, 4)]
    assert (compass.expected(compass.history[2]) - 22) // shortest_decimal(0.5) == 19


def test_figure_22_holds_as_printed_with_the_speed_that_its_text_uses() -> None:
    # At 15:12 with 2.5 steps a minute: (22 − 15.2)·2.5 = 17 < 20; (32 − 15.2)·2.5 = 42 steps until 32:00 exactly,
    # and everybody fits: 100, 50, 25 and (32 − 22)·2 = 20. Such a run began with 25.5 steps, not 28.
    now, speed = shortest_decimal(15.2), shortest_decimal(0.4)
    steps = (22 + 10 - now) // speed
    assert ((22 - now) // speed, steps, now + steps * speed) == (17, 42, 32)
    assert [10 // shortest_decimal(own) for own in (0.1, 0.2, 0.4, 0.5)] == [100, 50, 25, 20]


# ---- corner cases of the scheduler ------------------------------------------------------------------------------


def test_times_are_decimals() -> None:
    assert (shortest_decimal(12.0) - shortest_decimal(0.9)) // shortest_decimal(0.1) == 111
    assert (12.0 - 0.9) // 0.1 == 110  # what floats would say


def test_a_group_that_is_being_aggregated_cannot_be_joined() -> None:
    # Group 1 is due at 11; its only client comes at 6, now with 2 steps a minute: (11 − 6)·2 = 10 would fit.
    _, moments = scheduled(rules(1, 10), 1, [(1, 0), (6, 0)])
    assert [sent(moment) for moment in moments] == [[(0, 1, 10)], [(0, 2, 10)]]


def test_an_arrival_at_the_latest_time_is_in_time_and_before_the_timer() -> None:
    # λ = 1: group 1 of both clients is due at 3 at the latest.
    _, moments = scheduled(rules(1, 2, 1), 2, [(1, 0), (1, 1), (3, 0), (3, 1)])
    assert [moment.answer.kind for moment in moments] == ["first", "first", "held", "complete"]


def test_a_group_stays_until_its_last_client_comes_late() -> None:
    # Both clients belong to group 1, T_max = 3. At 3.5 and 3.75 they are late; the timer found nobody.
    compass, moments = scheduled(rules(1, 2, 1), 2, [(1, 0), (1, 1), (3.5, 0)])
    assert [moment.answer.kind for moment in moments] == ["first", "first", "timer", "late"]
    assert moments[2].answer.aggregated == ()
    assert 1 in compass.groups
    list(follow(compass, [(3.75, 1)]))
    assert 1 not in compass.groups


def test_a_late_client_cannot_join_its_closed_group_even_with_latest_time_factor_one() -> None:
    # T_a = T_max = 2/3 + 2·(2/3): no decimal. The timer passes at the nearest float, and group 1 is closed then.
    third = 2 / 3
    compass, moments = scheduled(rules(1, 2, 1), 2, [(third, 0), (third, 1), (2.0, 0), (2.5, 1)])
    assert moments[-1].answer.kind == "late"
    assert compass.history[0].id not in compass.groups


# Qmin = 2, Qmax = 4. Client 0 (speed 1) makes group 1, T_a = 6, so that T_exp = 10.
@pytest.mark.parametrize(
    ("prose", "arrivals", "steps"),
    [
        # Client 1 takes 2.75 a step: ⌊0.5/2.75⌋ = 0 to join, ⌊4.5/2.75⌋ = 1 as the candidate: below Qmin.
        (False, [(2, 0), (5.5, 1)], 2),
        (True, [(2, 0), (5.5, 1)], 4),
        # Client 1 takes 2.4: group 2, T_a = 4.8 + 2·2.4 = 9.6. Client 2 takes 2.5: ⌊4.6/2.5⌋ = 1 to join; candidates
        # ⌊(10 − 5)/2.5⌋ = 2 and ⌊(9.6 + 9.6 − 5)/2.5⌋ = 5: the largest is clipped, the largest in range is 2.
        (False, [(2, 0), (4.8, 1), (5, 2)], 4),
        (True, [(2, 0), (4.8, 1), (5, 2)], 2),
    ],
)
def test_how_a_new_group_chooses_its_steps(prose: bool, arrivals: list[tuple[float, int]], steps: int) -> None:
    compass, moments = scheduled(rules(2, 4, prose=prose), 3, arrivals)
    assert sent(moments[-1])[0] == (len(arrivals) - 1, len(compass.history), steps)


def test_of_equal_numbers_of_steps_the_latest_group_wins() -> None:
    # JoinGroup compares with ≥. The fastest makes group 1 until 20, the others join it: ⌊20/6⌋ = 3 and ⌊20/9⌋ = 2.
    compass = Compass(rules(1, 5), 3, (4.0, 6.0, 9.0))
    assert [(one.client, one.group, one.steps) for one in compass.started] == [(0, 1, 5), (1, 1, 3), (2, 1, 2)]
    compass.groups[2] = compass._open[2] = Group(2, 0.0, 21, 1, 25.0)
    # ⌊21/6⌋ = ⌊20/6⌋ = 3: the same for both groups, and the later one is taken.
    assert compass._join(1, 0.0, 0) == Assignment(1, 2, 3)


def test_known_speeds_need_no_warm_up() -> None:
    # All five of Figure 1 at once: Qmax for the fastest, T_a = 10, then 10/speed.
    compass = Compass(FIGURE, 5, SPEEDS)
    assert [(one.client, one.steps) for one in compass.started] == [(0, 100), (1, 50), (2, 40), (3, 25), (4, 20)]
    tape = FEDCOMPASS.schedule(
        read(speeds=list(SPEEDS), warmup="speeds"), events([[10, i] for i in range(5)]), 5, RecordAt(), 9
    )
    assert tape.version.tolist() == [0, 0, 0, 0, 0, 1]


def test_timers_may_be_named_and_come_by_themselves_otherwise() -> None:
    parameters = read(Qmin=1, Qmax=2, latest_time_factor=1)
    without = FEDCOMPASS.schedule(parameters, events([[1, 0], [1, 1], [3, 0], [4, 1]]), 2, RecordAt(), 9)
    named = FEDCOMPASS.schedule(parameters, events([[1, 0], [1, 1], [3, 0], [3, "s"], [4, 1]]), 2, RecordAt(), 9)
    assert without.events.actor.tolist() == named.events.actor.tolist() == [0, 1, 0, SERVER, 1]
    # After the last arrival only a named timer passes; T_max of group 2 is 5.
    longer = FEDCOMPASS.schedule(parameters, events([[1, 0], [1, 1], [3, 0], [4, 1], [5, "s"]]), 2, RecordAt(), 9)
    assert longer.events.time.tolist() == [1, 1, 3, 3, 4, 5]


def test_the_timer_of_a_group_that_is_gone_does_nothing() -> None:
    parameters = read(Qmin=1, Qmax=2)
    # Group 1 is complete at 3; its T_max is 1 + 1.2·2 = 3.4.
    tape = FEDCOMPASS.schedule(parameters, events([[1, 0], [3, 0], [3.4, "s"], [5, 0]]), 1, RecordAt(), 9)
    assert tape.events.actor.tolist() == [0, 0, SERVER, 0]
    assert tape.version.tolist() == [0, 1, 2, 2, 3]


# ---- replayed cases, each worked out on paper --------------------------------------------------------------------

# A client of QUADRATIC maps x to (x + b_i)/2 in one step of 1/2; b = (0, 4), p = (1/2, 1/2). Of HUBER a step moves
# client 0 down and client 1 up by 1/2. Entries: (event, x after it, group and Q of its answer).
REPLAYED = {
    # Warm-up: Δ = 1, then −1 (from x = 2 both). Client 0: speed 1, group 1, Q = 2 until 3. Client 1: speed 2,
    # ⌊(3 − 2)/2⌋ = 0, candidate ⌊(3 + 2 − 2)/2⌋ = 1: group 2 until 4. Client 0 at 3: Δ = 1.5·3/4; ⌊(4 − 3)/1⌋ = 1
    # step with group 2, from 23/16. At 4: −(23/32)/2 + 1/2. Then one group until 6: Δ = (3/4)·x and (x − 4)/2.
    "groups merge": (
        QUADRATIC,
        {"eta": 0.5, "Qmin": 1, "Qmax": 2},
        [
            ([1, 0], 1.5, 1, 2),
            ([2, 1], 2.0, 2, 1),
            ([3, 0], 1.4375, 2, 1),
            ([4, 0], 1.4375, 3, 2),
            ([4, 1], 1.578125, 3, 1),
            ([6, 0], 1.578125, 4, 2),
            ([6, 1], 1.591796875, 4, 1),
        ],
    ),
    # λ = 1, weights (1/2)/(τ+1). Warm-up at 1: −1/2·1, then τ = 1: +1/4. Both in group 1, due at 3, Q = 2, from 3/2
    # (version 1) and 7/4 (version 2). At 3 client 0 (τ = 1) is held; the timer: −1/4·9/8; group 2 until 5.
    # At 4 client 1 is late, τ = 1: 1/4·27/16 to the general buffer; speed 3/2, ⌊1/1.5⌋ = 0, candidate
    # ⌊(5 + 2 − 4)/1.5⌋ = 2: group 3 until 7. At 5 client 0, τ = 0: −1/2·(3/4)(47/32) + 27/64; ⌊2/1⌋ = 2 with group 3.
    # At 7: −1/2·(3/4)·1.33984375 (τ = 0) + 1/4·(3/4)(4 − 47/32) (τ = 1).
    "a late client": (
        QUADRATIC,
        {"eta": 0.5, "Qmin": 1, "Qmax": 2, "latest_time_factor": 1, "st": "inverse"},
        [
            ([1, 0], 1.5, 1, 2),
            ([1, 1], 1.75, 1, 2),
            ([3, 0], 1.75, 2, 2),
            ([3, "s"], 1.46875, -1, -1),
            ([4, 1], 1.46875, 3, 2),
            ([5, 0], 1.33984375, 3, 2),
            ([7, 0], 1.33984375, 4, 2),
            ([7, 1], 1.31201171875, 4, 1),
        ],
    ),
    # p = (3/4, 1/4), weights p·2/Q. Warm-up: −3/2·1/2, +1/2·1/2. Group 1 (client 0, Q = 2) is due at 3, group 2
    # (client 1, speed 2, Q = ⌊(3 + 2 − 2)/2⌋ = 1) at 4. Timer at 3: nobody, version 3. Client 0 at 3.5: late, buffer
    # −3/4·1; speed 5/4, candidate ⌊(4 + 4 − 3.5)/1.25⌋ = 3, clipped: Q = 2 until 6. Timer at 4: nobody, but the buffer.
    # Client 1 at 5: late, buffer +1/2·1/2; speed 3, candidate ⌊(6 + 2.5 − 5)/3⌋ = 1, until 8. Client 0 at 6:
    # −3/4 + 1/4; ⌊2/1.25⌋ = 1 with group 4. At 8: −3/2·1/2 + 1/2·1/2; then group 5 of client 0 (speed 2), ⌊4/3⌋ = 1.
    "empty timers": (
        {"type": "huber", "c": [[0], [8]], "w": [[1], [1]], "delta": 1, "x0": 4},
        {"eta": 0.5, "Qmin": 1, "Qmax": 2, "latest_time_factor": 1, "p": [0.75, 0.25], "normalise": True},
        [
            ([1, 0], 3.25, 1, 2),
            ([2, 1], 3.5, 2, 1),
            ([3, "s"], 3.5, -1, -1),
            ([3.5, 0], 3.5, 3, 2),
            ([4, "s"], 2.75, -1, -1),
            ([5, 1], 2.75, 4, 1),
            ([6, 0], 2.25, 4, 1),
            ([8, 0], 2.25, 5, 2),
            ([8, 1], 1.75, 5, 1),
        ],
    ),
}

VERSIONS = {
    "groups merge": [1, 2, 3, 3, 4, 4, 5],
    "a late client": [1, 2, 2, 3, 3, 4, 4, 5],
    "empty timers": [1, 2, 3, 3, 4, 4, 5, 5, 6],
}


def a_case(problem: dict, parameters: dict, rows: list[list]) -> Case:
    options = {key: value for key, value in problem.items() if key != "type"}
    built = build_problem(problem["type"], options)
    return Case(
        FEDCOMPASS,
        built,
        FEDCOMPASS.read(Options("fedcompass", parameters)),
        FEDCOMPASS.read_events(rows, built.n, "here"),
    )


@pytest.mark.parametrize("name", REPLAYED)
@pytest.mark.parametrize("named", [False, True], ids=["arrivals", "timers named"])
def test_replay_is_what_paper_and_pencil_give(name: str, named: bool) -> None:
    problem, parameters, expected = REPLAYED[name]
    rows = [event for event, *_ in expected if named or event[1] != "s"]
    trajectory = replay(a_case(problem, parameters, rows))
    assert [[entry["t"], entry["actor"]] for entry in trajectory] == [event for event, *_ in expected]
    np.testing.assert_allclose([entry["x"][0] for entry in trajectory], [x for _, x, *_ in expected], rtol=1e-12)
    assert [(entry["group"], entry["Q"]) for entry in trajectory] == [tuple(own) for _, _, *own in expected]
    # Replay's k counts server versions: also those of timers that change nothing.
    assert [entry["k"] for entry in trajectory] == VERSIONS[name]


def test_staleness_is_counted_at_the_own_arrival_in_weights_and_at_the_update_in_tau_max() -> None:
    # Client 0 (speed 1) and client 1 (speed 2), Q from 1 to 4. Warm-up: versions 1 and 2. Group 1: client 0 until 5,
    # client 1 ⌊(5 − 2)/2⌋ = 1 step, at 4: held, τ = 2 − 2 = 0. Client 2 (speed 4.5) comes first at 4.5: version 3.
    # At 5 group 1 is aggregated: client 1's update is 1 version old by now, but keeps the weight of τ = 0.
    parameters = read(Qmin=1, Qmax=4, st="inverse")
    tape = FEDCOMPASS.schedule(parameters, events([[1, 0], [2, 1], [4, 1], [4.5, 2], [5, 0]]), 3, RecordAt(), 9)
    used = {int(tape.descend.client[r]): i for i, r in enumerate(tape.uses.update) if tape.uses.version[i] == 3}
    assert tape.uses.weight[used[1]] == pytest.approx(1 / 3)
    assert tape.uses.weight[used[0]] == pytest.approx(1 / 9)  # from version 1, arrives at version 3: τ = 2
    tau = tape.uses.version - tape.descend.version[tape.uses.update]
    assert (tau[used[1]], tau[used[0]]) == (1, 2)


# ---- properties ---------------------------------------------------------------------------------------------------


# ---- what the paper claims of the scheduler and of the limit ------------------------------------------------------


def test_appendix_b_three_groups_where_two_are_claimed() -> None:
    # Constant speeds 0.25, 0.59, 0.95 and Q from 10 to 20: log_2 3.8 < 2, so Appendix B says at most ⌈log_2 3.8⌉ = 2
    # groups, fixed ones, and round times within a factor 2^⌊log_2 3.8⌋ = 2 of each other (Theorem 1's μ').
    speeds = [shortest_decimal(speed) for speed in (0.25, 0.59, 0.95)]
    compass = Compass(rules(10, 20), 3)
    seen: list[tuple] = []
    groups: list[int] = []
    arrivals = np.zeros((0, 3), dtype=int)
    run_ = closed_loop(compass, lambda client, start, steps: float(shortest_decimal(start) + steps * speeds[client]))
    for moment in (next(run_) for _ in range(60)):
        arrivals = np.vstack([arrivals, np.arange(3) == moment.actor])
        live = [group for group in compass.groups.values() if group.aggregated is None]
        groups.append(len(live))
        left = [compass.expected(group) - shortest_decimal(moment.time) for group in live]
        seen.append(
            tuple((one, *map(tuple, (group.waiting, group.arrived))) for one, group in zip(left, live, strict=True))
        )
    # The exact state, relative to the present, comes back every seven events, and so for ever.
    assert seen[52] == seen[59]
    assert seen[46:53] == seen[53:60]
    assert max(groups[53:60]) == 3
    # In one period client 0 has four rounds, client 1 two and client 2 one: the ratio is 4.
    assert arrivals[53:60].sum(axis=0).tolist() == [4, 2, 1]


def test_theorem_1_has_no_term_for_unequal_steps() -> None:
    # F = ½(h(x) + h(x − 1)) with huber h, L = 1; times per step 1 and 5, Qmin = 1, Qmax = 5: one group for ever,
    # Q = (5, 1). A round maps x to x − ½(1 − (1 − η)^5)·x − ½·η·(x − 1), and this x stays where it is:
    eta = 1e-3
    fixed = eta / (eta + 1 - (1 - eta) ** 5)
    problem = {"type": "huber", "c": [[0], [1]], "w": [[1], [1]], "delta": 1, "x0": fixed}
    rows = [[5 * (k + 1), i] for k in range(20) for i in range(2)]
    options = {"eta": eta, "Qmin": 1, "Qmax": 5, "speeds": [1, 5], "warmup": "speeds"}
    models = [entry["x"][0] for entry in replay(a_case(problem, options, rows))]
    np.testing.assert_allclose(models, fixed, rtol=1e-13)
    gradient = (fixed - 0.5) ** 2
    assert gradient == pytest.approx(1 / 9, rel=0.01)
    # (1) with m = 2, μ' = 5, γ1 = 6/5, γ2 = 6, σ_l = 0, σ_g² = 1/4, M = 1, τ_max = 0 and T = 10^6.
    f0 = 0.5 * gradient
    bound = 2 * 6 * f0 / (eta * 1e6) + 6 * 6 * 2 * eta**2 * (1 / 4 + 1) * 5**3 / (6 / 5)
    assert bound < gradient / 10
    # Weights p_i·Qmax/Q_i move the limit to that of F, up to O(η): ½·(1 − (1 − η)^5)·x = ½·5·η·(1 − x).
    settled = 5 * eta / (5 * eta + 1 - (1 - eta) ** 5)
    problem["x0"] = settled
    models = [entry["x"][0] for entry in replay(a_case(problem, {**options, "normalise": True}, rows))]
    np.testing.assert_allclose(models, settled, rtol=1e-13)
    assert (settled - 0.5) ** 2 < bound


# ---- symbols of the theorems, figures, input -----------------------------------------------------------------------


def test_symbols_of_a_run_by_hand() -> None:
    # The first replayed case, p = 1/2: (client, Q, start version) of the updates 0 … 4:
    # {(0, 1, 0)}, {(1, 1, 0)}, {(0, 2, 1)}, {(0, 1, 3), (1, 1, 2)}, {(0, 2, 4), (1, 1, 4)}.
    problem, parameters, expected = REPLAYED["groups merge"]
    case = a_case(problem, parameters, [event for event, *_ in expected])
    tape = FEDCOMPASS.schedule(case.parameters, case.events, 2, RecordAt(), 99)
    one = FEDCOMPASS.quantities(case.parameters, tape, 5, {})
    assert {key: one[key] for key in ("n", "Qmin", "Qmax", "tau_max")} == {"n": 2, "Qmin": 1, "Qmax": 2, "tau_max": 1}
    assert (one["A_max"], one["W_min"], one["W_max"], one["V_max"]) == (1.5, 0.5, 1.5, 0.75)
    assert one["share_bias"] == 1.0  # update 0 holds client 0 alone
    assert one["speed_ratio"] == 2.0
    # Windows of two: A = 1/2, 1/2, 1, 1, 3/2; Σ a²Q = 1/4, 1/4, 1/2, 1/2, 3/4;
    # shares of client 0: 1/2, 0 + 1 of 3/2, 3/2 of 2, 3/2 of 5/2.
    two = FEDCOMPASS.quantities(case.parameters, tape, 5, {"N": 2})
    assert (two["W_min"], two["W_max"], two["V_max"]) == (1.0, 2.5, 1.25)
    assert two["share_bias"] == pytest.approx(0.5)
    # Before the third update nothing else counts. Only windows inside the first `until` updates do.
    assert FEDCOMPASS.quantities(case.parameters, tape, 2, {"N": 2})["share_bias"] == 0.0
    with pytest.raises(CaseError, match="window of N = 6 updates needs 1 ≤ N ≤ 5"):
        FEDCOMPASS.quantities(case.parameters, tape, 5, {"N": 6})


def test_normalised_weights_have_no_bias_at_equilibrium() -> None:
    # Figure 1's clients, all known from the start: one group with Q = 100, 50, 40, 25, 20 for ever.
    rows = [[10.0 * (k + 1), i] for k in range(3) for i in range(5)]
    # Shares Q_i/235 against 1/5 = 47/235: 53 + 3 + 7 + 22 + 27 = 112.
    for normalise, bias in ((False, 112 / 235), (True, 0.0)):
        parameters = read(speeds=list(SPEEDS), warmup="speeds", normalise=normalise)
        tape = FEDCOMPASS.schedule(parameters, events(rows), 5, RecordAt(), 99)
        found = FEDCOMPASS.quantities(parameters, tape, 3, {})
        assert found["share_bias"] == pytest.approx(bias, abs=1e-15)
        assert (found["Q_mean"], found["Q_bias"]) == (pytest.approx(47.0), pytest.approx(112 / 235))
        # fedcompass.group asks for A_max ≤ Q_mean, which rounding must not break.
        assert normalise or found["A_max"] <= found["Q_mean"]
        assert (found["tau_max"], found["speed_ratio"]) == (0.0, pytest.approx(5.0))


def test_figures_tell_the_history_of_the_groups() -> None:
    problem, parameters, expected = REPLAYED["a late client"]
    case = a_case(problem, parameters, [event for event, *_ in expected])
    tape = FEDCOMPASS.schedule(case.parameters, case.events, 2, RecordAt(), 99)
    shown = FEDCOMPASS.figures(case.parameters, tape)
    assert {key: shown[key] for key in ("aggregations", "aggregations_by_timer", "first_updates", "late_arrivals")} == {
        "aggregations": 3,
        "aggregations_by_timer": 1,
        "first_updates": 2,
        "late_arrivals": 1,
    }
    assert shown["tau_max"] == 1  # the late update began at version 2 and makes version 4 of version 3
    assert shown["group_history"][0] == {
        "group": 1,
        "created": 1.0,
        "expected": 3.0,
        "latest": 3.0,
        "aggregated": 3.0,
        "by_timer": True,
        "late": [1],
        "clients": [{"client": 0, "Q": 2}, {"client": 1, "Q": 2}],
    }
    assert shown["mean_Q"] == [1.75, 5 / 3]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0], [3, 0], [3.1, 0], [9, 0]], None),
        (
            [[1, 0], [1, 1], [3, 0], [3.1, 0]],
            "client 0 cannot arrive at 3.1: its last update waits for arrival group 1",
        ),
        ([[0, 0]], "client 0 cannot arrive at 0: its 1 local steps begin at 0 and must take some time"),
        ([[1, 0], [2, "s"]], 'no arrival group\'s latest time is 2, but the events name "s" there'),
    ],
)
def test_impossible_events_are_refused(rows: list[list], message: str | None) -> None:
    parameters = read(Qmin=1, Qmax=2)
    if message is None:
        FEDCOMPASS.schedule(parameters, events(rows), 2, RecordAt(), 9)
        return
    with pytest.raises(BoundlabError) as caught:
        FEDCOMPASS.schedule(parameters, events(rows), 2, RecordAt(), 9)
    assert message in str(caught.value)


def test_weights_must_be_one_a_client() -> None:
    with pytest.raises(SpecError, match="p has 3 entries for 2 clients"):
        FEDCOMPASS.schedule(read(p=[1, 1, 1]), events([[1, 0]]), 2, RecordAt(), 9)


@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({}, [1, 1, 1, 1]),
        ({"st": "inverse"}, [1, 1 / 2, 1 / 3, 1 / 7]),
        ({"st": "1/(tau+1)"}, [1, 1 / 2, 1 / 3, 1 / 7]),
        ({"st": "polynomial:a=0.5"}, [1, 2**-0.5, 3**-0.5, 7**-0.5]),
        ({"st": "polynomial", "a": 2}, [1, 1 / 4, 1 / 9, 1 / 49]),
        ({"st": "hinge:a=10,b=4"}, [1, 1, 1, 1 / 21]),
        ({"st": "hinge", "a": 1, "b": 1}, [1, 1, 1 / 2, 1 / 6]),
    ],
)
def test_staleness_functions(options: dict, weights: list[float]) -> None:
    function = read(**options).st
    assert [function(tau) for tau in (0, 1, 2, 6)] == pytest.approx(weights)
