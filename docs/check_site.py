"""Check the built site: every link, anchor and picture leads somewhere, and no page fetches anything from elsewhere.

    python docs/check_site.py site

Links to other sites are listed and not fetched: the check must give the same answer without a network.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+)['"]?((?:https?:)?//[^'")\s]+)""")
MADE_BY = re.compile(r"https://(?:github\.com/pradyunsg/furo|pradyunsg\.me).*")  # the theme's own line at the foot


@dataclass
class Page(HTMLParser):
    """What one page holds: `anchors`, `links` that a reader may follow, and `fetched` files that it needs."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in FETCHED and given.get(FETCHED[tag]):
            self.fetched.append(given[FETCHED[tag]])


@dataclass(frozen=True)
class Findings:
    """Faults, each with its page, and the links to other sites."""

    pages: int
    links: int
    faults: list[str]
    external: list[str]


def check(site: Path) -> Findings:
    """Read every page below `site` and follow all that lies inside it."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    faults, external, links = [], set(), 0
    for path, page in pages.items():
        name = path.relative_to(site)
        for url in page.fetched:
            if _elsewhere(url):
                faults.append(f"{name}: fetches {url}")
            elif not url.startswith("data:") and not _target(path, url).exists():
                faults.append(f"{name}: no file {url}")
        for url in page.links:
            links += 1
            if _elsewhere(url):
                external.add(url)
            elif fault := _broken(path, url, pages):
                faults.append(f"{name}: {fault}")
    for path in sorted(site.rglob("*.css")):
        faults += [f"{path.relative_to(site)}: fetches {url}" for url in CSS_URL.findall(_text(path))]
    return Findings(len(pages), links, faults, sorted(url for url in external if not MADE_BY.fullmatch(url)))


def _read(path: Path) -> Page:
    page = Page()
    page.feed(_text(path))
    return page


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _elsewhere(url: str) -> bool:
    return bool(urlsplit(url).scheme or urlsplit(url).netloc) and not url.startswith("data:")


def _target(page: Path, url: str) -> Path:
    """The file that a relative link leads to from a page."""
    path = unquote(urlsplit(url).path)
    return (page.parent / path).resolve() if path else page.resolve()


def _broken(page: Path, url: str, pages: dict[Path, Page]) -> str | None:
    """What is wrong with a link inside the site, if anything."""
    target, anchor = _target(page, url), unquote(urldefrag(url).fragment)
    if not target.exists():
        return f"no page {url}"
    there = {path.resolve(): one for path, one in pages.items()}.get(target)
    if anchor and there is not None and anchor not in there.anchors:
        return f"no anchor {url}"
    return None


def main(site: Path) -> int:
    """Print what was found; 1 where there are faults."""
    found = check(site)
    for fault in found.faults:
        print(fault, file=sys.stderr)
    if not found.pages:
        print(f"no pages in {site}: build them first, make docs", file=sys.stderr)
        return 1
    print(f"{found.pages} pages, {found.links} links, {len(found.faults)} faults")
    print("links to other sites, which were not followed:", *(found.external or ["none"]), sep="\n  ")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "site")))
