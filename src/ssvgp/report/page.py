"""The bare bones of a page that stands alone: escaped text, tables, pictures inside, a style for screen and paper."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

STYLE = """
:root { color-scheme: light; --ink: #222; --soft: #595959; --line: #d9d9d9; --accent: #0072B2; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1rem 3rem; max-width: 68rem; color: var(--ink); background: #fff;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1rem 0 0.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 0.4rem; padding-top: 0.9rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 0.2rem; overflow-wrap: anywhere; }
p, li, figcaption, td, th { overflow-wrap: anywhere; }
p { max-width: 46rem; margin: 0.5rem 0; }
.answer { font-size: 1.15rem; max-width: 50rem; border-left: 4px solid var(--accent); padding: 0.2rem 0 0.2rem 0.9rem;
  margin: 1rem 0; }
.warning { border-left: 4px solid #D55E00; padding: 0.2rem 0 0.2rem 0.9rem; }
.soft, .read, footer { color: var(--soft); font-size: 0.92rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.4rem 1.8rem; }
figure { margin: 0.8rem 0 0; min-width: 0; max-width: 36rem; }
.wide figure { max-width: 56rem; }
figure img { display: block; width: 100%; height: auto; }
figcaption { font-size: 0.92rem; margin-top: 0.3rem; }
table { border-collapse: collapse; margin: 0.8rem 0; font-size: 0.95rem; max-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.9rem 0.25rem 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; font-size: 0.88rem; color: var(--soft); overflow-wrap: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
bdi { font-weight: 600; }
td bdi { font-weight: inherit; }
nav { font-size: 0.92rem; margin: 0.8rem 0; display: flex; flex-wrap: wrap; gap: 0.15rem 1rem; }
a { color: var(--accent); }
td:first-child:not(.number) { min-width: 7.5rem; }
@media (max-width: 30rem) { body { font-size: 15px; } th, td { padding-right: 0.55rem; } th { font-size: 0.8rem; } }
@media print {
  @page { margin: 16mm 15mm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav { display: none; }
  h2, h3, section > p { break-after: avoid; }
  figure, tr, .answer { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; gap: 0.8rem 1.2rem; }
  a { color: inherit; text-decoration: none; }
}
"""
# nothing may be fetched or run, whatever a header of a table contains
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def plain(text: str) -> str:
    """Text on one line that every page can hold: signs that cannot be printed become blanks."""
    return "".join(sign if sign.isprintable() else " " for sign in str(text))


def safe(text: str) -> str:
    """Text that is shown as it is, in pages and in attributes."""
    return escape(plain(text), quote=True)


def name(text: str) -> str:
    """The name of a column, kept apart from the sentence around it whatever it consists of."""
    return f"<bdi>{safe(text).replace('_', '_<wbr>')}</bdi>"  # a line may break after an underscore


def paragraph(html: str, kind: str = "") -> str:
    """A paragraph of a class; its text is HTML already."""
    return f'<p class="{kind}">{html}</p>' if kind else f"<p>{html}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of items that are HTML already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already; the columns `numbers` are set flush right."""

    def line(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="number"' if place in numbers else "" for place in range(len(cells))]
        return f"<tr>{''.join(f'<{tag}{kind}>{cell}</{tag}>' for cell, kind in zip(cells, kinds, strict=True))}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"


def figure(svg: str, alt: str, caption: str, heading: str = "") -> str:
    """A picture inside the page; as an image, it can neither run code nor clash with others."""
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode()
    above = f"<h3>{heading}</h3>" if heading else ""
    image = f'<img alt="{safe(alt)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{above}{image}<figcaption>{caption}</figcaption></figure>"


def figures(parts: Iterable[str]) -> str:
    """Pictures beside each other where there is room."""
    return f'<div class="figures">{"".join(parts)}</div>'


@dataclass(frozen=True)
class Section:
    """A part of the page with its anchor, title and content."""

    anchor: str
    title: str
    html: str


def page(title: str, top: str, sections: Sequence[Section], foot: str) -> str:
    """The whole page."""
    links = "".join(f'<a href="#{one.anchor}">{safe(one.title)}</a>' for one in sections)
    body = "".join(f'<section id="{one.anchor}"><h2>{safe(one.title)}</h2>{one.html}</section>' for one in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>{top}<nav>{links}</nav>{body}</main><footer>{foot}</footer></body></html>\n"
    )
