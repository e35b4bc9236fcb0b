"""Equations as MathML: browsers set it themselves, so that a page with equations needs no script and no font."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
FUNCTION = re.compile(r"<mi>(log|exp|max|min|sin|cos|tan|tr|diag)</mi>(?=<mo[^>]*>(\(|&#x00028;))?")


def mathml(latex: str, display: str) -> str:
    """The element <math> for a formula in LaTeX; `display` is "inline" or "block"."""
    element = convert(latex, display=display)
    if "\\" in element:  # a command that is not known is copied as it is
        raise ValueError(f"no MathML for a command in {latex!r}")
    return FUNCTION.sub(_spaced, element)


def _spaced(found: re.Match[str]) -> str:
    """The name of a function as an operator, because browsers set no space around names: log p, but log(p)."""
    return f'<mo lspace="0.16em" rspace="{0 if found[2] else 0.16}em">{found[1]}</mo>'


def _visit(display: str, around: tuple[str, str]) -> Callable[..., None]:
    def visit(writer: Any, node: nodes.math | nodes.math_block) -> None:
        try:
            writer.body.append(around[0] + mathml(node.astext(), display) + around[1])
        except Exception as error:  # whatever the converter stumbles over is a fault of the page
            LOGGER.warning("%s", error, location=node)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    inline = _visit("inline", ("", ""))
    block = _visit("block", ('<div class="equation">', "</div>\n"))
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
