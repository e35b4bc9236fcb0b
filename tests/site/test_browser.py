"""The site in a real browser, opened from a disk: no error, nothing fetched from elsewhere, readable on any screen.

Needs Chromium, playwright and the site's tools (pip install 'ssvgp[browser,docs]'); skipped where one is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
pytest.importorskip("playwright", reason="needs playwright: pip install 'ssvgp[browser]'")


DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path.stem for path in DOCS.glob("*.md"))
LOADED = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
# A table, equation or listing that is wider than its place must scroll inside it.
TRAPPED = """[...document.querySelectorAll('article table, article math, article pre')].filter(one => {
    const screen = document.documentElement.clientWidth
    if (one.getBoundingClientRect().right <= screen + 1) return false
    for (let above = one; above && above.tagName != 'ARTICLE'; above = above.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(above).overflowX)) return false
    return true
}).map(one => one.outerHTML.slice(0, 120))"""
FLAT = """[...document.querySelectorAll('math')].filter(one => {
    const box = one.getBoundingClientRect()
    return box.width < 3 || box.height < 8 || one.textContent.includes('\\\\')
}).map(one => one.textContent)"""


CUT = """[...document.querySelectorAll('.equation')].filter(one => one.scrollWidth > one.clientWidth)
    .map(one => one.textContent)"""


class Visit:
    """A page that was opened, with everything that it said and asked for."""

    def __init__(self, browser: Any, address: str, width: int) -> None:
        self.page = browser.new_page()
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", lambda request: self.faults.append(request.url))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(address)

    def strangers(self, site: Path) -> list[str]:
        """What was asked for outside the site."""
        return [url for url in self.asked if not url.startswith((site.as_uri(), "data:"))]


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_cleanly(browser: Any, site: Path, name: str, width: int) -> None:
    visit = Visit(browser, (site / f"{name}.html").as_uri(), width)
    assert visit.faults == [] and visit.strangers(site) == []
    assert visit.page.evaluate(LOADED)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.page.evaluate(TRAPPED) == []
    assert visit.page.evaluate(FLAT) == []
    visit.page.close()


def test_a_folded_table_opens_at_a_click(browser: Any, site: Path) -> None:
    visit = Visit(browser, (site / "results.html").as_uri(), 1400)
    folds = visit.page.locator("article details:has(table)")
    assert folds.count() > 3
    for fold in folds.all():
        table = fold.locator("table").first
        assert not table.is_visible()
        fold.locator("summary").click()
        assert table.is_visible() and table.locator("td").first.is_visible()
    assert visit.page.evaluate(TRAPPED) == []
    visit.page.close()


def test_equations_are_set_by_the_browser(browser: Any, site: Path) -> None:
    visit = Visit(browser, (site / "method.html").as_uri(), 1400)
    source = (DOCS / "method.md").read_text(encoding="utf-8")
    assert visit.page.locator("math[display=block]").count() == source.count("$$") // 2 > 5
    assert "$$" not in visit.page.inner_text("article")
    assert visit.page.evaluate(CUT) == [], "an equation should fit a wide screen"
    visit.page.close()


def test_a_search_finds_pages_without_a_server(browser: Any, site: Path) -> None:
    visit = Visit(browser, f"{(site / 'search.html').as_uri()}?q=neighbours", 1400)
    # results come in one after the other
    visit.page.wait_for_selector("ul.search li a[href^='large.html']", timeout=20_000)
    assert visit.faults == [] and visit.strangers(site) == []
    visit.page.close()
