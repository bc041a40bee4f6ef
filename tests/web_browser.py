"""A browser without a screen, for what pages look like and do."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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
        self.visit(path, dark=dark, size=size)

    def visit(self, path: Path, *, dark: bool = False, size: tuple[int, int] = WIDE) -> None:
        """Open a page that lies on a disk."""
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
        return [url for url in sent if not url.startswith(("file:", "data:", "chrome:"))]

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


@pytest.fixture(scope="module", name="browser")
def browser_without_a_screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
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
        driver.set_script_timeout(300)  # axe takes a minute for the longest page
        yield Browser(driver, folder)
