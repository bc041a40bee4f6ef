"""Shared fixtures and strategies."""

import gc
import os
from codecs import escape_encode
from collections import Counter
from collections.abc import Generator
from pathlib import Path

# One BLAS thread a worker: the matrices are small, and two workers share two cores.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Checks have time limits; what is decided must not depend on how busy or slow the machine is.
os.environ.setdefault("BOUNDLAB_PATIENCE", "20")

# Objects of whoever runs the tests are none that the tests know of.
os.environ.pop("BOUNDLAB_PLUGINS", None)
# What was shown before is not shown again, but where a test is about that.
os.environ["BOUNDLAB_CACHE"] = "0"

import hypothesis
import pytest

# make nightly asks for more examples of every property that names no number of its own.
_EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "15"))
hypothesis.settings.register_profile("boundlab", deadline=None, derandomize=True, max_examples=_EXAMPLES)
hypothesis.settings.load_profile("boundlab")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets that are not bundled."""
    where = os.environ.get("BOUNDLAB_DATA")
    if not where:
        pytest.skip("BOUNDLAB_DATA is not set: MNIST and a9a are not bundled")
    return Path(where)


def _processor() -> float:
    """Seconds that this process and those it has waited for have had of a processor."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Append what a test costs, fixtures included, to the file that BOUNDLAB_TEST_TIMES names."""
    where = os.environ.get("BOUNDLAB_TEST_TIMES")
    before = _processor()
    try:
        return (yield)
    finally:
        if where:
            with Path(where).open("a", encoding="utf-8") as lines:
                lines.write(f"{_processor() - before:.2f}\t{item.nodeid}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most of a sweep to the night, and begin with what takes long, so that no worker ends with it.

    One case in each block of n stays, and its place in the block moves on: with two parameters no value is left out.
    A case whose name is in ``also`` stays besides. A test is never named after bytes that no hand wrote: in those of
    gzip stands the second at which they were made, and two workers that collect in two seconds find two lists of tests.
    """
    for item in items:
        for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
            if isinstance(value, bytes) and not value.isascii() and escape_encode(value)[0].decode() in item.name:
                raise pytest.UsageError(f"{item.nodeid.partition('[')[0]} is named after bytes: give the case an id")
    places: Counter[str] = Counter()
    for item in items:
        sweep, test = item.get_closest_marker("sweep"), item.nodeid.partition("[")[0]
        if sweep is not None and item.get_closest_marker("nightly") is None:
            block, place = divmod(places[test], sweep.args[0])
            places[test] += 1
            if place != block % sweep.args[0] and item.callspec.id not in sweep.kwargs.get("also", ()):
                item.add_marker("nightly")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among the thousands of items and modules that stay to the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


_LEFT = pytest.StashKey[set[Path]]()


def _documents(config: pytest.Config) -> set[Path]:
    return set(config.rootpath.glob("*.json"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note which case files lie about."""
    session.config.stash[_LEFT] = _documents(session.config)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where a test wrote a case file into the folder from which tests are run, instead of into one of its own."""
    gc.unfreeze()
    if hasattr(session.config, "workerinput"):
        return
    left = sorted(path.name for path in _documents(session.config) - session.config.stash[_LEFT])
    if left:
        lines = session.config.pluginmanager.get_plugin("terminalreporter")
        if lines is not None:
            lines.write_line(f"\ntests left {', '.join(left)} behind: let them run in a folder of their own")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
