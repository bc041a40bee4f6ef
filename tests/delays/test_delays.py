"""Delay models and server policies."""

import numpy as np
import pytest

from boundlab.delays import DELAYS, frequencies, read_policy, sample_events, why_not_iid
from boundlab.errors import SpecError
from boundlab.events import SERVER
from boundlab.options import Options
from boundlab.randomness import Stream, Streams

TYPES = {model.id: model for model in DELAYS}
RENEWAL = [name for name in TYPES if name not in ("trace", "iid", "staleness")]


def model(name, n, **options):
    return TYPES[name].build(Options(f"delays {name}", options), n)


def test_ties_are_ordered_by_client_and_the_server_comes_last():
    delays = model("deterministic", 3)
    events = sample_events(delays, read_policy("periodic:every=1", delays), Streams(0), 8)
    assert events.time.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert events.actor.tolist() == [0, 1, 2, SERVER] * 2


@pytest.mark.parametrize("name", RENEWAL)
def test_a_server_of_its_own_moves_no_client(name):
    delays = model(name, 3, spread="5")
    served, alone = (delays.sample(Streams(9), 300, rate) for rate in (0.7, 0.0))
    mine = served.actor != SERVER
    assert np.array_equal(served.time[mine], alone.time[: mine.sum()])
    assert np.array_equal(served.actor[mine], alone.actor[: mine.sum()])


def test_exponential_delays_with_a_poisson_server_are_iid_and_nothing_else_is():
    for name in RENEWAL:
        delays = model(name, 2)
        assert (why_not_iid(delays, read_policy("poisson:rate=1", delays)) == "") == (name == "exponential")
    exponential = model("exponential", 2)
    assert "depend on the arrivals" in why_not_iid(exponential, read_policy("count:every=2", exponential))
    iid = model("iid", 2)
    assert why_not_iid(iid, read_policy(None, iid)) == ""


def test_count_makes_one_aggregation_in_every_delta_plus_one_iterations():
    delays = model("uniform", 3)
    assert frequencies(delays, read_policy("count:every=4", delays))[1] == pytest.approx(1 / 5)


def test_drawn_rates_are_the_draws_themselves_but_where_they_are_not_positive():
    def drawn(**options):
        return model("exponential", 200, rate="10", rate_seed="3", **options).rates()

    first, second = (Streams(3).normals(Stream.RATE, np.arange(200), attempt, 1)[:, 0] for attempt in (0, 1))
    wide, again = 10.0 + 12.0 * first, 10.0 + 12.0 * second
    assert (wide < 0.0).any()
    assert (first < -2.0).any()
    narrow = np.where(first > -2.0, first, second)
    assert drawn(draw="normal") == pytest.approx(10.0 + 5.0 * narrow, rel=1e-12)
    assert drawn(draw="normal", sd="12", negative="abs") == pytest.approx(np.abs(wide), rel=1e-12)
    assert drawn(draw="normal", sd="12", negative="clip") == pytest.approx(np.maximum(wide, 0.01), rel=1e-12)
    settled = np.maximum(wide, again) > 0.0
    redrawn = drawn(draw="normal", sd="12", negative="redraw")[settled]
    assert redrawn == pytest.approx(np.where(wide > 0.0, wide, again)[settled], rel=1e-12)
    uniforms = Streams(3).uniforms(Stream.RATE, np.arange(200), 0, 1)[:, 0]
    assert drawn(draw="exponential") == pytest.approx(-10.0 * np.log(uniforms), rel=1e-12)


