"""Whatever carries the cells, and whoever is killed: each row is the serial run's."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from boundlab.errors import ExecutorError, MissingExtraError, SpecError
from boundlab.sweep.drive import cluster
from boundlab.sweep.lines import read_lines
from boundlab.sweep.results import results, sweep
from boundlab.sweep.store import answered

PLAN: dict[str, Any] = {
    "theorems": ["area.theorem8.repaired"],
    "problems": ["lad:x0=3"],
    "delays": ["iid:p_s=0.5"],
    "set": {"M": "1:50:lin:8"},
    "run": {"iterations": 3, "trials": 20},
}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["key"]: answered(json.loads(row["row"])) for row in results(folder).index.select()}


def lines_of(folder: Path) -> list[str]:
    """Return the keys of all lines, repeated as they are."""
    return [row["key"] for path in (folder / "lines").iterdir() for _, row in read_lines(path, 0) if "key" in row]


class _Elsewhere:
    """An executor on a machine that does not see the folder."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool = pool

    def submit(
        self, call: Callable[..., Any], cells: Any, seconds: float, memory: Any, _folder: str, *rest: Any
    ) -> Any:
        return self.pool.submit(call, cells, seconds, memory, "/nowhere", *rest)


class _Lost:
    """An executor that answers one chunk and is then lost."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool, self.chunks = pool, 0

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        self.chunks += 1
        if self.chunks == 1:
            found = self.pool.submit(call, *arguments)
            found.result()
            return found
        lost: Future[Any] = Future()
        lost.set_exception(ConnectionError("the scheduler\nis gone"))
        return lost


@pytest.mark.slow
def test_rows_come_back_with_the_chunk_where_the_folder_is_not_seen(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        sweep(PLAN, tmp_path / "far", _Elsewhere(pool), jobs=1)
    sweep(PLAN, tmp_path / "near", jobs=1)
    assert rows_of(tmp_path / "far") == rows_of(tmp_path / "near")
    assert len(lines_of(tmp_path / "far")) == 8
    row = next(results(tmp_path / "far").rows())
    assert row["python"] == sys.version.split()[0]
    assert row["points"]


def test_a_lost_executor_ends_the_sweep_in_one_line_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(ExecutorError, match=r"ConnectionError: the scheduler is gone\)"):
        sweep(PLAN, tmp_path / "out", _Lost(pool), jobs=1)
    kept = lines_of(tmp_path / "out")
    assert 0 < len(kept) < 8
    sweep(PLAN, tmp_path / "out", jobs=1)
    assert sorted(lines_of(tmp_path / "out")) == sorted(rows_of(tmp_path / "out"))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "/nowhere/scheduler.json"])
def test_a_scheduler_that_is_none_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("boundlab.sweep.drive._CONNECT", 0.5)
    with pytest.raises(SpecError, match=r"no scheduler answers there|scheduler file"), cluster(address):
        pass


def test_a_cluster_needs_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"boundlab\[dask\]"), cluster("tcp://127.0.0.1:9"):
        pass


class _Cluster:
    """A scheduler and workers of Dask, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []

    def begin(self, program: str, *more: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--scheduler-file", str(self.file), *more]
        found = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(found)
        return found


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[_Cluster]:
    """Begin a scheduler, and end whatever was begun."""
    pytest.importorskip("distributed")
    found = _Cluster(tmp_path)
    found.begin("scheduler", "--port", "0", "--no-dashboard")
    try:
        _until(found.file.exists)
        yield found
    finally:
        for one in found.processes:
            one.kill()
            one.wait()


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120.0
    while not true():
        assert time.monotonic() < deadline, "nothing happens any more"
        time.sleep(0.05)


def _count(folder: Path) -> int:
    return sum(text.count('"key"') for text in map(Path.read_text, (folder / "lines").glob("*")))


def _sweep_and_kill(plan: Path, out: Path, dask: _Cluster, first: int, then: int) -> set[str]:
    """Kill a worker when so many rows are there, and the client at some more; return what is on disk."""
    workers = [dask.begin("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(2)]
    words = [sys.executable, "-m", "boundlab", "sweep", str(plan), "--out", str(out), "--dask", str(dask.file)]
    client = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    dask.processes.append(client)
    _until(lambda: _count(out) >= first or client.poll() is not None)
    os.kill(workers[0].pid, signal.SIGKILL)
    _until(lambda: _count(out) >= then)
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    time.sleep(1.0)  # the worker that is left may finish what it has in hand
    return set(lines_of(out))


def _killed_and_resumed(tmp_path: Path, dask: _Cluster, values: int, first: int, then: int) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'theorems = ["area.theorem8.repaired"]\nproblems = ["lad:x0=3"]\ndelays = ["iid:p_s=0.5"]\n'
        f"[set]\nM = [10]\n[run]\niterations = 3\ntrials = 20\nseeds = {list(range(values))}\n"
    )
    kept = _sweep_and_kill(plan, tmp_path / "out", dask, first, then)
    assert first <= len(kept) < values
    asked: list[str] = []
    with cluster(str(dask.file)) as (executor, threads):
        sweep(
            plan,
            tmp_path / "out",
            executor,
            jobs=threads,
            tell=lambda _, row: asked.append(row["key"]) if row else None,
        )
    assert not kept & set(asked)
    assert results(tmp_path / "out").index.disagreements() == []
    sweep(plan, tmp_path / "serial", jobs=1)
    assert len(rows_of(tmp_path / "out")) == values
    assert {row["status"] for row in rows_of(tmp_path / "out").values()} == {"done"}
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "serial")


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_client_lose_no_row(tmp_path: Path, dask: _Cluster) -> None:
    _killed_and_resumed(tmp_path, dask, 24, 4, 9)


@pytest.mark.nightly
def test_two_hundred_cells_survive_a_killed_worker_and_a_killed_client(tmp_path: Path, dask: _Cluster) -> None:
    _killed_and_resumed(tmp_path, dask, 200, 60, 120)


def test_a_full_disk_ends_the_sweep_in_one_line_and_space_lets_it_go_on(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        (small / "out").mkdir()
        rest = small / "rest"
        out = small / "out"
        words = [sys.executable, "-m", "boundlab", "sweep", str(_written(tmp_path)), "--out", str(out), "--jobs", "2"]
        _fill(rest, small)
        full = subprocess.run(words, capture_output=True, text=True, check=False)
        assert full.returncode == 2
        assert full.stderr.splitlines()[-1].startswith("boundlab: ")
        assert "No space left on device" in full.stderr
        rest.unlink()
        assert subprocess.run(words, capture_output=True, check=False).returncode == 0
        assert len(rows_of(out)) == 8
        assert results(out).index.disagreements() == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def _written(folder: Path) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(
        'theorems = ["area.theorem8.repaired"]\nproblems = ["lad:x0=3"]\ndelays = ["iid:p_s=0.5"]\n'
        '[set]\nM = "1:50:lin:8"\n[run]\niterations = 3\ntrials = 20\n'
    )
    return plan


def _fill(file: Path, folder: Path) -> None:
    """Leave four pages: those of sweep.json, of the lock and of some lines."""
    stat = os.statvfs(folder)
    file.write_bytes(bytes(stat.f_bavail * stat.f_bsize - 4 * stat.f_frsize))
