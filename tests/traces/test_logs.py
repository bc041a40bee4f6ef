"""Logs are read into one record, whatever form they have, and a wrong one is one line."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from page_makers import texts

import boundlab as bl
from boundlab.case import build_delays
from boundlab.cli import invoke
from boundlab.delays.recorded import read_csv, recorded
from boundlab.errors import SpecError
from boundlab.traces import durations, read_log, staleness, summary

HERE = Path(__file__).parent
LOG = """ts,device,sent,version,outcome,loss
2.5,tablet,0,0,ok,0.7
1,phone,0,0,ok,0.9
3,phone,1.0,1,ok,0.8
,phone,3,,lost,
4,laptop,0,0,ok,0.6
"""
NAMES = {"time": "ts", "client": "device", "dispatch": "sent", "status": "outcome"}


def written(tmp_path: Path, text: str, name: str = "log.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# Log → its text or file, its form, its columns, and what is read of it, by hand.
VERSIONS = "time,client,dispatch,version\n1,a,0,0\n2,b,0,0\n3,c,0,0\n4,a,1,0\n5,b,2,0\n6,c,3,2\n7,a,4,2\n8,b,5,2\n"
DATES = "time,client,dispatch\n2026-03-01T10:00:05Z,a,2026-03-01T10:00:00Z\n2026-03-01T11:00:06+01:00,b,\n"
READ: dict[str, tuple[str | Path, str, dict[str, str] | None, dict[str, Any]]] = {
    "a table, by the names of its columns": (LOG, "csv", NAMES, {
        "names": ["laptop", "phone", "tablet"],
        "arrived.time": [1, 2.5, 3, 4],
        "arrived.client": [1, 2, 1, 0],
        "arrived.dispatch": [0, 0, 1, 0],
        "arrived.line": [3, 2, 4, 6],
        "lost": [False, False, False, True, False],
        "notes": ["rows were not in the order of time: they are sorted, equal times in the order of the file"],
        "staleness": [0, 1, 1, 3],
    }),
    "staleness from dispatches": (LOG.replace("version", "model"), "csv", NAMES, {"staleness": [0, 1, 1, 3]}),
    "no staleness": ("time,client\n1,a\n2,b\n", "csv", None, {"staleness": [-1, -1], "how": "not recorded"}),
    "staleness as recorded": ("time,client,version,staleness\n1,a,0,7\n2,b,0,\n", "csv", None, {"staleness": [7, -1]}),
    # The server makes versions 1 and 2 after three arrivals, and none after two more.
    "versions that follow no count": (VERSIONS, "csv", None, {
        "staleness": [0, 0, 0, 2, 2, 0, 0, 0],
        "how": "the latest version handed out before the arrival minus the version read",
    }),
    "durations from dispatch or the update before": ("time,client,dispatch\n1,a,\n2,b,0.5\n4,a,\n5,b,\n", "csv", None, {
        "durations.client": [1, 0, 1],
        "durations.time": [1.5, 3, 3],
    }),
    "dates": (DATES, "csv", None, {"time": [5, 6]}),
    "time stamps of a clock": ("time,client\n1772359200.5,a\n1772359203,b\n", "csv", None, {"time": [0, 2.5]}),
    "times that are no stamps": ("time,client\n1000.5,a\n1003,b\n", "csv", None, {"time": [1000.5, 1003]}),
    "the simulator's log": (HERE / "vsim.log", "appfl", None, {
        "names": ["Client1", "Client2", "Client3"],
        "arrived.client": [0, 0, 1, 2, 0, 1, 2],
        "arrived.time": [1, 2, 2.5, 4, 4.1, 5, 6],
        "arrived.dispatch": [0, 1, 0, 0, 2.6, 2.5, 4],
        "arrived.staleness": [0, 0, 2, 3, 1, 2, 2],
        "arrived.version": [0, 1, 0, 0, 3, 3, 4],
        "lost": [False, False, False, True, False, False, False, False],  # it started anew at 2.6
        "notes": ["1 updates were in work at the end and are left out"],
    }),
    "the older layout": (HERE / "old.log", "appfl", None, {
        "names": ["Client1", "Client2"],
        "time": [1.5, 2, 3],
        "dispatch": [0, 0, 1.5],
        "version": [0, 0, 1],
        "durations.time": [1.5, 2, 1.5],
    }),
    # Under a buffer of two, every second update makes a version: the others meet the present one.
    "updates that make no version": (
        "".join(f"[vt= {k}] DONE C{k} epoch= {k // 2} staleness= {max(k // 2 - k % 2, 0)}\n" for k in range(1, 5)),
        "appfl", None, {"version": [0, -1, 1, -1], "arrived.staleness": [0, 1, 0, 2]},
    ),
}  # fmt: skip


def told(found: Any, name: str) -> Any:
    """Return what a log says under a name, as plain data."""
    if name in ("staleness", "how"):
        return dict(zip(("staleness", "how"), staleness(found), strict=True))[name]
    start, _, rest = name.rpartition(".")
    return getattr({"": found, "arrived": found.arrived, "durations": durations(found)}[start], rest)


@pytest.mark.parametrize("name", READ)
def test_a_log_says_what_it_says(name: str, tmp_path: Path) -> None:
    log, form, columns, said = READ[name]
    found = read_log(written(tmp_path, log) if isinstance(log, str) else log, form, columns)
    for what, expected in said.items():
        assert np.array_equal(told(found, what), expected), what


def test_staleness_counts_versions_and_no_more_than_were_handed_out(tmp_path: Path) -> None:
    """A buffer of three: the log has the versions of a run, and only the dispatches say how many there were."""
    run = bl.run("fedbuff", "quadratic:clients=4", "gamma:spread=4", iterations=40, trials=1, eta_l=0.1, count=3)
    run.save_trace(tmp_path / "run.csv")
    true = staleness(read_csv(tmp_path / "run.csv")[0])[0]
    text = (tmp_path / "run.csv").read_text().splitlines()
    assert text[0].endswith(",staleness")
    found = read_log(written(tmp_path, "\n".join(row.rpartition(",")[0] for row in text)))
    tau, how = staleness(found)
    assert tau.tolist() == true.tolist()
    assert how == "versions, of which every 3 arrivals make one"


@pytest.mark.parametrize("sizes", [(3, 2, 1), (3, 3, 3), (2, 4, 1, 3), (4, 1, 1, 4, 2)])
def test_arrivals_of_a_round_meet_the_version_that_they_read(sizes: tuple[int, ...], tmp_path: Path) -> None:
    rounds = [(time, who, time - 1, time - 1) for time, size in enumerate(sizes, 1) for who in "abcd"[:size]]
    rows = "".join("{},{},{},{}\n".format(*row) for row in rounds)
    assert not staleness(read_log(written(tmp_path, f"time,client,dispatch,version\n{rows}")))[0].any()


def test_a_compressed_log_is_the_log(tmp_path: Path) -> None:
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    assert read_log(tmp_path / "log.csv.gz", "csv", NAMES).arrived.time.tolist() == [1, 2.5, 3, 4]
    (tmp_path / "torn.gz").write_bytes(gzip.compress(LOG.encode())[:-12])
    with pytest.raises(SpecError, match=r"torn.gz: its compression is broken"):
        read_log(tmp_path / "torn.gz")


def test_a_law_of_durations_alone_is_fitted_and_its_trace_written_in_one_command(tmp_path: Path, capsys: Any) -> None:
    rows = "".join(f"{who},{(k % 7 + 1) / 4},0\n" for k in range(40) for who in "ab")
    log, out = written(tmp_path, f"client,duration,start\n{rows}"), tmp_path / "out.csv"
    assert invoke(["trace", str(log), "--map=time=duration,dispatch=start", "--fit", "-q", f"--out={out}"]) == 0
    assert ":rates=[" in capsys.readouterr().out
    assert durations(read_csv(out)[0]).how == "dispatch to arrival"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no arrivals"),
        ("time,client\n", "holds no arrivals"),
        ("when,who,what\n1,a,b\n", "line 1: there is no column 'time'"),
        ("time,client\n1,a\n2\n", "line 3: expected time,client in 2 columns"),
        ("time,client\nsoon,a\n", "line 2: time must be a number or a date of ISO 8601, got 'soon'"),
        ("time,client\n2026-13-01,a\n", "line 2: time must be a number or a date of ISO 8601, got '2026-13-01'"),
        ("time,client,dispatch\n3,a,soon\n", "line 2: dispatch must be a number or a date"),
        ("time,dispatch\n1,0\n", "no column 'client'; known: dispatch, time; boundlab trace --map client=NAME reads"),
        ("device,ts\n1,0.5\n", "line 1: there is no column 'time'; known: device, ts; boundlab trace --map time=NAME"),
        ("phone,0.3\nphone,0.5\n", "line 1: 0.3 is no name of a column: the first row names the columns"),
        ("client,duration\na,0.3\n", "line 1: there is no column 'time'; .* docs data#durations-alone"),
        ("time;client\n1;a\n", "line 1: .* columns are separated by commas, not by ';'"),
        ("time\tclient\n1\ta\n", "line 1: .* columns are separated by commas, not by"),
        (
            "0\n3\n",
            "line 1: expected time,client .*; a list of staleness is no trace, but the delays staleness:file=PATH",
        ),
        ("time,client\n1,\n", "line 2: expected time,client"),
        ("time,client\n,a\n", "line 2: an update needs the time of its arrival"),
        ("time,client\n-1,a\n", "line 2: times must be finite, ≥ 0"),
        ("time,client,dispatch\n1,a,2\n", "line 2: dispatch 2 is after arrival 1"),
        ("time,client,version\n1,a,-1\n", "line 2: version must be a whole number ≥ 0"),
        ("time,client,steps\n1,a,1.5\n", "line 2: steps must be a whole number"),
        ("time,client,status\n1,a,maybe\n", "line 2: status must be one of arrived, done"),
        ("time,client\n1,a\n2026-01-01,b\n", "line 3: either all times are numbers or all are dates"),
        (f"time,client\n1,{'9' * 5000}\n", "line 2: expected time,client"),
        (f"time,client\n1,{'9' * 200000}\n", "line 2: field larger than field limit"),
        ("time,client,dispatch,status\n,a,1,lost\n", "holds no arrivals"),
    ],
)
def test_a_wrong_log_names_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        summary(read_log(written(tmp_path, text)))


def test_a_wrong_question_says_what_would_be_right(tmp_path: Path) -> None:
    path = written(tmp_path, LOG)
    for form, columns, message in (
        ("cvs", None, "did you mean csv"),
        ("csv", {"tim": "ts"}, "did you mean time"),
        ("csv", {"time": "t"}, "line 1: there is no column 't'"),
        ("appfl", {"time": "ts"}, "read as csv"),
        ("appfl", None, "no line of the simulator of APPFL"),
    ):
        with pytest.raises(SpecError, match=message):
            read_log(path, form, columns)


def test_a_console_in_colour_and_a_file_say_the_same(tmp_path: Path) -> None:
    plain = (HERE / "vsim.log").read_text(encoding="utf-8")
    lines = [line.replace("] INFO    ", "]: ", 1) for line in plain.splitlines()]
    console = "\n".join(f"\x1b[32mappfl: ✅{line}\x1b[0m" for line in lines)
    one, other = read_log(HERE / "vsim.log", "appfl"), read_log(written(tmp_path, console), "appfl")
    assert np.array_equal(one.time, other.time, equal_nan=True)
    assert one.version.tolist() == other.version.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[vt= x] START A dur= 1", "line 2: the virtual time must be a number"),
        ("[vt= 5] DONE A epoch= one staleness= 0", "line 2: epoch and staleness must be whole numbers"),
        ("[vt= 5] DONE A epoch= 1", "line 2: epoch and staleness must be whole numbers"),
        ("[vt= 5] DONE A epoch= 1 staleness= 2", "line 2: versions of the server count up from 0"),
        ("[vt= 0.5] DONE A epoch= 1 staleness= 0", "line 2: client A is done at 0.5, before its start at 1"),
        ("[00:00:00 vsim] INFO      5.0 DONE A 1", "line 2: DONE needs"),
        (f"[vt= 5] START {'9' * 5000} dur= 1", "line 2: a client has a name of 5000 letters"),
    ],
)
def test_a_wrong_line_of_the_simulator_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_log(written(tmp_path, f"[vt= 1] START A dur= 1\n{line}\n"), "appfl")


updates = st.lists(
    st.fixed_dictionaries(
        {"client": st.sampled_from("abc"), "time": st.floats(0, 1e6), "lost": st.booleans()},
        optional={
            "version": st.integers(0, 9),
            "steps": st.integers(1, 9),
            "staleness": st.integers(0, 9),
        },
    ),
    min_size=1,
    max_size=12,
)


@given(rows=updates)
def test_what_is_written_is_read_back(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("trace") / "t.csv"
    one = recorded("", [{**row, "dispatch": row["time"] / 3} for row in rows]).in_order(clock=False)
    one.save(path)
    other, numbered = read_csv(path, log=True)
    assert not numbered
    assert one.names == other.names
    for name in ("client", "time", "dispatch", "version", "steps", "staleness", "lost"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


def test_devices_of_a_trace_are_numbered_as_those_of_data(tmp_path: Path) -> None:
    path = written(tmp_path, "time,client,dispatch,status\n1,10,0,\n2,9,0,\n3,10,1,\n4,9,2,lost\n")
    found = build_delays("trace", {"file": str(path)}, 2)
    assert found.arrivals.actor.tolist() == [1, 0, 1]  # type: ignore[attr-defined]
    assert not found.says_staleness  # of two updates nobody says when they were handed out
    with pytest.raises(SpecError, match=r"has 2 devices \(9, 10\); the problem has 3 clients"):
        build_delays("trace", {"file": str(path)}, 3)
    lost = written(tmp_path, "time,client,status\n1,a,\n2,b,lost\n")
    with pytest.raises(SpecError, match="no update of client 1"):
        build_delays("trace", {"file": str(lost)}, 2)


@pytest.mark.parametrize(
    "algorithm", ["async_sgd:alpha=0.1", "fedasync:beta=0.5,eta_l=0.1,Q=2", "fedbuff:eta_l=0.1,count=2"]
)
def test_a_run_that_is_written_as_a_trace_is_the_run_of_that_trace(tmp_path: Path, algorithm: str) -> None:
    name, _, options = algorithm.partition(":")
    settings = dict(one.split("=") for one in options.split(","))
    how = {"iterations": 30, "trials": 1, "seed": 3, "settings": settings}
    first = bl.run(name, "quadratic:clients=3", "gamma:spread=3", **how)
    first.save_trace(tmp_path / "t.csv")
    again = bl.run(name, "quadratic:clients=3", f"trace:file={tmp_path / 't.csv'}", **how)
    one, other = first.tape(0), again.tape(0)
    for part in ("op", "row", "event", "version"):
        assert np.array_equal(getattr(one, part), getattr(other, part)), part
    assert np.array_equal(one.events.time, other.events.time)
    assert np.array_equal(one.descend.version, other.descend.version)
    found = summary(read_csv(tmp_path / "t.csv")[0])
    assert found.tau.tolist() == first.statistics[0].staleness.tolist()
    assert found.record.dispatch.tolist()[0] == 0.0


def test_a_run_without_arrivals_has_no_trace(tmp_path: Path) -> None:
    """An aggregation is the first event of this seed."""
    run = bl.run("area", "lad:x0=3", "iid:p_s=0.9", iterations=1, trials=1, alpha=1)
    assert run.statistics[0].p_s == 1.0
    with pytest.raises(SpecError, match="the run of area has no arrivals"):
        run.save_trace(tmp_path / "t.csv")


@pytest.mark.parametrize("text", ["time,client\n1,a\n2,b\n", "0,0\n0,0\n", "time,client\n5,a\n"])
def test_a_page_shows_what_is_known_of_a_bare_log(tmp_path: Path, text: str) -> None:
    """Neither staleness nor a duration is known, or no time goes by."""
    found = bl.trace(written(tmp_path, text))
    page = " ".join(texts(found.page()))
    assert "staleness: not recorded" in page
    assert "nan" not in page
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["staleness"]["max"] is None
