"""The report in a real browser: no error, nothing fetched, all there, on narrow and wide screens.

Needs Chromium and playwright (pip install 'ssvgp[browser]'); skipped where one is missing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
pytest.importorskip("matplotlib", reason="reports need Matplotlib: pip install 'ssvgp[plots]'")
pytest.importorskip("playwright", reason="needs playwright: pip install 'ssvgp[browser]'")

from report_models import ALL, ATTACK, EVIL, page_of  # noqa: E402

SECTIONS = ["inclusion", "effects", "interactions", "fit", "sets", "stand-ins", "data"]
LOADED = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("kind", list(ALL))
def test_a_report_opens_cleanly(browser: Any, kind: str, width: int, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page_of(kind), encoding="utf-8")
    seen = browser.new_page()
    faults: list[str] = []
    asked: list[str] = []
    seen.on("console", lambda message: faults.append(message.text))
    seen.on("pageerror", lambda error: faults.append(str(error)))
    seen.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
    seen.on("request", lambda request: asked.append(request.url))
    seen.set_viewport_size({"width": width, "height": 900})
    seen.goto(path.as_uri())
    assert faults == [] and [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    anchors = seen.eval_on_selector_all("section", "all => all.map(one => one.id)")
    assert [one for one in anchors if one != "profiles"] == SECTIONS
    assert seen.evaluate(LOADED) and seen.evaluate("document.scripts.length") == 0
    assert seen.evaluate("document.documentElement.scrollWidth") <= width
    shown = seen.inner_text("body")
    assert kind != "odd" or (EVIL in shown and ATTACK in shown)
    seen.close()


def test_it_prints(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page_of("demo"), encoding="utf-8")
    seen = browser.new_page()
    seen.goto(path.as_uri())
    printed = seen.pdf(format="A4")
    assert 2 <= len(re.findall(rb"/Type\s*/Page(?!s)", printed)) <= 6
    seen.close()
