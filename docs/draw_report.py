"""Draw the pictures of the demo's report, images/report_*.png, as a browser shows it: python docs/draw_report.py

Needs Chromium and playwright (pip install 'ssvgp[browser,plots]'); CHROMIUM names another browser of its kind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

IMAGES = Path(__file__).resolve().parent / "images"
COLOURS = 64  # enough for letters and bars, and a quarter of the size
MARGIN = 16
# Width of the window, and the section above which the picture ends, or its height.
PICTURES: dict[str, tuple[int, str | int]] = {
    "report_answer": (900, "effects"),
    "report_wide": (1100, 1500),
    "report_narrow": (400, 1500),
}


def demo(folder: Path) -> Path:
    """Run the demo in a folder; the path of its report."""
    subprocess.run([sys.executable, "-m", "ssvgp.cli.main", "demo"], cwd=folder, check=True)
    return folder / "ssvgp_demo.html"


def height_of(page: Any, end: str | int) -> int:
    """Where a picture ends: so many pixels down, or above a section."""
    if isinstance(end, int):
        return end
    box = page.locator(f"#{end}").bounding_box()
    assert box is not None, f"the report has a section {end}"
    return int(box["y"]) - MARGIN


def draw() -> None:
    """All pictures, with few colours."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as library:
        report = demo(Path(folder))
        browser = library.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, (width, end) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": 1600})
            page.goto(report.as_uri())
            shot = Path(folder) / f"{name}.png"
            page.screenshot(path=str(shot), clip={"x": 0, "y": 0, "width": width, "height": height_of(page, end)})
            Image.open(shot).convert("RGB").quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)
            print(IMAGES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    draw()