def test_a_recorded_trace_is_replayed(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text("time,client\n0.5,1\n0.5,0\n2.0,1\n")
    delays = model("trace", 2, file=str(file))
    events = sample_events(delays, read_policy("count:every=2", delays), Streams(0), 3)
    assert events.time.tolist() == [0.5, 0.5, 2.0]
    assert events.actor.tolist() == [1, 0, 1]
    with pytest.raises(SpecError, match="ends after 3 events; 4 are asked for"):
        sample_events(delays, read_policy("count:every=2", delays), Streams(0), 4)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.0\n", "expected time,client"),
        ("1.0,0\n0.5,1\n", "must not decrease"),
        ("1.0,0\n2.0,7\n", r"client 7 is outside 0…1"),
        ("nan,0\n", "must be finite"),
        ("inf,0\n", "must be finite"),
        ("-1.0,0\n1.0,1\n", "must be finite, ≥ 0"),
        ("0,0\n0,1\n", "holds no arrivals after time 0"),
        ("1.0,0\n2.0,2\n", r"line 2: client 2 is outside 0…1"),
        ("1.0,-1\n", r"client -1 is outside"),
        ("1.0,0,3\n", "expected time,client"),
        ("1.0,zero\n", "expected time,client"),
        ("1.0,0\ntime,1\n", "line 2: time must be a number or a date"),
        ("", "holds no arrivals"),
        ("1.0,0\n", "no update of client 1"),
    ],
)
def test_a_bad_trace_names_its_line(tmp_path, text, message):
    file = tmp_path / "trace.csv"
    file.write_text(text)
    with pytest.raises(SpecError, match=message):
        model("trace", 2, file=str(file))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("exponential", {"rates": "[1,-2]"}, "rates must be > 0, got -2 for client 1"),
        ("exponential", {"rates": "[1,2,3]"}, "3 rates for 2 clients"),
        ("exponential", {"rates": "[1,2]", "spread": "3"}, "give one of rates, spread and draw"),
        ("exponential", {"rate": "0"}, "rate must be > 0"),
        ("exponential", {"tial": "3"}, "has no option 'tial'"),
        ("pareto", {"tail": "1"}, "tail must be > 1"),
        ("gamma", {"shape": "nan"}, "must be a finite number"),
        ("iid", {"p": "[0.5,0.6]", "p_s": "0.1"}, "sum to 1.2, they must sum to 1"),
        (
            "iid",
            {"p": "[0.5,0.5]"},
            r"got p_s = 0, smallest p = 0.5; without a server, exponential:rates=\[0.5,0.5\] fits",
        ),
    ],
)
def test_wrong_options_say_what_would_be_right(name, options, message):
    with pytest.raises(SpecError, match=message):
        model(name, 2, **options)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("poison:rate=3", "did you mean poisson"),
        ("poisson:rate=-1", "rate must be > 0"),
        ("count:every=0", "every must be ≥ 1"),
        ("count:every=1.5", "every must be an integer"),
        ("periodic:every=0", "every must be > 0"),
        ("poisson:ratee=1", "has no option 'ratee'; did you mean rate"),
    ],
)
def test_a_wrong_server_policy_says_what_would_be_right(policy, message):
    with pytest.raises(SpecError, match=message):
        read_policy(policy, model("exponential", 2))


def test_iid_delays_bring_their_own_server():
    with pytest.raises(SpecError, match="bring their own server"):
        read_policy("poisson:rate=1", model("iid", 2))


def test_a_trace_keeps_its_servers_poisson_events_until_its_end(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text("".join(f"{time},{time % 2}\n" for time in range(1, 21)))
    delays = model("trace", 2, file=str(file))
    policy = read_policy("poisson:rate=30", delays)
    events = sample_events(delays, policy, Streams(1), 500)
    server = events.time[events.actor == SERVER]
    # 600 ± 25 events of the server within the trace, so that 500 events end about time 16.
    assert 14 < events.time[-1] < 18
    assert np.diff(np.concatenate([[0.0], server])).max() < 0.5  # P(a gap of rate 30 that long) = 3e-7
    assert events.time[events.actor != SERVER].tolist() == list(range(1, int(events.time[-1]) + 1))
    assert (np.diff(events.time) >= 0).all()


def test_a_count_without_a_number_is_every_arrival():
    delays = model("exponential", 2)
    assert read_policy("count", delays) == read_policy("count:every=1", delays)
    assert read_policy("count", delays).count == 1
    # An algorithm that counts by itself reads the same words.
    assert read_policy("count", delays, "count") == read_policy("count:every=1", delays, "count")
    assert read_policy("count:every=3", delays, "count").count == 3


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("kind", "options"), [(one.id, words) for one in DELAYS for words in one.examples])
def test_what_is_certain_is_the_same_in_every_trial(kind, options):
    found = model(kind, 3, **options)
    one, other = (found.sample(Streams(4, trial), 60, found.p_s if kind == "iid" else 0.0) for trial in (0, 1))
    assert found.certain == (one.time.tolist() == other.time.tolist() and one.actor.tolist() == other.actor.tolist())
