"""The plug-in of pytest: theorems as tests, a summary that counts each verdict, and files of what was found.

It is loaded into every run of pytest where boundlab is installed, and imports nothing heavy before a theorem is tested.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import pytest

from boundlab.testing._finding import BoundFinding, listening

if TYPE_CHECKING:
    from boundlab.theorems import Theorem

_AGAINST = ("violated", "failed")
_ORDER = (
    *_AGAINST,
    "not applicable",
    "inconclusive",
    "unknown",
    "consistent",
    "holds",
    "passed",
)
_KEY = "boundlab"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("boundlab", "theorems as tests")
    group.addoption(
        "--boundlab-theorem",
        action="append",
        default=[],
        metavar="THEOREM",
        help="test a theorem, a TOML file or an id: its formula, comparisons, and a search; may be repeated",
    )
    group.addoption(
        "--boundlab-require",
        choices=("not-violated", "holds"),
        default="not-violated",
        help="holds: a comparison that does not say so fails, too",
    )
    group.addoption(
        "--boundlab-candidates", type=int, default=None, metavar="N", help="instances that a search looks at, about"
    )
    group.addoption("--boundlab-seed", type=int, default=0, metavar="N", help="of samples and searches")
    group.addoption(
        "--boundlab-cases", default=".", metavar="DIR", help="where the case files of violations go (default: here)"
    )
    group.addoption("--boundlab-json", default=None, metavar="FILE", help="write all findings as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what gathers findings."""
    config.addinivalue_line("markers", "boundlab: says something about a bound; -m boundlab selects these tests")
    config.pluginmanager.register(Gatherer(config), "boundlab-gatherer")
    if (given := config.getoption("--boundlab-json")) is not None:
        from boundlab.errors import OutputError
        from boundlab.files import check_writable

        try:
            check_writable(Path(given))
        except OutputError as error:
            raise pytest.UsageError(f"--boundlab-json: {error}") from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the items of the theorems that the command line names."""
    if any("boundlab-theorem" in item.keywords for item in items):
        return
    for name in dict.fromkeys(config.getoption("--boundlab-theorem")):
        found = TheoremTests.from_parent(session, name=name, nodeid=name).collect()
        session.ihook.pytest_collectreport(report=pytest.CollectReport(name, "passed", None, [*found]))  # to be counted
        items.extend(found)


class TheoremTests(pytest.Collector):
    """The tests of one theorem."""

    def collect(self) -> list["TheoremItem"]:
        """Return one test for each way of looking at it."""
        found = []
        for part in ("checks", "comparison", "search"):
            item = TheoremItem.from_parent(self, name=part)
            item.add_marker("boundlab")
            item.keywords["boundlab-theorem"] = True
            found.append(item)
        return found

    @cached_property
    def theorem(self) -> "Theorem":
        """The theorem, read once."""
        from boundlab.theorems import load_theorem

        return load_theorem(self.name)


@final
class TheoremItem(pytest.Item):
    """One way of looking at a theorem."""

    parent: TheoremTests

    def runtest(self) -> None:
        """Look at it; a refutation fails, and what the theorem is not about is skipped."""
        from boundlab.testing._bound import CANDIDATES, BoundRequest, judged, look

        option = self.config.getoption
        asked = option("--boundlab-candidates")
        demand = BoundRequest(
            candidates=CANDIDATES if asked is None else asked,
            seed=option("--boundlab-seed"),
            folder=option("--boundlab-cases"),
        )
        if self.name == "search" and not demand.candidates:
            pytest.skip("no candidates were asked for")
        findings = look(self.name, self.parent.name, self.parent.theorem, demand)
        judged(findings, option("--boundlab-require"))
        if all(one.verdict == "not applicable" for one in findings):
            pytest.skip("; ".join(one.words for one in findings))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what was found, without the traceback of boundlab's own lines."""
        from boundlab.errors import BoundlabError

        if isinstance(excinfo.value, (AssertionError, BoundlabError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, and the name of the test."""
        path = Path(self.parent.name)
        return (path if path.suffix else self.config.rootpath), None, f"{self.parent.name}::{self.name}"


@final
class Gatherer:
    """Gathers what tests find, in this process and in those of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.findings: list[dict[str, Any]] = []
        self.expected: list[dict[str, Any]] = []  # against a theorem, in tests that passed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Listen while a test runs; what it finds goes with its report, and as properties into JUnit's file."""
        heard: list[BoundFinding] = []
        with listening(heard.append):
            try:
                return (yield)
            finally:
                for one in heard:
                    item.user_properties.append((f"{_KEY}.{one.part}", f"{one.theorem}: {one.verdict}"))
                    if one.reproduce:
                        item.user_properties.append((f"{_KEY}.reproduce", one.reproduce))
                item.stash[_HEARD] = [{"test": item.nodeid, **one.as_dict()} for one in heard]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
        """Put findings into the report, which pytest-xdist carries over."""
        report = yield
        if call.when == "call":
            report.boundlab = item.stash.get(_HEARD, [])
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take findings from the report."""
        heard = getattr(report, "boundlab", [])
        self.findings += heard
        self.expected += [one for one in heard if report.passed and one["verdict"] in _AGAINST]

    def pytest_sessionfinish(self) -> None:
        """Write the file of all findings; a process of pytest-xdist leaves that to the one that it works for."""
        given = self.config.getoption("--boundlab-json")
        if given is None or hasattr(self.config, "workerinput"):
            return
        from boundlab.__about__ import __version__
        from boundlab.files import schema, write_json

        head = {"schema": schema("theorem-tests"), "boundlab": __version__, "verdicts": dict(self._counts())}
        write_json(Path(given), {**head, "findings": self.findings})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Count each verdict, and say what was found against a theorem and how large the samples were."""
        if not self.findings:
            return
        terminalreporter.section("boundlab")
        for line in self._lines():
            terminalreporter.line(line)

    def _counts(self) -> list[tuple[str, int]]:
        counts = Counter(one["verdict"] for one in self.findings)
        return [(word, counts[word]) for word in _ORDER if counts[word]]

    def _lines(self) -> Iterator[str]:
        counts = Counter(one["verdict"] + " as a test expects" * (one in self.expected) for one in self.findings)
        yield ", ".join(
            f"{counts[told]} {told}"
            for word in _ORDER
            for told in (word, f"{word} as a test expects")
            if told in counts
        )
        alarm = sum(one["false_alarm"] for one in self.findings)
        if alarm:
            trials = sum(one["trials"] for one in self.findings)
            widest = [one["gap"] for one in self.findings if one["gap"] is not None]
            seen = f"; excesses of {100.0 * max(widest):.3g} % are seen (power 90 %)" if widest else ""
            yield f"{trials} trials in all; a true theorem fails by chance with probability {alarm:.1g} at most{seen}"
        for one in self.findings:
            if one["verdict"] in _AGAINST and one not in self.expected:
                yield f"{one['theorem']}: {one['part']}: {one['verdict']}: {one['words']}"
                if one["reproduce"]:
                    yield f"  reproduce: {one['reproduce']}"


_HEARD = pytest.StashKey[list[dict[str, Any]]]()
