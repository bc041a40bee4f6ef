"""Pages of HTML in a browser: they fetch nothing, fold, sort, copy, print, fit a phone, and are accessible."""

import base64
import functools
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import boundlab as bl

pytestmark = pytest.mark.nightly
WIDE, PHONE = (1000, 800), (360, 740)
SERIOUS = ("serious", "critical")


def located(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


class Browser:
    """One page at a time, as a person sees it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder
        self.command: Callable[..., Any] = driver.execute_cdp_cmd
        self.script: Callable[..., Any] = driver.execute_script

    def open(self, text: str, *, dark: bool = False, size: tuple[int, int] = WIDE) -> None:
        """Open a page, as if from a disk."""
        path = self.folder / "page.html"
        path.write_text(text, encoding="utf-8")
        self.emulate(dark=dark)
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.command("Emulation.setDeviceMetricsOverride", metrics)
        self.requests()
        self.driver.get_log("browser")
        self.driver.get(path.as_uri())

    def emulate(self, *, dark: bool = False, media: str = "") -> None:
        """Choose a scheme of colours, and a screen or paper."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})

    def requests(self) -> list[str]:
        """Return what was fetched since this was asked last."""
        said = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [one["params"]["request"]["url"] for one in said if one["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith(("file:", "data:,", "chrome:"))]

    def faults(self) -> list[str]:
        """Return the serious faults that axe finds, each with the elements that have it."""
        axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
        (source,) = (Path(folder) / "axe.min.js" for folder in axe.__path__)
        self.script(source.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script("const done = arguments[0]; axe.run().then(done);")
        return [
            f"{one['id']}: {[node['html'][:120] for node in one['nodes']]}"
            for one in found["violations"]
            if one["impact"] in SERIOUS
        ]

    def press(self, element: Any, *keys: str) -> None:
        """Press keys where an element has the focus, which must be possible."""
        self.script("arguments[0].focus()", element)
        assert self.script("return document.activeElement === arguments[0]", element)
        element.send_keys(*keys)

    def all(self, selector: str) -> list[Any]:
        """Return the elements of a selector."""
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    folder = tmp_path_factory.mktemp("browser")
    options = webdriver.ChromeOptions()
    options.binary_location = located("chromium")
    quiet = ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
    for flag in (*quiet, "disable-component-update", "disable-sync", f"user-data-dir={folder / 'profile'}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(located("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as driver:
        yield Browser(driver, folder)


@functools.cache
def audited(theorem: str) -> str:
    return bl.audit(theorem, candidates=20, jobs=1).html()


@pytest.fixture(scope="module", params=["area.theorem8", "classics.gd.convex"])
def page(request: pytest.FixtureRequest) -> str:
    return audited(request.param)


# ---- what a page does ----------------------------------------------------------------------------------------------


def test_a_page_fetches_nothing_and_says_nothing_to_the_console(browser: Browser, page: str) -> None:
    browser.open(page)
    assert browser.requests() == []
    assert browser.driver.get_log("browser") == []


def test_every_fold_opens_and_closes_by_keyboard(browser: Browser, page: str) -> None:
    browser.open(page)
    folds = browser.all("details")
    assert len(folds) >= 3
    for fold in folds:
        summary = fold.find_element("css selector", "summary")
        for expected in (True, False):
            browser.press(summary, "\ue007")
            assert browser.script("return arguments[0].open", fold) is expected


def test_every_column_sorts_up_and_down_numbers_as_numbers_and_says_so(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.script("for (const one of document.querySelectorAll('details')) one.open = true")
    heads = browser.all("table.sortable th")
    assert heads
    cells = "const [head] = arguments; return [...head.closest('table').tBodies[0].rows].map("
    cells += "(row) => row.cells[head.cellIndex].textContent)"
    for head in heads:
        for way in ("ascending", "descending"):
            browser.press(head.find_element("css selector", "button"), " ")
            assert head.get_attribute("aria-sort") == way
            shown = browser.script(cells, head)
            if "number" in (head.get_attribute("class") or ""):
                assert [float(one) for one in shown] == sorted(map(float, shown), reverse=way == "descending")
        marked = "return arguments[0].closest('tr').querySelectorAll('[aria-sort]').length"
        assert browser.script(marked, head) == 1


@pytest.mark.parametrize("permitted", [True, False])
def test_copy_copies_the_command_and_says_so(browser: Browser, permitted: bool) -> None:
    browser.open(audited("area.theorem8"))
    if permitted:
        browser.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    else:  # as in a browser that has no clipboard for pages from a disk
        browser.script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        browser.script("addEventListener('copy', () => { window.copied = String(getSelection()); })")
    button = browser.all("#commands ~ .command button")[0]
    browser.press(button, " ")
    deadline = time.monotonic() + 5
    while button.text != "copied" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert button.text == "copied"
    assert browser.script("return window.copied").strip() == "boundlab show area.theorem8"


def test_without_its_script_a_page_has_no_button_that_does_nothing(browser: Browser, page: str) -> None:
    browser.open(re.sub(r"<script>.*</script>", "", page, flags=re.DOTALL))
    assert browser.all("button.copy")
    assert not any(one.is_displayed() for one in browser.all("button"))


def test_paper_shows_all_evidence_and_no_button(browser: Browser, page: str) -> None:
    browser.open(page)
    browser.emulate(media="print")
    assert not any(one.is_displayed() for one in browser.all("button.copy, nav"))
    opened = "window.shown = [...document.querySelectorAll('details')].every((one) => one.open)"
    browser.script(f"addEventListener('beforeprint', () => {{ {opened}; }})")
    made = browser.command("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(made["data"]).startswith(b"%PDF")
    assert browser.script("return window.shown") is True
    assert not any(browser.script("return arguments[0].open", one) for one in browser.all("details"))


# ---- how a page looks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("opened", [False, True], ids=["folded", "open"])
def test_a_page_fits_and_has_no_serious_fault(
    browser: Browser, page: str, size: tuple[int, int], dark: bool, opened: bool
) -> None:
    browser.open(page, dark=dark, size=size)
    if opened:
        browser.script("for (const one of document.querySelectorAll('details')) one.open = true")
    wide = browser.script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1]
    assert browser.faults() == []


def test_the_scheme_that_is_asked_for_is_shown(browser: Browser, page: str) -> None:
    grounds = []
    for dark in (False, True):
        browser.open(page, dark=dark)
        grounds.append(browser.script("return getComputedStyle(document.body).backgroundColor"))
    light, night = (sum(map(int, re.findall(r"\d+", one)[:3])) for one in grounds)
    assert light > 600
    assert night < 150


def test_what_a_notebook_shows_has_no_serious_fault(browser: Browser) -> None:
    theorem = bl.theorem("area.theorem8")
    asked = {"problem": "lad:x0=3", "delays": "iid:p_s=0.5", "iterations": 6, "M": 50, "trials": 20}
    exact = bl.exact(theorem)
    shown = [
        theorem,
        bl.check(theorem),
        bl.compare(theorem, **asked),
        exact,
        exact.derivation,
        bl.prove("area.theorem8"),
        bl.falsify(theorem, candidates=20, jobs=1),
        bl.worst_case(theorem, iterations=2, M=3, delays="iid:p=[0.5]"),
        bl.optimal_rate([10, 10, 2.5]),
        theorem.evaluate(p_s=0.5, M=50, K=[10, 100], B=1, sigma=0, R=3, qbar=2),
        bl.run("area", "lad:x0=3", "iid:p_s=0.5", iterations=6, alpha=0.1),
    ]
    parts = [one._repr_html_() for one in shown if hasattr(one, "_repr_html_")]
    assert len(parts) >= 8
    body = "".join(f"<section>{one}</section>" for one in parts)
    start = '<!doctype html><html lang="en"><head><title>notebook</title></head><body><main><h1>notebook</h1>'
    browser.open(f"{start}{body}</main></body></html>")
    assert browser.faults() == []
