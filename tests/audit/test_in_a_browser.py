"""Pages of HTML in a browser: they fetch nothing, fold, sort, copy, print, fit a phone, and are accessible."""

import base64
import functools
import re
import time

import pytest
from web_browser import PHONE, WIDE, Browser, browser_without_a_screen  # noqa: F401  (a fixture)

import boundlab as bl

pytestmark = pytest.mark.nightly


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
