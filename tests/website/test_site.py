"""The site: it is built without a warning, names everything that is public, and asks no other server for anything."""

import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from web_browser import PHONE, WIDE, Browser, browser_without_a_screen  # noqa: F401  (a fixture)

import boundlab as bl
from boundlab.documentation import page_files, pointers
from boundlab.records import schema_names
from boundlab.registry import KINDS, registered

pytest.importorskip("furo", reason="the site is built with the extra docs")
pytestmark = pytest.mark.nightly  # the site takes 20 s to build
ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())


class Links(HTMLParser):
    """What a page points to, what it loads, and what can be pointed to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif name == "href" and tag == "a":
                self.links.append(value or "")
            elif name in ("src", "href"):
                self.loaded.append(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as ``make docs`` does: a warning of Sphinx is an error."""
    folder = tmp_path_factory.mktemp("site")
    source, html = folder / "source", folder / "html"
    for command in (
        (str(ROOT / "website" / "assemble.py"), str(source)),
        ("-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(ROOT / "website"), str(source), str(html)),
    ):
        done = subprocess.run((sys.executable, *command), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return html


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    return {str(path.relative_to(site)): Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_link_within_the_site_opens(site: Path, pages: dict[str, Links]) -> None:
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = ((site / name).parent / unquote(parts.path)).resolve() if parts.path else site / name
            there = pages.get(str(target.relative_to(site)))
            if not target.exists() or (parts.fragment and there and unquote(parts.fragment) not in there.anchors):
                broken.append((name, link))
    assert broken == []


def test_a_printed_address_is_that_of_the_page(pages: dict[str, Links], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundlab.__about__.SITE", "https://site")
    for name, path in page_files().items():
        folder = "theory/" if path.parent.name == "theory" else ""
        (address,) = re.findall(r"\(https://site/(\S+)\)", pointers(f"docs/{folder}{name}.md"))
        assert address in pages
    (address,) = re.findall(r"\(https://site/(\S+)\)", pointers("docs/theorems.md#left-sides"))
    page, _, anchor = address.partition("#")
    assert anchor in pages[page].anchors


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Links]) -> None:
    assert [(name, one) for name, page in pages.items() for one in page.loaded if urlsplit(one).scheme != ""] == []


def test_the_contents_lead_to_every_page_of_the_documentation(pages: dict[str, Links]) -> None:
    notebooks = [f"notebooks/{path.stem}.html" for path in (ROOT / "notebooks").glob("*.ipynb")]
    own = [str(path.relative_to(path.parents[1 + ("theory" in path.parts)])) for path in page_files().values()]
    wanted = {*notebooks, *(str(Path(one).with_suffix(".html")) for one in own)}
    assert wanted - {link.partition("#")[0] for link in pages["index.html"].links} == set()


def test_the_reference_has_every_command_question_object_and_schema(pages: dict[str, Links]) -> None:
    from boundlab.cli._app import _COMMANDS

    assert set(_COMMANDS) <= pages["reference/commands.html"].anchors
    assert {f"boundlab.{name}" for name in bl.__all__ if name != "__version__"} <= pages[
        "reference/python.html"
    ].anchors
    assert set(schema_names()) <= pages["reference/schemas.html"].anchors
    assert {*KINDS, "symbols"} <= pages["reference/registered.html"].anchors


def test_the_reference_lists_every_registered_object(site: Path) -> None:
    words = set(re.findall(r"[\w.-]+", (site / "reference" / "registered.html").read_text(encoding="utf-8")))
    assert {name for kind in KINDS for name in registered(kind)} - words == set()


def test_the_gallery_shows_every_figure_of_the_notebooks(pages: dict[str, Links]) -> None:
    drawn = sum(path.read_text(encoding="utf-8").count('"image/png"') for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert sum("gallery" in one or "_images" in one for one in pages["gallery.html"].loaded) == drawn


@pytest.mark.parametrize("question", ["audit", "compare", "exact", "falsify", "prove", "sweep", "worst_case"])
def test_help_about_a_question_is_that_of_the_function(question: str) -> None:
    asked = getattr(bl, question)
    first, _, rest = asked.__doc__.partition("\n\n")
    assert rest == inspect.getdoc(asked.__wrapped__)
    assert first.startswith(f"{question}(")
    assert "Raises" in rest


@pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (PHONE, True)], ids=["wide", "phone, dark"])
def test_pages_have_no_serious_fault_of_accessibility(
    browser: Browser, site: Path, pages: dict[str, Links], size: tuple[int, int], *, dark: bool
) -> None:
    found = {}
    for name in pages:
        browser.visit(site / name, dark=dark, size=size)
        found[name] = browser.faults()
    assert {name: faults for name, faults in found.items() if faults} == {}
