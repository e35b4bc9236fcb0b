"""How the documentation becomes a site: `make docs` writes it to site/.

Sphinx, because it is well kept, reads our Markdown as it is and fails on a broken link or anchor (-W). The theme Furo
and equations in MathML need no script, font or picture from elsewhere, so that pages open from a disk without network.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

project = "ssvgp"
author = "The ssvgp developers"
project_copyright = author
extensions = ["myst_parser", "api_pages", "equations"]
exclude_patterns = ["extensions"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # links to headings as they work in the repository: large.md#memory
myst_update_mathjax = False
html_math_renderer = "mathml"

smartquotes = False  # "auto" is a value

html_theme = "furo"
html_title = "ssvgp"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # would fetch pages, which browsers refuse to pages that lie on a disk
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}  # the pages' source is in the repository
pygments_style = "friendly"
pygments_dark_style = "monokai"

GENERATED = ("results",)  # pages that are written from stored results, and listed where they are there


def _without_missing(app: Sphinx, docname: str, source: list[str]) -> None:
    """Leave generated pages that are not there out of the contents."""
    if docname == "index":
        missing = {name for name in GENERATED if not (HERE / f"{name}.md").exists()}
        source[0] = "\n".join(line for line in source[0].split("\n") if line.strip() not in missing)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _without_missing)
