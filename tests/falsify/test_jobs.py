"""However many processes look at candidates, the answer is the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from boundlab.falsify import _result, falsify
from boundlab.simulate.simulation import Ahead, in_order
from boundlab.theorems import load_theorem


def answer(theorem: str, limit: int, seed: int, jobs: int) -> dict[str, Any]:
    found = falsify(load_theorem(theorem), 1e9, seed, None, limit, jobs).as_dict()
    found.pop("seconds")
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


@pytest.mark.slow  # searches on one process and on several
@pytest.mark.parametrize(
    ("theorem", "limit"),
    [
        pytest.param("fedbuff.rf1", 300, marks=pytest.mark.nightly),
        pytest.param("fedstaleweight.theorem1", 150, marks=pytest.mark.nightly),
        pytest.param("area.theorem7.explicit", 150, marks=pytest.mark.nightly),
        pytest.param("classics.gd.gradient", 700, marks=pytest.mark.nightly),  # with worst cases
        ("classics.gd.convex", 200),
    ],
)
def test_the_answer_does_not_depend_on_the_processes(theorem: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The comparison that repeats an instance follows from it, and takes longer than to find it.
    monkeypatch.setattr(_result, "trials_that_tell", lambda *_, **__: None)
    assert answer(theorem, limit, 1, 3) == answer(theorem, limit, 1, 1)


def test_work_is_done_in_order_and_only_a_little_ahead() -> None:
    def endless() -> Any:
        number = 0
        while True:
            asked.append(number)
            yield number
            number += 1

    for jobs in (1, 3):
        asked: list[int] = []
        with Ahead(abs, jobs) as workers:
            results = workers.map(endless())
            assert [next(results) for _ in range(10)] == list(range(10))
            assert list(workers.map([-3, 2])) == [3, 2]
        assert len(asked) <= 10 + 3 * jobs


@pytest.mark.nightly
def test_processes_end_when_work_fails_or_is_no_longer_asked_for() -> None:
    # Results larger than a pipe: who writes one holds the lock of the queue, and must not be killed with it.
    def work(number: int) -> bytes:
        if number == 3:
            raise ValueError("no")
        return bytes(200_000)

    for _ in range(5):
        with pytest.raises(ValueError, match="no"):
            list(in_order(work, 100, 2))
        with Ahead(work, 2) as workers:
            assert next(workers.map(iter(int, 1))) == bytes(200_000)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "theorem",
    [
        "area.theorem8.fixed-step",
        "classics.incremental",
        "classics.gd.convex",
    ],
)
def test_equal_searches_print_equal_json_and_keep_to_their_limit(
    theorem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = [sys.executable, "-m", "boundlab", "falsify", theorem, "--candidates=30", "--json"]
    said = [subprocess.run([*line, f"--jobs={jobs}"], capture_output=True, check=False).stdout for jobs in (1, 4)]
    assert said[0] == said[1]
    found = json.loads(said[0])
    assert 0 < found["candidates"] <= 2 * 30  # two stages, of which each keeps the limit
    assert found["seconds"] is None
