"""Pytest plugin: which tests execute which lines, and how much processor time each takes.

Coverage.py's dynamic contexts are the tests' own ids. The record goes to the file that ``MUTATION_RECORD`` names:
``{"seconds": {test: s}, "lines": {module: {line: [place of a test in "seconds", …]}}}``. Only tests that pass are
in it.
"""

import importlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from pkgutil import walk_packages

import coverage
import pytest

ROOMS = ("boundlab", "problems", "proofs")


class Recorder:
    """Switches coverage's context at each test; writes the record when the session ends."""

    def __init__(self, root: Path, out: Path) -> None:
        self.root, self.out = root, out
        self.seconds: dict[str, float] = {}
        self.not_passed: set[str] = set()
        self.coverage = coverage.Coverage(
            data_file=str(out.with_suffix(".coverage")), source=[str(root / room) for room in ROOMS], config_file=False
        )
        self.coverage.start()
        os.environ.setdefault("TRITON_INTERPRET", "1")  # kernels read it when they are first imported, which is here
        # What runs at import would otherwise be put down to the first test that needs the module.
        for module in walk_packages(importlib.import_module("boundlab").__path__, "boundlab."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give everything that this test executes its name."""
        self.coverage.switch_context(item.nodeid)
        start = time.process_time()
        result = yield
        self.seconds[item.nodeid] = round(time.process_time() - start, 4)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave out what fails or is skipped without any error planted."""
        if report.outcome != "passed":
            self.not_passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        self.coverage.stop()
        data = self.coverage.get_data()
        seconds = {name: taken for name, taken in self.seconds.items() if name not in self.not_passed}
        place = {name: number for number, name in enumerate(seconds)}
        lines = {}
        for file in sorted(data.measured_files()):
            tests = data.contexts_by_lineno(file)
            found = {line: sorted(place[name] for name in names if name in place) for line, names in tests.items()}
            # problems/ is seen through the link boundlab/problems.
            lines[str(Path(file).resolve().relative_to(self.root))] = {line: own for line, own in found.items() if own}
        self.out.write_text(json.dumps({"seconds": seconds, "lines": lines}), encoding="utf-8")
        self.out.with_suffix(".coverage").unlink(missing_ok=True)


def pytest_configure(config: pytest.Config) -> None:
    """Begin before the first import of boundlab."""
    if "MUTATION_RECORD" in os.environ:
        config.pluginmanager.register(Recorder(config.rootpath.resolve(), Path(os.environ["MUTATION_RECORD"])))
