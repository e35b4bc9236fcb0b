"""Equations as MathML: browsers set it themselves, so that a page with equations needs no script and no font."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def mathml(latex: str, display: str) -> str:
    """The element <math> for a formula in LaTeX; `display` is "inline" or "block"."""
    element = convert(latex, display=display)
    if "\\" in element.replace("\\\\", ""):  # a command that is not known is copied as it is
        raise ValueError(f"no MathML for a command in {latex!r}")
    return element


def _visit(display: str, around: tuple[str, str]):
    def visit(writer, node: nodes.math | nodes.math_block) -> None:
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
