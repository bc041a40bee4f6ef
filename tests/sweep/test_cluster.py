"""Whatever carries the cells, and whoever is killed: each row is the serial run's."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sweep_lines import lines_of, plan_file

from boundlab.errors import ExecutorError, MissingExtraError, SpecError
from boundlab.sweep.drive import answered, cluster
from boundlab.sweep.results import results, sweep
from boundlab.verdict import ExitCode

PLAN: dict[str, Any] = {
    "theorems": ["area.theorem8.repaired"],
    "problems": ["lad:x0=3"],
    "delays": ["iid:p_s=0.5"],
    "set": {"M": "1:50:lin:8"},
    "run": {"iterations": 3, "trials": 20},
}


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {row["key"]: answered(row) for row in results(folder).lines.rows()}


def keys_of(folder: Path) -> list[str]:
    return [row["key"] for row in lines_of(folder)]


class _Lost:
    """An executor that answers one cell and is then lost."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool, self.cells = pool, 0

    def submit(self, call: Callable[..., Any], *arguments: Any) -> Any:
        self.cells += 1
        if self.cells == 1:
            found = self.pool.submit(call, *arguments)
            found.result()
            return found
        lost: Future[Any] = Future()
        lost.set_exception(ConnectionError("the scheduler\nis gone"))
        return lost


@pytest.mark.slow  # it starts processes
def test_any_executor_answers_as_threads_here_do(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        sweep(PLAN, tmp_path / "far", pool, jobs=2)
    sweep(PLAN, tmp_path / "near", jobs=1)
    assert rows_of(tmp_path / "far") == rows_of(tmp_path / "near")
    assert len(keys_of(tmp_path / "far")) == 8
    row = next(results(tmp_path / "far").rows())
    assert row["python"] == sys.version.split()[0]
    assert row["points"]


@pytest.mark.nightly
def test_a_lost_executor_ends_the_sweep_in_one_line_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(ExecutorError, match=r"ConnectionError: the scheduler is gone\)"):
        sweep(PLAN, tmp_path / "out", _Lost(pool), jobs=1)
    kept = keys_of(tmp_path / "out")
    assert 0 < len(kept) < 8
    sweep(PLAN, tmp_path / "out", jobs=1)
    assert sorted(keys_of(tmp_path / "out")) == sorted(rows_of(tmp_path / "out"))


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
        self.said = folder / "stderr.txt"
        self.processes: list[subprocess.Popen[bytes]] = []

    def begin(self, program: str, *more: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--scheduler-file", str(self.file), *more]
        found = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(found)
        return found

    def worker(self) -> "subprocess.Popen[bytes]":
        return self.begin("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")

    def sweep(self, plan: Path, out: Path) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "boundlab", "sweep", str(plan), "--out", str(out), "--dask", str(self.file)]
        with self.said.open("wb") as said:
            found = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=said)
        self.processes.append(found)
        return found


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[_Cluster]:
    """Begin a scheduler, and end whatever was begun."""
    pytest.importorskip("distributed")
    found = _Cluster(tmp_path)
    try:
        found.begin("scheduler", "--port", "0", "--no-dashboard")
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


def _seeds(folder: Path, number: int) -> Path:
    """Write the plan of so many cells that differ in their seeds."""
    return plan_file(folder, "M = [10]", f"seeds = {list(range(number))}")


@pytest.mark.nightly
def test_two_hundred_cells_survive_a_killed_worker_and_a_killed_client(tmp_path: Path, dask: _Cluster) -> None:
    plan, out = _seeds(tmp_path, 200), tmp_path / "out"
    workers = [dask.worker() for _ in range(2)]
    client = dask.sweep(plan, out)
    for rows, victim in ((60, workers[0]), (120, client)):
        _until(lambda: _count(out) >= rows or client.poll() is not None)  # noqa: B023  (called here)
        victim.kill()
    client.wait()
    kept, asked = set(keys_of(out)), set[str]()
    with cluster(str(dask.file)) as (executor, threads):
        sweep(plan, out, executor, jobs=threads, tell=lambda _, row: asked.add(row["key"]) if row else None)
    assert not kept & asked
    assert 120 <= len(kept) < 200 == len(kept | asked)
    assert results(out).lines.disagreements == []
    sweep(plan, tmp_path / "serial", jobs=1)
    assert {row["status"] for row in rows_of(out).values()} == {"done"}
    assert rows_of(out) == rows_of(tmp_path / "serial")


