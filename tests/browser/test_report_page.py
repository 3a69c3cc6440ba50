"""The report, opened in a real browser."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER and importlib.util.find_spec("selenium")),
    reason="needs a browser: Debian's packages chromium and chromium-driver, and pip install 'clarion[browser]'",
)

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 2)
for step in range(40):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <script>document.title = "broken into"</script> <b>ü</b>
    optimizer.step()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    script = folder / "train <it>.py"
    script.write_text(PROGRAM)
    subprocess.run(
        [sys.executable, "-m", "clarion", "run", "--report", str(folder / "report.html"), str(script)],
        check=True,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if name != "CLARION_DIAGNOSE"},
    )
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1200,1600",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def test_the_page_in_a_browser(page: Path, browser) -> None:
    from selenium.webdriver.common.by import By

    browser.get(page.as_uri())
    assert browser.title == "clarion: train <it>.py"
    finding = browser.find_element(By.CSS_SELECTOR, ".finding")
    assert finding.is_displayed()
    assert "stale-gradient" in finding.text
    marked = browser.find_element(By.CSS_SELECTOR, ".source .at")
    assert "optimizer.step()" in marked.text
    assert '<script>document.title = "broken into"</script> <b>ü</b>' in finding.text  # shown, not run
    # Three drawings: loss, norm, and the map of two layers over 40 steps.
    drawings = browser.find_elements(By.CSS_SELECTOR, "figure svg")
    assert len(drawings) == 3
    assert all(drawing.size["height"] > 50 for drawing in drawings)
    points = drawings[0].find_element(By.TAG_NAME, "polyline").get_attribute("points")
    assert len(points.split()) == 40
    cells = drawings[2].find_elements(By.CSS_SELECTOR, "rect title")
    assert len(cells) == 2 * 40
    assert "values saved for the backward pass" in browser.find_element(By.TAG_NAME, "body").text
    # The explanation unfolds.
    details = finding.find_element(By.TAG_NAME, "details")
    assert not details.find_element(By.TAG_NAME, "pre").is_displayed()
    details.find_element(By.TAG_NAME, "summary").click()
    assert details.find_element(By.TAG_NAME, "pre").is_displayed()


def test_nothing_comes_from_outside_and_nothing_complains(page: Path, browser) -> None:
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked_for = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert all(url.startswith(("file:", "data:")) for url in asked_for)


def test_it_fits_a_phone(page: Path, browser) -> None:
    browser.set_window_size(420, 900)
    browser.get(page.as_uri())
    wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