@pytest.mark.nightly
def test_a_worker_without_boundlab_ends_the_sweep_in_one_line(tmp_path: Path, dask: _Cluster) -> None:
    (tmp_path / "boundlab.py").write_text("raise ModuleNotFoundError('there is no boundlab')")  # found first
    dask.worker()
    client = dask.sweep(_seeds(tmp_path, 3), tmp_path / "out")
    _until(lambda: client.poll() is not None)
    said = dask.said.read_text()
    assert client.returncode == ExitCode.UNFORESEEN
    assert said.splitlines()[-1].startswith("boundlab: ")  # whatever libraries log before it
    assert "the executor failed" in said.splitlines()[-1]
    assert 'boundlab/sweep/drive.py"' not in said


def _children(client: "subprocess.Popen[bytes]") -> list[int]:
    """Return the processes that a process has begun; none where it has ended."""
    try:
        return [
            int(one) for file in Path(f"/proc/{client.pid}/task").glob("*/children") for one in file.read_text().split()
        ]
    except OSError:
        return []


@pytest.mark.nightly
def test_sixty_kills_at_random_lose_no_row(tmp_path: Path) -> None:
    """Begin a sweep so often, kill a process that answers and then the one that writes; each at any moment."""
    plan, out, random = _seeds(tmp_path, 300), tmp_path / "out", Random(60)  # noqa: S311
    words = [sys.executable, "-m", "boundlab", "sweep", str(plan), "--out", str(out), "--jobs", "2"]
    for _ in range(60):
        before = _count(out)
        client = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _until(lambda: _count(out) > before or client.poll() is not None)  # noqa: B023  (called here)
            for victims in (lambda: _children(client), lambda: [client.pid]):  # noqa: B023
                time.sleep(random.expovariate(10.0))
                for one in random.sample(found := victims(), min(1, len(found))):
                    with suppress(ProcessLookupError):
                        os.kill(one, signal.SIGKILL)
        finally:
            client.kill()
            client.wait()
    sweep(plan, out, jobs=2, again="failed")  # a cell whose process was killed twice
    sweep(plan, tmp_path / "serial", jobs=1)
    assert results(out).lines.disagreements == []
    assert results(out).missing == 0
    assert rows_of(out) == rows_of(tmp_path / "serial")
    lines = lines_of(out)
    failed = [row for row in lines if row["status"] == "killed"]
    assert len(lines) - len(failed) == len(rows_of(out)), "what is done is not done again"


GREW = """
import os, resource, sys
from concurrent.futures import Future
from pathlib import Path
from boundlab.sweep.plan import SweepPlan
from boundlab.sweep.plan import machine
from boundlab.sweep.results import results, sweep


class Known:
    def submit(self, call, cell, key, *rest):
        ends = {"status": "done", "verdict": "holds", "code": 0, "reason": "", "points": [[1, 0.1, 0.1, 0.1, 0.2]] * 10}
        found = Future()
        found.set_result({"key": key, **cell.where(), **ends, "left": 0.1, "bound": 0.2, "common": machine()})
        return found


os.fsync = lambda _: None  # the disk has nothing to do with it


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


plan = {"theorems": ["area.theorem8"], "problems": ["lad:x0=3"], "run": {"seeds": list(range(10))}}
sweep(plan, sys.argv[1] + "/few", Known()).page()
before = peak()
plan["run"]["seeds"] = list(range(10_000))
found = sweep(plan, sys.argv[1] + "/many", Known())
found.save_csv(Path(sys.argv[1]) / "all.csv")
assert "10000 holds" in found.line()
print(before, peak())
"""


@pytest.mark.nightly
def test_ten_thousand_cells_take_fifteen_megabytes_more_than_ten(tmp_path: Path) -> None:
    # Python and the libraries take 86 MB before the first cell: together that is about 100 MB.
    done = subprocess.run([sys.executable, "-c", GREW, str(tmp_path)], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert after - before < 15 * 1024


@pytest.mark.nightly
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
        plan = plan_file(tmp_path, 'M = "1:50:lin:8"')
        words = [sys.executable, "-m", "boundlab", "sweep", str(plan), "--out", str(out), "--jobs", "2"]
        _fill(rest, small)
        full = subprocess.run(words, capture_output=True, text=True, check=False)
        assert full.returncode == 2
        assert full.stderr.splitlines()[-1].startswith("boundlab: ")
        assert "No space left on device" in full.stderr
        rest.unlink()
        assert subprocess.run(words, capture_output=True, check=False).returncode == 0
        assert len(rows_of(out)) == 8
        assert results(out).lines.disagreements == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def _fill(file: Path, folder: Path) -> None:
    """Leave four pages: those of sweep.json and of some lines."""
    stat = os.statvfs(folder)
    file.write_bytes(bytes(stat.f_bavail * stat.f_bsize - 4 * stat.f_frsize))
